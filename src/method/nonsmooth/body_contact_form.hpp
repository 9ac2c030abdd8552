// The contact problem of a step between bodies whose velocities the matrix does not couple:
//
//   S = diag(S_b),  one block of 3 (in the plane) or 6 per body; every contact and every joint row has two bodies at
//   most
//
// written for ContactSolver, which sweeps over the bodies' velocities. Nothing is allocated once the largest problem
// has been seen.
#pragma once

#include <memory>
#include <vector>

#include "hinge/contact_solver.hpp"
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
  /// As ContactStep::solve; `r` (rows of the contacts, then of the joints) is the start and becomes the solution.
  /// Where sweeps do not reach the tolerance comes `auto`. Tolerance 0: 1e-6; with more than 1000 contacts 1e-4, by
  /// sweeps alone.
  BodyContactReport solve(const ContactList& list, const std::vector<int>& active, const double* right, const double* C,
                          const double* c, const double* w, double tolerance, std::vector<double>& r, double* v);

 private:
  struct Joint {
    int first, rows, a, b;
  };
  BodyContactForm(int bodies, const Pattern& matrix, const Pattern& joints, const ContactSolving& options);

  int bodies_;
  bool automatic_;
  Pattern matrix_, joints_;
  std::vector<int> body_, slot_;  // of a column of z
  std::vector<Joint> groups_;     // up to three joint rows of the same bodies
  BodyContactProblem problem_;
  ContactSolver solver_;
  std::vector<double> r_;
};

}  // namespace hinge
