// A kick by the force and by unknown multipliers, a drift, and the position level at its end, for separable systems:
//
//   p(Z) = p(z0) + w (f(t0, y0) + r_psi(t0, y0) L)
//   y1   = y0 + (h/2) (v(t0, Z) + v(t1, Z)),         0 = g(t1, y1)      for L
//
// Newton's matrix is h w S with S = g_y v_z (y1) p_z^-1 r_psi (y0); its factors are kept for as long as they serve. A
// few constraints take less time than an increment does: then every step makes its own, and begins with two increments.
// RATTLE starts a step with it (w = h/2), SHAKE is made of nothing else (w = h/2 at the start, then w = h).
#pragma once

#include <memory>
#include <vector>

#include "hinge/method.hpp"
#include "method/symplectic/kick_code.hpp"
#include "solve/linear/saddle_point.hpp"
#include "solve/newton/convergence.hpp"

namespace hinge {

/// Can it be done? The mass matrix p_z must be constant and fall apart into small blocks.
bool has_small_constant_mass(const System& system);
/// Throws UnsuitableMethod where a constant mass matrix of small blocks is singular.
void require_regular_mass(const System& system, const char* method);

class KickDrift {
 public:
  struct From {
    double t;
    const double *y, *z;
  };

  KickDrift(const System& system, const SolverOptions& options, Counters& counters);

  /// The matrix and what was learnt of rounding are of no use any more.
  void forget() {
    small_.forget();
    newton_.forget();
  }
  /// Evaluates f, r_psi and v at the beginning of a first step.
  void begin(const State& state);
  /// Takes f and r_psi from a pass that has them: where the next kick happens.
  void take_forces(const double* force, const double* reaction_psi);

  /// Sets what round-off is in a step of h from here. `psi` is a guess. False when there is no matrix to be had.
  bool prepare(const From& from, double h, const double* psi);
  /// psi: a guess in, the solution out.
  bool solve(const From& from, double weight, double h, double* psi, double* z, double* y1);
  /// How the last solution went.
  const Convergence& newton() const { return newton_; }

  // What the velocity level of RATTLE shares with this.

  /// to = from + p_z^-1 w (f + r_psi psi)
  void kick(const double* force, const double* reaction_psi, const double* psi, double weight, const double* from,
            double* to);
  /// z += dz with dz = p_z^-1 w r_psi dpsi, and y += h dz where v = z and y is not null; returns |v_z dz|.
  double kick_by_increment(const double* reaction_psi, const double* dpsi, double weight, double h, double* z,
                           double* y);
  double unit_velocity() const { return unit_v_; }
  /// From rest nothing says how fast things are: until the next step the unit is that of the velocity of Z, and of what
  /// a force does in that time.
  void raise_unit_velocity(const double* force, double time);
  /// Increments by machine code; null where there is none.
  KickCode* code() const { return code_.get(); }
  /// With A^-1, after prepare().
  const SchurComplement& small() const { return small_; }
  /// Is a matrix cheaper than the increments that it saves?
  bool renews_always() const { return m_ > 0 && m_ <= SchurComplement::largest_inverse; }
  bool velocity_is_z() const { return velocity_is_z_; }

 private:
  using Q = Quantity;
  bool renew_small(double t1, const double* y1, const double* z, const double* psi);
  double velocity_size(const double* dz);
  double begin_increments(const From& from, double weight, double h, double* psi, double* z, double* y1);
  double improve(const From& from, double weight, double h, double* psi, double* z, double* y1);
  void drift(const From& from, double weight, double h, const double* psi, double* z, double* y1);

  const System& system_;
  int ny_, nz_, m_;
  Counters& counters_;
  std::unique_ptr<Evaluation> start_, velocity_, position_, reference_;
  SchurComplement small_;
  std::vector<double> f_, rpsi_, v_, increment_, kick_, change_, velocity_z_, velocity_change_;
  double unit_y_ = 0, unit_v_ = 0;
  Convergence newton_;
  bool velocity_is_z_;
  std::unique_ptr<KickCode> code_;
  int code_in_ = 16;  // steps until it is made: what it takes is worth some of them
};

}  // namespace hinge
