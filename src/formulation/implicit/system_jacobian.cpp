#include "formulation/implicit/system_jacobian.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "formulation/implicit/dae_structure.hpp"
#include "solve/index.hpp"
#include "solve/linear/linear.hpp"
#include "solve/linear/rank.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

using Values = std::vector<double>;
constexpr double rank_threshold = 1e-10;
constexpr int largest_dense = 500;
constexpr int point_count = 3;

// Numbers in (-1, 1), always the same ones.
class Spread {
 public:
  double operator()() {
    state_ = state_ * 6364136223846793005ULL + 1442695040888963407ULL;
    return static_cast<double>(state_ >> 11) * 0x1p-52 - 1.0;
  }

 private:
  unsigned long long state_ = 20231;
};

struct Sample {
  double t;
  Values x;  // of all variables of the jet
};

// Points to look at: near the given one, or of size one where there is none.
std::vector<Sample> samples(const Jet& jet, const State* point) {
  Spread spread;
  std::vector<Sample> list;
  for (int k = 0; k < 3 * point_count; ++k) {
    const bool positive = k >= point_count && k < 2 * point_count;
    const double range = k < point_count ? 0.1 : 1.0;  // small first: exponentials of large numbers hide the rest
    // at several times: what is zero or constant at one need not be so afterwards
    Sample s{point ? point->t + 0.01 * k * std::max(1.0, std::abs(point->t)) : 0.3 + 0.17 * k, {}};
    for (const Jet::Place& place : jet.places()) {
      double given = 0;
      if (point && place.order < 2) given = (place.order == 0 ? point->y : point->z)[at(place.unknown)];
      const double r = positive ? 0.5 * range * (1 + 0.5 * spread()) : range * spread();
      s.x.push_back(given != 0 ? given * (1 + 0.05 * r) : (point ? 0.05 : 1.0) * r);
    }
    list.push_back(std::move(s));
  }
  return list;
}

std::unique_ptr<Evaluator> tape_of(const Jet& jet, std::span<const Node> outputs) {
  const std::vector<Node> blocks[] = {{jet.t()}, jet.variables()};
  return make_tape(jet.graph(), blocks, outputs);
}

void equilibrate(Eigen::MatrixXd& a, Eigen::VectorXd& row) {
  row.setOnes(a.rows());
  for (Eigen::Index i = 0; i < a.rows(); ++i)
    if (const double size = a.row(i).cwiseAbs().maxCoeff(); size > 0) row[i] = 1 / size, a.row(i) /= size;
  for (Eigen::Index j = 0; j < a.cols(); ++j)
    if (const double size = a.col(j).cwiseAbs().maxCoeff(); size > 0) a.col(j) /= size;
}

}  // namespace

Signature signature_of(Jet& jet, const std::vector<Node>& equations, const State* point, bool by_value) {
  const SparseExpressions f = jacobian(jet.graph(), equations, jet.variables());
  std::vector<char> zero(f.entries.size(), 0);
  if (by_value) {
    const auto tape = tape_of(jet, f.entries);
    Values scratch = tape->make_scratch(), value(f.entries.size());
    bool first = true;
    for (const Sample& s : samples(jet, point)) {
      const double* const inputs[] = {&s.t, s.x.data()};
      tape->evaluate(inputs, scratch.data(), value.data());
      if (!all_finite(value)) continue;
      if (std::exchange(first, false)) std::fill(zero.begin(), zero.end(), 1);
      for (std::size_t i = 0; i < equations.size(); ++i) {
        double row = 0;
        for (auto k = at(f.row_start[i]); k < at(f.row_start[i + 1]); ++k) row = std::max(row, std::abs(value[k]));
        for (auto k = at(f.row_start[i]); k < at(f.row_start[i + 1]); ++k)
          if (std::abs(value[k]) > 1e-12 * row) zero[k] = 0;
      }
    }
  }
  Signature s;
  s.pattern = {static_cast<int>(equations.size()), jet.unknowns(), {0}, {}};
  for (std::size_t i = 0; i < equations.size(); ++i) {
    std::map<int, int> highest;
    for (auto k = at(f.row_start[i]); k < at(f.row_start[i + 1]); ++k) {
      if (zero[k] || jet.graph().is_constant(f.entries[k], 0)) continue;
      const Jet::Place place = jet.places()[at(f.column[k])];
      const auto [entry, added] = highest.emplace(place.unknown, place.order);
      if (!added) entry->second = std::max(entry->second, place.order);
    }
    for (const auto& [j, order] : highest) s.pattern.column.push_back(j), s.order.push_back(order);
    s.pattern.row_start.push_back(static_cast<int>(s.pattern.column.size()));
  }
  return s;
}

SystemJacobian::SystemJacobian(Jet& jet, const std::vector<Node>& equations, const std::vector<int>& c,
                               const std::vector<int>& d)
    : size_(static_cast<int>(equations.size())), jet_(jet) {
  const SparseExpressions f = jacobian(jet.graph(), equations, jet.variables());
  pattern_ = {size_, size_, {0}, {}};
  for (std::size_t i = 0; i < equations.size(); ++i) {
    std::map<int, Node> row;
    for (auto k = at(f.row_start[i]); k < at(f.row_start[i + 1]); ++k) {
      const Jet::Place place = jet.places()[at(f.column[k])];
      if (place.order == d[at(place.unknown)] - c[i]) row.emplace(place.unknown, f.entries[k]);
    }
    for (const auto& [j, node] : row) pattern_.column.push_back(j), entries_.push_back(node);
    pattern_.row_start.push_back(static_cast<int>(pattern_.column.size()));
  }
  tape_ = tape_of(jet, entries_);
}

bool SystemJacobian::evaluate(double t, const Values& x, Values& out) const {
  Values scratch = tape_->make_scratch();
  out.resize(pattern_.entries());
  const double* const inputs[] = {&t, x.data()};
  tape_->evaluate(inputs, scratch.data(), out.data());
  return all_finite(out);
}

Eigen::MatrixXd SystemJacobian::dense(const Values& values) const {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(size_, size_);
  for (int i = 0; i < size_; ++i)
    for (auto k = at(pattern_.row_start[at(i)]); k < at(pattern_.row_start[at(i) + 1]); ++k)
      a(i, pattern_.column[k]) = values[k];
  return a;
}

bool SystemJacobian::regular(const Values& values) const {
  if (size_ > largest_dense) return make_linear_solver(pattern_, LinearAlgebra::sparse)->factor(values.data());
  Eigen::MatrixXd a = dense(values);
  Eigen::VectorXd row;
  equilibrate(a, row);
  return PivotedQr(a, rank_threshold).rank() == size_;
}

bool SystemJacobian::is_regular(const State* point, std::vector<Eigen::MatrixXd>& values,
                                std::vector<Values>& points) const {
  Values out;
  for (const Sample& s : samples(jet_, point)) {
    if (!evaluate(s.t, s.x, out)) continue;
    if (regular(out)) return true;
    if (size_ <= largest_dense && values.size() < point_count) values.push_back(dense(out)), points.push_back(s.x);
    if (size_ > largest_dense || values.size() == point_count) break;
  }
  return false;
}

// Scaled by what the entries are nearby at least: a row that has become small at this very point must stay small. What
// an exponential may be elsewhere is no measure.
bool SystemJacobian::is_regular_at(const State& point, const std::function<double(int, int)>& higher,
                                   Eigen::MatrixXd& value) const {
  Values x, out;
  for (const auto& [unknown, order] : jet_.places())
    x.push_back(order == 0 ? point.y[at(unknown)] : order == 1 ? point.z[at(unknown)] : higher(unknown, order));
  if (!evaluate(point.t, x, out)) return false;
  if (size_ > largest_dense) return regular(out);
  value = dense(out);
  Eigen::MatrixXd nearby = Eigen::MatrixXd::Constant(size_, size_, HUGE_VAL), scaled = value;
  for (const Sample& s : samples(jet_, &point))
    if (evaluate(s.t, s.x, out)) nearby = nearby.cwiseMin(dense(out).cwiseAbs());
  nearby = (nearby.array() < HUGE_VAL).select(nearby, 0.0).cwiseMax(value.cwiseAbs()).eval();
  for (Eigen::Index i = 0; i < size_; ++i)
    if (const double size = nearby.row(i).maxCoeff(); size > 0) nearby.row(i) /= size, scaled.row(i) /= size;
  for (Eigen::Index j = 0; j < size_; ++j)
    if (const double size = nearby.col(j).maxCoeff(); size > 0) scaled.col(j) /= size;
  value = (scaled.array().abs() < rank_threshold).select(0.0, scaled);  // for those who look for its kernel
  return PivotedQr(scaled).pivots().cwiseAbs().minCoeff() > rank_threshold;
}

std::vector<Eigen::VectorXd> left_kernel(const Eigen::MatrixXd& a) {
  Eigen::MatrixXd scaled = a;
  Eigen::VectorXd row;
  equilibrate(scaled, row);
  const Eigen::MatrixXd free = kernel(scaled.transpose(), rank_threshold);
  std::vector<Eigen::VectorXd> basis;
  for (Eigen::Index k = 0; k < free.cols(); ++k) {
    Eigen::VectorXd u = free.col(k).cwiseProduct(row);
    Eigen::Index largest = 0;
    u.cwiseAbs().maxCoeff(&largest);
    basis.push_back(u / u[largest]);
  }
  return basis;
}

}  // namespace hinge
