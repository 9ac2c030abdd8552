// Energy-momentum methods with multipliers against numbers of an independent implementation in extended precision
// (tests/data/energy.json, which says how each was made), and what they keep on pendulums and tops.
#include "method/energy/energy_measures.hpp"

namespace hinge::energy_momentum_test {
namespace {

using goldens::json;
using goldens::number;
using goldens::numbers;
using problems::heavy_top;
using problems::Problem;
using problems::spherical_pendulum;
using namespace energy_measures;

TEST(EnergyMomentum, AgreesWithTheGoldenPendulum) {  // measured: q 1.8e-15, p 6.5e-12, lambda 1.5e-8 (h = 1e-3)
                                                     // to 3.5e-11 (1e-2), energy 9.9e-14, g 2.5e-16, hidden 2e-7
  const Problem problem = spherical_pendulum(false);
  const json& golden = goldens::energy()["pendulum_planar"];
  for (const char* text : {"0.01", "0.005", "0.0025", "0.00125", "0.001"}) {
    const double h = std::stod(text);
    const json& table = golden["lm_h" + std::string(text)];
    Motion run(problem, energy_momentum());
    const int steps = static_cast<int>(std::lround(1 / h));
    // the error of lambda is that of round-off, eps/h^2
    const double lambda = 1e-13 / (h * h);
    const Kept kept = follow(problem, run, e2, h, 1.0, 0, [&](int k) {
      if (2 * k == steps) expect_state(run, table["t0.5"], 1e-12, 1e-10, lambda, fmt::format("h{}_half", text));
    });
    expect_state(run, table["t1"], 1e-12, 1e-10, lambda, fmt::format("h{}_end", text));
    expect_below(kept.energy, 2e-13, fmt::format("h{}_energy", text));
    EXPECT_EQ(kept.momentum, 0);  // in the plane nothing turns about e2
    expect_below(kept.constraint, 1e-15, fmt::format("h{}_constraint", text));
    // the velocity level is missed by O(h^2), as by the other implementation
    expect_relative(kept.rate, number(table["stats"]["max_hidden"]), 1e-6, fmt::format("h{}_hidden", text));
  }
}

TEST(EnergyMomentum, KeepsAngularMomentumInSpace) {  // measured: energy 5.7e-14, momentum 6.2e-15, g 3.5e-16
  const Problem problem = spherical_pendulum(true);
  for (const double h : {1e-2, 1e-3}) {
    const Kept kept = follow(problem, Method{}, e2, h, 1.0);
    expect_below(kept.energy, 5e-13, fmt::format("h{}_energy", h));
    expect_below(kept.momentum, 1e-13, fmt::format("h{}_momentum", h));
    expect_below(kept.constraint, 1e-15, fmt::format("h{}_constraint", h));
    EXPECT_GT(kept.rate, h * h);
  }
}

TEST(EnergyMomentum, HasOrderTwoOnThePendulumAndTheErrorsOfTheGoldenTable) {  // measured: errors agree to 2.5e-10;
                                                                              // orders 1.9985 to 2.0000
  const Problem problem = spherical_pendulum(false);
  const json& golden = goldens::energy()["pendulum_planar"];
  const std::pair<const char*, const char*> times[] = {{"t0.5", "0.5"}, {"t1", "1.0"}};
  for (const auto& [key, time] : times) {
    const std::vector<double> exact = numbers(golden["reference"][time]["q"]);
    double before = 0;
    for (const char* text : {"0.01", "0.005", "0.0025", "0.00125"}) {
      const double h = std::stod(text), end = std::stod(time);
      Motion run(problem, energy_momentum());
      run.steps(static_cast<int>(std::lround(end / h)), h);
      const double error = relative_distance(run.state().y, exact);
      expect_relative(error, number(golden["rel_position_error"][key]["h" + std::string(text)]), 1e-9,
                      fmt::format("{}_h{}", key, text));
      if (before > 0) expect_between(std::log2(before / error), 1.998, 2.001, fmt::format("{}_order_h{}", key, text));
      before = error;
    }
  }
}

TEST(EnergyMomentum,
     HasItsMultiplierInTheMiddleOfTheStep) {  // measured: h^2 times the difference 5.2e-15; orders 1.990 and 1.160
  const Problem problem = spherical_pendulum(false);
  const json& golden = goldens::energy()["pendulum_planar"]["lambda_error_last_step"];
  const std::vector<double> at_end = numbers(goldens::energy()["pendulum_planar"]["reference"]["1.0"]["lambda_"]);
  std::vector<double> log_h, middle, end;
  for (const char* text : {"0.01", "0.005", "0.0025", "0.00125"}) {
    const double h = std::stod(text), t = 1 - h / 2;
    const State reference = properties::reference_solution(problem, t, t / 50);
    Motion run(problem, energy_momentum());
    run.steps(static_cast<int>(std::lround(1 / h)), h);
    const double in_middle = biggest_difference(run.state().psi, reference.psi);
    const double in_end = biggest_difference(run.state().psi, at_end);
    const json& row = golden["h" + std::string(text)];
    // round-off of lambda is eps/h^2
    expect_below(h * h * std::abs(in_middle - number(row["vs_t_minus_half_h"])), 2e-14,
                 fmt::format("middle_h{}", text));
    expect_below(h * h * std::abs(in_end - number(row["vs_t"])), 2e-14, fmt::format("end_h{}", text));
    log_h.push_back(std::log(h));
    middle.push_back(std::log(in_middle));
    end.push_back(std::log(in_end));
  }
  expect_between(properties::slope(log_h, middle), 1.95, 2.05, "order_in_the_middle");
  expect_between(properties::slope(log_h, end), 0.95, 1.2, "order_at_the_end");
}

TEST(EnergyMomentum, ReachesTheKineticEnergyAndMultipliersOfFigure2) {  // measured: 0, 1.2e-10, 0
  const Problem problem = spherical_pendulum(false);
  const json& golden = goldens::energy()["pendulum_fig2"];
  Motion run(problem, energy_momentum());
  double kinetic = 0, most[2] = {0, 0}, least[2] = {1e9, 1e9};
  follow(problem, run, e2, 1e-3, 1.0, 0, [&](int) {
    kinetic = std::max(kinetic, -9.81 * (run.state().y[1] + run.state().y[4]));  // H = 0
    for (std::size_t i = 0; i < 2; ++i) {
      most[i] = std::max(most[i], run.state().psi[i]);
      least[i] = std::min(least[i], run.state().psi[i]);
    }
  });
  expect_relative(kinetic, number(golden["max_T_0_1"]), 1e-12, "kinetic");
  for (std::size_t i = 0; i < 2; ++i) {
    expect_relative(most[i], number(golden["lambda_max"][i]), 1e-9, fmt::format("most_{}", i));
    expect_below(std::abs(least[i] - number(golden["lambda_min"][i])), 1e-8, fmt::format("least_{}", i));
  }
}

TEST(EnergyMomentum, AgreesWithTheGoldenCone) {  // measured: q 4.3e-13, p 3.8e-13, lambda 7.8e-9, errors 2.1e-10
                                                 // and 3.7e-8, energy 3.2e-14, momentum 4.2e-15, g 2.8e-16
  const Problem problem = heavy_top(problems::cone());
  const json& golden = goldens::energy()["top_cone"];
  {
    Motion run(problem, energy_momentum());
    expect_below(biggest_difference(run.state().y, numbers(golden["q0"])), 1e-15, "start_q");
    expect_below(biggest_difference(run.momentum(), numbers(golden["p0"])), 1e-16, "start_p");
    expect_below(biggest_difference(run.state().psi, numbers(golden["lambda0"])), 1e-14, "start_lambda");
    expect_relative(run.energy(), number(golden["H0"]), 1e-14, "start_energy");
  }
  for (const char* text : {"0.001", "0.0005", "0.00025", "0.000125"}) {
    const double h = std::stod(text);
    const json& table = golden["lm_h" + std::string(text)];
    const double end = table.contains("t1") ? 1.0 : 0.5;
    Motion run(problem, energy_momentum());
    const Kept kept = follow(problem, run, e3, h, end, 0, [&](int k) {
      for (const auto& [key, t] : {std::pair{"t0.1", 0.1}, {"t0.5", 0.5}, {"t1", 1.0}})
        if (k == std::lround(t / h) && table.contains(key)) {
          const std::string what = fmt::format("h{}_{}", text, key);
          expect_state(run, table[key], 1e-12, 2e-12, 1e-15 / (h * h), what);
          const std::vector<double> exact = problems::precessing(problems::cone(), t), &q = run.state().y;
          const json& error = golden["rel_position_error"][key]["h" + std::string(text)];
          expect_relative(relative_distance(q, exact), number(error["all"]), 1e-9, what + "_error");
          expect_relative(distance({q.begin() + 6, q.end()}, {exact.begin() + 6, exact.end()}), number(error["d3"]),
                          1e-7, what + "_error_d3");
        }
    });
    expect_below(kept.energy, 5e-14, fmt::format("h{}_energy", text));
    expect_below(kept.momentum, 1e-14, fmt::format("h{}_momentum", text));
    expect_below(kept.constraint, 1e-15, fmt::format("h{}_constraint", text));
  }
}

TEST(EnergyMomentum, KeepsEverythingOnTheNoddingTop) {  // measured: 3.4e-12, 5.7e-14, 2.1e-16
  const Kept kept = follow(heavy_top(problems::nodding_top()), Method{}, e3, 1e-3, 1.0);
  expect_below(kept.energy, 5e-11, "energy");  // of 1269.1
  expect_below(kept.momentum, 1e-12, "momentum");
  expect_below(kept.constraint, 1e-15, "constraint");
}

TEST(EnergyMomentum, MovesATopInTwelveCoordinatesAsInNine) {  // measured: 1.8e-15, lambda 1.8e-10
  const json& golden = goldens::energy()["top_cone"];
  const Problem nine_problem = heavy_top(problems::cone()), twelve_problem = heavy_top(problems::cone(), true);
  const auto furthest = [&](const Method& method) {
    Motion nine(nine_problem, energy_momentum(method)), twelve(twelve_problem, energy_momentum(method));
    double worst = 0;
    for (int k = 0; k < 100; ++k) {
      nine.step(1e-3), twelve.step(1e-3);
      const auto& q = twelve.state().y;
      worst = larger(worst, biggest_difference(nine.state().y, {q.begin() + 3, q.end()}));
    }
    if (method.constraints == Treatment::multiplier)
      expect_below(biggest_difference(twelve.state().psi, numbers(golden["lm12_lambda_t0.1"])), 1e-9, "lambda");
    return worst;
  };
  expect_below(furthest({}), 1e-12, "multiplier");
  EXPECT_GT(furthest(penalty(1e5)), 1e-6);  // the control: springs in other places
}

TEST(EnergyMomentum,
     NeedsInvariantsToKeepAngularMomentumWithASpring) {  // measured: q 1.6e-14, p 3.7e-13, lambda 8.8e-11,
                                                         // energy 3.6e-14, momentum 3.6e-15; general 5.3e-12
  const Problem problem = spherical_pendulum(true, 50);
  for (const auto& [key, method] : {std::pair{"equiv_h0.01", Method{}}, {"gen_h0.01", Method{.general = true}}}) {
    Motion run(problem, energy_momentum(method));
    const Kept kept = follow(problem, run, e2, 1e-2, 1.0, 0, [](int) {});
    const json& golden = goldens::energy()["spring_3d_nonquadratic"][key];
    expect_state(run, golden, 1e-12, 1e-11, 1e-9, key);
    expect_below(kept.energy, 5e-13, fmt::format("{}_energy", key));
    if (method.general)
      expect_relative(kept.momentum, number(golden["maxdL"]), 1e-6, "general_momentum");
    else
      expect_below(kept.momentum, 1e-13, "equivariant_momentum");
  }
}

TEST(EnergyMomentum, IsTheSameInBothDerivativesWhereEverythingIsQuadratic) {  // measured: 5.3e-16
  const Problem problem = spherical_pendulum(true);
  Motion one(problem, energy_momentum()), other(problem, energy_momentum({.general = true}));
  double worst = 0;
  for (int k = 0; k < 100; ++k) {
    one.step(1e-2), other.step(1e-2);
    worst = larger(worst, biggest_difference(one.state().y, other.state().y));
  }
  expect_below(worst, 1e-13, "difference");
}

TEST(EnergyMomentum, RotatesWithItsInitialData) {  // measured: 2.1e-14, augmented 2.0e-12
  const double c = std::cos(0.7), s = std::sin(0.7);
  const auto turn = [&](std::vector<double> x, int axis) {
    const auto a = static_cast<std::size_t>((axis + 1) % 3), b = static_cast<std::size_t>((axis + 2) % 3);
    for (std::size_t i = 0; i < x.size(); i += 3) {
      const double xa = x[i + a], xb = x[i + b];
      x[i + a] = c * xa - s * xb;
      x[i + b] = s * xa + c * xb;
    }
    return x;
  };
  const auto defect = [&](Problem problem, int axis, const Method& method, double h) {
    Motion plain(problem, energy_momentum(method));
    problem.start.position = turn(problem.start.position, axis);
    problem.start.velocity = turn(problem.start.velocity, axis);
    Motion turned(problem, energy_momentum(method));
    plain.steps(100, h), turned.steps(100, h);
    return larger(biggest_difference(turn(plain.state().y, axis), turned.state().y),
                  h * biggest_difference(turn(plain.state().z, axis), turned.state().z));
  };
  for (const auto& [name, method] :
       {std::pair{"multiplier", Method{}}, {"penalty", penalty(1e4)}, {"augmented", augmented(1e6)}}) {
    // where iterations end is decided by a comparison, which round-off may turn
    const double limit = method.constraints == Treatment::augmented ? 1e-11 : 1e-12;
    expect_below(defect(spherical_pendulum(true), e2, method, 1e-2), limit, fmt::format("pendulum_{}", name));
    expect_below(defect(spherical_pendulum(true, 50), e2, method, 1e-2), limit, fmt::format("spring_{}", name));
    expect_below(defect(heavy_top(problems::cone()), e3, method, 1e-3), limit, fmt::format("cone_{}", name));
  }
}

TEST(EnergyMomentum, PutsTheVelocityOnItsLevelAtACostInEnergy) {  // measured: 1.3e-15, 5.3e-15, order 2.99
  const Problem problem = spherical_pendulum(true);
  double before = 0;
  for (const double h : {2e-2, 1e-2}) {
    const Kept kept = follow(problem, Method{.project_velocity = true}, e2, h, 1.0);
    expect_below(kept.rate, 1e-14, fmt::format("h{}_rate", h));
    expect_below(kept.momentum, 1e-13, fmt::format("h{}_momentum", h));
    testing::Test::RecordProperty(fmt::format("h{}_energy", h), fmt::format("{:.3g}", kept.energy));
    if (before > 0) expect_between(std::log2(before / kept.energy), 2.5, 4.5, "order_of_the_loss");
    before = kept.energy;
  }
}

}  // namespace
}  // namespace hinge::energy_momentum_test
