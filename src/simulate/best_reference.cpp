// A reference whose own error is known: the same method is run twice, once with a tolerance ten times as large or a
// step twice as long. What the two differ by is the error of the coarser run, and more than that of the finer one,
// which is taken.
#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "hinge/comparison.hpp"
#include "hinge/error.hpp"
#include "simulate/reference.hpp"

namespace hinge {

namespace {

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> d(a);
  for (std::size_t k = 0; k < d.size(); ++k) d[k] -= b[k];
  // nothing is known better than a few roundings of its numbers
  return std::max(euclidean_norm(d), 4 * std::numeric_limits<double>::epsilon() * euclidean_norm(a));
}

StateErrors differences(const Reference& a, const Reference& b) {
  StateErrors d;
  if (!a.y.empty()) d[0] = distance(a.y, b.y);
  if (!a.z.empty()) d[1] = distance(a.z, b.z);
  if (!a.psi.empty()) d[2] = distance(a.psi, b.psi);
  return d;
}

}  // namespace

Reference doubled_reference(const ConvergenceProblem& problem, const StudiedMethod& method, double tolerance,
                            double step) {
  const bool chosen = method.method.info.can.chosen_steps;
  const auto run = [&](double looser, double longer) {
    return chosen ? adaptive_reference(problem, method, looser * tolerance)
                  : computed_reference(problem, method, longer * step);
  };
  Reference fine = run(1, 1);
  fine.own_error = differences(fine, run(10, 2));
  return fine;
}

Reference best_reference(const ConvergenceProblem& problem, const std::vector<StudiedMethod>& candidates,
                         double tolerance, double smallest_step) {
  std::vector<Reference> found;
  std::string why;
  for (const StudiedMethod& method : candidates) {
    const bool chosen = method.method.info.can.chosen_steps;
    if (!chosen && !(smallest_step > 0)) continue;
    try {
      found.push_back(
          doubled_reference(problem, method, tolerance, chosen ? 0 : reference_step(method.method, smallest_step)));
    } catch (const StepFailure& e) {
      why = e.what();
    } catch (const UnsuitableMethod& e) {
      why = e.what();
    }
  }
  if (found.empty())
    throw StepFailure(fmt::format("no method gives a reference{}", why.empty() ? "" : "; the last one said: " + why),
                      0);
  const auto best = std::min_element(found.begin(), found.end(), [](const Reference& a, const Reference& b) {
    return a.own_error[0].value_or(INFINITY) < b.own_error[0].value_or(INFINITY);
  });
  // Two that are further apart than both their errors explain: one of them, at least, goes to another solution.
  constexpr double doubtful = 100;
  for (const Reference& other : found) {
    if (&other == &*best || best->y.empty() || other.y.size() != best->y.size()) continue;
    const double apart = differences(*best, other)[0].value_or(0),
                 explained = best->own_error[0].value_or(0) + other.own_error[0].value_or(0);
    if (apart > doubtful * explained)
      best->doubts.push_back(
          fmt::format("{} ends {:.1e} away from this reference, though its own error seems to be {:.1e}: they may "
                      "approach different solutions; choose one with --reference",
                      other.description, apart, other.own_error[0].value_or(0)));
  }
  return *best;
}

}  // namespace hinge
