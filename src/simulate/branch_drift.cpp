#include "simulate/branch_drift.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "solve/index.hpp"
#include "solve/linear/dense_lu.hpp"

namespace hinge {

namespace {

using Q = Quantity;

constexpr double constraint_rounding = 1e-13;  // of |G_i| |y|: constraints that are met to this are met
constexpr double least = 1e-15;                // g is not known better than this, of |G_i| |y|
// det(G G^T) as a part of that of rows that are orthogonal, each as long as it ever was. Measured by those lengths, the
// least singular value of G is then more than 6e-3, and rounding is a way of 2e-11 of the size at most, on which G does
// not change.
constexpr double independent = 1e-4;
constexpr double known = 0.9;  // at least, of the ratio of determinants: the branch is

}  // namespace

void BranchDrift::begin(const System& system, std::vector<std::array<int, 3>> products) {
  *this = BranchDrift();
  system_ = &system;
  here_ = system.evaluation({Q::constraint_y});
  there_ = system.evaluation({Q::constraint_y});
  const int m = system.ng();
  products_ = std::move(products);
  product_.resize(at(m * m));
  matrix_.resize(at((m + 1) * (m + 1)));
  row_.resize(at(m));
  y_.resize(at(system.ny()));
  exchange_.resize(at(m));
  largest_.assign(at(m), 0.0);
  squares_ = largest_;
  all_.resize(at(m));
  std::iota(all_.begin(), all_.end(), 0);
}

bool BranchDrift::is_rounding(const double* g, double size, const std::vector<int>& kept) const {
  return std::all_of(kept.begin(), kept.end(),
                     [&](int i) { return std::abs(g[i]) <= constraint_rounding * largest_[at(i)] * size; });
}

// A B^T
void BranchDrift::multiply(const double* a, const double* b) {
  std::fill(product_.begin(), product_.end(), 0.0);
  for (const auto& [place, k, l] : products_) product_[at(place)] += a[k] * b[l];
}

void BranchDrift::see(const State& state, const double* g, double size, const std::vector<int>& some, bool closely,
                      const Rows& rows) {
  const std::vector<int>& kept = some.empty() ? all_ : some;
  const bool begun = *std::max_element(largest_.begin(), largest_.end()) > 0;
  if (!closely && begun && is_rounding(g, size, kept)) return;
  const double* G = rows.G;
  if (!G) {
    here_->at(state.t, state.y.data(), state.z.data(), state.psi.data());
    G = (*here_)[Q::constraint_y];
  }
  const Pattern& p = system_->pattern(Q::constraint_y);
  const int m = static_cast<int>(kept.size());
  double orthogonal = 1;
  for (const int i : kept) {
    double square = 0;
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) {
      largest_[at(i)] = std::max(largest_[at(i)], std::abs(G[k]));
      square += G[k] * G[k];
    }
    orthogonal *= squares_[at(i)] = std::max(squares_[at(i)], square);
  }
  if (rows.volume > independent * orthogonal) closely = false;
  if (!closely && is_rounding(g, size, kept)) return;

  // [G G^T  g; 0 0], the last column becomes L^-1 g; by columns
  const int n = m + 1;
  const auto entry = [&](int i, int j) -> double& { return matrix_[at(i + j * n)]; };
  const int all = static_cast<int>(all_.size());
  const auto product = [&](int i, int j) { return product_[at(kept[at(i)] * all + kept[at(j)])]; };
  std::fill(matrix_.begin(), matrix_.end(), 0.0);
  multiply(G, G);
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) entry(i, j) = product(i, j);
    const double unknown = least * largest_[at(kept[at(i)])] * size, off = g[kept[at(i)]];
    entry(i, m) = closely && std::abs(off) < unknown ? unknown : off;
  }
  if (!eliminate(n, m, matrix_.data(), n, exchange_.data())) return;
  for (int i = m - 1; i >= 0; --i) {
    double x = entry(i, m);
    for (int j = i + 1; j < m; ++j) x -= entry(i, j) * row_[at(j)];
    row_[at(i)] = x / entry(i, i);
  }
  double ratio = 1;
  for (int i = 0; i < m; ++i) ratio /= (exchange_[at(i)] == i ? 1 : -1) * entry(i, i);
  y_ = state.y;
  for (int i = 0; i < m; ++i) {
    const int r = kept[at(i)];
    for (int k = p.row_start[at(r)]; k < p.row_start[at(r) + 1]; ++k) y_[at(p.column[at(k)])] -= G[k] * row_[at(i)];
  }
  there_->at(state.t, y_.data(), state.z.data(), state.psi.data());
  const double* moved = (*there_)[Q::constraint_y];
  multiply(moved, G);
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < m; ++j) matrix_[at(i + j * m)] = product(i, j);
  const bool regular = eliminate(m, m, matrix_.data(), m, exchange_.data());
  for (int i = 0; i < m; ++i) ratio *= (exchange_[at(i)] == i ? 1 : -1) * matrix_[at(i + i * m)];
  if (!regular) ratio = 0;
  if (!(ratio < known)) return;
  if (!lost_) lost_ = state.t;
  worst_ = std::min(worst_, ratio);
}

void BranchDrift::doubts(std::vector<Doubt>& doubts) const {
  if (!lost_) return;
  doubts.push_back(
      {"the constraints are met with so large an error, near a position where they are dependent, that another branch "
       "of "
       "the motion is as near, first at t",
       *lost_,
       "use projection = \"both\" where the method has it, or compare with another method (bdf, gauss-lobatto)"});
}

}  // namespace hinge
