// Is the residual of an implicit step nothing but rounding? Where a motion has come to rest, velocities are rounding
// themselves, and increments measured against them never become small. What is left then shows in the equations: each
// is within some roundings of the terms it is made of, |f_i| <= 64 eps (sum_j |A_ij| |x_j| + ...) + what rounding
// within f_i may come to, and no iterate is better than that.
#pragma once

#include <cmath>
#include <cstddef>

#include "hinge/solve.hpp"
#include "solve/machine_numbers.hpp"

namespace hinge {

/// Do increments not become smaller any more? Then it is time to ask whether they are rounding.
template <class Rule>
bool stalls(const Rule& rule) {
  constexpr int patience = 5;
  return rule.count() >= patience && rule.theta() > 0.9;
}
/// Has that been so for long? Then the expressions are asked now and then, which takes longer; at odd and at even
/// counts, since rounding may go to and fro between two values, and one increment of two is then the larger.
template <class Rule>
bool stalls_for_long(const Rule& rule) {
  constexpr int patience = 16, each = 5;
  return rule.count() >= patience && rule.count() % each == 0 && rule.theta() > 0.9;
}

inline constexpr double roundings = 64;  // of the functions behind f

/// `term(i, e, k)` is the size of the term of row i that entry e makes with unknown k, `within` the rounding within f.
template <class Term>
bool residual_is_rounding(const Pattern& p, const double* f, const double* within, Term&& term) {
  for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows); ++i) {
    double sum = 0;
    for (auto e = static_cast<std::size_t>(p.row_start[i]); e < static_cast<std::size_t>(p.row_start[i + 1]); ++e)
      sum += term(i, e, static_cast<std::size_t>(p.column[e]));
    if (!(std::abs(f[i]) <= roundings * epsilon * sum + within[i])) return false;
  }
  return true;
}

}  // namespace hinge
