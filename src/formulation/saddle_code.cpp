#include "formulation/saddle_code.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "expression/native.hpp"
#include "solve/linear/saddle_kernel.hpp"
#include "solve/linear/small_inverse.hpp"

namespace hinge {

namespace {

constexpr int most_constraints = 12, most_velocities = 32;
constexpr std::size_t at(int i) { return static_cast<std::size_t>(i); }

using Nodes = std::vector<Node>;

// Writes SaddleKernel's arithmetic down as expressions. Letters are its: [A -B; C 0] [x; mu] = [a; b].
class Elimination {
 public:
  Elimination(Graph& graph, const Pattern& a, const Pattern& c, Nodes mass, Nodes gradient,
              const std::vector<int>& exchanges)
      : graph_(graph),
        c_pattern_(c),
        mass_(std::move(mass)),
        c_(std::move(gradient)),
        a_pattern_(a),
        nz_(a.rows),
        m_(c.rows),
        s_(at(m_ * m_), graph.constant(0)),
        settled_(graph.constant(1)),
        exchanges_(exchanges) {}

  Node settled() const { return settled_; }

  void demand_all_finite(const Nodes& numbers) {
    Node size = graph_.constant(0);
    for (const Node n : numbers) size = plus(size, size_of(n));
    demand_finite(size);
  }

  // Both take the right-hand side and leave the solution there.
  void point_masses(Nodes& x, Nodes& multiplier);
  void blocks(const std::vector<std::vector<int>>& rows, const Pattern* b, const Nodes& reaction, Nodes& x,
              Nodes& multiplier);

 private:
  Node times(Node a, Node b) { return graph_.multiply(a, b); }
  Node plus(Node a, Node b) { return graph_.add(a, b); }
  Node minus(Node a, Node b) { return graph_.subtract(a, b); }
  Node inverse(Node a) { return graph_.divide(graph_.constant(1), a); }
  Node size_of(Node a) { return graph_.make(Op::abs, a); }
  Node& s(int i, int j) { return s_[at(i * m_ + j)]; }
  void demand(Node condition) { settled_ = times(settled_, condition); }
  void demand_less(Node a, Node b) { demand(graph_.make(Op::less, a, b)); }
  void demand_finite(Node a) {
    demand(graph_.make(Op::less_equal, size_of(a), graph_.constant(std::numeric_limits<double>::max())));
  }
  Node weak(double share, Node of) { return times(graph_.constant(share), of); }
  Node mass_entry(int i, int j) const;
  void factor_symmetric();
  void solve_symmetric(Nodes& mu);
  void invert_blocks(const std::vector<std::vector<int>>& rows);
  Node has_largest_share(int k, const Nodes& size);
  void factor_rows();

  Graph& graph_;
  const Pattern& c_pattern_;
  Nodes mass_, c_;
  const Pattern& a_pattern_;
  int nz_, m_;
  Nodes s_;
  Node settled_;
  const std::vector<int>& exchanges_;
  std::vector<std::array<Node, 4>> inverse_;  // of each block
};

void Elimination::point_masses(Nodes& x, Nodes& multiplier) {
  const Pattern& c = c_pattern_;
  Nodes inverses, over_mass;
  for (int i = 0; i < nz_; ++i) {
    demand_less(graph_.constant(0), mass_[at(i)]);
    inverses.push_back(inverse(mass_[at(i)]));
  }
  for (std::size_t k = 0; k < c_.size(); ++k) over_mass.push_back(times(c_[k], inverses[at(c.column[k])]));
  for (int i = 0; i < m_; ++i)
    for (int j = 0; j <= i; ++j)
      for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
        for (int l = c.row_start[at(j)]; l < c.row_start[at(j) + 1]; ++l)
          if (c.column[at(k)] == c.column[at(l)]) s(i, j) = plus(s(i, j), times(c_[at(k)], over_mass[at(l)]));
  factor_symmetric();
  Nodes mu;
  for (int i = 0; i < m_; ++i) {
    Node sum = graph_.negate(multiplier[at(i)]);
    for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
      sum = plus(sum, times(over_mass[at(k)], x[at(c.column[at(k)])]));
    mu.push_back(sum);
  }
  solve_symmetric(mu);
  for (int i = 0; i < nz_; ++i) x[at(i)] = times(x[at(i)], inverses[at(i)]);
  for (int row = 0; row < m_; ++row)
    for (int k = c.row_start[at(row)]; k < c.row_start[at(row) + 1]; ++k) {
      Node& sum = x[at(c.column[at(k)])];
      sum = minus(sum, times(over_mass[at(k)], mu[at(row)]));
    }
  multiplier = mu;
}

void Elimination::factor_symmetric() {
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

void Elimination::solve_symmetric(Nodes& mu) {
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

Node Elimination::mass_entry(int i, int j) const {
  for (int k = a_pattern_.row_start[at(i)]; k < a_pattern_.row_start[at(i) + 1]; ++k)
    if (a_pattern_.column[at(k)] == j) return mass_[at(k)];
  return no_node;
}

void Elimination::invert_blocks(const std::vector<std::vector<int>>& rows) {
  const auto entry = [this](int i, int j) {
    const Node found = mass_entry(i, j);
    return found == no_node ? graph_.constant(0) : found;
  };
  for (const std::vector<int>& block : rows) {
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
Node Elimination::has_largest_share(int k, const Nodes& size) {
  const int best = exchanges_[at(k)];
  const Node largest = weak(0.999999, size_of(s(best, k)));
  Node holds = graph_.make(Op::less, weak(SaddleKernel::weak_schur, size[at(best)]), size_of(s(best, k)));
  for (int i = k; i < m_; ++i)
    if (i != best)
      holds = times(holds, graph_.make(Op::less, times(size_of(s(i, k)), size[at(best)]), times(largest, size[at(i)])));
  return holds;
}

void Elimination::factor_rows() {
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

void Elimination::blocks(const std::vector<std::vector<int>>& rows, const Pattern* b, const Nodes& reaction, Nodes& x,
                         Nodes& multiplier) {
  const Pattern& c = c_pattern_;
  invert_blocks(rows);
  Nodes w(at(nz_ * m_), graph_.constant(0)), u(at(nz_));
  const auto entry = [&](int i, int j) -> Node& { return w[at(i * m_ + j)]; };
  if (b) {
    for (int i = 0; i < nz_; ++i)
      for (int k = b->row_start[at(i)]; k < b->row_start[at(i) + 1]; ++k) entry(i, b->column[at(k)]) = reaction[at(k)];
  } else {
    for (int i = 0; i < m_; ++i)
      for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
        entry(c.column[at(k)], i) = graph_.negate(c_[at(k)]);
  }
  for (std::size_t n = 0; n < rows.size(); ++n) {
    const std::vector<int>& block = rows[n];
    const auto& inv = inverse_[n];
    const auto apply = [&](Node& first, Node& second) {
      const Node p = first, q = second;
      first = plus(times(inv[0], p), times(inv[1], q));
      second = plus(times(inv[2], p), times(inv[3], q));
    };
    for (const int i : block) u[at(i)] = x[at(i)];
    if (block.size() == 1) {
      for (int j = 0; j < m_; ++j) entry(block[0], j) = times(entry(block[0], j), inv[0]);
      u[at(block[0])] = times(inv[0], u[at(block[0])]);
    } else {
      for (int j = 0; j < m_; ++j) apply(entry(block[0], j), entry(block[1], j));
      apply(u[at(block[0])], u[at(block[1])]);
    }
  }
  for (int i = 0; i < m_; ++i)
    for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
      for (int j = 0; j < m_; ++j) s(i, j) = plus(s(i, j), times(c_[at(k)], entry(c.column[at(k)], j)));
  factor_rows();
  Nodes& mu = multiplier;
  for (int i = 0; i < m_; ++i)
    for (int k = c.row_start[at(i)]; k < c.row_start[at(i) + 1]; ++k)
      mu[at(i)] = minus(mu[at(i)], times(c_[at(k)], u[at(c.column[at(k)])]));
  for (int k = 0; k < m_; ++k) std::swap(mu[at(k)], mu[at(exchanges_[at(k)])]);
  for (int i = 1; i < m_; ++i)
    for (int k = 0; k < i; ++k) mu[at(i)] = minus(mu[at(i)], times(s(i, k), mu[at(k)]));
  for (int k = m_; k-- > 0;) {
    for (int j = k + 1; j < m_; ++j) mu[at(k)] = minus(mu[at(k)], times(s(k, j), mu[at(j)]));
    mu[at(k)] = times(mu[at(k)], s(k, k));
  }
  for (int i = 0; i < nz_; ++i) {
    x[at(i)] = u[at(i)];
    for (int j = 0; j < m_; ++j) x[at(i)] = plus(x[at(i)], times(entry(i, j), mu[at(j)]));
  }
}

}  // namespace

SaddleCode::SaddleCode(std::unique_ptr<Evaluator> function, std::size_t x, std::size_t mu)
    : function_(std::move(function)),
      scratch_(function_->make_scratch()),
      x_(scratch_.data() + function_->first_output()),
      mu_(x_ + x),
      settled_(mu_ + mu) {}

std::unique_ptr<SaddleCode> SaddleCode::make(const Shape& shape) {
  const Pattern &a = shape.a, &c = shape.c;
  const int nz = a.rows, m = c.rows;
  if (native_use() == NativeUse::off || m > most_constraints || nz > most_velocities) return nullptr;
  const std::vector<std::vector<int>> rows = independent_blocks(a);
  std::size_t largest = 0;
  for (const auto& block : rows) largest = std::max(largest, block.size());
  if (largest > 2) return nullptr;

  // Everything that changes is a variable here, whatever it is in the model: so that nothing is simplified away that
  // would round.
  Graph graph;
  const auto variables = [&graph](std::size_t count) {
    Nodes nodes;
    for (std::size_t k = 0; k < count; ++k) nodes.push_back(graph.variable("x"));
    return nodes;
  };
  Nodes mass, reaction;
  if (shape.constant)
    for (std::size_t k = 0; k < a.entries(); ++k) mass.push_back(graph.constant(shape.constant[k]));
  else
    mass = variables(a.entries());
  if (shape.b) reaction = variables(shape.b->entries());
  const Nodes gradient = variables(c.entries()), right = variables(at(nz)), curvature = variables(at(m));
  const std::vector<Nodes> blocks{shape.constant ? Nodes{} : mass, reaction, gradient, right, curvature};

  Nodes x = right, mu = curvature;
  for (Node& n : mu) n = graph.negate(n);
  Elimination elimination(graph, a, c, mass, gradient, shape.exchanges);
  if (!shape.b && m > 0 && largest <= 1 && a.entries() == at(nz))
    elimination.point_masses(x, mu);
  else
    elimination.blocks(rows, shape.b, reaction, x, mu);
  Nodes outputs = x;
  outputs.insert(outputs.end(), mu.begin(), mu.end());
  elimination.demand_all_finite(outputs);
  outputs.push_back(elimination.settled());
  return std::unique_ptr<SaddleCode>(new SaddleCode(make_tape(graph, blocks, outputs), at(nz), at(m)));
}

}  // namespace hinge
