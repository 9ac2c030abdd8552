// Steps of radau with bodies that turn: the derivatives of every stage (radau_stagewise.hpp), and coordinates that move
// along with the bodies (formulation/implicit/moving_problem.hpp).
#include "method/implicit/radau_adaptive.hpp"

namespace hinge {

namespace {

constexpr int stagewise_for = 20;    // steps, when the simplified iteration has failed
constexpr double renew_above = 0.1;  // contraction

}  // namespace

// With the derivatives of every stage, where those of the middle are not enough.
bool RadauAdaptive::solve_stagewise(double h) {
  if (!may_turn_) return false;
  std::optional<RadauStagewise>& stagewise = stagewise_[level_];
  if (!stagewise) stagewise.emplace(*problem_, tableau(), counters_);
  const auto iterate = [&] {
    newton_.forget();
    return solved_by_newton(Booked(newton_, counters_), [&]() -> Increment {
      if ((newton_.count() == 0 || newton_.slowest() > renew_above) &&
          !stagewise->linearise(t_, x0_.data(), h, now_.z.data()))
        return no_increment;
      if (!stagewise->iterate(t_, x0_.data(), h, now_.z.data(), dz_.data())) return no_increment;
      return increment_size();
    });
  };
  if (stagewise_steps_ == 0) predict(h);
  bool solved = iterate();
  if (!solved && problem_->moves()) {
    predict_steadily(h);
    solved = iterate();
  }
  stagewise_steps_ = !solved ? 0 : stagewise_steps_ > 0 ? stagewise_steps_ - 1 : stagewise_for;
  return solved;
}

// They are chosen anew with every step: of the last polynomial, the values at its nodes become those in the new ones.
void RadauAdaptive::move_along() {
  const bool moved = problem_->moves();
  if (!problem_->aim(t_, x0_.data(), rate0_.data())) return;
  problem_->carry(t_, x0_.data(), rate0_.data());
  if (last_.h != 0) {
    const std::size_t n = x0_.size(), s = last_.stages();
    for (std::size_t i = 0; i < s; ++i) {
      double* z = last_.z.data() + i * n;
      for (std::size_t k = 0; k < n; ++k) z[k] += last_.from[k];
      problem_->carry(last_.time(last_.tableau->c(static_cast<Eigen::Index>(i))), z, nullptr);
    }
    problem_->carry(last_.t, last_.from.data(), nullptr);
    for (std::size_t i = 0; i < s; ++i)
      for (std::size_t k = 0; k < n; ++k) last_.z[i * n + k] -= last_.from[k];
    dense_->forget();
  }
  problem_->go();
  if (problem_->moves() == moved) return;
  stages_.match_pattern();
  for (auto& stagewise : stagewise_) stagewise.reset();
  linearise_ = true;
  use_tolerances();
}

// The bodies stay on their courses: where steps are long, that is a better guess than the last polynomial, continued.
void RadauAdaptive::predict_steadily(double h) {
  const std::size_t n = x0_.size();
  for (std::size_t i = 0; i < stages(); ++i) {
    const double c = tableau().c(static_cast<Eigen::Index>(i));
    for (std::size_t k = 0; k < n; ++k)
      now_.z[i * n + k] = problem_->unknowns()[k].vanishes ? -x0_[k] : c * h * rate0_[k];
  }
}

}  // namespace hinge
