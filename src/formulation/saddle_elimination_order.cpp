// SaddleElimination for many constraints on point masses: bodies and joints along a tree, loops.
#include <utility>

#include "formulation/saddle_elimination.hpp"
#include "solve/index.hpp"
#include "solve/linear/sparse_schur.hpp"

namespace hinge {

namespace {

// Fewer are eliminated as they stand, by SaddleKernel too. Longer code does not stay near the processor.
constexpr int least_rows = 13, most_rows = 600;
constexpr double most_multiplications = 30'000;

bool is_diagonal(const Pattern& a) {
  if (a.entries() != at(a.rows)) return false;
  for (int i = 0; i < a.rows; ++i)
    if (a.row_start[at(i)] != i || a.column[at(i)] != i) return false;
  return true;
}

}  // namespace

std::vector<int> SaddleElimination::order_of_many(const Pattern& a, const Pattern* b, const Pattern& c,
                                                  bool constant_mass) {
  if (b || c.rows < least_rows || c.rows > most_rows || !is_diagonal(a)) return {};
  const SparseSchur sparse(a, c, constant_mass);
  const SparseLdlt& complement = sparse.complement();
  const bool suits =
      sparse.usable() && !complement.tridiagonal() && complement.multiplications() <= most_multiplications;
  return suits ? complement.order() : std::vector<int>{};
}

void SaddleElimination::solve_in_order(const std::vector<int>& order, Nodes mass, Nodes gradient, Nodes& x, Nodes& mu) {
  const Pattern& c = c_pattern_;
  const auto row = [&](int p) { return std::pair{c.row_start[at(order[at(p)])], c.row_start[at(order[at(p)]) + 1]}; };
  const auto is_zero = [this](Node n) { return graph_.is_constant(n, 0); };
  s_.assign(at(m_ * m_), graph_.constant(0));
  settled_ = graph_.constant(1);
  mass_ = std::move(mass);
  c_ = std::move(gradient);
  Nodes inverses, over_mass;
  for (int i = 0; i < nz_; ++i) {
    demand_less(graph_.constant(0), mass_[at(i)]);
    inverses.push_back(inverse(mass_[at(i)]));
  }
  for (std::size_t k = 0; k < c_.size(); ++k) over_mass.push_back(times(c_[k], inverses[at(c.column[k])]));
  for (int p = 0; p < m_; ++p)
    for (int q = 0; q <= p; ++q)
      for (auto [k, end] = row(p); k < end; ++k)
        for (auto [l, last] = row(q); l < last; ++l)
          if (c.column[at(k)] == c.column[at(l)]) s(p, q) = plus(s(p, q), times(c_[at(k)], over_mass[at(l)]));
  // row after row of L, and the inverses of the pivots
  Nodes pivots;
  for (int k = 0; k < m_; ++k) {
    const Node whole = s(k, k);
    Node pivot = whole;
    for (int j = 0; j < k; ++j) {
      const Node value = s(k, j);
      if (is_zero(value)) continue;
      for (int i = j + 1; i < k; ++i)
        if (!is_zero(s(i, j))) s(k, i) = minus(s(k, i), times(s(i, j), value));
      s(k, j) = times(value, pivots[at(j)]);
      pivot = minus(pivot, times(s(k, j), value));
    }
    demand_less(weak(1.000001 * SparseLdlt::doubtful, whole), pivot);
    pivots.push_back(inverse(pivot));
  }
  Nodes y;
  for (int p = 0; p < m_; ++p) {
    Node sum = graph_.negate(mu[at(order[at(p)])]);
    for (auto [k, end] = row(p); k < end; ++k) sum = plus(sum, times(over_mass[at(k)], x[at(c.column[at(k)])]));
    y.push_back(sum);
  }
  for (int j = 0; j < m_; ++j)
    for (int i = j + 1; i < m_; ++i)
      if (!is_zero(s(i, j))) y[at(i)] = minus(y[at(i)], times(s(i, j), y[at(j)]));
  for (int j = m_; j-- > 0;) {
    y[at(j)] = times(y[at(j)], pivots[at(j)]);
    for (int i = j + 1; i < m_; ++i)
      if (!is_zero(s(i, j))) y[at(j)] = minus(y[at(j)], times(s(i, j), y[at(i)]));
  }
  for (int i = 0; i < nz_; ++i) x[at(i)] = times(x[at(i)], inverses[at(i)]);
  for (int p = 0; p < m_; ++p) {
    mu[at(order[at(p)])] = y[at(p)];
    for (auto [k, end] = row(p); k < end; ++k) {
      Node& sum = x[at(c.column[at(k)])];
      sum = minus(sum, times(over_mass[at(k)], y[at(p)]));
    }
  }
}

}  // namespace hinge
