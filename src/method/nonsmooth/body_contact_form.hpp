// The contact problem of a step between bodies whose velocities the matrix does not couple:
//
//   S = diag(S_b),  one block of 3 (in the plane) or 6 per body; every contact and every joint row has two bodies at
//   most
//
// posed by bodies, so that sweeps work on their velocities and no matrix is made. Nothing is allocated once the largest
// problem has been seen.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "hinge/nonsmooth.hpp"
#include "hinge/system.hpp"

namespace hinge {

class BodyContactForm {
 public:
  /// Null where the system is not made of bodies, or the matrix or a joint ties more of them together.
  static std::unique_ptr<BodyContactForm> of(const System& system, const Pattern& matrix, const Pattern& joints,
                                             const ContactSolving& options);

  /// The blocks of S. False where one is not symmetric and positive definite.
  bool masses(const double* S);
  /// The problem of ContactStep::solve: active contacts, then the rows of the joints.
  const ContactProblem& pose(const ContactList& list, const std::vector<int>& active, const double* right,
                             const double* C, const double* c, const double* w);
  /// z of the bodies' velocities.
  void read_velocities(std::span<const double> bodies, double* v) const;

 private:
  struct Joint {
    int first, rows, a, b;
  };
  BodyContactForm(const Pattern& matrix, const Pattern& joints) : matrix_(matrix), joints_(joints) {}
  bool sort_columns(const System& system);
  bool group_joints();
  static bool invert(Eigen::Map<ContactBodies::Mass> mass, int n);
  void make_room(int contacts, int groups);

  Pattern matrix_, joints_;
  std::vector<int> body_, slot_;  // of a column of z
  std::vector<Joint> groups_;     // up to three joint rows of the same bodies
  std::vector<double> inverse_mass_;
  ContactProblem problem_;
};

}  // namespace hinge
