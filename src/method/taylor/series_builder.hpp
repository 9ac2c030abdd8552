// From the nodes of a graph to operations on series, their levels and their order within a stage.
#pragma once

#include <limits>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "method/taylor/series_program.hpp"

namespace hinge {

class SeriesBuilder {
 public:
  SeriesBuilder(const Graph& graph, const SeriesFunctions& functions)
      : graph_(graph), f_(functions), slot_of_(at(graph.size()), -1), uses_(at(graph.size()), 0) {}
  SeriesProgram build();

 private:
  using P = SeriesProgram;
  using Kind = P::Kind;
  using Weight = P::Weight;
  static constexpr int unlimited = std::numeric_limits<int>::max() / 4, not_needed = -unlimited;
  static constexpr int largest_power = 64;  // made of products

  struct Term {
    double factor;
    int a, b;
  };
  struct Draft {
    Kind kind;
    Op function = Op::constant;
    bool has_value = false, dead = false, nothing = false;
    int result = -1, a = -1, b = -1, c = -1, state = -1;
    std::vector<Term> linear{}, products{};
    double constant = 0;
    int reach = -1;  // of an integral: that of this slot
  };
  struct Slot {
    int op = -1;
    int reach = unlimited;  // the order at stage 0 up to which it can be known
    int level = not_needed;
    bool open = false, used = false;  // open: its last coefficient changes with the unknowns of the stage
    bool constant = false;
  };
  // An operand, and which order of it an operation of order m reads: m + shift.
  struct Operand {
    int slot, shift;
  };

  static std::size_t at(int i) { return static_cast<std::size_t>(i); }
  static int shift_of(const Draft& op) { return op.kind == Kind::integral ? -1 : op.kind == Kind::derivative ? 1 : 0; }
  int producer(int slot) const { return slots_[at(slot)].op; }

  // ---- from nodes to operations: series_operations.cpp --------------------------------------------------------------
  int new_slot();
  int add(Draft op);
  int constant_slot(double value);
  int slot(Node n) { return graph_.is_constant(n) ? constant_slot(graph_.value(n)) : slot_of_[at(n)]; }
  void make_variables();
  void make_operations();
  void expand(Node n, double factor, Draft& sum);
  int sum_of(Node a, double fa, Node b = no_node, double fb = 0);
  int product(int a, int b, double factor = 1) { return add({.kind = Kind::sum, .products = {{factor, a, b}}}); }
  int sum_of_products(double constant, std::vector<Term> products) {
    return add({.kind = Kind::sum, .products = std::move(products), .constant = constant});
  }
  int factored(Node n, double& factor);
  int multiply(Node a, Node b);
  int quotient(int a, int b) { return add({.kind = Kind::quotient, .a = a, .b = b, .state = new_state()}); }
  int square_root(int a) { return add({.kind = Kind::root, .a = a, .state = new_state()}); }
  int derivative(int a);
  int primitive(Op function, int a, int u, double factor, int result = -1);
  int pair(Op first, Op second, bool want_first, int a, double sign);
  int exponential(int a);
  int logarithm(int a) { return primitive(Op::log, a, quotient(constant_slot(1), a), 1); }
  int tangent(Op function, int a, double sign);
  int arc(Op function, int a);
  int squares(double constant, double factor, int a) { return sum_of_products(constant, {{factor, a, a}}); }
  int angle(int y, int x);
  int whole_power(int a, int n);
  int power(Node base, Node exponent);
  int logarithm_of(Node n);
  int new_state(std::shared_ptr<const Table> table = nullptr);
  int table(const Graph::Entry& e);
  int make(Node n);

  // ---- which order at which stage, and what is known when: series_levels.cpp ----------------------------------------
  template <class Visit>
  void for_each_operand(const Draft& op, Visit&& visit) const {
    for (const auto* list : {&op.linear, &op.products})
      for (const Term& t : *list) {
        visit(Operand{t.a, shift_of(op)});
        if (t.b >= 0) visit(Operand{t.b, shift_of(op)});
      }
    if (op.kind == Kind::integral) return;
    for (const int s : {op.a, op.b, op.c})
      if (s >= 0) visit(Operand{s, shift_of(op)});
  }
  bool in_stage(const Draft& op, Operand o) const {
    return slots_[at(o.slot)].level == slots_[at(op.result)].level + o.shift;
  }
  void find_reach();
  void find_levels();
  bool raise(int s, int level);
  std::vector<int> sorted() const;
  void renumber(const std::vector<int>& order);
  void find_open(const std::vector<int>& order);
  void find_used(const std::vector<int>& order);
  void find_nothing(const std::vector<int>& order);

  // ---- the program: series_program.cpp ------------------------------------------------------------------------------
  P::Operand operand(int slot, int level) const;
  void write_operation(const Draft& op);
  void write_completion(const Draft& op);
  void write_closed(const std::vector<int>& order);
  void pack_lanes();  // series_lanes.cpp

  const Graph& graph_;
  const SeriesFunctions& f_;
  SeriesProgram program_;
  std::vector<int> slot_of_, uses_;
  std::vector<Slot> slots_;
  std::vector<Draft> ops_;
  std::map<double, int> constants_;
  std::map<int, int> derivatives_;
  std::map<std::pair<Op, int>, std::pair<int, int>> pairs_;
};

}  // namespace hinge
