// What earlier steps have left of algebraic equations, taken away where a step fails because of it: radau_adaptive.hpp.
#include <cmath>

#include "method/implicit/radau_adaptive.hpp"

namespace hinge {

namespace {

constexpr double matters_to_exponentials = 1e-7;  // of an unknown

}  // namespace

// Unknowns of a DAE of index 1 that its equations determine, as they determine them: what earlier steps have left
// there, within the tolerance, may be much to an exponential, and no step is then short enough for the iteration.
void RadauAdaptive::settle() {
  if (!settles_) return;
  State settled{t_, std::vector<double>(static_cast<std::size_t>(system_->ny())),
                std::vector<double>(static_cast<std::size_t>(system_->nz())),
                std::vector<double>(static_cast<std::size_t>(system_->npsi()))};
  problem_->show(t_, x0_.data(), rate0_.data(), settled);
  bool moved = false;
  for (std::size_t k = 0; k < x0_.size(); ++k)
    moved = moved || std::abs(settled.y[k] - x0_[k]) > matters_to_exponentials * std::abs(x0_[k]);
  if (!moved || !problem_->from_state(settled, x0_.data(), rate0_.data())) return;
  has_polynomial_ = false;
  linearise_ = true;
  dense_->forget();
  if (variable_) use(0);
}

}  // namespace hinge
