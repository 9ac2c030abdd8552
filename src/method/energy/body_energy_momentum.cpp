// Steps of bodies in space that keep the energy, the momenta and the joints to round-off: equations in
// formulation/body_energy_step.hpp.
//
// Order 2 in y and z; the multiplier is that of the middle of the step, of order 2 there and 1 at the end. Symmetric.
// Preserved: energy, but for the work of forces without potential, which act as they are in the middle of a step;
// linear and angular momentum, where the system keeps them; joints on the level of positions. Not preserved: the
// velocity level of joints, which is met up to O(h^2), and symplecticity. With projection = "velocity" that level is
// met to round-off, and projections take a little of the energy.
#include "method/energy/body_energy_momentum.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "body/body_table.hpp"
#include "formulation/body_energy_step.hpp"
#include "formulation/project/projection.hpp"
#include "hinge/error.hpp"
#include "method/step_failure.hpp"
#include "solve/index.hpp"
#include "solve/linear/linear.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

class BodyEnergyMomentum final : public Stepper {
 public:
  BodyEnergyMomentum(std::shared_ptr<const System> system, bool project, const SolverOptions& solver)
      : system_(std::move(system)), step_(body_energy_step(*system_, "energy-momentum")) {
    if (project && step_.constraints > 0) projection_.emplace(system_, Projection::velocity, solver.linear_algebra);
    newton_ = Convergence(solver.max_iterations, newton_policy::full_discrete_gradient);
    solver_ = make_linear_solver(step_.pattern, solver.linear_algebra);
    scratch_ = step_.residual_and_matrix->make_scratch();
    values_.resize(step_.residual_and_matrix->output_count());
    if (step_.work) scratch_of_work_ = step_.work->make_scratch();
    before_.resize(at(system_->ny()));
    xi_.resize(at(BodyEnergyStep::numbers * step_.bodies) + step_.turns.size());
    x_.resize(at(step_.unknowns));
  }

  StepResult step(State& state, double h) override {
    ++counters_.steps;
    axes_of(state.y.data());
    std::copy(state.z.begin(), state.z.end(), x_.begin());
    for (int i = 0; i < step_.constraints; ++i) x_[state.z.size() + at(i)] = h * state.psi[at(i)];
    if (!solve(state, h)) return explain_failure(*system_, state, h, "the step", newton_);
    const double work = work_of(state, h);
    before_ = state.y;
    move(state, h);
    count_turns(state.y);
    std::vector<double>& psi = multipliers_;
    psi.resize(state.psi.size());
    for (int i = 0; i < step_.constraints; ++i) psi[at(i)] = x_[state.z.size() + at(i)] / h;
    if (projection_ && !projection_->project(state.t + h, state.y.data(), x_.data(), psi.data())) {
      state.y = before_;
      return explain_failure(*system_, state, h, "the projection of the velocity", newton_);
    }
    state.t += h;
    std::copy_n(x_.begin(), state.z.size(), state.z.begin());
    state.psi = psi;
    work_ += work;
    return {};
  }

  const char* discrete_energy_name() const override {
    return step_.work && !projection_ ? "H - work of forces" : nullptr;
  }
  double discrete_energy(double energy, const double*) const override { return energy - work_; }
  double summed_work() const override { return work_; }
  void set_summed_work(double work) override { work_ = work; }

 private:
  double work_of(const State& state, double h) {
    if (!step_.work) return 0;
    const double* const inputs[] = {&h, &state.t, state.y.data(), xi_.data(), state.z.data(), x_.data()};
    double work = 0;
    step_.work->evaluate(inputs, scratch_of_work_.data(), &work);
    return work;
  }

  void axes_of(const double* y) {
    for (int b = 0; b < step_.bodies; ++b) {
      const BodyPlace& place = step_.places[at(b)];
      const double* q = y + place.rotation;
      double* xi = xi_.data() + BodyEnergyStep::numbers * b;
      const Eigen::Matrix3d r = Eigen::Quaterniond(q[0], q[1], q[2], q[3]).normalized().toRotationMatrix();
      std::copy_n(y + place.x, 3, xi);
      std::copy_n(r.data(), 9, xi + 3);  // column by column
    }
    for (std::size_t k = 0; k < step_.turns.size(); ++k)
      xi_[at(BodyEnergyStep::numbers * step_.bodies) + k] = y[step_.turns[k]];
  }

  bool solve(const State& state, double h) {
    constexpr double epsilon = std::numeric_limits<double>::epsilon();
    const int nz = 6 * step_.bodies;
    return solved_by_newton(Booked(newton_, counters_), [&]() -> Increment {
      ++counters_.iterations;
      ++counters_.evaluations;
      ++counters_.factorisations;
      const double* const inputs[] = {&h, &state.t, state.y.data(), xi_.data(), state.z.data(), x_.data()};
      step_.residual_and_matrix->evaluate(inputs, scratch_.data(), values_.data());
      double* residual = values_.data();
      if (!all_finite(values_)) return std::numeric_limits<double>::quiet_NaN();
      if (!solver_->factor(residual + step_.unknowns)) return no_increment;
      solver_->solve(residual);
      for (std::size_t i = 0; i < x_.size(); ++i) x_[i] -= residual[i];
      newton_.matrix_renewed();
      const double z = biggest(x_.data(), nz) + biggest(state.z.data(), nz) +
                       biggest(xi_.data(), BodyEnergyStep::numbers * step_.bodies) / std::abs(h);
      const double unit = rounding_growth(step_.constraints) * epsilon;
      double size = biggest(residual, nz) / (unit * z);
      for (int k = nz; k < nz + step_.states; ++k)
        size = larger(size, std::abs(residual[k]) / (unit * size_of_state(state, k, z)));
      return size;
    });
  }

  // Of what [states] k is made of, in its own unit: what bodies and joints hand on to it is as uncertain as they are.
  double size_of_state(const State& state, int k, double z) const {
    double sum = std::abs(x_[at(k)]) + std::abs(state.z[at(k)]) + 1e-200;
    const double* const entries = values_.data() + step_.unknowns;
    for (int i = step_.pattern.row_start[at(k)]; i < step_.pattern.row_start[at(k) + 1]; ++i) {
      const int from = step_.pattern.column[at(i)];
      if (from == k) continue;
      sum += std::abs(entries[i]) * (from < 6 * step_.bodies ? z : std::abs(x_[at(from)]));
    }
    return sum;
  }

  void move(State& state, double h) const {
    for (int b = 0; b < step_.bodies; ++b) {
      const BodyPlace& place = step_.places[at(b)];
      double turn[3];
      for (int k = 0; k < 3; ++k) {
        state.y[at(place.x + k)] += h / 2 * (state.z[at(place.v + k)] + x_[at(place.v + k)]);
        turn[k] = h / 4 * (state.z[at(place.spin + k)] + x_[at(place.spin + k)]);
      }
      double* q = state.y.data() + place.rotation;
      const Eigen::Quaterniond moved =
          (Eigen::Quaterniond(q[0], q[1], q[2], q[3]) * Eigen::Quaterniond(1, turn[0], turn[1], turn[2])).normalized();
      q[0] = moved.w(), q[1] = moved.x(), q[2] = moved.y(), q[3] = moved.z();
    }
    const std::size_t z = state.z.size(), y = state.y.size();
    for (std::size_t k = 1; k <= at(step_.states); ++k) state.y[y - k] += h / 2 * (state.z[z - k] + x_[z - k]);
  }

  // The angle by which b has turned against a about the axis, from before_ to y.
  void count_turns(std::vector<double>& y) const {
    const BodyTable& table = *bodies_of(*system_);
    const auto relative = [&](const std::vector<double>& of, const BodyTurn& turn) {
      const auto rotation = [&](int body) {
        return body < 0 ? Eigen::Quaterniond::Identity() : table.pose(of.data(), at(body)).rotation;
      };
      return Eigen::Quaterniond(rotation(turn.a).conjugate() * rotation(turn.b));
    };
    for (const BodyTurn& turn : table.counted) {
      const Eigen::Quaterniond change = relative(y, turn) * relative(before_, turn).conjugate();
      const double sign = change.w() < 0 ? -1 : 1;
      y[at(turn.y)] = before_[at(turn.y)] + 2 * std::atan2(sign * change.vec().dot(turn.axis), sign * change.w());
    }
  }

  std::shared_ptr<const System> system_;
  BodyEnergyStep step_;
  std::unique_ptr<LinearSolver> solver_;
  std::optional<ConstraintProjection> projection_;
  std::vector<double> scratch_, scratch_of_work_, values_, xi_, x_, before_;
  double work_ = 0;  // of what has no potential
  Convergence newton_{0};
};

}  // namespace

bool turns_in_space(const System& system) {
  const BodyTable* bodies = bodies_of(system);
  return bodies && bodies->dimension == 3;
}

std::unique_ptr<Stepper> make_body_energy_momentum(std::shared_ptr<const System> system,
                                                   const EnergyMomentumOptions& options, const SolverOptions& solver) {
  if (options.constraints != ConstraintTreatment::multiplier)
    throw OptionError("constraints", "bodies in space take constraints = \"multiplier\"");
  if (options.general) throw OptionError("derivative", "bodies in space take derivative = \"equivariant\"");
  return std::make_unique<BodyEnergyMomentum>(std::move(system), options.project_velocity, solver);
}

}  // namespace hinge
