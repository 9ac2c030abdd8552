// What can go wrong, one type per cause. Nothing in the library prints; everything throws one of these.
#pragma once

#include <stdexcept>
#include <string>

namespace hinge {

/// Root of everything Hinge throws on purpose.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The user's input cannot be used: the message says where, why, and what to do. The program exits with 2.
struct InputError : Error {
  using Error::Error;
};

/// An expression does not parse or has the wrong shape; `column` counts from 1 in `text`.
struct ExpressionError : InputError {
  ExpressionError(std::string message, std::string text, int column);
  std::string cause;  ///< the message without the quoted expression
  std::string text;   ///< the expression as written
  int column;         ///< first offending character, from 1
};

/// Initial values violate a constraint on the position or the velocity level.
struct InconsistentStart : InputError {
  using InputError::InputError;
};

/// Constraints depend on each other or contradict each other.
struct RedundantConstraints : InputError {
  using InputError::InputError;
};

/// The mass matrix is singular on the constraint tangent: some motion has no inertia.
struct SingularMass : InputError {
  using InputError::InputError;
};

/// The equations of a DAE do not determine its unknowns.
struct SingularDae : InputError {
  using InputError::InputError;
};

/// The chosen method cannot treat this system (for example a reaction that depends on the velocity).
struct UnsuitableMethod : InputError {
  using InputError::InputError;
};

/// An output file cannot be written.
struct OutputError : InputError {
  using InputError::InputError;
};

/// The numerics failed in a run: the state before the failed step is intact. The program exits with 1.
struct StepFailure : Error {
  StepFailure(const std::string& message, double at) : Error(message), time(at) {}
  double time;  ///< start of the step that failed
};

}  // namespace hinge
