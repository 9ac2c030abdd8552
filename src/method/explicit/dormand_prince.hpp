// Explicit Runge-Kutta methods of Dormand and Prince with error estimates and dense output.
//
//   k_i = f(t0 + c_i h, x0 + h sum_{j<i} a_ij k_j),   x1 = x0 + h sum_i b_i k_i,   k_{s+1} = f(t0 + h, x1)
//
// Order 5 (DOPRI5, six stages): the error estimate, of order 4, uses k_7. Order 8 (DOP853, twelve stages): two
// estimates, of orders 5 and 3, which are combined, err = |e5|^2 / sqrt(|e5|^2 + |e3|^2 / 100).
// Dense output with s = (t - t0) / h and s1 = 1 - s:
//   x(t) = r1 + s (r2 + s1 (r3 + s (r4 + s1 (r5 + s (r6 + s1 (r7 + s r8))))))
// r1 to r4 come from x0, x1, k_1, k_{s+1}; the rest are  h sum_i d_ji k_i,  for order 8 with three stages more. Its
// order is 4 and 7.
//
// Coefficients: E. Hairer, S. P. Norsett, G. Wanner, Solving Ordinary Differential Equations I, 2nd edition, II.5,
// II.10 and the tables of the codes DOPRI5 and DOP853 that belong to it.
#pragma once

#include <vector>

namespace hinge {

struct ExplicitTableau {
  struct Term {
    int stage;
    double weight;
  };
  using Row = std::vector<Term>;

  int order = 0, stages = 0;
  std::vector<double> c;    // of all stages, k_{s+1} and those of the dense output
  std::vector<Row> a;       // likewise; the row of k_{s+1} is b
  Row error, second_error;  // the latter only of order 8
  std::vector<Row> dense;   // r5, ...
  double stiff_limit = 0;   // |h lambda| beyond which the method is not stable
  int extra_stages() const { return static_cast<int>(c.size()) - stages - 1; }
  const Row& b() const { return a[static_cast<std::size_t>(stages)]; }
};

/// Order 5 or 8.
const ExplicitTableau& dormand_prince(int order);

}  // namespace hinge
