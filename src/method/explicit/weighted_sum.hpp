// Sums of rates with the weights of a Runge-Kutta method, in registers; and all stages of a small mechanism in one
// loop. Rows of rates are padded to whole lanes of four numbers.
#pragma once

#include <cstddef>
#include <vector>

#include "expression/native.hpp"
#include "method/explicit/dormand_prince.hpp"

namespace hinge {

/// Numbers of a row with its padding.
constexpr int padded(int n) { return (n + 3) / 4 * 4; }

/// out = x + h sum_j w_j k_j for n numbers, a multiple of four; without x, h sum_j w_j k_j. Row j of k begins at
/// j stride. Each number is rounded as if it were alone, in the order of the terms.
void weighted_sum(const ExplicitTableau::Row& row, const double* x, double h, const double* k, int stride, int n,
                  double* out);

/// The stages of a step by machine code that fills rows: inputs t, y, z; in its scratch array, of `stride` numbers, the
/// rates begin at `rates`, and `settled` is 1 where they are to be used. Then the end of the step, with both estimates
/// of its error.
class StageLoop {
 public:
  static constexpr int most = 16;  ///< numbers, padded

  StageLoop() = default;
  StageLoop(const ExplicitTableau& tableau, const NativeCode& code, int n, int ny, double* rows, int stride, int rates,
            int settled);
  explicit operator bool() const { return code_ != nullptr; }

  /// Returns the first stage that is not settled, or s. `stage` and `last_stage` are places for x.
  int stages(double t, double h, const double* x, double* stage, double* last_stage) const;
  /// Fills one row, with all that the code gives. False where it is not settled.
  bool rates(double t, const double* x, int stage) const;
  /// x1, and the sums of squares of both estimates relative to the tolerance.
  struct Errors {
    double first, second;
  };
  Errors end(double h, double absolute, double relative, const double* x, double* x1) const;

 private:
  friend struct StageLoopBody;
  struct Term {
    std::ptrdiff_t row;  // where it begins
    double weight;
  };
  using Row = std::vector<Term>;
  Row flat(const ExplicitTableau::Row& row) const;

  const NativeCode* code_ = nullptr;
  int n_ = 0, padded_ = 0, ny_ = 0, stride_ = 0, settled_ = 0;
  double *rows_ = nullptr, *rates_ = nullptr;
  std::vector<Row> stages_;
  std::vector<double> c_;
  Row end_, first_, second_;
};

}  // namespace hinge
