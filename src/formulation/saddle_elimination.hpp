// The arithmetic of SaddleKernel, written down as expressions: what machine code for small mechanisms is made of.
//
//   [ A  -B ] [x ]   [a]
//   [ C   0 ] [mu] = [b]
//
// The operations are those of SaddleKernel in its order, with the row exchanges that it made at one point, so that the
// numbers are the same (a zero may have the other sign). settled() is 1 where SaddleKernel would do the same; where it
// would exchange other rows, or turn to a safer factorisation, it is not, and SaddleKernel has to be asked.
#pragma once

#include <array>
#include <vector>

#include "expression/graph.hpp"
#include "solve/linear/saddle_kernel.hpp"

namespace hinge {

using Nodes = std::vector<Node>;

/// A product that rounds by itself. (A graph joins constant factors, which rounds once where two products would twice.)
Node separate_product(Graph& graph, Node a, Node b);

class SaddleElimination {
 public:
  /// Few constraints, and masses in blocks of at most two rows: beyond that it is no faster than SaddleKernel.
  static bool suits(const Pattern& a, const Pattern& c);

  /// `b`: null where B = -C^T. `exchanges`: of rows of C A^-1 B, as SaddleKernel made them. All of them are kept by
  /// who asks.
  SaddleElimination(Graph& graph, const Pattern& a, const Pattern* b, const Pattern& c,
                    const std::vector<int>& exchanges);

  /// From the entries of A, B (where it is not -C^T) and C.
  void factor(Nodes mass, const Nodes& reaction, Nodes gradient);
  /// The right-hand side in, the solution out.
  void solve(Nodes& x, Nodes& mu);
  /// Many constraints on point masses, bodies among them, as SparseSchur and SparseLdlt do it: both steps at once, the
  /// rows of S in this order, as many operations as L has entries that meet.
  void solve_in_order(const std::vector<int>& order, Nodes mass, Nodes gradient, Nodes& x, Nodes& mu);
  /// That order; empty where SaddleKernel has none, or where the code would be too long.
  static std::vector<int> order_of_many(const Pattern& a, const Pattern* b, const Pattern& c, bool constant_mass);
  Node settled() const { return settled_; }
  void demand(Node condition) { settled_ = graph_.multiply(settled_, condition); }
  void demand_all_finite(const Nodes& numbers);

 private:
  Node times(Node a, Node b) { return separate_product(graph_, a, b); }
  Node plus(Node a, Node b) { return graph_.add(a, b); }
  Node minus(Node a, Node b) { return graph_.subtract(a, b); }
  Node inverse(Node a) { return graph_.divide(graph_.constant(1), a); }
  Node size_of(Node a) { return graph_.make(Op::abs, a); }
  Node& s(int i, int j) { return s_[static_cast<std::size_t>(i * m_ + j)]; }
  Node& w(int i, int j) { return w_[static_cast<std::size_t>(i * m_ + j)]; }
  void demand_less(Node a, Node b) { demand(graph_.make(Op::less, a, b)); }
  void demand_finite(Node a);
  Node weak(double share, Node of) { return times(graph_.constant(share), of); }
  Node mass_entry(int i, int j) const;
  void factor_point_masses();
  void solve_point_masses(Nodes& x, Nodes& mu);
  void factor_symmetric();
  void solve_symmetric(Nodes& mu);
  void invert_blocks();
  Node has_largest_share(int k, const Nodes& size);
  void factor_rows();
  void apply_inverse(std::size_t block, Node& first, Node& second);
  void factor_blocks(const Nodes& reaction);
  void solve_blocks(Nodes& x, Nodes& mu);

  Graph& graph_;
  const Pattern &a_pattern_, &c_pattern_;
  const Pattern* b_pattern_;
  const std::vector<int>& exchanges_;
  std::vector<std::vector<int>> rows_;  // of each block of A
  bool point_masses_;
  int nz_, m_;
  Nodes mass_, c_, s_;
  Node settled_ = no_node;
  Nodes inverses_, over_mass_;                // point masses: of A, and C A^-1
  std::vector<std::array<Node, 4>> inverse_;  // blocks: of each
  Nodes w_;                                   // A^-1 B
};

}  // namespace hinge
