// Contact problems of one time step: one problem type, one residual, many solvers.
//
//   u = W r + q,   W symmetric positive semidefinite (a plain LCP may have any W)
//
// r holds the reactions, u the relative velocities, contact after contact, each with its rows (N, T1, T2); bilateral
// rows follow at the end. Every contact demands, with its friction coefficient mu,
//
//   K_mu contains r  _|_  u + mu |u_T| n in K_mu*     coulomb: exact friction with De Saxce's term
//   K_mu contains r  _|_  u in K_mu*                  convexified (Anitescu, Tasora): no such term, a convex problem
//   the same with a pyramid of `facets` edges in place of the cone                          polyhedral
//
// where K_mu = {|r_T| <= mu r_N}, and every bilateral row demands u = 0. One row per contact (dimension 1) is the
// linear complementarity problem 0 <= r _|_ W r + q >= 0.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <Eigen/Core>
#include <Eigen/SparseCore>

#include "hinge/error.hpp"

namespace hinge {

using SparseRows = Eigen::SparseMatrix<double, Eigen::RowMajor>;

enum class FrictionModel { coulomb, convexified, polyhedral };

/// Contacts between bodies of six velocities, in flat arrays; of one contact, or of the bilateral rows of a joint that
/// are solved together, we speak as a block. Blocks are in the order of r: the contacts, then those of bilateral rows.
///
///   v = v_free + M^-1 H^T r,   u = H v + w
struct ContactBodies {
  std::vector<double> inverse_mass;  ///< 36 per body: symmetric, positive semidefinite (zero: its motion is prescribed)
  std::vector<double> v_free;        ///< 6 per body: velocities without contacts
  std::vector<int> pair;             ///< 2 per block: bodies, -1: the ground; they differ
  std::vector<int> bilateral_rows;   ///< 1 to 3, of each block behind the contacts
  std::vector<double> H;             ///< 36 per block: 3 x 6 of the first body (rows N, T1, T2), then of the second
  std::vector<double> w;             ///< 3 per block

  using Rows = Eigen::Matrix<double, 3, 6, Eigen::RowMajor>;
  using Mass = Eigen::Matrix<double, 6, 6>;
  int count() const { return static_cast<int>(v_free.size() / 6); }
  int blocks() const { return static_cast<int>(pair.size() / 2); }
  int body(int block, int side) const { return pair[static_cast<std::size_t>(2 * block + side)]; }
  Eigen::Map<Rows> rows(int block, int side) { return Eigen::Map<Rows>(H.data() + 36 * block + 18 * side); }
  Eigen::Map<const Rows> rows(int block, int side) const {
    return Eigen::Map<const Rows>(H.data() + 36 * block + 18 * side);
  }
  Eigen::Map<Mass> inverse(int body) { return Eigen::Map<Mass>(inverse_mass.data() + 36 * body); }
  Eigen::Map<const Mass> inverse(int body) const { return Eigen::Map<const Mass>(inverse_mass.data() + 36 * body); }
  /// Room for so many, all zero; the memory of larger ones is kept.
  void resize(int bodies, int blocks, int bilateral_blocks);
};

struct ContactProblem {
  std::string title;
  int dimension = 3;       ///< rows per contact: 3, 2, or 1 without friction
  int bilateral = 0;       ///< rows after those of the contacts, whose velocity must vanish
  std::vector<double> mu;  ///< one per contact; zeros in dimension 1
  FrictionModel friction = FrictionModel::coulomb;
  int facets = 8;  ///< edges of the polyhedral cone in 3D: even, at least 4

  // Either the Delassus matrix itself: u = W r + q ...
  SparseRows W;
  Eigen::VectorXd q;
  // ... or what it is made of, never multiplied out unless a solver has to: M v = f + H^T r, u = H v + w, so that
  // W = H M^-1 H^T and q = H M^-1 f + w. M is symmetric, positive definite and block-diagonal, in blocks of any size
  // ...
  SparseRows H, M;
  Eigen::VectorXd f, w;
  // ... or the same by bodies.
  ContactBodies bodies;

  bool by_bodies() const { return bodies.count() > 0; }
  bool matrix_free() const { return H.rows() > 0 || by_bodies(); }
  int contacts() const { return static_cast<int>(mu.size()); }
  int contact_rows() const { return contacts() * dimension; }
  int rows() const { return contact_rows() + bilateral; }
  double mu_of(int contact) const { return mu[static_cast<std::size_t>(contact)]; }
  bool frictionless() const;
};

/// w = M z + q, 0 <= z _|_ w >= 0.
ContactProblem linear_complementarity(const Eigen::MatrixXd& M, const Eigen::VectorXd& q);
ContactProblem linear_complementarity(const SparseRows& M, const Eigen::VectorXd& q);
/// Friction with W given; the number of contacts is that of mu.
ContactProblem frictional_contact(int dimension, const SparseRows& W, const Eigen::VectorXd& q,
                                  const Eigen::VectorXd& mu);
/// Friction with W = H M^-1 H^T; H has one row per row of r.
ContactProblem frictional_contact(int dimension, const SparseRows& M, const SparseRows& H, const Eigen::VectorXd& f,
                                  const Eigen::VectorXd& w, const Eigen::VectorXd& mu);

/// Contacts between bodies as a problem with H and M: H is scaled by the root of M^-1, M is the identity and f zero.
ContactProblem written_out(const ContactProblem& bodies);

/// Throws InputError where sizes do not fit, entries are not finite, mu is negative, a mass vanishes, ...
void validate(const ContactProblem& problem);

/// u = W r + q, straight from the problem's own matrices.
Eigen::VectorXd contact_velocity(const ContactProblem& problem, const Eigen::VectorXd& r);
/// v = M^-1 (f + H^T r) of a problem that has a mass.
Eigen::VectorXd body_velocity(const ContactProblem& problem, const Eigen::VectorXd& r);

// ---- The residual --------------------------------------------------------------------------------------------

/// Which number is compared with the tolerance. They differ by orders of magnitude.
enum class ResidualScaling {
  ours,  ///< largest |F_i|/rho_i over the contacts, rho_i = d/trace(W_ii), relative to the largest |q|: velocities;
         ///< with what rounding may hide. LCPs with a smaller diagonal than semidefinite ones: docs/theory/contact.md
  siconos,   ///< |F|_2 with rho = 1, relative to the largest of |q|, |r|, |u|
  fclib,     ///< |F|_2 with rho = 1, over 1 + sqrt(|q|); bilateral rows apart, over 1 + |s|
  absolute,  ///< |F|_2 with rho = 1
};

/// Natural map F_i = r_i - P_K(r_i - rho_i (u_i + mu_i |u_Ti| n)) of one r, by the scalings above; and how much each
/// law is violated.
struct ContactResidual {
  double ours = 0, siconos = 0, fclib = 0, absolute = 0;
  double penetration = 0;  ///< largest max(0, -u_N); of convexified friction max(0, mu |u_T| - u_N), its dual cone
  double cone = 0;         ///< largest max(0, |r_T| - mu r_N)
  double signorini = 0;    ///< largest |r_N u_N| (convexified: |r.u|)
  double dissipation = 0;  ///< largest |r_T.u_T + mu r_N |u_T|| (0 where the friction is not exact)
  double bilateral = 0;    ///< largest |u| of a bilateral row
  double noise = 0;        ///< what rounding may hide in u: eps times the largest sum_j |W_ij| |r_j|; part of `ours`
  double velocity = 0;     ///< (the larger of penetration and bilateral + noise) relative to the largest |q|
  double by(ResidualScaling scaling) const;
  /// What solvers are judged by: `by`, with the noise where that number does not have it; and by `siconos`, which is
  /// small for every r that is large enough, at least sqrt(tolerance) times `velocity`, so that problems without a
  /// solution are not called solved.
  double judged(ResidualScaling scaling, double tolerance) const;
};

/// Computed from the problem and r alone; no solver has a hand in it.
ContactResidual contact_residual(const ContactProblem& problem, const Eigen::VectorXd& r);

// ---- Solvers -------------------------------------------------------------------------------------------------

struct ContactOptions {
  double tolerance = 1e-8;  ///< of the residual, by
  ResidualScaling scaling = ResidualScaling::ours;
  int iterations = 0;     ///< at most; 0 leaves it to the solver
  double seconds = 0;     ///< give up after; 0 never
  double relaxation = 1;  ///< of projected Gauss-Seidel and Jacobi, block Gauss-Seidel; in (0, 2)
  int threads = 1;        ///< results do not depend on it, bit for bit
  Eigen::VectorXd start;  ///< warm start for r; empty is zero. For solve_contact
  /// One problem of many, step after step, for `auto`: up to 200 rows of W are solved to what rounding leaves, which
  /// may be more than the tolerance, and what is slow gets less time.
  bool stepping = false;
  bool polish = false;  ///< when stepping, up to 200 rows: Newton's iteration on top, to rounding
  /// Where several r solve the problem, the one of least sum_i trace(W_ii)/d |r_i|^2 among those with the velocities
  /// found, whoever found them. Round cones and LCPs without bilateral rows; docs/theory/contact.md.
  bool least_norm = false;
  /// With least_norm: the start is the solution of nearly the same problem. Where contacts slide so that the laws allow
  /// several motions, that one goes on, and none is chosen anew.
  bool same_motion = false;
  double sweeps = 0;  ///< what `auto` may do at most, in sweeps over all contacts, factorisations included; 0: no limit
  void validate() const;
};

enum class ContactStatus {
  converged,        ///< the residual as judged, recomputed from the problem, is at or below the tolerance
  iteration_limit,  ///< r is the best found
  stalled,          ///< no progress any more; r is the best found
  failed,           ///< the solver's own reason is in the message; r is the best found
};

/// What came of a solution.
struct ContactReport {
  std::string_view solver;  ///< that found r; behind `auto` the one it chose
  ContactStatus status = ContactStatus::failed;
  ContactResidual residual;  ///< recomputed from the problem and r
  int iterations = 0;
  int factorisations = 0;
  long contact_updates = 0;  ///< local problems solved by block Gauss-Seidel; contacts at rest are passed over
  double work = 0;           ///< all that was done, in contact updates between bodies (some 150 operations)
  bool not_unique = false;   ///< with least_norm: other r solve the problem as well
  bool converged() const { return status == ContactStatus::converged; }
};

struct ContactResult : ContactReport {
  std::string message;  ///< what happened, where it did not converge
  Eigen::VectorXd r, u;
  double seconds = 0;  ///< wall clock, preparation included
  struct Point {
    int iteration;
    double residual;  ///< by the scaling asked for
    double seconds;
  };
  std::vector<Point> history;
};

struct ContactSolverInfo {
  std::string name, what, solves, reference;
};

/// Every solver; `auto` first.
std::vector<ContactSolverInfo> contact_solvers();

/// Solves. Throws InputError for a problem or options that make no sense and for an unknown solver; UnsuitableMethod
/// where the solver cannot treat such problems. That it did not converge is no exception: look at the status.
ContactResult solve_contact(const ContactProblem& problem, const std::string& solver = "auto",
                            const ContactOptions& options = {});
/// Why `solver` refuses such problems; empty where it does not.
std::string refusal(const ContactProblem& problem, std::string_view solver);

/// The same, problem after problem: it keeps its memory. Of contacts between bodies, sweeps allocate nothing once the
/// largest problem has been seen.
class ContactSolver {
 public:
  explicit ContactSolver(std::string_view solver = "auto", const ContactOptions& options = {});
  ~ContactSolver();
  ContactSolver(ContactSolver&&) noexcept;
  ContactSolver& operator=(ContactSolver&&) noexcept;

  /// For the next problems.
  void choose(std::string_view solver);
  ContactOptions& options();
  /// r on entry is the start, which is projected on the cones (one of another size is taken for zero), on exit the best
  /// found. Throws as solve_contact.
  ContactReport solve(const ContactProblem& problem, std::vector<double>& r);

  // Of the last solve.
  std::span<const double> contact_velocity() const;  ///< u
  std::span<const double> body_velocity() const;     ///< v, of a problem that has M
  std::string message() const;                       ///< what happened, where it did not converge
  const std::vector<ContactResult::Point>& history() const;
  double seconds() const;  ///< since it began

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

// ---- Files ---------------------------------------------------------------------------------------------------

struct ContactFile {
  ContactProblem problem;
  Eigen::VectorXd solution;  ///< r of the file's solution group; empty where there is none
  Eigen::VectorXd guess;     ///< r of its first guess
  std::string description;
  std::string remarks;  ///< what the file has that was passed over, such as a solution of the wrong size
};

/// Reads FCLIB's HDF5 layout: groups fclib_local or fclib_global, or a group lcp. Throws InputError.
ContactFile read_contact_file(const std::string& path);
/// Writes the problem in the same layout and, where r is not empty, r and u as its solution. Throws OutputError.
void write_contact_file(const std::string& path, const ContactProblem& problem, const Eigen::VectorXd& r = {},
                        const std::string& description = {});

}  // namespace hinge
