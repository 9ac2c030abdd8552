// A method of one's own: the explicit midpoint rule for constrained systems, with an option, registered under a name.
// It checks its own order.
//
//   k  = a(t0, y0, z0)                                      a(t, y, z) = z' with the multipliers psi of
//   Y  = y0 + h/2 v(t0, y0, z0),    Z  = z0 + h/2 k           p_z z' = b + r(psi),   0 = G v_z z' + c
//   y1 = y0 + h v(t0 + h/2, Y, Z),  z1 = z0 + h a(t0 + h/2, Y, Z)
//
// Order 2, explicit but for one linear system per evaluation. It keeps neither constraint level, and nothing else: the
// option projection = "both", which every registered method gets, puts the ends of its steps back onto g = 0 and
// g_t + G v = 0. With the option weight = w, 0 < w <= 1, the intermediate point is at t0 + w h, and its slope is
// weighted with 1/(2 w) (w = 1 is Heun's method).
//
//   build/example_own_method
//
// What to expect: errors of a pendulum, a mass on a circle, that fall by four from step to step, on and off the circle.
#include <cmath>
#include <iostream>
#include <memory>

#include <Eigen/Dense>
#include <hinge/hinge.hpp>

namespace {

using hinge::Quantity;

// What a method is: a class with step(), and reset() where it remembers something from step to step.
class ExplicitMidpoint final : public hinge::Stepper {
 public:
  ExplicitMidpoint(std::shared_ptr<const hinge::System> system, double weight)
      : system_(std::move(system)),
        weight_(weight),
        here_(system_->evaluation({Quantity::velocity, Quantity::momentum_z, Quantity::acceleration_force,
                                   Quantity::reaction_psi, Quantity::constraint_rate_z,
                                   Quantity::constraint_curvature})) {
    if (!system_->structure().reaction_is_linear)
      throw hinge::UnsuitableMethod("own-midpoint needs a reaction that is linear in psi");
  }

  hinge::StepResult step(hinge::State& state, double h) override {
    const Eigen::VectorXd y0 = vector(state.y), z0 = vector(state.z);
    Rates first, second;
    if (!rates(state.t, y0, z0, first)) return failure(state.t);
    if (!rates(state.t + weight_ * h, y0 + weight_ * h * first.v, z0 + weight_ * h * first.a, second))
      return failure(state.t);
    const double w = 1 / (2 * weight_);
    const Eigen::VectorXd y1 = y0 + h * ((1 - w) * first.v + w * second.v);
    const Eigen::VectorXd z1 = z0 + h * ((1 - w) * first.a + w * second.a);
    Rates end;
    if (!rates(state.t + h, y1, z1, end)) return failure(state.t);  // nothing has been changed so far
    vector(state.y) = y1;
    vector(state.z) = z1;
    vector(state.psi) = end.psi;
    state.t += h;
    multipliers_ = state.psi;
    ++counters_.steps;
    return {};
  }

 private:
  struct Rates {
    Eigen::VectorXd v, a, psi;
  };

  static Eigen::Map<Eigen::VectorXd> vector(std::vector<double>& x) {
    return {x.data(), static_cast<Eigen::Index>(x.size())};
  }
  Eigen::MatrixXd dense(Quantity q) const {
    const hinge::Pattern& pattern = system_->pattern(q);
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(pattern.rows, pattern.columns);
    for (int i = 0; i < pattern.rows; ++i)
      for (int k = pattern.row_start[std::size_t(i)]; k < pattern.row_start[std::size_t(i) + 1]; ++k)
        m(i, pattern.column[std::size_t(k)]) = (*here_)[q][k];
    return m;
  }

  // p_z a - r_psi psi = b,  rate_z a = -c
  bool rates(double t, const Eigen::VectorXd& y, const Eigen::VectorXd& z, Rates& out) {
    const int n = system_->nz(), m = system_->npsi();
    const Eigen::VectorXd zero = Eigen::VectorXd::Zero(m);
    here_->at(t, y.data(), z.data(), zero.data());
    Eigen::MatrixXd matrix(n + m, n + m);
    matrix << dense(Quantity::momentum_z), -dense(Quantity::reaction_psi), dense(Quantity::constraint_rate_z),
        Eigen::MatrixXd::Zero(m, m);
    Eigen::VectorXd right(n + m);
    right << dense(Quantity::acceleration_force), -dense(Quantity::constraint_curvature);
    const Eigen::VectorXd x = matrix.partialPivLu().solve(right);
    ++counters_.evaluations;
    ++counters_.factorisations;
    out = {dense(Quantity::velocity), x.head(n), x.tail(m)};
    return x.allFinite();
  }
  static hinge::StepResult failure(double t) {
    return {false, "own-midpoint found no accelerations in the step from t = " + std::to_string(t)};
  }

  std::shared_ptr<const hinge::System> system_;
  double weight_;
  std::unique_ptr<hinge::Evaluation> here_;
};

// Its entry in the list: what `hinge methods` would print, its options, and how it is made from them.
hinge::MethodEntry own_midpoint() {
  hinge::MethodInfo info{.name = "own-midpoint",
                         .summary = "the explicit midpoint rule on the index-1 form",
                         .order = "2",
                         .multiplier_order = "2",
                         .preserves = {},
                         .options = {{.name = "weight",
                                      .meaning = "where in the step the second slope is taken",
                                      .default_value = "0.5",
                                      .range = {.min = 0, .max = 1, .open_min = true}}},
                         .reference = "this file"};
  return {info, [info](const hinge::GivenOptions& options) {
            hinge::MethodChoice choice{info, 2, "explicit midpoint rule, order 2", {}, 2};
            choice.make = [weight = options.number("weight")](std::shared_ptr<const hinge::System> system,
                                                              const hinge::SolverOptions&, const hinge::StepOptions&) {
              return std::make_unique<ExplicitMidpoint>(std::move(system), weight);
            };
            return choice;
          }};
}

hinge::Lagrangian pendulum() {
  hinge::Lagrangian model;
  const auto q = model.coordinates("q", 2);
  const auto v = model.velocity(q);
  model.kinetic(0.5 * dot(v, v));
  model.potential(9.81 * q[1]);
  model.constrain(dot(q, q) - 1.0);
  return model;
}

hinge::State at_end(const hinge::MethodChoice& method, double step) {
  hinge::Simulation run(pendulum(), method, {.step = step});
  run.start({.position = {1, 0}, .velocity = {0, 0}});
  run.until(1);
  return run.state();
}

double error(const hinge::State& a, const hinge::State& b) { return std::hypot(a.y[0] - b.y[0], a.y[1] - b.y[1]); }

}  // namespace

int main() {
  hinge::register_method(own_midpoint());
  const hinge::State exact = at_end(hinge::gauss_lobatto(4), 0.01);
  bool good = true;
  for (const char* projection : {"none", "both"})
    for (const double weight : {0.5, 1.0}) {
      const hinge::MethodChoice method =
          hinge::make_method("own-midpoint", {{"weight", weight}, {"projection", std::string(projection)}});
      std::cout << method.description << ", weight " << weight << '\n';
      double before = 0;
      for (const double step : {0.005, 0.0025, 0.00125, 0.000625}) {
        const hinge::State end = at_end(method, step);
        const double now = error(end, exact), order = before > 0 ? std::log2(before / now) : 0;
        const double off = std::abs(end.y[0] * end.y[0] + end.y[1] * end.y[1] - 1);
        std::cout << "  step " << step << "   error " << now << "   order " << order << "   |g| " << off << '\n';
        if (before > 0) good = good && std::abs(order - 2) < 0.15;
        if (method.info.preserves.position_level) good = good && off < 1e-12;
        before = now;
      }
    }
  try {
    hinge::make_method("own-midpoint", {{"weight", 0.0}});
    good = false;
  } catch (const hinge::OptionError& e) {
    std::cout << e.option << ": " << e.what() << '\n';
  }
  std::cout << (good ? "as it should be\n" : "NOT as it should be\n");
  return good ? 0 : 1;
}
