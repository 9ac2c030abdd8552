// Symmetric compositions: higher order from one method by substeps of different lengths, some of them negative.
//
// A symmetric method S_h of order 2 is the base itself where it is symmetric, and else base_{h/2} o adjoint_{h/2}.
// S_{g1 h} o ... o S_{gn h} with g_i = g_{n+1-i} is symmetric again, so its order is even. It is 4 when
//
//   sum g_i = 1,  sum g_i^3 = 0
//
// and from order 2 k to 2 k + 2 in the same way with exponent 2 k + 1.
//
//   triple-jump   order 4: 3 substeps, order 6: 9 (H. Yoshida, Phys. Lett. A 150 (1990))
//   suzuki        order 4: 5, order 6: 25; shorter substeps (M. Suzuki, Phys. Lett. A 146 (1990))
//   optimised     order 4: 5 (R. I. McLachlan, SIAM J. Sci. Comput. 16 (1995)),
//                 order 6: 9 (W. Kahan, R.-C. Li, Math. Comp. 66 (1997))
//
// Preserved: what the base preserves, and time symmetry. If the partner is not the adjoint of the base, the pair is not
// symmetric and every composition falls back to order 1: for reactions nonlinear in psi, true conjugate symplectic
// Euler is not the adjoint of true symplectic Euler.
#pragma once

#include <optional>
#include <vector>

#include "hinge/method.hpp"

namespace hinge {

/// The lengths g_i that take a symmetric method of order `from` (even) to order `to`; an unknown scheme or order is an
/// InputError that says what there is.
std::vector<double> composition_lengths(const std::string& scheme, int from, int to);

/// `partner` empty: the base is symmetric and alone.
std::unique_ptr<Stepper> make_composition(std::shared_ptr<const System> system, const MethodChoice& base,
                                          const std::optional<MethodChoice>& partner,
                                          const std::vector<double>& lengths, bool base_first,
                                          const SolverOptions& options);

}  // namespace hinge
