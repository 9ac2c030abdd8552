// Augmented multipliers: how fast the iterations of a step converge, and what a run keeps.
#include "method/energy/energy_measures.hpp"

namespace hinge::energy_augmented_test {
namespace {

using goldens::json;
using goldens::number;
using goldens::numbers;
using problems::heavy_top;
using problems::Problem;
using problems::spherical_pendulum;
using namespace energy_measures;

struct AugmentedRow {
  double constraint, lambda, position;
};

/// One step from a state, ended after `rows` iterations by a tolerance between those of two rows of the golden table.
class OneStep {
 public:
  OneStep(const Problem& problem, int step, double h) : problem_(problem), h_(h), g_(*problem.system) {
    Motion run(problem, energy_momentum());
    run.steps(step - 1, h);
    start_ = run.state();
    run.step(h);
    exact_ = run.state();
  }
  AugmentedRow row(Method method, double tolerance, long iterations) {
    method.tolerance = tolerance;
    State s = start_;
    const auto stepper = energy_momentum(method).bind(problem_.system, {});
    const StepResult result = stepper->step(s, h_);
    EXPECT_TRUE(result) << result.reason;
    EXPECT_EQ(stepper->counters().augmentations, iterations);
    last_ = s;
    return {norm(g_(s)), distance(s.psi, exact_.psi), distance(s.y, exact_.y)};
  }
  const State& exact() const { return exact_; }
  const State& start() const { return start_; }
  const State& last() const { return last_; }

 private:
  Problem problem_;
  double h_;
  Constraints g_;
  State start_, exact_, last_;
};

void expect_table(OneStep& step, const Method& method, const json& rows, double relative, double lambda_noise,
                  const std::string& what) {
  double before = INFINITY;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const double g = number(rows[k][0]);
    const double tolerance = std::isinf(before) ? 2 * g : std::sqrt(g * before);
    // rows that are less than 0.1 % apart cannot be told from each other
    if (before / g > 1.001) {
      const AugmentedRow r = step.row(method, tolerance, static_cast<long>(k) + 1);
      const std::string name = fmt::format("{}_row{}", what, k + 1);
      // distances of 1e-10 are differences of numbers of size 1
      expect_below(std::abs(r.constraint - g) / (g + 1e-16 / relative), relative, name + "_g");
      const double position = number(rows[k][2]);
      expect_below(std::abs(r.position - position) / (position + 1e-15 / relative), relative, name + "_position");
      if (method.update_factor == 1) {  // else the multiplier of the step is not the updated one
        const double lambda = number(rows[k][1]);
        expect_below(std::abs(r.lambda - lambda) / (lambda + lambda_noise / relative), relative, name + "_lambda");
      }
    }
    before = g;
  }
}

TEST(EnergyMomentumAugmented,
     ImprovesOneStepOfThePendulumAsInTheGoldenTables) {  // measured: 5.4e-6; lambda_exact 1.5e-8
  const json& golden = goldens::energy()["pendulum_AL_one_step"];
  for (const int k : {1, 4, 100, 500, 1000}) {
    OneStep step(spherical_pendulum(false), k, 1e-3);
    for (const auto& [key, method] : {std::pair{"eff_zero", augmented(1e7)},
                                      {"eff_warm", augmented(1e7, 1, true)},
                                      {"c2_zero", augmented(1e7, 2)},
                                      {"c2_warm", augmented(1e7, 2, true)}}) {
      const std::string what = fmt::format("step{}_{}", k, key);
      const json& table = golden[what];
      expect_below(biggest_difference(step.exact().psi, numbers(table["lambda_exact"])), 1e-7, what + "_exact");
      expect_table(step, method, table["rows_g2_lamerr2_poserr2"], 1e-4, 1e-8, what);
    }
  }
}

TEST(EnergyMomentumAugmented, ContractsByTheSlowestModeOfTheStep) {  // measured: paper 7.1e-3, 5.5e-4; factor 0.3436
  OneStep step(spherical_pendulum(false), 4, 1e-3);
  const AugmentedRow one = step.row(augmented(1e7), 5e-10, 1), two = step.row(augmented(1e7), 1.5e-10, 2);
  // the errors of the paper's own table, but for its multipliers
  const json& paper = goldens::energy()["paper_fig8"];
  const AugmentedRow* rows[] = {&one, &two};
  for (std::size_t k = 0; k < 2; ++k) {
    expect_relative(rows[k]->constraint, number(paper["constraints"][k]), 0.01, fmt::format("paper_g_{}", k));
    expect_relative(rows[k]->position, number(paper["position_error"][k]), 0.001, fmt::format("paper_q_{}", k));
  }
  // 1/(1 + mu h^2/2 (3 - sqrt 5)/2) = 0.3437
  expect_between(two.lambda / one.lambda, 0.343, 0.3445, "factor");
}

TEST(EnergyMomentumAugmented,
     ImprovesOneStepOfTheConeAsInTheGoldenTables) {  // measured: 6.0e-4, most of it round-off of the golden tables,
                                                     // which are in double; lambda_exact 2.4e-11
  const json& golden = goldens::energy()["top_AL_runs_and_tables_double"]["cone_one_step"];
  const json& precise = goldens::energy()["top_AL_one_step"]["cone"];
  for (const int k : {1, 100, 200}) {
    OneStep step(heavy_top(problems::cone()), k, 1e-3);
    for (const double mu : {1e5, 1e6, 1e7})
      for (const auto& [key, method] : {std::pair{"eff_zero", augmented(mu)}, {"eff_warm", augmented(mu, 1, true)}}) {
        const std::string what = fmt::format("step{}_{}_{}", k, mu_key(mu), key);
        expect_below(biggest_difference(step.exact().psi, numbers(golden[what]["lambda_exact"])), 1e-9, what);
        const bool better = precise.contains(what);
        const json& table = better ? precise[what]["rows_g2_lamerr2_poserr2"] : golden[what]["table"];
        expect_table(step, method, table, 1e-3, 1e-10, what);
      }
  }
}

TEST(EnergyMomentumAugmented, NeverConvergesOnTheConeWithTwiceTheUpdate) {
  const Problem problem = heavy_top(problems::cone());
  for (const double mu : {1e5, 1e6, 1e7}) {
    Method method = augmented(mu, 2);
    method.max_augmentations = 60;
    Motion run(problem, energy_momentum(method));
    const State before = run.state();
    try {
      run.step(1e-3);
      ADD_FAILURE() << "converged";
    } catch (const std::runtime_error& e) {
      EXPECT_NE(std::string(e.what()).find("60 augmentations left |g|"), std::string::npos) << e.what();
    }
    EXPECT_EQ(run.state().y, before.y);
    EXPECT_EQ(run.state().z, before.z);
    EXPECT_EQ(run.state().psi, before.psi);
  }
}

struct AugmentedRun {
  std::vector<long> iterations;
  double mean = 0;
  long most = 0;
  Kept kept;
  State end;
  std::vector<double> p;
};

AugmentedRun run_augmented(const Problem& problem, const Method& method, int axis, int steps) {
  Motion run(problem, energy_momentum(method));
  AugmentedRun result;
  long before = 0;
  result.kept = follow(problem, run, axis, 1e-3, 1e-3 * steps, 0, [&](int) {
    const long all = run.stepper().counters().augmentations;
    result.iterations.push_back(all - before);
    result.most = std::max(result.most, all - before);
    before = all;
  });
  result.mean = static_cast<double>(before) / steps;
  result.end = run.state();
  result.p = run.momentum();
  return result;
}

TEST(EnergyMomentumAugmented,
     NeedsTheIterationsOfTheGoldenPendulum) {  // measured: from zero the same iterations, q 1.4e-14, p 9.7e-9; warm
                                               // mean 3.8 %, q 1.0e-10, p 4.4e-5; energy 1.1e-8
  const Problem problem = spherical_pendulum(false);
  const json& golden = goldens::energy()["pendulum_AL_runs_h1e-3_tol1e-10"];
  for (const double mu : {1e6, 1e7, 1e8, 1e9})
    for (const auto& [key, method] : {std::pair{"eff_zero", augmented(mu)}, {"eff_warm", augmented(mu, 1, true)}}) {
      const std::string what = fmt::format("{}_{}", mu_key(mu), key);
      const json& table = golden[what];
      const AugmentedRun r = run_augmented(problem, method, e2, table["steps"]);
      // where |g| passes close to the tolerance, round-off decides on one iteration more or less
      expect_relative(r.mean, number(table["mean"]), 0.06, what + "_mean");
      EXPECT_LE(std::abs(r.most - table["max"].get<long>()), 1) << what;
      const auto first = table["first10"].get<std::vector<long>>();
      EXPECT_EQ(std::vector<long>(r.iterations.begin(), r.iterations.begin() + 10), first) << what;
      expect_below(r.kept.constraint, 1e-10, what + "_g");
      // which iteration is the last decides what is left in g, and with it the energy; measured 1.7e-3, and 0.19
      expect_relative(r.kept.energy, number(table["maxdH"]), what == "mu1e+09_eff_warm" ? 0.25 : 5e-3,
                      what + "_energy");
      expect_below(biggest_difference(r.end.y, numbers(table["q_end"])), 1e-8, what + "_q");
      expect_below(biggest_difference(r.p, numbers(table["p_end"])), 1e-4, what + "_p");
    }
}

TEST(EnergyMomentumAugmented,
     StagnatesWithTwiceTheUpdate) {  // measured: 6.3 %, 45.0, 18.4 %; the golden updates leave g0 away
  const Problem problem = spherical_pendulum(false);
  const json& golden = goldens::energy()["pendulum_AL_runs_h1e-3_tol1e-10"];
  // where the penalty is weak, twice the update is twice as fast: mu a = 0.04
  const AugmentedRun weak = run_augmented(problem, augmented(1e6, 2), e2, 200);
  expect_relative(weak.mean, number(golden["mu1e+06_c2_zero"]["mean"]), 0.1, "weak_mean");
  // else it is slower: 47 (of which some ended at a cap of 60) in the place of 9
  const AugmentedRun strong = run_augmented(problem, augmented(1e7, 2), e2, 1000);
  expect_between(strong.mean, 40, 60, "strong_mean");
  const AugmentedRun warm = run_augmented(problem, augmented(1e7, 2, true), e2, 1000);
  expect_relative(warm.mean, number(golden["mu1e+07_c2_warm"]["mean"]), 0.2, "strong_warm_mean");
  Method capped = augmented(1e8, 2);
  capped.max_augmentations = 60;
  EXPECT_THROW(run_augmented(problem, capped, e2, 200), std::runtime_error);
}

TEST(EnergyMomentumAugmented, NeedsTheIterationsOfTheGoldenTops) {  // measured: 0 (warm 5e-3), energy 3.4e-10,
                                                                    // momentum 6.3e-13, q 6.1e-10; 13.0, 4.3, 4.0
  const Problem problem = heavy_top(problems::cone());
  const json& golden = goldens::energy()["top_AL_runs_and_tables_double"];
  for (const double mu : {1e6, 1e7, 1e8})
    for (const auto& [key, method] : {std::pair{"eff_zero", augmented(mu)}, {"eff_warm", augmented(mu, 1, true)}}) {
      const std::string what = fmt::format("cone_run_{}_{}", mu_key(mu), key);
      const json& table = golden[what];
      const AugmentedRun r = run_augmented(problem, method, e3, table["steps"]);
      expect_below(std::abs(r.mean - number(table["mean"])), 0.1, what + "_mean");
      EXPECT_LE(std::abs(r.most - table["max"].get<long>()), 1) << what;
      expect_below(r.kept.constraint, 1e-10, what + "_g");
      expect_below(r.kept.energy, 1e-9, what + "_energy");
      expect_below(r.kept.momentum, 1e-14 + 5e-20 * mu, what + "_momentum");
      expect_below(biggest_difference(r.end.y, numbers(table["q_end"])), 1e-8, what + "_q");
    }
  // from zero every step takes the same
  for (const auto& [mu, count] : {std::pair{1e5, 5L}, {1e6, 3L}, {1e7, 2L}}) {
    const AugmentedRun r = run_augmented(problem, augmented(mu), e3, 200);
    EXPECT_EQ(r.iterations, std::vector<long>(200, count)) << mu;
  }
  const Problem nodding = heavy_top(problems::nodding_top());
  const AugmentedRun zero = run_augmented(nodding, augmented(1e7), e3, 200);
  expect_between(zero.mean, 12.9, 14.1, "nodding_zero_mean");
  const AugmentedRun warm = run_augmented(nodding, augmented(1e7, 1, true), e3, 200);
  expect_between(warm.mean, 3.9, 5.1, "nodding_warm_mean");
  const AugmentedRun strong = run_augmented(nodding, augmented(1e8), e3, 200);
  expect_between(strong.mean, 3.9, 4.1, "nodding_strong_mean");
}

/// The iteration by hand, with the update lam + c mu g1: one solution after the other with given multipliers, whether
/// it converges or not. The golden numbers were made in this way.
class ByHand {
 public:
  ByHand(const Problem& problem, double mu, double factor)
      : mu_(mu), factor_(factor), g_(*problem.system), lam_(static_cast<std::size_t>(problem.system->ng())) {
    Method one = augmented(mu, 1, true, 1e300);
    one.max_augmentations = 1;
    stepper_ = energy_momentum(one).bind(problem.system, {});
  }
  /// Solves from `start` with the present multipliers, then updates them. Gives |g1|.
  double iterate(const State& start, double h) {
    last_ = start;
    last_.psi = lam_;
    const StepResult result = stepper_->step(last_, h);
    EXPECT_TRUE(result) << result.reason;
    const std::vector<double> g1 = g_(last_);
    for (std::size_t i = 0; i < lam_.size(); ++i) lam_[i] += factor_ * mu_ * g1[i];
    return norm(g1);
  }
  void set(std::vector<double> lam) { lam_ = std::move(lam); }
  const std::vector<double>& lambda() const { return lam_; }
  const State& last() const { return last_; }

 private:
  double mu_, factor_;
  Constraints g_;
  std::vector<double> lam_;
  std::unique_ptr<Stepper> stepper_;
  State last_;
};

TEST(EnergyMomentumAugmented, StallsOnTheConeAsInTheGoldenTablesWithTwiceTheUpdate) {  // measured: 5.3e-8
  const json& golden = goldens::energy()["top_AL_runs_and_tables_double"]["cone_one_step"];
  const Problem problem = heavy_top(problems::cone());
  for (const int k : {1, 100, 200}) {
    OneStep step(problem, k, 1e-3);
    for (const double mu : {1e5, 1e6, 1e7})
      for (const char* start : {"zero", "warm"}) {
        const std::string what = fmt::format("step{}_{}_c2_{}", k, mu_key(mu), start);
        if (!golden.contains(what)) continue;
        const json& rows = golden[what]["table"];
        ByHand hand(problem, mu, 2);
        if (std::string(start) == "warm") hand.set(step.start().psi);
        double g_off = 0, lambda_off = 0, position_off = 0;
        for (const json& row : rows) {
          const double g = number(row[0]), lambda = number(row[1]), position = number(row[2]);
          g_off = larger(g_off, std::abs(hand.iterate(step.start(), 1e-3) - g) / (g + 1e-12));
          lambda_off = larger(lambda_off, std::abs(distance(hand.lambda(), step.exact().psi) - lambda) / lambda);
          position_off =
              larger(position_off, std::abs(distance(hand.last().y, step.exact().y) - position) / (position + 1e-12));
        }
        expect_below(g_off, 1e-6, what + "_g");
        expect_below(lambda_off, 1e-6, what + "_lambda");
        expect_below(position_off, 1e-6, what + "_position");
      }
  }
}

TEST(EnergyMomentumAugmented,
     EndsAtItsCapAsInTheGoldenRunsWithTwiceTheUpdate) {  // measured: from zero all the same, q 5.3e-12; warm mean 1.5
                                                         // %, q 1.8e-11
  const auto follow_by_hand = [](const Problem& problem, const json& table, double mu, double factor, bool warm,
                                 const std::string& what) {
    ByHand hand(problem, mu, factor);
    State state = Motion(problem, energy_momentum()).state();
    const int steps = table["steps"];
    std::vector<long> iterations;
    long all = 0, capped = 0;
    for (int k = 0; k < steps; ++k) {
      if (!warm) hand.set(std::vector<double>(state.psi.size(), 0.0));
      long count = 0;
      double g = INFINITY;
      while (g >= 1e-10 && count < 60) g = hand.iterate(state, 1e-3), ++count;
      state = hand.last();
      iterations.push_back(count);
      all += count;
      if (count == 60) ++capped;
    }
    const double mean = static_cast<double>(all) / steps;
    expect_below(std::abs(mean - number(table["mean"])), 0.02 * number(table["mean"]), what + "_mean");
    expect_below(std::abs(static_cast<double>(capped) - number(table["hit_cap"])), 0.02 * steps + 0.5,
                 what + "_capped");
    EXPECT_EQ(std::vector<long>(iterations.begin(), iterations.begin() + 10), table["first10"].get<std::vector<long>>())
        << what;
    expect_below(biggest_difference(state.y, numbers(table["q_end"])), 1e-9, what + "_q");
  };
  const json& golden = goldens::energy()["pendulum_AL_runs_h1e-3_tol1e-10"];
  for (const double mu : {1e6, 1e7, 1e8, 1e9})
    for (const auto& [key, factor, warm] :
         {std::tuple{"c1_zero", 1.0, false}, {"c2_zero", 2.0, false}, {"c2_warm", 2.0, true}}) {
      const std::string what = fmt::format("{}_{}", mu_key(mu), key);
      follow_by_hand(spherical_pendulum(false), golden[what], mu, factor, warm, what);
    }
  const json& cone = goldens::energy()["top_AL_runs_and_tables_double"];
  for (const double mu : {1e6, 1e7, 1e8}) {
    const std::string what = fmt::format("cone_run_{}_c2_zero", mu_key(mu));
    follow_by_hand(heavy_top(problems::cone()), cone[what], mu, 2, false, what);
  }
}

// (29)-(31)
TEST(GeneralAugmented, ImprovesMonotonicallyAndEachIterateKeepsItsEnergy) {  // measured: 1.7e-14; 1.000, 1.001, 1.000
  const Problem problem = spherical_pendulum(false);
  for (const double mu : {1e3, 1e5, 1e7}) {
    OneStep step(problem, 500, 1e-3);
    Constraints g(*problem.system);
    Method method = augmented(mu);
    method.general = true;
    const double energy0 = energy(*problem.system, step.start());
    std::vector<double> lam_k(2, 0.0);
    double before = INFINITY, g_before = INFINITY, factor = 0, kept = 0;
    for (int k = 1; k <= 5; ++k) {
      // one more iteration than what reached the last |g|
      const AugmentedRow r = step.row(method, std::isinf(g_before) ? 1.0 : g_before * (1 - 1e-9), k);
      EXPECT_LT(r.lambda, before);
      factor = r.lambda / before;
      const std::vector<double> values = g(step.last());
      const double total = energy(*problem.system, step.last()) + lam_k[0] * values[0] + lam_k[1] * values[1] +
                           mu * norm(values) * norm(values);
      kept = larger(kept, std::abs(total - energy0));
      before = r.lambda;
      g_before = r.constraint;
      lam_k = step.last().psi;
    }
    expect_below(kept, 1e-13 + 1e-17 * mu, mu_key(mu) + "_energy");
    // the slow mode of 1/(1 + 2 mu A): A is h^2/2 times an eigenvalue of G M^-1 G^T
    const double x = step.last().y[0] * (step.last().y[3] - step.last().y[0]) +
                     step.last().y[1] * (step.last().y[4] - step.last().y[1]);
    const double slow = 0.5e-6 * (1.5 - std::sqrt(0.25 + x * x));
    expect_between(factor * (1 + 2 * mu * slow), 0.98, 1.02, mu_key(mu) + "_factor");
  }
}

}  // namespace
}  // namespace hinge::energy_augmented_test
