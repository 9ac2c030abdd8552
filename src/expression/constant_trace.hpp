// What is done with the values of constants while a thread makes expressions: from it follows whether other values
// would have led to the same expressions, and which constants would stand in them (graph_library.hpp).
//
// Every graph notes here which constants it has folded into others, and which values were looked at. Comparisons with
// 0, 1 and -1 are not noted: they come out the same as long as what differs from these numbers goes on to do so.
#pragma once

#include <cstdint>
#include <vector>

namespace hinge {

enum class Op : std::uint8_t;

struct ConstantTrace {
  struct Fold {
    Op op;
    double a, b, c, result;
  };
  struct Test {
    bool (*test)(double);
    double x;
  };
  std::vector<double> given;  ///< from outside
  std::vector<Fold> folds;
  std::vector<double> read;  ///< anything may depend on these; numbers that the program brings along are among them
  std::vector<Test> tests;   ///< of these only the outcome matters

  /// Of this thread; null where nobody wants to know.
  static inline constinit thread_local ConstantTrace* active = nullptr;
};

}  // namespace hinge
