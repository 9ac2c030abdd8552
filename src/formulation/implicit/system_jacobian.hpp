// The signature of a DAE, and its system Jacobian at points: the numbers behind dae_structure.hpp.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <Eigen/Dense>

#include "formulation/implicit/jet.hpp"
#include "hinge/solve.hpp"

namespace hinge {

/// order[k] is the highest derivative of the unknown in entry k of the pattern (rows: equations, columns: unknowns).
struct Signature {
  Pattern pattern;
  std::vector<int> order;
};
/// With `by_value` a derivative that vanishes at several points counts as zero: sums in which terms cancel.
Signature signature_of(Jet& jet, const std::vector<Node>& equations, const State* point, bool by_value);

class SystemJacobian {
 public:
  SystemJacobian(Jet& jet, const std::vector<Node>& equations, const std::vector<int>& c, const std::vector<int>& d);
  /// True where it is regular at one of some points near `point`. Else its values there, where it is small enough, and
  /// the points: numbers for all variables of the jet.
  bool is_regular(const State* point, std::vector<Eigen::MatrixXd>& values,
                  std::vector<std::vector<double>>& points) const;
  /// The same at the point itself; `value` as above. `higher`: derivatives of unknowns from the second on.
  bool is_regular_at(const State& point, const std::function<double(int unknown, int order)>& higher,
                     Eigen::MatrixXd& value) const;
  const Pattern& pattern() const { return pattern_; }
  const std::vector<Node>& entries() const { return entries_; }

 private:
  bool evaluate(double t, const std::vector<double>& x, std::vector<double>& out) const;
  Eigen::MatrixXd dense(const std::vector<double>& values) const;
  bool regular(const std::vector<double>& values) const;

  int size_;
  Pattern pattern_;
  std::vector<Node> entries_;
  std::unique_ptr<Evaluator> tape_;
  const Jet& jet_;
};

/// A basis of { u : u^T A = 0 } with many zeros, each vector's largest entry being 1. Rows and columns are scaled
/// first.
std::vector<Eigen::VectorXd> left_kernel(const Eigen::MatrixXd& a);

}  // namespace hinge
