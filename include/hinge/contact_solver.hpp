// Contacts between bodies, solved step after step by one object that keeps its memory: what a time stepper calls.
//
//   v = v_free + M^-1 H^T r,   u = H v + w         six velocities per body, two bodies per contact at most
//
// with the laws of hinge/contact.hpp for (r, u) of every contact, and u = 0 for bilateral rows. Block Gauss-Seidel
// works on the bodies' velocities; no matrix is formed and, once the largest problem has been seen, nothing is
// allocated. Where sweeps will not reach the tolerance, `auto` takes over (and allocates) if that is wanted.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <Eigen/Core>

#include "hinge/contact.hpp"

namespace hinge {

/// One contact, or up to three bilateral rows (of a joint) that are solved together.
struct BodyContact {
  using Rows = Eigen::Matrix<double, 3, 6, Eigen::RowMajor | Eigen::DontAlign>;

  int a = -1, b = -1;      ///< bodies, -1: the ground; a and b differ, one of them moves
  Rows Ha = Rows::Zero();  ///< u = Ha v_a + Hb v_b + w; rows N, T1, T2, of which the problem's `dimension` count
  Rows Hb = Rows::Zero();
  double w[3] = {};        ///< such as e u_N^- or g/h in the normal row
  double mu = 0;           ///< friction coefficient
  int bilateral_rows = 0;  ///< 0: a contact; 1 to 3: so many rows whose velocity must vanish
  std::uint64_t key = 0;   ///< who touches whom, and where: for warm starts
};

struct BodyContactProblem {
  int dimension = 3;  ///< rows of a contact: 3, 2 in the plane, 1 without friction anywhere
  FrictionModel friction = FrictionModel::coulomb;  ///< or convexified
  /// M^-1 of every body, symmetric and positive semidefinite (zero: a body whose motion is prescribed).
  std::vector<Eigen::Matrix<double, 6, 6>> inverse_mass;
  Eigen::VectorXd v_free;  ///< six per body: velocities at the end of the step without contacts
  std::vector<BodyContact> contacts;

  int bodies() const { return static_cast<int>(inverse_mass.size()); }
  int size() const { return static_cast<int>(contacts.size()); }
};

/// The same problem for `solve_contact` and files: contacts in order, then the bilateral rows in order. H is scaled by
/// the root of M^-1, M is the identity and f zero, so that prescribed bodies need no special treatment.
ContactProblem written_out(const BodyContactProblem& problem);

struct BodyContactReport {
  ContactStatus status = ContactStatus::failed;
  std::string_view message;  ///< what happened, where it did not converge
  ContactResidual residual;  ///< recomputed from the problem and r
  int sweeps = 0;
  long contact_updates = 0;  ///< local problems solved; contacts at rest are passed over
  bool fell_back = false;    ///< `auto` found r
  bool converged() const { return status == ContactStatus::converged; }
};

class ContactSolver {
 public:
  /// tolerance, scaling, iterations (sweeps), seconds, relaxation and threads of the options count; `start` does not.
  /// With `fall_back` sweeps go on only while their rate promises the tolerance, then comes `auto`.
  explicit ContactSolver(const ContactOptions& options = {}, bool fall_back = true);
  ~ContactSolver();
  ContactSolver(ContactSolver&&) noexcept;
  ContactSolver& operator=(ContactSolver&&) noexcept;

  ContactOptions& options();
  void fall_back(bool wanted);

  /// r: three per contact (unused rows zero); on entry the start, which is projected on the cones, on exit the best
  /// found. An r of another size is taken for zero. Throws InputError for a problem that makes no sense.
  BodyContactReport solve(const BodyContactProblem& problem, std::vector<double>& r);

  /// Of the last solve: v of the bodies (six each), u of the contacts (three each).
  std::span<const double> body_velocity() const;
  std::span<const double> contact_velocity() const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

// ---- Warm start ----------------------------------------------------------------------------------------------

/// Reactions of one step, kept for the next.
struct ContactMemory {
  struct Entry {
    std::uint64_t key;
    double normal;           ///< r_N
    double previous_normal;  ///< r_N of the step before, 0 where there was no such contact
    Eigen::Vector3d force;   ///< r in space: N r_N + T1 r_T1 + T2 r_T2
  };
  std::vector<Entry> entries;  ///< sorted by key
  double h = 0;                ///< step size they belong to
};

/// The directions of one contact's rows in space: N, T1, T2.
struct ContactFrame {
  Eigen::Vector3d normal, tangent1, tangent2;
};

/// r to start from: what `memory` has under the same key, turned into the new frame, scaled by h/memory.h and projected
/// on the cone; zero for new contacts, for bilateral rows without a key, and where an impact has just passed (r_N
/// above ten times that of the step before). Keys are expected to be unique. Returns how many were found.
int warm_start(const BodyContactProblem& problem, const std::vector<ContactFrame>& frames, double h,
               const ContactMemory& memory, std::vector<double>& r);
/// Keeps r for the next step.
void remember(const BodyContactProblem& problem, const std::vector<ContactFrame>& frames, double h,
              std::span<const double> r, ContactMemory& memory);

}  // namespace hinge
