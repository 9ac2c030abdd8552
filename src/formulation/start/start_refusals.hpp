// What is wrong with initial values, in words.
#pragma once

#include <string>
#include <vector>

#include "formulation/start/closing.hpp"
#include "formulation/start/consistent_start.hpp"

namespace hinge {

/// Violations beyond rounding of typed values, position level first, largest first.
std::vector<StartCheck::Violation> violations(const System& system, double t, const std::vector<double>& y,
                                              const std::vector<double>& z);

/// Do the constraints hold at y, up to the rounding of typed values?
bool position_holds(const System& system, double t, const std::vector<double>& y);
bool velocity_holds(const System& system, double t, const std::vector<double>& y, const std::vector<double>& z);
/// Throws InconsistentStart: constraints that contacts and limits of joints keep from closing.
[[noreturn]] void refuse_unclosed(const System& system, double t, const State& state);
/// Throws InconsistentStart: the constraints that cannot be closed with these coordinates fixed, and what is left.
[[noreturn]] void refuse_assembly(const System& system, const Closing& closing, bool fixed);

/// Equations that are no numbers at the start: a root of a negative number, a division by zero.
void refuse_undefined(const System& system, double t, const std::vector<double>& y, const std::vector<double>& z,
                      const std::vector<double>& psi);
/// Throws RedundantConstraints when the constraints are dependent (or contradictory) at y.
void refuse_redundant(const System& system, double t, const std::vector<double>& y, const std::vector<double>& z);
/// Throws SingularMass where nothing resists a motion that the constraints leave free.
void refuse_singular_mass(const System& system, double t, const std::vector<double>& y, const std::vector<double>& z,
                          const std::vector<double>& psi);
/// Throws InconsistentStart, with the violations and the nearest values.
[[noreturn]] void refuse_inconsistent(const System& system, const Start& start, const StartCheck& check);

/// "q[0] 1.2 -> 1, q'[0] 5 -> 0": the initial values that `used` has otherwise than `given`, by more than the rounding
/// of typed numbers; the largest change where they are too many to be listed. Empty where there are none.
std::string moved_values(const Layout& layout, const State& given, const State& used);

/// As a model file has it, so that it can be copied there: { q1 = [1, 0], q2 = [[1, 0], [2, 0]] }; the first `longest`
/// characters.
std::string list_values(const std::vector<Block>& blocks, const std::vector<double>& x, std::size_t longest = 600);

}  // namespace hinge
