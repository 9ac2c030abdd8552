// One shape for every formulation:  F(t, x, x') = 0, as BDF and Radau methods take it.
//
// What an integrator must know beyond F is here too: the index of each unknown, which unknowns an error test may look
// at, and powers of h that make the iteration matrix  F_x + c F_x'  well conditioned for every h.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <memory>
#include <vector>

#include "hinge/formulation.hpp"
#include "hinge/solve.hpp"
#include "hinge/system.hpp"

namespace hinge {

class ImplicitProblem {
 public:
  struct Unknown {
    int index = 1;          ///< nu: a defect enters this unknown with nu - 1 derivatives
    bool tested = true;     ///< error and order tests look at it
    int scale = 0;          ///< the matrix is well conditioned in h^scale x
    bool vanishes = false;  ///< zero on every solution, so that continuing earlier values is no guess
  };

  virtual ~ImplicitProblem() = default;
  int size() const { return static_cast<int>(unknowns_.size()); }
  const std::vector<Unknown>& unknowns() const { return unknowns_; }
  /// Row i of the matrix is well scaled when it is multiplied with h^row_scale()[i].
  const std::vector<int>& row_scale() const { return row_scale_; }
  /// Where F_x or F_x' have entries.
  const Pattern& pattern() const { return pattern_; }

  virtual void residual(double t, const double* x, const double* rate, double* out) = 0;
  /// The same at several points, one after the other in each array.
  virtual void residuals(int count, const double* t, const double* x, const double* rate, double* out) {
    for (int i = 0; i < count; ++i) {
      const std::ptrdiff_t at = static_cast<std::ptrdiff_t>(i) * size();
      residual(t[i], x + at, rate + at, out + at);
    }
  }
  /// Values of F_x and F_x', both in the order of pattern().
  virtual void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) = 0;
  /// out[i] += what rounding within F_i may come to, as far as that is known: constants that cancel are in it.
  virtual void add_rounding(double /*t*/, const double* /*x*/, const double* /*rate*/, double* /*out*/) {}
  /// True when F_x' is known not to change.
  virtual bool rate_matrix_is_constant() const { return false; }

  /// Sizes of y, z and psi where the equations are those of projected invariants with unknowns y, z, psi, mu, tau and
  /// rows P, D, A, V, C in this order; zeros elsewhere.
  struct Shape {
    int y = 0, z = 0, psi = 0;
  };
  virtual Shape projected_invariants() const { return {}; }

  /// x and x' of a consistent state. False where the accelerations cannot be computed.
  virtual bool from_state(const State& state, double* x, double* rate) = 0;
  /// The state of x; x' matters only where the state has derivatives. psi is the formulation's own approximation.
  virtual void to_state(double t, const double* x, const double* rate, State& state) const = 0;
  /// The same where it is shown. Of a DAE what its equations and their derivatives determine is solved for: unknowns of
  /// higher index, of which a method knows less than of the others, algebraic ones between steps, and x'.
  virtual void show(double t, const double* x, const double* rate, State& state) { to_state(t, x, rate, state); }

  /// Positions and velocities of a state, in the place of those of x.
  virtual void set_motion(double /*t*/, const State& state, double* x) const {
    std::copy(state.y.begin(), state.y.end(), x);
    std::copy(state.z.begin(), state.z.end(), x + state.y.size());
  }

  /// How large each unknown is, for an error that is relative to it: of a vector in space, the vector.
  virtual void sizes(const double* x, double* out) const {
    for (int k = 0; k < size(); ++k) out[k] = std::abs(x[k]);
  }

  /// Coordinates that move along (moving_problem.hpp): do they, at present?
  virtual bool moves() const { return false; }
  /// From here on they rest: x is that of a state. Then F may have changed, and its pattern.
  virtual void stand_still(double /*t*/) {}
  /// Chooses how they move on from a point of the motion; false where they rest, and will.
  virtual bool aim(double /*t*/, const double* /*x*/, const double* /*rate*/) { return false; }
  /// x, and x' where it is not null, from the present coordinates to those that aim() has chosen.
  virtual void carry(double /*t*/, double* /*x*/, double* /*rate*/) {}
  /// To those that aim() has chosen: F and the meaning of x change, and where moves() does, the pattern.
  virtual void go() {}

  /// To be called after every accepted step: coordinates may be chosen anew. Then F has changed (not the meaning of x),
  /// and `pattern` says that its pattern has, too.
  enum class Change { none, values, pattern };
  virtual Change accepted(double /*t*/, const double* /*x*/) { return Change::none; }

 protected:
  std::vector<Unknown> unknowns_;
  std::vector<int> row_scale_;
  Pattern pattern_;
};

/// How "extended" brings z onto the velocity level: with r_psi tau in the place of r, as it was published, or with
/// z' + C^T tau in the place of z'. Both agree where the mass is 1. The former takes tau in units of the mass into the
/// equation of y', so that positions lose what z gains where these units are small.
enum class Correction { as_published, free_of_mass };

/// The system in a formulation. Throws UnsuitableMethod where the two do not fit. coordinate_partitioning chooses
/// independent coordinates anew when the determinant of the dependent columns of G is less than `keep_partition` times
/// what the best choice would have; never, where that is 0.
std::unique_ptr<ImplicitProblem> formulate(std::shared_ptr<const System> system, const FormulationOptions& options,
                                           double keep_partition = 0.5,
                                           Correction correction = Correction::as_published);
/// The same; that of bodies in space in coordinates that move along, where there are such for the formulation.
std::unique_ptr<ImplicitProblem> formulate_moving(std::shared_ptr<const System> system,
                                                  const FormulationOptions& options, double keep_partition,
                                                  Correction correction);

}  // namespace hinge
