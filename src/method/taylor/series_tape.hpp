// Taylor coefficients of expressions, order by order (series_program.hpp): by machine code where there can be some,
// else computed by the same recurrences, with the same numbers to the last bit.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "method/taylor/series_code.hpp"
#include "method/taylor/series_layout.hpp"
#include "method/taylor/series_program.hpp"

namespace hinge {

class SeriesTape {
 public:
  SeriesTape(const Graph& graph, const SeriesFunctions& functions, int last_stage);
  SeriesTape(const SeriesTape&) = delete;
  SeriesTape& operator=(const SeriesTape&) = delete;

  /// Begins at t0 with the scale s; where that is another one, coefficients are those of the old one still.
  void begin(double t0, double scale);
  /// One coefficient of every operation. After stage 0 with zero for what the stage determines.
  void evaluate(int stage);
  /// After the last evaluation of the stages <= 0: the weights of complete().
  void weigh();
  /// After evaluate(): -F of the equations at the stage, in units of derivatives, zero where the unknowns are right.
  /// There the corrections of the unknowns are to be written, before complete() ends the stage with them.
  double* right() { return data_ + at_.right; }
  void complete(int stage);
  /// Where the system is small, the inverse of the system Jacobian may be given, column by column; then solve() is what
  /// stands between evaluate() and complete(); first_stages() does all this up to stage 1, later_stages() what follows.
  bool inverts() const { return at_.inverts; }
  std::size_t equations() const { return program_.equations.size(); }
  double* inverse_column(std::size_t j) { return data_ + at_.inverse + j * at_.height; }
  void solve();
  void first_stages();
  void later_stages();

  /// Coefficients of unknowns and integrals, in the order of their lists.
  const double* unknown(std::size_t j) const { return data_ + at_.series_of(program_.unknowns[j].slot); }
  const double* integral(std::size_t j) const { return data_ + at_.series_of(program_.integrals[j]); }
  void set_unknown(std::size_t j, int m, double value) { put(program_.unknowns[j].slot, m, value); }
  void set_integral(std::size_t j, double value) { put(program_.integrals[j], 0, value); }
  /// Forgets numbers that are not finite.
  void clear();
  int last_stage() const { return at_.last_stage; }
  /// The highest order at stage 0.
  int most() const { return program_.most; }
  double scale() const { return scale_; }
  bool has_code() const { return code_ != nullptr; }
  /// How many operations are done with three others at once.
  std::size_t done_together() const { return SeriesProgram::lanes * program_.fours.size(); }

 private:
  static void first_choice(void* tape, std::size_t operation, std::size_t order);
  void put(int slot, int m, double value) { data_[at_.series_of(slot) + static_cast<std::size_t>(m)] = value; }
  const SeriesCode* code_by_parts() const { return code_ && !code_->whole() ? code_.get() : nullptr; }
  void fill_rows();
  void fill_fours();

  // Of a four: where the series of its operations begin, one by one and all together; and their last order by then.
  struct FirstFour {
    std::array<std::size_t, SeriesProgram::lanes> from;
    std::size_t to;
    int last;
  };
  SeriesProgram program_;
  SeriesLayout at_;
  std::vector<FirstFour> first_fours_;
  std::vector<double> memory_, unit_;  // unit_: rows for the scale 1
  double* data_;                       // in it, at a multiple of 64 bytes
  double t0_ = 0, scale_ = 0;
  std::unique_ptr<const SeriesCode> code_;
};

}  // namespace hinge
