// Step lengths from error estimates, after Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I, II.4.
//
//   h_new = h min(most, max(least, safety err^-(1/q - 3/4 beta) err_old^beta))
//
// err <= 1 is accepted; beta > 0 (Gustafsson's PI control) damps the ups and downs of stability-bound steps.
#pragma once

#include <algorithm>
#include <cmath>

#include "hinge/method.hpp"

namespace hinge {

class StepControl {
 public:
  /// `exponent`: 1/q, where the estimate behaves like h^q.
  StepControl(double exponent, double beta, double least, double most)
      : exponent_(exponent - 0.75 * beta), beta_(beta), least_(least), most_(most) {}

  void restart() {
    old_ = 1e-4;
    rejected_ = false;
  }
  /// Length of the next step after an accepted one of h.
  double accept(double h, double error) {
    const double factor =
        safety * std::pow(std::max(error, 1e-12), -exponent_) * (beta_ > 0 ? std::pow(old_, beta_) : 1);
    old_ = std::max(error, 1e-4);
    const double next = h * std::clamp(factor, least_, rejected_ ? 1.0 : most_);
    rejected_ = false;
    return next;
  }
  /// Length for another try after an error above 1.
  double reject(double h, double error) {
    rejected_ = true;
    return h * std::max(least_, std::min(0.9, safety * std::pow(error, -exponent_)));
  }
  /// The same after a step whose equations could not be evaluated.
  double fail(double h) {
    rejected_ = true;
    return h / 4;
  }

 private:
  static constexpr double safety = 0.9;
  double exponent_, beta_, least_, most_, old_ = 1e-4;
  bool rejected_ = false;
};

/// sum_i (e_i / (absolute + relative max(|x0_i|, |x1_i|)))^2
inline double squared_error(const double* e, const double* x0, const double* x1, int n, const Tolerance& tolerance) {
  double sum = 0;
  for (int i = 0; i < n; ++i) {
    const double scale = tolerance.absolute + tolerance.relative * std::max(std::abs(x0[i]), std::abs(x1[i]));
    const double r = e[i] / (scale + 1e-300);
    sum += r * r;
  }
  return sum;
}

/// A step so short that it is lost in the rounding of t.
inline bool vanishes(double t, double h) {
  return !(std::abs(h) > 16 * 2.3e-16 * std::abs(t)) || !(std::abs(h) > 1e-300);
}

}  // namespace hinge
