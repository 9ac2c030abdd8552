// Taylor coefficients of expressions, order by order.
//
// A tape of operations, each with the recurrence of its coefficients (Moore 1966; Griewank, Walther, Evaluating
// Derivatives, 2nd ed., SIAM 2008, chapter 13), in the scaled time tau = (t - t0)/s:
//
//   r = sum c a + sum c a b    r_m = sum c a_m + sum c sum_i a_i b_(m-i)
//   r = a / b                  r_m = (a_m - sum_(i>0) b_i r_(m-i)) / b_0
//   r = sqrt a                 r_m = (a_m - sum_(0<i<m) r_i r_(m-i)) / (2 r_0)
//   r = a^p                    r_m = sum_(i<m) (p (m-i) - i) a_(m-i) r_i / (m a_0)
//   r' = sum ...               r_m = s (sum ...)_(m-1) / m
//                              so sin' = a' cos, exp' = a' exp, atan' = a' / (1 + a^2), and unknowns y' = v
//   r = a'                     r_m = (m+1) a_(m+1) / s
//   if, min, max, abs, tables  the side, or the piece, that holds at t0
//
// At stage k = -D, ..., 0, 1, ..., K an unknown has its coefficient of order k + d, an equation its own of order k + c
// (Pryce 2001), and every operation one between: the order k + level. A stage is evaluated with a guess for the
// coefficients that it determines; their corrections X, in units of derivatives, go on to all operations by
//   X_r = sum_a (dr/da) X_a,   r_(k+l) += X_r k! s^l / (k+l)!
// with weights dr/da of order zero that are the same in all stages.
//
// Coefficients of an operation stand one after the other, forwards and backwards, so that sums of products run along
// both. Nothing is allocated after construction.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

class Table;

class SeriesTape {
 public:
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
  struct Functions {
    Node t = no_node;
    std::vector<Unknown> unknowns{};
    std::vector<Integral> integrals{};
    std::vector<Derived> derived{};
    std::vector<Equation> equations{};
  };

  SeriesTape(const Graph& graph, const Functions& functions, int last_stage);

  /// Begins at t0 with the scale s; where that is another one, coefficients are those of the old one still.
  void begin(double t0, double scale);
  /// One coefficient of every operation.
  void evaluate(int stage);
  /// After the last evaluation of the stages <= 0: the weights of complete().
  void weigh();
  /// What the equations are at the stage that was evaluated, in units of derivatives: zero where the unknowns are
  /// right.
  void residual(int stage, double* out) const;
  /// Ends the stage with corrections of the unknowns, in units of derivatives.
  void complete(int stage, const double* x);

  /// Coefficients of unknowns and integrals, in the order of their lists.
  const double* unknown(std::size_t j) const { return series(unknowns_[j].slot); }
  const double* integral(std::size_t j) const { return series(integrals_[j].slot); }
  void set_unknown(std::size_t j, int m, double value) { put(unknowns_[j].slot, m, value); }
  void set_integral(std::size_t j, double value) { put(integrals_[j].slot, 0, value); }
  /// A guess of zero for what the stage determines.
  void guess_nothing(int stage) {
    for (const auto [slot, d] : unknowns_) {
      newest(slot) = 0;
      if (stage <= first_stages) put(slot, stage + d, 0.0);
    }
  }
  /// Forgets numbers that are not finite.
  void clear();
  int last_stage() const { return last_stage_; }
  /// The highest order at stage 0.
  int most() const { return most_; }
  double scale() const { return scale_; }
  double time() const { return t0_; }
  std::size_t operations() const { return ops_.size(); }

 private:
  friend class SeriesTapeBuilder;
  // Up to this stage numbers are written to their places at once. Later on sums of products run over coefficients of
  // earlier stages, four at a time and without a branch, and those of the stage itself are added.
  static constexpr int first_stages = 1, most_blocks = 20;
  enum class Kind : std::uint8_t { sum, integral, derivative, quotient, root, power, choose, step, offset, cubic };
  struct Operation {
    Kind kind;
    Op function;                               // of an integral's first value, a choice, a step
    bool has_value;                            // an integral's first value is a function of a and b
    int level;                                 // its order at stage 0
    int result;                                // slot
    int a, b, c;                               // slots of operands; of an integral: of its first value
    int linear, products, end;                 // ranges of terms
    double constant;                           // of a sum; the exponent of a power
    int state;                                 // of a table or choice
    bool vanishes;                             // after stage 0, until it is completed, which nobody asks for
    std::ptrdiff_t place_a, place_b, place_c;  // as in Term
    int step_a, step_b, step_c;
  };
  struct Term {
    double factor;
    int a, b;
    // Where the coefficient of order m stands: at place + step m, the step being 0 for that of this stage.
    std::ptrdiff_t place_a = 0, place_b = 0;
    int step_a = 1, step_b = 1;
  };
  struct Variable {
    int slot, order;
  };
  struct Kept {  // what later stages read
    int slot, level;
  };
  // dr/da of one operand, at order zero
  enum class Weight : std::uint8_t { number, times, over, minus_ratio, half_over, exponent, chosen, cubic };
  struct Part {
    Weight kind;
    double factor;
    int operand, slot, other, state;
  };
  struct Completion {
    int result, level, first, end;
  };
  using State = std::array<double, 5>;  // of a choice: factors; of a table: coefficients and origin

  // Forwards, then backwards: the coefficient of order m stands at m, and again m places before the last.
  double* series(int slot) { return data_.data() + static_cast<std::size_t>(slot) * stride_; }
  const double* series(int slot) const { return data_.data() + static_cast<std::size_t>(slot) * stride_; }
  const double* reversed(int slot, int m) const { return series(slot) + back_ - m; }
  void put(int slot, int m, double value) {
    double* const s = series(slot);
    s[m] = value;
    s[back_ - m] = value;
  }
  // The coefficient of this stage, which is not among the others before all corrections are made.
  double& newest(int slot) { return series(slot)[newest_]; }
  double newest(int slot) const { return series(slot)[newest_]; }
  double terms(const Operation& op, int m) const;
  void evaluate_first(int stage);
  template <int Blocks>
  void evaluate_later(int stage);
  template <int Blocks>
  double later_terms(const Operation& op, int m) const;
  double later_choice(const Operation& op, int m) const;
  template <int... Blocks>
  static constexpr auto later_stages(std::integer_sequence<int, Blocks...>);
  void keep(int stage);
  double choose(const Operation& op, int m);
  double power(const Operation& op, const double* r, int m) const;
  void factors(int stage);

  std::vector<Operation> ops_;
  std::vector<Term> terms_;
  std::vector<Variable> unknowns_, integrals_, equations_;
  std::vector<Completion> completions_;
  std::vector<Part> parts_;
  std::vector<double> weights_, delta_;
  std::vector<State> states_;
  std::vector<std::shared_ptr<const Table>> tables_;
  std::vector<double> data_, inverse_;  // inverse_[m] = 1/m
  std::size_t stride_ = 0;
  std::ptrdiff_t back_ = 0;    // place of the coefficient of order zero, backwards; zeros behind it
  std::ptrdiff_t newest_ = 0;  // place of the newest one
  std::vector<Kept> kept_;
  int t_slot_ = -1, last_stage_ = 0, most_ = 0;
  std::vector<std::pair<double, int>> constants_;
  double t0_ = 0, scale_ = 1;
  std::vector<double> factor_;  // k! s^l / (k+l)! for l = -1, 0, ...
};

}  // namespace hinge
