#include "method/explicit/half_explicit.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/consistent_row.hpp"
#include "method/method_entry.hpp"
#include "method/step_failure.hpp"

namespace hinge {

namespace {

// What fixed and chosen steps share: the map, and accelerations and multipliers at a point.
struct HalfExplicitWork {
  std::shared_ptr<const System> system;
  HalfExplicitMap map;
  Acceleration acceleration;
  std::vector<double> y, z, psi, v, a;

  HalfExplicitWork(std::shared_ptr<const System> s, const HalfExplicitOptions& options, LinearAlgebra choice)
      : system(std::move(s)), map(system, options, choice), acceleration(system, choice) {
    for (auto* x : {&y, &v}) x->resize(static_cast<std::size_t>(system->ny()));
    for (auto* x : {&z, &a}) x->resize(static_cast<std::size_t>(system->nz()));
    psi.resize(static_cast<std::size_t>(system->npsi()));
  }
  void count(Counters& c) const {
    c.evaluations = map.evaluations();
    c.factorisations = map.factorisations();
    c.iterations = map.iterations();
    c.solved = map.solved();
    c.increments = map.increments();
  }
};

// Velocities are on their level unless positions alone are moved.
Projection kept_levels(Projection asked_for) {
  return asked_for == Projection::none ? Projection::velocity : asked_for;
}

class HalfExplicit final : public Stepper {
 public:
  HalfExplicit(std::shared_ptr<const System> system, const HalfExplicitOptions& options, const SolverOptions& solver,
               const StepOptions& steps)
      : Stepper(steps.chosen()),
        w_(std::move(system), options, solver.linear_algebra),
        options_(steps),
        order_(options.order),
        control_(1.0 / (options.order + 1), 0.04, 0.2, 5),
        ny_(w_.system->ny()),
        n_(ny_ + w_.system->nz()),
        row_(w_.system, kept_levels(options.projection), {}, solver.linear_algebra) {
    for (Node& node : node_) {
      node.x.resize(static_cast<std::size_t>(n_));
      node.rate.resize(static_cast<std::size_t>(n_));
      node.psi.resize(w_.psi.size());
    }
    for (auto* x : {&whole_, &error_}) x->resize(static_cast<std::size_t>(n_));
  }

  StepResult step(State& state, double h) override {
    if (chooses_steps()) return Stepper::step(state, h);
    ++counters_.steps;
    const double t1 = state.t + h;
    w_.psi = state.psi;
    const bool moved =
        w_.map.apply(state.t, h, state.y.data(), state.z.data(), state.psi.data(), w_.y.data(), w_.z.data());
    w_.count(counters_);
    if (!moved) return explain_failure(*w_.system, state, h, "a stage");
    if (!w_.acceleration.compute(t1, w_.y.data(), w_.z.data(), w_.psi.data(), w_.v.data(), w_.a.data()))
      return explain_failure(*w_.system, state, h, "the multipliers at the end of the step");
    state.t = t1;
    state.y = w_.y;
    state.z = w_.z;
    state.psi = w_.psi;
    multipliers_ = w_.psi;
    return {};
  }

  StepResult start(const State& state) override {
    if (!chooses_steps()) return Stepper::start(state);
    Node& begin = node_[2];
    begin.t = state.t;
    std::copy(state.y.begin(), state.y.end(), begin.x.begin());
    std::copy(state.z.begin(), state.z.end(), begin.x.begin() + ny_);
    begin.psi = state.psi;
    if (!rates(begin)) return explain_failure(*w_.system, state, options_.first_step, "the accelerations");
    control_.restart();
    h_ = options_.first_step > 0 ? options_.first_step : guess_step(begin);
    if (options_.max_step > 0) h_ = std::min(h_, options_.max_step);
    return {};
  }

  StepResult advance(State& state, double limit) override {
    if (!chooses_steps()) return Stepper::advance(state, limit);
    const Node& end = node_[2];
    if (state.t != end.t || !std::equal(state.y.begin(), state.y.end(), end.x.begin()) ||
        !std::equal(state.z.begin(), state.z.end(), end.x.begin() + ny_))
      if (const StepResult begun = start(state); !begun) return begun;
    std::swap(node_[0], node_[2]);
    for (double h = h_;;) {
      const bool fitted = state.t + 1.01 * h >= limit;
      if (fitted) h = limit - state.t;
      if (vanishes(state.t, h) && !fitted) {
        std::swap(node_[0], node_[2]);
        return {false, fmt::format("at t = {:g} the error stays above the tolerance however short the step is (h = "
                                   "{:g} was tried); loosen the tolerance, or see what happens at this time",
                                   state.t, h)};
      }
      const double error = attempt(h);
      w_.count(counters_);
      if (error <= 1) {
        ++counters_.steps;
        const double next = control_.accept(h, error);
        h_ = fitted ? std::max(h_, next) : next;
        if (options_.max_step > 0) h_ = std::min(h_, options_.max_step);
        if (fitted) node_[2].t = limit;
        state.t = node_[2].t;
        std::copy_n(node_[2].x.data(), state.y.size(), state.y.data());
        std::copy_n(node_[2].x.data() + ny_, state.z.size(), state.z.data());
        state.psi = node_[2].psi;
        return {};
      }
      ++(std::isfinite(error) ? counters_.rejected : counters_.failed);
      h = h_ = std::isfinite(error) ? control_.reject(h, error) : control_.fail(h);
    }
  }

  // Newton's form with every node twice: 0, 0, 1/2, 1/2, 1, 1
  void interpolate(double t, State& state) const override {
    const double h = node_[2].t - node_[0].t, s = (t - node_[0].t) / h;
    for (int i = 0; i < n_; ++i) {
      const auto at = static_cast<std::size_t>(i);
      std::array<double, 6> d{};
      const std::array<double, 6> place{0, 0, 0.5, 0.5, 1, 1};
      for (std::size_t k = 0; k < 6; ++k) d[k] = node_[k / 2].x[at];
      for (std::size_t level = 1; level < 6; ++level)
        for (std::size_t k = 5; k >= level; --k)
          d[k] = place[k] == place[k - level] ? h * node_[k / 2].rate[at]
                                              : (d[k] - d[k - 1]) / (place[k] - place[k - level]);
      double sum = d[5];
      for (std::size_t k = 5; k-- > 0;) sum = d[k] + (s - place[k]) * sum;
      (i < ny_ ? state.y[at] : state.z[at - static_cast<std::size_t>(ny_)]) = sum;
    }
    state.t = t;
    state.psi = node_[2].psi;
    row_.settle(t, state);
  }

 private:
  struct Node {
    double t = 0;
    std::vector<double> x, rate, psi;
  };

  bool rates(Node& node) {
    return w_.acceleration.compute(node.t, node.x.data(), node.x.data() + ny_, node.psi.data(), node.rate.data(),
                                   node.rate.data() + ny_);
  }
  bool move(const Node& from, double h, double* to) {
    return w_.map.apply(from.t, h, from.x.data(), from.x.data() + ny_, from.psi.data(), to, to + ny_);
  }

  // From node 0 in one step and in two, by the middle to node 2; the error relative to the tolerance.
  double attempt(double h) {
    Node &begin = node_[0], &middle = node_[1], &end = node_[2];
    middle.t = begin.t + h / 2;
    end.t = begin.t + h;
    middle.psi = begin.psi;
    if (!move(begin, h, whole_.data()) || !move(begin, h / 2, middle.x.data()) || !rates(middle)) return INFINITY;
    end.psi = middle.psi;
    if (!move(middle, h / 2, end.x.data()) || !rates(end)) return INFINITY;
    for (std::size_t i = 0; i < error_.size(); ++i) error_[i] = (end.x[i] - whole_[i]) / (std::pow(2.0, order_) - 1);
    const double sum = squared_error(error_.data(), begin.x.data(), end.x.data(), n_, options_.tolerance);
    return std::isfinite(sum) ? std::sqrt(sum / n_) : INFINITY;
  }

  double guess_step(const Node& node) const {
    const double size = squared_error(node.x.data(), node.x.data(), node.x.data(), n_, options_.tolerance);
    const double speed = squared_error(node.rate.data(), node.x.data(), node.x.data(), n_, options_.tolerance);
    return speed <= 1e-10 || size <= 1e-10 ? 1e-4 : 0.01 * std::sqrt(size / speed);
  }

  HalfExplicitWork w_;
  StepOptions options_;
  int order_;
  StepControl control_;
  int ny_, n_;
  double h_ = 0;
  mutable ConsistentRow row_;
  std::array<Node, 3> node_;  // begin, middle and end of the last step
  std::vector<double> whole_, error_;
};

MethodInfo half_explicit_info() {
  return {.name = "half-explicit",
          .summary = "half-explicit Runge-Kutta methods on the index-2 form; velocity constraints at round-off",
          .order = "order",
          .multiplier_order = "order",
          .preserves = {.velocity_level = true},
          .options = {{.name = "order",
                       .meaning = "Euler, HERK3, HEM4 and extrapolated Euler have these",
                       .default_value = "4",
                       .type = OptionType::integer,
                       .values = {1, 3, 4, 5}},
                      projection_option("none")},
          .reference =
              "V. Brasey, E. Hairer, SIAM J. Numer. Anal. 30 (1993) 538-552; C. Lubich, Impact Comput. Sci. "
              "Eng. 3 (1991) 213-234",
          .can = {.chosen_steps = true, .velocity_constraints = true}};
}

}  // namespace

MethodChoice half_explicit(const HalfExplicitOptions& options) {
  MethodChoice choice{half_explicit_info(), options.order, "", {}, options.order};
  check_options(choice.info.options, {{"order", static_cast<double>(options.order)}});
  const char* names[] = {"", "Euler", "", "HERK3", "HEM4", "extrapolated Euler"};
  const char* projections[] = {"", ", positions projected", ", velocities projected", ", projected"};
  choice.description = fmt::format("half-explicit {}, order {}{}", names[options.order], options.order,
                                   projections[static_cast<int>(options.projection)]);
  choice.info.preserves.position_level = projects_position(options.projection);
  choice.info.preserves.velocity_level = options.projection != Projection::position;  // moving positions breaks it
  choice.make = [options](std::shared_ptr<const System> system, const SolverOptions& solver, const StepOptions& steps) {
    return std::make_unique<HalfExplicit>(std::move(system), options, solver, steps);
  };
  return choice;
}

MethodEntry half_explicit_entry() {
  return {half_explicit_info(), [](const GivenOptions& o) {
            return half_explicit({o.integer("order"), o.choice<Projection>("projection")});
          }};
}

}  // namespace hinge
