// `auto`: solvers one after the other, each from the best r so far, until one converges.
//
//   LCP          up to 200 rows lemke; symmetric interior-point; then newton-fb, block-gauss-seidel
//   pyramids     lemke, then newton-fb
//   round cones  sweeps of block-gauss-seidel while these promise the tolerance, which they do where contacts are few
//                or the tolerance is wide; of more than 500 contacts up to 3000 sweeps in any case; Newton's iteration
//                of newton-ac from there; up to 50 contacts in 2D lemke; cone-interior-point (symmetric W); newton-ac
//                from r = 0; block-gauss-seidel to its limit; admm
//
// Solvers that refuse the problem are passed over. Converged is what the residual says, nothing else.
//
// Step after step, up to 200 rows of W are solved to what rounding leaves: u = W r + q is known to eps sum |W_ij r_j|
// only, which is far more than eps |q| where a heavy body rests on a light one. There solvers come with limits of their
// own: sweeps where these settle it; pivots or interior points, which know the size of r; then what is slow and sure;
// and when nothing helps the list above, from the first r once more. Where nobody has asked for a tolerance, six digits
// end it before what is slow: rows that nearly depend on each other (dominoes that lean on each other) often leave no
// more to any solver, and scenes with more contacts are solved to no more.
#include <algorithm>
#include <cmath>
#include <span>

#include <fmt/format.h>

#include "solve/contact/cone.hpp"
#include "solve/contact/pyramid.hpp"
#include "solve/contact/solver.hpp"
#include "solve/contact/solvers.hpp"

namespace hinge {

namespace {

constexpr int few_rows_of_w = 200;
constexpr int most_pivots = 50;              // contacts in 2D that lemke is asked for
constexpr int most_springs = 20;             // contacts that springs are asked for before all else
constexpr int cheap_factors = 500;           // contacts
constexpr int rounding_sweeps = 10;          // against rounding
constexpr double nearby = 1e-3;              // where Newton's iteration is worth a try
constexpr int few_sweeps = 100;              // of few contacts
constexpr int promised_sweeps = 1500;        // costs about what two or three factorisations do
constexpr int patient_sweeps = 3000;         // of many contacts, whatever they promise
constexpr int stepping_iterations = 4000;    // behind sweeps over bodies: it is called in every step
constexpr double sought = 4, accepted = 16;  // times the level of rounding
constexpr double six_digits = 1e-6;

struct Stage {
  const char* solver;
  int limit = 0;      // of iterations, step after step; 0: the solver's own
  bool last = false;  // all but what is slow has been tried: what is left may be rounding
  bool slow = false;
  bool afresh = false;  // from r = 0
};
constexpr Stage complementarity[] = {
    {"lemke"}, {"interior-point"}, {"newton-fb", 0, true}, {"block-gauss-seidel", 20000, true}};
constexpr Stage large_complementarity[] = {{"interior-point"}, {"newton-fb"}, {"block-gauss-seidel"}, {"lemke"}};
constexpr Stage for_cones[] = {{"lemke"}, {"cone-interior-point"}, {"newton-ac"}, {"block-gauss-seidel"}, {"admm"}};
constexpr Stage few_cones[] = {{"lemke"},
                               {"cone-interior-point"},
                               {"newton-ac", 9, true},
                               {"newton-ac", 100, true, true, true},
                               {"block-gauss-seidel", 1000, true, true},
                               {"block-gauss-seidel", 20000, false, true},
                               {"admm", 2000, true, true}};

class Cascade {
 public:
  explicit Cascade(ContactWork& work)
      : work_(work),
        judge_(work.judge),
        p_(judge_.problem()),
        linear_(p_.dimension == 1 || (p_.dimension == 3 && p_.friction == FrictionModel::polyhedral)),
        few_(work.few()) {}

  void run() {
    if (few_ && linear_ && !p_.by_bodies()) return run_few();  // pivots need no start
    look_at_start();
    if (few_)
      run_few();
    else if (!judge_.converged())
      run_all();
    if (work_.options.polish && few_ && judge_.converged()) polish();
  }

 private:
  // Is the best as good as asked for, or as rounding lets it be? The tolerance becomes what is accepted.
  bool settled(bool last) {
    const double asked = work_.options.tolerance, level = judge_.rounding_level(), best = judge_.best_residual();
    judge_.tolerance(std::max(asked, sought * level));
    if (best > judge_.tolerance() && !(last && best <= accepted * level)) return false;
    judge_.tolerance(std::max(asked, accepted * level));
    return true;
  }

  // Six digits, where no more were asked for: these are what is accepted then.
  bool good_enough() {
    if (!work_.options.polish || judge_.best_residual() > six_digits) return false;
    judge_.tolerance(std::max(judge_.tolerance(), six_digits));
    return true;
  }

  // What has six digits by then is accepted.
  bool out_of_work() { return judge_.out_of_time() && (good_enough(), true); }

  void run_few() {
    if (settled(false)) return;
    if (!linear_) {
      sweeps(few_sweeps, p_.by_bodies());
      if (settled(false) || out_of_work()) return;
      if (judge_.best_residual() < nearby && !refuses("newton-ac")) {
        newton_from_best();
        if (settled(false) || out_of_work()) return;
      }
    }
    if (p_.contacts() <= most_springs && chose()) return;
    for (const Stage& stage : linear_ ? std::span<const Stage>(complementarity) : std::span<const Stage>(few_cones)) {
      if (passed_over(stage)) continue;
      if (stage.slow && good_enough()) return;
      Eigen::VectorXd best = stage.afresh                        ? Eigen::VectorXd::Zero(p_.rows())
                             : judge_.best_residual() < HUGE_VAL ? judge_.best_reaction()
                                                                 : start();
      for (int i = 0; i < p_.contacts(); ++i) project_on_model(p_, p_.mu_of(i), best.data() + i * p_.dimension);
      go_on(stage.solver, best, stage.limit);
      if (settled(stage.last) || out_of_work()) return;
    }
    if (good_enough()) return;
    // Once more, and not from what was found so far.
    judge_.forget_best();
    look_at_start();
    run_all();
    judge_.recall_best();
    if (!settled(true)) good_enough();
  }

  void run_all() {
    if (!linear_ && !refuses("block-gauss-seidel")) {
      const bool over_bodies = p_.by_bodies() && !work_.W;  // who has W is in its units
      sweeps(promised_sweeps, over_bodies);
      if (judge_.converged() || judge_.out_of_time() || chose()) return;
      if (over_bodies) {  // once more from the best, which the last need not be: that is often enough
        if (work_.options.stepping && !judge_.has_budget()) judge_.allow(stepping_iterations);
        work_.r = judge_.best_found();
        sweeps(promised_sweeps, false);
        if (judge_.converged() || judge_.out_of_time()) return;
        if (p_.contacts() > cheap_factors &&
            judge_.has_budget()) {  // factors of heaps cost what thousands of sweeps do
          work_.r = judge_.best_found();
          sweeps(patient_sweeps, false, false);
          if (judge_.converged() || judge_.out_of_time()) return;
        }
      }
      // where a factorisation is dear, only from nearby
      const bool near = p_.contacts() <= cheap_factors || judge_.best_residual() < 1e-5;
      if (near && judge_.limit(1) > 0 && !refuses("newton-ac")) newton_from_best();
      if (judge_.converged()) return;
    }
    std::string tried;
    for (const Stage& stage : stages()) {
      if (passed_over(stage)) continue;
      judge_.begin_stage();
      if (judge_.limit(1) == 0)
        return judge_.stop(ContactStatus::iteration_limit,
                           "the iterations are used up" + (tried.empty() ? std::string() : "; tried " + tried));
      if (judge_.out_of_time()) return;
      tried += fmt::format("{}{}", tried.empty() ? "" : ", ", stage.solver);
      // Newton's method has been tried from the best by now; it begins once more elsewhere, where that is cheap.
      const bool afresh = std::string_view(stage.solver) == "newton-ac" && p_.contacts() <= cheap_factors;
      go_on(stage.solver, afresh ? Eigen::VectorXd::Zero(p_.rows()) : judge_.best_reaction());
      if (judge_.converged()) return;
      if (judge_.out_of_time())
        return judge_.stop(ContactStatus::iteration_limit,
                           fmt::format("{} during {}; tried {}", why_now(), stage.solver, tried));
    }
    judge_.stop(ContactStatus::failed,
                tried.empty()
                    ? "no solver treats it: " + reasons()
                    : "tried " + tried + "; the problem may have no solution, or asks for more digits than it has");
  }

  // Springs that grow stiff: between few bodies the cheapest way to many digits. In piles they seldom get there.
  bool chose() {
    if (!work_.options.least_norm || work_.options.same_motion || work_.has_chosen || !work_.can_choose()) return false;
    judge_.begin_stage();
    return work_.choose_velocities(false) && (!few_ || settled(false));
  }

  void newton_from_best() {
    judge_.begin_stage();
    const double before = judge_.best_residual();
    Delassus& W = work_.delassus();
    finish_by_newton(W, judge_, judge_.best());
    note(before, "newton-ac");
  }

  std::string why_now() const {
    const double limit = work_.options.seconds;
    return limit > 0 && judge_.seconds() > limit ? fmt::format("{:.3g} seconds were up", limit) : "it was told to stop";
  }
  Eigen::VectorXd start() const { return Eigen::Map<const Eigen::VectorXd>(work_.r.data(), p_.rows()); }
  void look_at_start() { judge_.done(0, Eigen::Map<const Eigen::VectorXd>(work_.r.data(), p_.rows())); }

  // What is solved already, but not to rounding.
  void polish() {
    const double enough = std::max(1e-13, sought * judge_.rounding_level());
    if (p_.dimension == 1 || judge_.best_residual() <= enough || refuses("newton-ac")) return;
    const double reached = judge_.tolerance();
    if (p_.by_bodies() && !work_.W) {  // what rounding added since the last step is soon gone
      judge_.tolerance(enough);
      work_.r = judge_.best_found();
      judge_.begin_stage();
      sweep(work_, true, false, rounding_sweeps);
      judge_.do_not_count();
    }
    judge_.tolerance(1e-13);
    if (judge_.best_residual() > enough) work_.run("newton-ac", judge_.best_reaction(), 4);
    judge_.tolerance(reached);
  }

  std::span<const Stage> stages() const {
    if (!linear_) return for_cones;
    if (p_.dimension == 1 && p_.rows() > few_rows_of_w) return large_complementarity;
    return complementarity;
  }
  bool refuses(std::string_view name) const { return !refusal(p_, name).empty(); }
  bool passed_over(const Stage& stage) const {
    if (!linear_ && std::string_view(stage.solver) == "lemke" && !(lcp_like(p_) && p_.contacts() <= most_pivots))
      return true;
    return refuses(stage.solver);
  }
  std::string reasons() const {
    std::string text;
    for (const Stage& stage : stages())
      text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", stage.solver, refusal(p_, stage.solver));
    return text;
  }

  void sweeps(int limit, bool over_bodies, bool while_promising = true) {
    judge_.begin_stage();
    const double before = judge_.best_residual();
    sweep(work_, over_bodies, while_promising, limit);
    note(before, "block-gauss-seidel");
  }
  void go_on(const char* solver, const Eigen::VectorXd& from, int limit = 0) {
    const double before = judge_.best_residual();
    work_.run(solver, from, limit);
    note(before, solver);
  }
  void note(double before, std::string_view solver) {
    if (judge_.best_residual() < before) judge_.used = solver;
  }

  ContactWork& work_;
  Judge& judge_;
  const ContactProblem& p_;
  bool linear_, few_;
};

}  // namespace

void solve_automatically(ContactWork& work) { Cascade(work).run(); }

}  // namespace hinge
