// `auto` tries solvers one after the other, each from the best r so far, until one converges:
//
//   LCP          up to 200 rows lemke; symmetric interior-point; then newton-fb, block-gauss-seidel
//   2D friction  as round cones; up to 50 contacts lemke after the first sweeps
//   pyramids     lemke, then newton-fb
//   round cones  sweeps of block-gauss-seidel while these promise the tolerance, which they do where contacts are few
//                or the tolerance is wide; Newton's iteration of newton-ac from there; cone-interior-point (symmetric
//                W); newton-ac from r = 0; block-gauss-seidel to its limit; admm
//
// Solvers that refuse the problem are passed over. Converged is what the residual says, nothing else.
#include "solve/contact/automatic.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "solve/contact/block_gauss_seidel.hpp"
#include "solve/contact/direct_methods.hpp"
#include "solve/contact/pyramid.hpp"

namespace hinge {

std::vector<std::string> automatic_choice(const ContactProblem& p, const ContactOptions&) {
  if (p.dimension == 1 && p.rows() <= 200) return {"lemke", "interior-point", "newton-fb", "block-gauss-seidel"};
  if (p.dimension == 1) return {"interior-point", "newton-fb", "block-gauss-seidel", "lemke"};
  if (p.dimension == 3 && p.friction == FrictionModel::polyhedral) return {"lemke", "newton-fb"};
  std::vector<std::string> round = {"cone-interior-point", "newton-ac", "block-gauss-seidel", "admm"};
  if (lcp_like(p) && p.contacts() <= 50) round.insert(round.begin(), "lemke");
  return round;
}

namespace {

// Sweeps that settle easy problems. Goes on while the rate of the last forty promises the tolerance within the limit,
// which costs about what two or three factorisations do.
void sweep_a_while(Delassus& W, Judge& judge, Eigen::VectorXd& r) {
  constexpr int look = 20;
  const int limit = std::min(1500, judge.limit(1500));
  BlockGaussSeidel block(W, judge.problem(), judge.options().threads);
  block.set(r);
  double before = HUGE_VAL, last = HUGE_VAL;
  for (int k = 1; k <= limit; ++k) {
    judge.contact_updates += block.sweep();
    if (k % look != 0 && k != limit) continue;
    block.get(r);
    if (judge.done(k, r)) return;
    if (k >= 5 * look) {
      const double rate = std::log(before / judge.last()) / (2 * look);
      if (!(k + std::log(judge.last() / judge.tolerance()) / rate < limit) || !(rate > 0)) return;
    }
    before = last;
    last = judge.last();
  }
}

std::string all_iterations(const std::string& tried) {
  return "the iterations are used up" + (tried.empty() ? std::string() : "; tried " + tried);
}

}  // namespace

void solve_automatically(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  const ContactProblem& p = judge.problem();
  if (judge.done(0, r)) return;
  const auto refuses = [&](const std::string& name) { return !refusal(p, name).empty(); };
  const std::vector<std::string> names = automatic_choice(p, judge.options());
  if (std::find(names.begin(), names.end(), "newton-ac") != names.end() && !refuses("block-gauss-seidel")) {
    judge.used = "block-gauss-seidel";
    sweep_a_while(W, judge, r);
    if (judge.converged() || judge.out_of_time()) return;
    judge.next_stage();
    const double before = judge.best_residual();
    // where a factorisation is dear, only from nearby
    const bool near = p.contacts() <= 500 || before < 1e-5;
    if (near && judge.limit(1) > 0 && !refuses("newton-ac")) finish_by_newton(W, judge, judge.best());
    if (judge.best_residual() < before) judge.used = "newton-ac";
    if (judge.converged()) return;
  }
  std::string tried;
  // Newton's method has been tried from the best by now; sweeps and it begin once more elsewhere, where that is cheap.
  const Eigen::VectorXd from_nothing = Eigen::VectorXd::Zero(p.rows());
  for (const std::string& name : names) {
    if (refuses(name)) continue;
    judge.next_stage();
    if (judge.limit(1) == 0) return judge.stop(ContactStatus::iteration_limit, all_iterations(tried));
    if (judge.out_of_time()) return;
    tried += (tried.empty() ? "" : ", ") + name;
    const double before = judge.best_residual();
    for (const SolverEntry& s : registered_contact_solvers())
      if (s.info.name == name)
        s.solve(W, judge, name == "newton-ac" && p.contacts() <= 500 ? from_nothing : judge.best());
    if (judge.best_residual() < before) judge.used = name;
    if (judge.converged()) return;
    if (judge.out_of_time()) {
      const std::string during =
          fmt::format("{:.3g} seconds were up during {}; tried {}", judge.options().seconds, name, tried);
      return judge.stop(ContactStatus::iteration_limit, during);
    }
  }
  if (tried.empty()) {
    std::string reasons;
    for (const std::string& name : names)
      reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", name, refusal(p, name));
    return judge.stop(ContactStatus::failed, "no solver treats it: " + reasons);
  }
  judge.stop(ContactStatus::failed,
             "tried " + tried + "; the problem may have no solution, or asks for more digits than it has");
}

}  // namespace hinge
