// Random contacts between bodies, as a time stepper has them.
#pragma once

#include <Eigen/Dense>

#include "hinge/contact_solver.hpp"
#include "solve/contact/random_problems.hpp"

namespace hinge::testing {

struct BodyPileKind {
  int dimension = 3, bodies = 5, contacts = 8, joints = 0;
  double mu = 0.4;
  bool prescribed = false;  ///< the last body moves as it likes: no inverse mass
};

/// Bodies fall on the ground and on each other; normals share an upward part, so there is a solution.
inline BodyContactProblem body_pile(std::uint64_t seed, const BodyPileKind& kind) {
  SplitMix64 random(seed);
  BodyContactProblem p;
  p.dimension = kind.dimension;
  const int nb = kind.bodies;
  for (int b = 0; b < nb; ++b) {
    const Eigen::MatrixXd R = random.matrix(6, 6);
    p.inverse_mass.push_back(Eigen::MatrixXd(Eigen::MatrixXd::Identity(6, 6) + 0.2 * R * R.transpose()));
  }
  if (kind.prescribed && nb > 1) p.inverse_mass.back().setZero();
  p.v_free.resize(6 * nb);
  for (double& x : p.v_free) x = random.s();
  for (int b = 0; b < nb; ++b) p.v_free[6 * b] -= 1;
  const int movable = kind.prescribed && nb > 1 ? nb - 1 : nb;
  for (int i = 0; i < kind.contacts + kind.joints; ++i) {
    BodyContact c;
    const bool joint = i >= kind.contacts;
    c.a = i % movable;
    c.b = i < nb && !joint ? -1 : static_cast<int>(random.next() % static_cast<unsigned>(nb));
    if (c.b == c.a) c.b = -1;
    c.Ha = random.matrix(3, 6);
    c.Ha(0, 0) = 3;
    if (c.b >= 0) {
      c.Hb = random.matrix(3, 6);
      c.Hb(0, 0) = -1;
    }
    c.mu = kind.mu * random.u();
    c.key = static_cast<std::uint64_t>(i);
    if (joint) {  // leaves the common way up free
      c.bilateral_rows = 1 + i % 3;
      const bool fixed = c.b < 0 || c.b >= movable;
      c.Ha.col(0).setConstant(fixed ? 0 : 1);
      c.Hb.col(0) = -c.Ha.col(0);
    }
    if (i % 3 == 0 && c.b < 0 && c.a > 0) {  // the ground first, the body second
      std::swap(c.a, c.b);
      std::swap(c.Ha, c.Hb);
    }
    p.contacts.push_back(c);
  }
  return p;
}

}  // namespace hinge::testing
