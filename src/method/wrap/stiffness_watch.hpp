// Are the steps of an explicit method short for a motion that is not there? For systems of bodies.
//
// The test that explicit methods have for themselves compares two points that a step has anyway, and waits for |h
// lambda| at the border of stability. Bodies stay away from it: where stiff springs and dampers act on bodies that
// turn, the error estimate holds h at |h lambda| between 1 and 2 (stages are of low order, and lambda multiplies what
// they are off), as steadily as if accuracy asked for it. Two things say that it does not:
//
//   fast     h |lambda| > 0.8 for the largest eigenvalue of (y, z)' = (v, eta), by the power method with differences,
//            d <- J d, two products for each look, from where the last look ended; the geometric mean of looks
//   smooth   the polynomial of degree 7 through eight of the last nine points meets the ninth, in the middle, within
//            the tolerance: steps could be several times as long
//
// Two products, since of an undamped motion, lambda = +-i omega, one has a size of omega^2 or 1 in the units of (y, z).
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "formulation/acceleration.hpp"
#include "hinge/method.hpp"

namespace hinge {

class StiffnessWatch {
 public:
  StiffnessWatch(std::shared_ptr<const System> system, const Tolerance& tolerance);
  /// After every step, with the length of the next: have several looks said stiff?
  bool stiff(const State& state, double h);
  /// The points to come have nothing to do with those before.
  void restart();

 private:
  static constexpr int points = 9;
  void remember(const State& state);
  /// What the polynomial is off, in units of the tolerance.
  double roughness() const;
  /// |lambda|, 0 where nothing can be said.
  double fastest(const State& state);
  bool rates(double t, const double* x, double* out);
  bool multiply(double t);

  std::shared_ptr<const System> system_;
  Tolerance tolerance_;
  Acceleration acceleration_;
  std::array<double, points> time_{};
  std::array<std::vector<double>, points> point_;
  int known_ = 0, newest_ = 0, looks_ = 0;
  double mean_ = 0;  // of log |lambda|
  std::vector<double> near_, rate_, near_rate_, direction_, psi_;
};

}  // namespace hinge
