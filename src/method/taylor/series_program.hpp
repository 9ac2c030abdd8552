// Expressions as operations on Taylor series: what SeriesTape computes, order by order.
//
// Every operation has a recurrence for its coefficients in the scaled time tau = (t - t0)/s (Moore 1966; Griewank,
// Walther, Evaluating Derivatives, 2nd ed., SIAM 2008, chapter 13):
//
//   r = sum c a + sum c a b    r_m = sum c a_m + sum c sum_i a_i b_(m-i)
//   r = a / b                  r_m = (a_m - sum_(i>0) b_i r_(m-i)) / b_0
//   r = sqrt a                 r_m = (a_m - sum_(0<i<m) r_i r_(m-i)) / (2 r_0)
//   r' = sum ...               r_m = s (sum ...)_(m-1) / m
//                              so sin' = a' cos, exp' = a' exp, (a^p)' = p a' r / a, atan' = a' / (1 + a^2), y' = v
//   r = a'                     r_m = (m+1) a_(m+1) / s
//   if, min, max, abs, tables  the side, or the piece, that holds at t0
//
// At stage k = -D, ..., 0, 1, ..., K an unknown has its coefficient of order k + d, an equation its own of order k + c
// (Pryce 2001), and every operation one between: the order k + level. A stage is evaluated with a guess for the
// coefficients that it determines; their corrections X, in units of derivatives, go on to all operations by
//   X_r = sum_a (dr/da) X_a,   r_(k+l) += X_r k! s^l / (k+l)!
// with weights dr/da of order zero that are the same in all stages.
//
// After the first stages the guess is zero, and what is made of it alone is zero, too, until the stage is complete.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

class Table;

/// What is to be expanded.
struct SeriesFunctions {
  /// A variable that is solved for, up to order k + d at stage k.
  struct Unknown {
    Node node;
    int d;
  };
  /// A variable y with y' = rate, of order k + d; its value is given.
  struct Integral {
    Node node, rate;
    int d;
  };
  /// A variable that is the derivative of an expression, or of another variable.
  struct Derived {
    Node node, of;
  };
  /// An equation 0 = node, differentiated c times at stage 0.
  struct Equation {
    Node node;
    int c;
  };
  Node t = no_node;
  std::vector<Unknown> unknowns{};
  std::vector<Integral> integrals{};
  std::vector<Derived> derived{};
  std::vector<Equation> equations{};
};

struct SeriesProgram {
  /// Up to this stage coefficients are evaluated with a guess, and corrected in their places.
  static constexpr int first_stages = 1;
  /// From stage `first_block` on sums of products are computed for so many stages at once (series_blocks.hpp).
  static constexpr int block = 4;
  /// The level of what is known from the beginning.
  static constexpr int always = 1 << 20;

  enum class Kind : std::uint8_t { sum, integral, derivative, quotient, root, choose, step, offset, cubic };
  /// Where a stage after the first ones finds the coefficient that it reads: in its place, as that of an earlier stage;
  /// beside it, as one of this stage; or nowhere: it is zero until the stage is complete.
  enum class Where : std::uint8_t { earlier, stage, nothing };
  struct Operand {
    int slot = -1, level = 0;  // its order at stage 0
    Where where = Where::earlier;
  };
  struct Linear {
    double factor;
    Operand a;
  };
  struct Product {
    bool minus;  // of the factor of its group
    Operand a, b;
  };
  /// Products with the same factor, but for their signs.
  struct Group {
    double factor;
    int first, end;
  };
  struct Operation {
    Kind kind;
    Op function = Op::constant;  // of an integral's first value, a choice, a step
    bool has_value = false;      // an integral's first value is a function of a and b
    bool nothing = false;        // zero until the stage is complete
    int level = 0, result = -1;
    Operand a{}, b{}, c{};
    int linear = 0, linear_end = 0, groups = 0, groups_end = 0;
    double constant = 0;  // of a sum
    int state = -1;       // of choices and tables; of quotients and roots: 1/b_0, 1/(2 r_0)
  };
  /// dr/da of one operand, at order zero
  enum class Weight : std::uint8_t { number, times, over, minus_ratio, half_over, state };
  struct Part {
    Weight kind;
    double factor;
    int operand, slot, other;  // of a state: its number, and which of its numbers
  };
  struct Completion {
    int result, level, first, end;
    bool nothing;  // nothing is there yet
    bool read;     // by other completions
  };
  struct Variable {
    int slot, order;
    bool read;  // of an unknown: by completions
  };
  struct Kept {
    int slot, level;
  };

  /// Four operations that do the same with other operands, as those of pairs of particles: done at once. Where they
  /// multiply series, these are results of four operations, too, in the same order.
  static constexpr int lanes = 4;
  struct Four {
    std::array<int, lanes> operation;
    bool series;         // of all orders is asked for,
    bool beside = true;  // or the newest ones, by fours that read them one by one or by others
  };
  /// What a later stage does, one after the other: an operation; or a sequence of fours of this length, so many times,
  /// with other operands each time.
  struct Step {
    int operation, four, length, count;
    int fours() const { return length * count; }
  };
  struct Lane {
    int four = -1, number = 0;
  };

  std::vector<Operation> operations;
  std::vector<Step> steps;
  std::vector<Four> fours;
  std::vector<Lane> lane_of;  // of each slot
  std::vector<Linear> linear;
  std::vector<Group> groups;
  std::vector<Product> products;
  std::vector<Variable> unknowns;
  std::vector<int> integrals;  // slots
  std::vector<Operand> equations;
  std::vector<Completion> completions;
  std::vector<Part> parts;
  std::vector<int> level_of;   // of each slot
  std::vector<char> kept;      // of each slot, if not in a four: later stages read its coefficients
  std::vector<char> gathered;  // of each slot: fours read its newest coefficient by itself
  std::vector<Kept> closed;    // those of fours that are read one by one
  std::vector<std::shared_ptr<const Table>> tables;  // of each state; null of others
  std::vector<std::pair<double, int>> constants;     // and their slots
  int slots = 0, t_slot = -1, most = 0;              // most: the highest order at stage 0
  int first_block = block;
  static constexpr int numbers_of_state = 6;

  int states() const { return static_cast<int>(tables.size()); }
};

/// Throws UnsuitableMethod where an equation contains a derivative that its structure does not know of.
SeriesProgram make_series_program(const Graph& graph, const SeriesFunctions& functions);

}  // namespace hinge
