// The saddle-point matrix of small mechanisms, factorised and solved by one piece of machine code:
//
//   [ A  -B ] [x ]   [a]
//   [ C   0 ] [mu] = [b]
//
// With the numbers of SaddleKernel, or the answer that SaddleKernel has to be asked (saddle_elimination.hpp).
#pragma once

#include <memory>
#include <vector>

#include "expression/evaluator.hpp"
#include "solve/linear/saddle_kernel.hpp"

namespace hinge {

class SaddleCode {
 public:
  struct Shape {
    const Pattern &a, &c;
    const Pattern* b = nullptr;        ///< null where B = -C^T
    const double* constant = nullptr;  ///< entries of A, where they never change
    std::vector<int> exchanges;        ///< of rows of C A^-1 B, as SaddleKernel made them
  };
  /// Null where it would not be faster or is not possible: without machine code, with very many operations, masses in
  /// blocks of more than two rows, or many constraints on other than point masses.
  static std::unique_ptr<SaddleCode> make(const Shape& shape);

  /// From the entries of A, B (where it is not -C^T) and C, a and -b. False where the solution is not to be used; it is
  /// finite where it is.
  bool solve(const double* a, const double* b, const double* c, const double* right, const double* minus_b) {
    const double* const inputs[] = {a, b, c, right, minus_b};
    function_->evaluate(inputs, scratch_.data());
    return settled_[0] == 1.0;
  }
  const double* x() const { return x_; }
  const double* mu() const { return mu_; }

 private:
  SaddleCode(std::unique_ptr<Evaluator> function, std::size_t x, std::size_t mu);

  std::unique_ptr<Evaluator> function_;
  std::vector<double> scratch_;
  const double *x_, *mu_, *settled_;
};

}  // namespace hinge
