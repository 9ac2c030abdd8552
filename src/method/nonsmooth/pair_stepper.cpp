#include "method/nonsmooth/pair_stepper.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/implicit/complementarity_problem.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

class PairStepper final : public Stepper {
 public:
  PairStepper(std::shared_ptr<const SymbolicSystem> system, double theta, const SolverOptions& options)
      : system_(std::move(system)),
        problem_(*system_, options.linear_algebra),
        theta_(theta),
        limit_(options.max_iterations) {
    const auto n = at(problem_.size());
    for (auto* s : {&equations_, &pairs_})
      for (auto* v : {&s->x0, &s->x1, &s->d0, &s->d1}) v->assign(n, 0.0);
    x_.resize(n);
    statistics_.solver = "newton, lemke";
    statistics_.contacts = statistics_.most_contacts = problem_.pairs();
  }

  StepResult step(State& state, double h) override {
    ++counters_.steps;
    for (int i = 0; i < problem_.size(); ++i) {
      const auto k = at(i);
      const double theta = problem_.differential(i) ? theta_ : 1.0, x0 = state.y[k];
      equations_.x0[k] = (1 - theta) * x0, equations_.x1[k] = theta;
      pairs_.x0[k] = 0, pairs_.x1[k] = 1;
      equations_.d0[k] = pairs_.d0[k] = -x0 / h;
      equations_.d1[k] = pairs_.d1[k] = 1 / h;
      x_[k] = x0;
    }
    const auto outcome = problem_.solve(state.t + theta_ * h, equations_, state.t + h, pairs_, x_.data(), limit_);
    counters_.iterations = problem_.iterations;
    counters_.solved = problem_.solved;
    counters_.increments = problem_.increments;
    counters_.factorisations = problem_.factorisations;
    counters_.evaluations = problem_.evaluations;
    if (outcome != ComplementarityProblem::Outcome::solved) return {false, reason(outcome, state.t)};
    for (int i = 0; i < problem_.size(); ++i) {
      state.z[at(i)] = (x_[at(i)] - state.y[at(i)]) / h;
      state.y[at(i)] = x_[at(i)];
    }
    state.t += h;
    ++statistics_.solves;
    statistics_.solver_iterations = problem_.iterations;
    statistics_.complementarity = std::max(statistics_.complementarity, problem_.residual());
    statistics_.loaded =
        static_cast<int>(std::count(problem_.active().begin(), problem_.active().end(), static_cast<char>(0)));
    return {};
  }

  void reset() override {}
  const ContactStatistics* contact_statistics() const override { return problem_.pairs() > 0 ? &statistics_ : nullptr; }
  void set_contact_statistics(const ContactStatistics& s) override { statistics_ = s; }

 private:
  static std::string reason(ComplementarityProblem::Outcome outcome, double t) {
    switch (outcome) {
      case ComplementarityProblem::Outcome::singular:
        return fmt::format(
            "the equations of the step at t = {:g} are singular in every mode tried: some unknown is in no equation, "
            "or "
            "two equations say the same; 'hinge check' may name them",
            t);
      case ComplementarityProblem::Outcome::no_solution:
        return fmt::format(
            "the complementarity problem of the step at t = {:g} has no solution that Lemke's algorithm could find: "
            "the "
            "equations contradict each other there (a source that an ideal diode blocks?), or a and b of a pair are "
            "not monotone to each other; a shorter step may help",
            t);
      default:
        return fmt::format(
            "the iteration for the step at t = {:g} did not converge; a shorter step may help, or a smoother right "
            "side",
            t);
    }
  }

  std::shared_ptr<const SymbolicSystem> system_;
  ComplementarityProblem problem_;
  double theta_;
  int limit_;
  ComplementarityProblem::Substitution equations_, pairs_;
  std::vector<double> x_;
  ContactStatistics statistics_;
};

}  // namespace

std::unique_ptr<Stepper> make_pair_stepper(std::shared_ptr<const System> system, double theta,
                                           const SolverOptions& options) {
  auto symbolic = std::dynamic_pointer_cast<const SymbolicSystem>(system);
  if (!symbolic || !system->structure().is_dae)
    throw UnsuitableMethod("implicit steps with complementarity pairs are for [dae] models");
  if (!(theta >= 0.5 && theta <= 1))
    throw InputError(fmt::format("theta = {:g}; implicit steps of a DAE take 0.5 <= theta <= 1", theta));
  return std::make_unique<PairStepper>(std::move(symbolic), theta, options);
}

}  // namespace hinge
