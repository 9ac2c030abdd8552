#include "formulation/implicit/chart.hpp"

#include <algorithm>
#include <cmath>

#include <Eigen/Core>

#include "solve/linear/lu.hpp"
#include "solve/linear/rank.hpp"

namespace hinge {

namespace {

using Q = Quantity;
using Matrix = Eigen::MatrixXd;

// G and C = G v_z at a point, dense.
class Gradients {
 public:
  explicit Gradients(std::shared_ptr<const System> system)
      : system_(std::move(system)), at_(system_->evaluation({Q::constraint_y, Q::constraint_rate_z})) {}
  void at(double t, const double* y, const double* z) {
    at_->at(t, y, z, nullptr);
    fill(Q::constraint_y, g);
    fill(Q::constraint_rate_z, c);
  }
  Matrix g, c;

 private:
  void fill(Quantity q, Matrix& out) const {
    const Pattern& p = system_->pattern(q);
    out.setZero(p.rows, p.columns);
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[static_cast<std::size_t>(i)]; k < p.row_start[static_cast<std::size_t>(i) + 1]; ++k)
        out(i, p.column[static_cast<std::size_t>(k)]) = (*at_)[q][k];
  }
  std::shared_ptr<const System> system_;
  std::unique_ptr<Evaluation> at_;
};

class Partitioning final : public Chart {
 public:
  Partitioning(std::shared_ptr<const System> system, double keep_above)
      : gradients_(std::move(system)), keep_above_(keep_above) {}

  bool choose(double t, const double* y, const double* z) override {
    gradients_.at(t, y, z);
    return pick(gradients_.g, y_, dependent_y_) && pick(gradients_.c, z_, dependent_z_);
  }

  Change follow(double t, const double* y, const double* z) override {
    gradients_.at(t, y, z);
    bool changed = false;
    for (auto [matrix, part, dependent] :
         {std::tuple{&gradients_.g, &y_, &dependent_y_}, std::tuple{&gradients_.c, &z_, &dependent_z_}}) {
      const double best = PivotedQr(*matrix).volume();
      const double own = std::abs(Lu<double>((*matrix)(Eigen::all, *dependent)).determinant());
      if (own < keep_above_ * best) changed = pick(*matrix, *part, *dependent) || changed;
    }
    return changed ? Change::pattern : Change::none;
  }

 private:
  static bool pick(const Matrix& matrix, Part& part, std::vector<int>& dependent) {
    const PivotedQr qr(matrix);
    if (qr.rank() < matrix.rows()) return false;
    const Eigen::VectorXi& order = qr.order();
    dependent.assign(order.data(), order.data() + matrix.rows());
    std::vector<int> free(order.data() + matrix.rows(), order.data() + matrix.cols());
    std::sort(free.begin(), free.end());
    part.pattern = Pattern{static_cast<int>(free.size()), static_cast<int>(matrix.cols()), {0}, free};
    for (std::size_t k = 0; k < free.size(); ++k) part.pattern.row_start.push_back(static_cast<int>(k) + 1);
    part.values.assign(free.size(), 1.0);
    return true;
  }

  Gradients gradients_;
  double keep_above_;  // of the best determinant
  std::vector<int> dependent_y_, dependent_z_;
};

class Tangent final : public Chart {
 public:
  explicit Tangent(std::shared_ptr<const System> system) : gradients_(std::move(system)) {}

  bool choose(double t, const double* y, const double* z) override {
    gradients_.at(t, y, z);
    return basis(gradients_.g, y_) && basis(gradients_.c, z_);
  }
  Change follow(double t, const double* y, const double* z) override {
    return choose(t, y, z) ? Change::values : Change::none;
  }

 private:
  static bool basis(const Matrix& matrix, Part& part) {
    const PivotedQr qr(matrix.transpose());
    if (qr.rank() < matrix.rows()) return false;
    const Matrix q = qr.q();
    const auto n = matrix.cols(), free = n - matrix.rows();
    if (part.pattern.rows != free) part.pattern = Pattern::dense(static_cast<int>(free), static_cast<int>(n));
    part.values.resize(static_cast<std::size_t>(free * n));
    for (Eigen::Index i = 0; i < free; ++i)
      for (Eigen::Index j = 0; j < n; ++j) part.values[static_cast<std::size_t>(i * n + j)] = q(j, matrix.rows() + i);
    return true;
  }

  Gradients gradients_;
};

}  // namespace

std::unique_ptr<Chart> make_partitioning_chart(std::shared_ptr<const System> system, double keep_above) {
  return std::make_unique<Partitioning>(std::move(system), keep_above);
}
std::unique_ptr<Chart> make_tangent_chart(std::shared_ptr<const System> system) {
  return std::make_unique<Tangent>(std::move(system));
}

}  // namespace hinge
