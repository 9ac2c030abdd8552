#include "formulation/saddle_elimination.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "solve/index.hpp"
#include "solve/linear/small_inverse.hpp"

namespace hinge {

namespace {

constexpr int most_constraints = 12, most_velocities = 32;

// Products with it do not round.
bool is_power_of_two(double x) {
  int exponent = 0;
  return std::abs(std::frexp(x, &exponent)) == 0.5;
}

std::size_t largest_block(const std::vector<std::vector<int>>& rows) {
  std::size_t largest = 0;
  for (const auto& block : rows) largest = std::max(largest, block.size());
  return largest;
}

}  // namespace

// A minimum that changes nothing keeps the factors apart.
Node separate_product(Graph& graph, Node a, Node b) {
  if (graph.is_constant(b)) std::swap(a, b);
  if (graph.is_constant(a) && graph[b].op == Op::multiply && graph.is_constant(graph[b].a) &&
      !graph.passes(is_power_of_two, a) && !graph.passes(is_power_of_two, graph[b].a))
    b = graph.make(Op::min, b, graph.constant(std::numeric_limits<double>::infinity()));
  return graph.multiply(a, b);
}

bool SaddleElimination::suits(const Pattern& a, const Pattern& c) {
  return c.rows <= most_constraints && a.rows <= most_velocities && largest_block(independent_blocks(a)) <= 2;
}

SaddleElimination::SaddleElimination(Graph& graph, const Pattern& a, const Pattern* b, const Pattern& c,
                                     const std::vector<int>& exchanges)
    : graph_(graph),
      a_pattern_(a),
      c_pattern_(c),
      b_pattern_(b),
      exchanges_(exchanges),
      rows_(independent_blocks(a)),
      point_masses_(!b && c.rows > 0 && largest_block(rows_) <= 1 && a.entries() == at(a.rows)),
      nz_(a.rows),
      m_(c.rows) {}

void SaddleElimination::factor(Nodes mass, const Nodes& reaction, Nodes gradient) {
  for (Nodes* nodes : {&inverses_, &over_mass_, &w_}) nodes->clear();
  inverse_.clear();
  s_.assign(at(m_ * m_), graph_.constant(0));
  settled_ = graph_.constant(1);
  mass_ = std::move(mass);
  c_ = std::move(gradient);
  point_masses_ ? factor_point_masses() : factor_blocks(reaction);
}

void SaddleElimination::solve(Nodes& x, Nodes& mu) { point_masses_ ? solve_point_masses(x, mu) : solve_blocks(x, mu); }

void SaddleElimination::demand_finite(Node a) {
  demand(graph_.make(Op::less_equal, size_of(a), graph_.constant(std::numeric_limits<double>::max())));
}

void SaddleElimination::demand_all_finite(const Nodes& numbers) {
  Node size = graph_.constant(0);
  for (const Node n : numbers) size = plus(size, size_of(n));
  demand_finite(size);
}

void SaddleElimination::factor_point_masses() {
  const Pattern& c = c_pattern_;
  for (int i = 0; i < nz_; ++i) {
    demand_less(graph_.constant(0), mass_[at(i)]);
    inverses_.push_back(inverse(mass_[at(i)]));
  }
  for (std::size_t k = 0; k < c_.size(); ++k) over_mass_.push_back(times(c_[k], inverses_[at(c.column[k])]));
  for (int i = 0; i < m_; ++i)
    for (int j = 0; j <= i; ++j)
      for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
        for (int l = c.row_start[at(j)]; l < c.row_start[at(j) + 1]; ++l)
          if (c.column[at(k)] == c.column[at(l)]) s(i, j) = plus(s(i, j), times(c_[at(k)], over_mass_[at(l)]));
  factor_symmetric();
}

void SaddleElimination::solve_point_masses(Nodes& x, Nodes& mu) {
  const Pattern& c = c_pattern_;
  for (int i = 0; i < m_; ++i) {
    Node sum = graph_.negate(mu[at(i)]);
    for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
      sum = plus(sum, times(over_mass_[at(k)], x[at(c.column[at(k)])]));
    mu[at(i)] = sum;
  }
  solve_symmetric(mu);
  for (int i = 0; i < nz_; ++i) x[at(i)] = times(x[at(i)], inverses_[at(i)]);
  for (int row = 0; row < m_; ++row)
    for (int k = c.row_start[at(row)]; k < c.row_start[at(row) + 1]; ++k) {
      Node& sum = x[at(c.column[at(k)])];
      sum = minus(sum, times(over_mass_[at(k)], mu[at(row)]));
    }
}

void SaddleElimination::factor_symmetric() {
  if (m_ == 2) {
    const Node diagonal = times(s(0, 0), s(1, 1)), det = minus(diagonal, times(s(1, 0), s(1, 0)));
    demand_less(weak(SaddleKernel::weak_schur, diagonal), det);
    const Node over_det = inverse(det), corner = s(0, 0);
    demand_finite(over_det);
    s(0, 0) = times(s(1, 1), over_det);
    s(0, 1) = times(graph_.negate(s(1, 0)), over_det);
    s(1, 1) = times(corner, over_det);
    return;
  }
  for (int k = 0; k < m_; ++k) {
    const Node whole = s(k, k);
    Node pivot = whole;
    for (int j = 0; j < k; ++j)
      for (int i = 0; i < j; ++i) s(k, j) = minus(s(k, j), times(s(k, i), s(j, i)));
    for (int j = 0; j < k; ++j) {
      const Node l = times(s(k, j), s(j, j));
      pivot = minus(pivot, times(l, s(k, j)));
      s(k, j) = l;
    }
    demand_less(weak(SaddleKernel::weak_schur, whole), pivot);
    s(k, k) = inverse(pivot);
  }
  demand_finite(s(m_ - 1, m_ - 1));
}

void SaddleElimination::solve_symmetric(Nodes& mu) {
  if (m_ == 2) {
    const Node first = mu[0], second = mu[1];
    mu[0] = plus(times(s(0, 0), first), times(s(0, 1), second));
    mu[1] = plus(times(s(0, 1), first), times(s(1, 1), second));
    return;
  }
  for (int i = 1; i < m_; ++i)
    for (int k = 0; k < i; ++k) mu[at(i)] = minus(mu[at(i)], times(s(i, k), mu[at(k)]));
  for (int k = 0; k < m_; ++k) mu[at(k)] = times(mu[at(k)], s(k, k));
  for (int k = m_; k-- > 0;)
    for (int j = k + 1; j < m_; ++j) mu[at(k)] = minus(mu[at(k)], times(s(j, k), mu[at(j)]));
}

Node SaddleElimination::mass_entry(int i, int j) const {
  for (int k = a_pattern_.row_start[at(i)]; k < a_pattern_.row_start[at(i) + 1]; ++k)
    if (a_pattern_.column[at(k)] == j) return mass_[at(k)];
  return no_node;
}

void SaddleElimination::invert_blocks() {
  const auto entry = [this](int i, int j) {
    const Node found = mass_entry(i, j);
    return found == no_node ? graph_.constant(0) : found;
  };
  for (const std::vector<int>& block : rows_) {
    if (block.size() == 1) {
      inverse_.push_back({inverse(entry(block[0], block[0]))});
      demand_finite(inverse_.back()[0]);
      continue;
    }
    const Node a = entry(block[0], block[0]), b = entry(block[0], block[1]), c = entry(block[1], block[0]),
               d = entry(block[1], block[1]), product = times(a, d), det = minus(product, times(b, c));
    demand_less(weak(weak_pivot, size_of(product)), size_of(det));
    inverse_.push_back({graph_.divide(d, det), graph_.divide(graph_.negate(b), det),
                        graph_.divide(graph_.negate(c), det), graph_.divide(a, det)});
    const auto& i = inverse_.back();
    demand_finite(plus(plus(plus(i[0], i[1]), i[2]), i[3]));
  }
}

// Of all rows from k on, has the one that SaddleKernel took the largest entry there, relative to its size, and is it
// not weak? By products instead of quotients, and with a margin: where these could differ, SaddleKernel decides.
Node SaddleElimination::has_largest_share(int k, const Nodes& size) {
  const int best = exchanges_[at(k)];
  const Node largest = weak(0.999999, size_of(s(best, k)));
  Node holds = graph_.make(Op::less, weak(SaddleKernel::weak_schur, size[at(best)]), size_of(s(best, k)));
  for (int i = k; i < m_; ++i)
    if (i != best)
      holds = times(holds, graph_.make(Op::less, times(size_of(s(i, k)), size[at(best)]), times(largest, size[at(i)])));
  return holds;
}

void SaddleElimination::factor_rows() {
  Nodes size;
  for (int i = 0; i < m_; ++i) {
    size.push_back(graph_.constant(0));
    for (int j = 0; j < m_; ++j) size.back() = graph_.make(Op::max, size.back(), size_of(s(i, j)));
  }
  for (int k = 0; k < m_; ++k) {
    const int best = exchanges_[at(k)];
    const Node is_good = graph_.make(Op::less, weak(0.1, size[at(k)]), size_of(s(k, k))),
               is_best = has_largest_share(k, size);
    if (best == k) {
      demand(graph_.make(Op::logical_or, is_good, is_best));
    } else {
      demand(graph_.make(Op::logical_not, is_good));
      demand(is_best);
      std::swap(size[at(k)], size[at(best)]);
      for (int j = 0; j < m_; ++j) std::swap(s(k, j), s(best, j));
    }
    s(k, k) = inverse(s(k, k));
    for (int i = k + 1; i < m_; ++i) {
      s(i, k) = times(s(i, k), s(k, k));
      for (int j = k + 1; j < m_; ++j) s(i, j) = minus(s(i, j), times(s(i, k), s(k, j)));
    }
  }
  if (m_ > 0) demand_finite(s(m_ - 1, m_ - 1));
}

// A^-1 times two numbers of a block.
void SaddleElimination::apply_inverse(std::size_t block, Node& first, Node& second) {
  const auto& inv = inverse_[block];
  const Node p = first, q = second;
  first = plus(times(inv[0], p), times(inv[1], q));
  second = plus(times(inv[2], p), times(inv[3], q));
}

void SaddleElimination::factor_blocks(const Nodes& reaction) {
  const Pattern& c = c_pattern_;
  invert_blocks();
  w_.assign(at(nz_ * m_), graph_.constant(0));
  if (b_pattern_) {
    for (int i = 0; i < nz_; ++i)
      for (int k = b_pattern_->row_start[at(i)]; k < b_pattern_->row_start[at(i) + 1]; ++k)
        w(i, b_pattern_->column[at(k)]) = reaction[at(k)];
  } else {
    for (int i = 0; i < m_; ++i)
      for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
        w(c.column[at(k)], i) = graph_.negate(c_[at(k)]);
  }
  for (std::size_t n = 0; n < rows_.size(); ++n) {
    const std::vector<int>& block = rows_[n];
    for (int j = 0; j < m_; ++j)
      if (block.size() == 1)
        w(block[0], j) = times(w(block[0], j), inverse_[n][0]);
      else
        apply_inverse(n, w(block[0], j), w(block[1], j));
  }
  for (int i = 0; i < m_; ++i)
    for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
      for (int j = 0; j < m_; ++j) s(i, j) = plus(s(i, j), times(c_[at(k)], w(c.column[at(k)], j)));
  factor_rows();
}

void SaddleElimination::solve_blocks(Nodes& x, Nodes& mu) {
  const Pattern& c = c_pattern_;
  for (std::size_t n = 0; n < rows_.size(); ++n) {
    const std::vector<int>& block = rows_[n];
    if (block.size() == 1)
      x[at(block[0])] = times(inverse_[n][0], x[at(block[0])]);
    else
      apply_inverse(n, x[at(block[0])], x[at(block[1])]);
  }
  for (int i = 0; i < m_; ++i)
    for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
      mu[at(i)] = minus(mu[at(i)], times(c_[at(k)], x[at(c.column[at(k)])]));
  for (int k = 0; k < m_; ++k) std::swap(mu[at(k)], mu[at(exchanges_[at(k)])]);
  for (int i = 1; i < m_; ++i)
    for (int k = 0; k < i; ++k) mu[at(i)] = minus(mu[at(i)], times(s(i, k), mu[at(k)]));
  for (int k = m_; k-- > 0;) {
    for (int j = k + 1; j < m_; ++j) mu[at(k)] = minus(mu[at(k)], times(s(k, j), mu[at(j)]));
    mu[at(k)] = times(mu[at(k)], s(k, k));
  }
  for (int i = 0; i < nz_; ++i)
    for (int j = 0; j < m_; ++j) x[at(i)] = plus(x[at(i)], times(w(i, j), mu[at(j)]));
}

}  // namespace hinge
