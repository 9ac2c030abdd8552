// A point of the motion, and the Taylor series about it.
//
// What the equations of the stages <= 0 determine at a point is its foot: positions, velocities, accelerations and
// multipliers of a mechanism, x_j, ..., x_j^(d_j) of a DAE. From there every further stage is linear, with the same
// system Jacobian, factorised once.
#pragma once

#include <memory>
#include <vector>

#include "formulation/project/projection.hpp"
#include "hinge/method.hpp"
#include "method/taylor/series_tape.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// Powers of a time within a series, and their derivatives: sums over all coefficients without a chain of operations.
class SeriesPowers {
 public:
  void resize(int last) {
    power_.assign(static_cast<std::size_t>(last) + 1, 1.0);
    rate_.assign(static_cast<std::size_t>(last) + 1, 0.0);
  }
  void set(double tau) {
    const double square = tau * tau, fourth = square * square;
    double power[4] = {1, tau, square, square * tau};  // four at a time, which wait for one another less
    for (std::size_t m = 0; m < power_.size(); m += 4)
      for (std::size_t k = 0; k < 4 && m + k < power_.size(); ++k) {
        power_[m + k] = power[k];
        if (m + k + 1 < power_.size()) rate_[m + k + 1] = static_cast<double>(m + k + 1) * power[k];
        power[k] *= fourth;
      }
  }
  /// sum_m c_m tau^m for m = 0..last
  double value(const double* c, int last) const { return c[0] + sum(c, power_.data(), last); }
  /// Its derivative by tau.
  double rate(const double* c, int last) const { return sum(c, rate_.data(), last); }

 private:
  // sum_m c_m weight_m for m = 1..last
  static double sum(const double* c, const double* weight, int last);

  std::vector<double> power_, rate_;
};

class SeriesPoint {
 public:
  virtual ~SeriesPoint() = default;
  /// Begins at a consistent state. False where its foot cannot be computed.
  virtual bool begin(const State& state) = 0;
  /// Is this where the last step ended?
  virtual bool continues(const State& state) const = 0;
  /// From the end of the last step on.
  virtual void move_on() = 0;
  /// The series about the point, in units of `scale`. False where the system Jacobian is singular or a value is not
  /// finite.
  bool expand(double scale);
  /// The foot at t0 + h, predicted by the series and put onto the equations. False where that does not succeed.
  virtual bool reach(double h) = 0;
  /// How far the foot was from its prediction, relative to the tolerance: at most about 1 where the series holds.
  virtual double mismatch(const Tolerance& tolerance) const = 0;
  /// Before reach(): the same at a time within the step.
  virtual double mismatch_at(double h, const Tolerance& tolerance) = 0;
  /// After reach(): did the system Jacobian change its sign on the way? Then it was singular, and solutions meet.
  virtual bool passed_singularity() { return false; }
  virtual void end_state(State& state) const = 0;
  /// The solution within the last step; `exactly`: put onto the equations.
  virtual void interpolate(double t, State& state, bool exactly) const = 0;
  /// How fast the numbers move: a length of time.
  virtual double pace() const = 0;

  double time() const { return t0_; }
  long evaluations() const { return evaluations_; }

  /// A number that is controlled, and the order up to which it is known.
  struct Controlled {
    const double* series;
    int last;
  };
  const std::vector<Controlled>& controlled() const { return controlled_; }

 protected:
  /// Loads the foot into the tape and prepares solve().
  virtual bool load() = 0;
  virtual void solve(double* x) = 0;
  void make_tape(const Graph& graph, const SeriesFunctions& functions, int last_stage);

  std::unique_ptr<SeriesTape> tape_;
  std::vector<Controlled> controlled_;
  double t0_ = 0, h_ = 0;
  long evaluations_ = 0;
};

/// Systems of the problem class: lagrangian, hamiltonian, mechanical, odae.
std::unique_ptr<SeriesPoint> mechanical_point(std::shared_ptr<const SymbolicSystem> system, Projection projection,
                                              LinearAlgebra choice, int order);
/// F(t, x, x') = 0 of any index. Throws UnsuitableMethod where the structure does not tell the index.
std::unique_ptr<SeriesPoint> dae_point(std::shared_ptr<const SymbolicSystem> system, LinearAlgebra choice, int order);

}  // namespace hinge
