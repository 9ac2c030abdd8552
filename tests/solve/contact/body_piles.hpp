// Random contacts between bodies, as a time stepper has them.
#pragma once

#include <Eigen/Dense>

#include "hinge/contact.hpp"
#include "solve/contact/random_problems.hpp"

namespace hinge::trial {

struct BodyPileKind {
  int dimension = 3, bodies = 5, contacts = 8, joints = 0;
  double mu = 0.4;
  bool prescribed = false;  ///< the last body moves as it likes: no inverse mass
};

/// Bodies fall on the ground and on each other; normals share an upward part, so there is a solution.
inline ContactProblem body_pile(std::uint64_t seed, const BodyPileKind& kind) {
  SplitMix64 random(seed);
  ContactProblem p;
  p.dimension = kind.dimension;
  const int nb = kind.bodies;
  ContactBodies& b = p.bodies;
  b.resize(nb, kind.contacts + kind.joints, kind.joints);
  for (int k = 0; k < nb; ++k) {
    const Eigen::MatrixXd R = random.matrix(6, 6);
    b.inverse(k) = Eigen::MatrixXd::Identity(6, 6) + 0.2 * R * R.transpose();
  }
  if (kind.prescribed && nb > 1) b.inverse(nb - 1).setZero();
  for (double& x : b.v_free) x = random.s();
  for (int k = 0; k < nb; ++k) b.v_free[static_cast<std::size_t>(6 * k)] -= 1;
  const int movable = kind.prescribed && nb > 1 ? nb - 1 : nb;
  for (int i = 0; i < kind.contacts + kind.joints; ++i) {
    int* pair = b.pair.data() + 2 * i;
    auto first = b.rows(i, 0), second = b.rows(i, 1);
    const bool joint = i >= kind.contacts;
    pair[0] = i % movable;
    pair[1] = i < nb && !joint ? -1 : static_cast<int>(random.next() % static_cast<unsigned>(nb));
    if (pair[1] == pair[0]) pair[1] = -1;
    first = random.matrix(3, 6);
    first(0, 0) = 3;
    if (pair[1] >= 0) {
      second = random.matrix(3, 6);
      second(0, 0) = -1;
    }
    const double mu = kind.mu * random.u();
    if (joint) {  // leaves the common way up free
      const int rows = 1 + i % 3;
      b.bilateral_rows[static_cast<std::size_t>(i - kind.contacts)] = rows;
      p.bilateral += rows;
      const bool fixed = pair[1] < 0 || pair[1] >= movable;
      first.col(0).setConstant(fixed ? 0 : 1);
      second.col(0) = -first.col(0);
    } else {
      p.mu.push_back(mu);
    }
    if (i % 3 == 0 && pair[1] < 0 && pair[0] > 0) {  // the ground first, the body second
      std::swap(pair[0], pair[1]);
      second = first;
      first.setZero();
    }
  }
  return p;
}

}  // namespace hinge::trial
