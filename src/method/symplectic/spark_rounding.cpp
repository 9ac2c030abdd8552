// Are the residuals of the stage equations nothing but rounding? Each row is compared with its terms, and with what
// rounding within p, f, r and g comes to (see solve/newton/at_rounding.hpp).
#include <cmath>

#include "method/symplectic/spark_step.hpp"
#include "solve/machine_numbers.hpp"
#include "solve/newton/at_rounding.hpp"
#include "system/symbolic.hpp"

namespace hinge {

void Spark::prepare_rounding() {
  const auto size = static_cast<std::size_t>(3 * nz_ + m_);  // p, f, r, g of a point
  within_.resize(size * static_cast<std::size_t>(s_ + st_ + 1));
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(system_.get());
  if (!symbolic) return;
  const Equations& eq = symbolic->equations();
  std::vector<Node> functions = eq.p;
  for (const auto* more : {&eq.f, &eq.r, &eq.g}) functions.insert(functions.end(), more->begin(), more->end());
  if (functions.size() != size) return;
  rounding_ = RoundingBounds(eq.graph, {{eq.t}, eq.y, eq.z, eq.psi}, functions);
  rounding_.prepare();
}

// Of full Newton, whose rows are  Y - y0 - h A V,  R_Z  and  g.
bool Spark::stages_left_rounding(const State& state, double h) {
  const auto at = [](int i) { return static_cast<std::size_t>(i); };
  const int each = 3 * nz_ + m_;
  within_.assign(at(each * (s_ + st_ + 1)), 0.0);
  const auto bounds = [&](int point) { return within_.data() + point * each; };
  const auto ask = [&](double t, const double* y, const double* z, const double* psi, int point) {
    const double* const inputs[] = {&t, y, z, psi};
    rounding_.add(inputs, bounds(point));
  };
  for (int i = 0; i < s_; ++i) ask(state.t + c_.c[i] * h, y_(i), z_(i), l_(0), i);
  for (int k = 0; k <= st_ && m_ > 0; ++k) ask(state.t + c_.ctilde[k] * h, node_y_(k), state.z.data(), l_(k), s_ + k);

  const double size_h = std::abs(h);
  for (int i = 0; i < s_; ++i) {
    for (int a = 0; a < ny_; ++a) {
      double off = state.y[at(a)] - y_(i)[a], terms = std::abs(state.y[at(a)]) + std::abs(y_(i)[a]);
      for (int j = 0; j < s_; ++j) {
        off += h * c_.a(i, j) * v_(j)[a];
        terms += size_h * std::abs(c_.a(i, j) * v_(j)[a]);
      }
      if (!(std::abs(off) <= roundings * epsilon * terms)) return false;
    }
    for (int a = 0; a < nz_; ++a) {
      double terms = std::abs(p_(i)[a]) + std::abs(p0_[at(a)]), inner = bounds(i)[a];
      for (int j = 0; j < s_; ++j) {
        terms += size_h * std::abs(c_.ahat(i, j) * f_(j)[a]);
        inner += size_h * std::abs(c_.ahat(i, j)) * bounds(j)[nz_ + a];
      }
      for (int k = 0; k < st_ && m_ > 0; ++k) {
        terms += size_h * std::abs(c_.atilde(i, k) * r_(k)[a]);
        inner += size_h * std::abs(c_.atilde(i, k)) * bounds(s_ + k)[2 * nz_ + a];
      }
      if (!(std::abs(residual_[at(i * nz_ + a)]) <= roundings * epsilon * terms + inner)) return false;
    }
  }
  for (int k = 1; k <= st_ && m_ > 0; ++k)
    for (int a = 0; a < m_; ++a)
      if (!(std::abs(node_g_[at(k * m_ + a)]) <= bounds(s_ + k)[3 * nz_ + a])) return false;
  return true;
}

}  // namespace hinge
