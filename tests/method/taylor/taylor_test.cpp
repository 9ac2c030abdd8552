// Taylor series: accuracy down to round-off, DAEs of any index, what lies within a step, and what stops it.
#include "hinge/taylor.hpp"

#include <cmath>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expression/native.hpp"
#include "formulation/implicit/dae_structure.hpp"
#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "hinge/hinge.hpp"
#include "method/wrap/piecewise.hpp"
#include "places.hpp"
#include "system/symbolic.hpp"

namespace hinge::taylor_test {
namespace {

std::shared_ptr<const System> pendulum() {
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(9.81 * q[1]);
  l.constrain(0.5 * (dot(q, q) - 1.0));
  return l.build();
}

// P pendulums; the first has the length 1, each next one 1 + 0.1 times the multiplier of the one before: index 2 P + 1.
struct Chain {
  Dae dae;
  Start start;
};
void build_chain(Chain& chain, int count) {
  Expression length = 1.0;
  double about = 1;  // the length at rest
  for (int p = 0; p < count; ++p) {
    const std::string n = std::to_string(p);
    const Expression x = chain.dae.unknown("x" + n), y = chain.dae.unknown("y" + n);
    const Expression u = chain.dae.unknown("u" + n), v = chain.dae.unknown("v" + n), l = chain.dae.unknown("l" + n);
    chain.dae.equation(chain.dae.derivative(x) - u);
    chain.dae.equation(chain.dae.derivative(y) - v);
    chain.dae.equation(chain.dae.derivative(u) + l * x);
    chain.dae.equation(chain.dae.derivative(v) + l * y - 1.0);
    chain.dae.equation(x * x + y * y - length * length);
    length = 1.0 + 0.1 * l;
    const double angle = p == 0 ? 0.3 : 0;
    chain.start.position.insert(chain.start.position.end(),
                                {about * std::sin(angle), about * std::cos(angle), 0, 0, 1 / about});
    const char given = p == 0 ? 1 : 0;
    chain.start.given.insert(chain.start.given.end(), {given, given, given, given, 0});
    about = 1 + 0.1 / about;
  }
  chain.start.consistent = Consistency::project;
}

State integrate(Stepper& method, State state, double end) {
  if (const StepResult result = method.start(state); !result) throw StepFailure(result.reason, state.t);
  while (state.t < end)
    if (const StepResult result = method.advance(state, end); !result) throw StepFailure(result.reason, state.t);
  return state;
}

double distance(const std::vector<double>& a, const std::vector<double>& b) {
  double worst = 0;
  for (std::size_t k = 0; k < a.size(); ++k) worst = std::max(worst, std::abs(a[k] - b[k]));
  return worst;
}

// Recomputed in extended precision by others: tests/model/ivp_test.cpp.
TEST(Taylor, MeetsTolerancesDownToRoundOff) {
  const auto system = pendulum();
  const State start{0, {1, 0}, {0, 0}, {0}};
  const std::vector<double> y = {0.2750874625761, -0.9614192050991}, z = {-4.175598100952, -1.194749054560};
  for (const double tolerance : {1e-6, 1e-9, 1e-12, 1e-15}) {
    const auto method = taylor().bind(system, {}, {{tolerance, tolerance}});
    const State end = integrate(*method, start, 10);
    // measured 1.1e-7, 7.8e-10, 4e-13, 3e-13: the digits of the reference
    EXPECT_LT(distance(end.y, y), 10 * tolerance + 5e-13) << tolerance;
    EXPECT_LT(distance(end.z, z), 20 * tolerance + 2e-12) << tolerance;
    EXPECT_NEAR(end.psi[0], end.z[0] * end.z[0] + end.z[1] * end.z[1] - 9.81 * end.y[1], 1e-13);
    EXPECT_NEAR(end.y[0] * end.y[0] + end.y[1] * end.y[1], 1, 5e-16);
    EXPECT_NEAR(end.y[0] * end.z[0] + end.y[1] * end.z[1], 0, 1e-15);
    EXPECT_LT(method->counters().steps, 120);
  }
}

// A mechanism and a DAE of index 5, whole runs.
TEST(Taylor, RunsAreTheSameToTheLastBitWithoutMachineCode) {
  const NativeUse before = native_use();
  Chain chain;
  build_chain(chain, 2);
  const auto dae = chain.dae.build();
  const auto ends = [&](NativeUse use) {
    set_native_use(use);
    std::vector<double> all;
    for (const auto& system : {pendulum(), dae}) {
      const State start =
          system == dae ? consistent_start(*dae, 0, chain.start) : State{.t = 0, .y = {1, 0}, .z = {0, 0}, .psi = {0}};
      const State end = integrate(*taylor().bind(system, {}, {{1e-11, 1e-11}}), start, 2);
      all.insert(all.end(), end.y.begin(), end.y.end());
      all.insert(all.end(), end.z.begin(), end.z.end());
    }
    set_native_use(before);
    return all;
  };
  EXPECT_EQ(ends(NativeUse::on), ends(NativeUse::off));
}

TEST(Taylor, FollowsChainsOfPendulumsOfIndexUpToEleven) {
  for (const int count : {1, 2, 3, 4, 5}) {
    Chain chain;
    build_chain(chain, count);
    const auto system = chain.dae.build();
    const auto& symbolic = dynamic_cast<const SymbolicSystem&>(*system);
    EXPECT_EQ(analyse_dae(symbolic).index(), 2 * count + 1);
    const State start = consistent_start(*system, 0, chain.start);
    const State coarse = integrate(*taylor().bind(system, {}, {{1e-8, 1e-8}}), start, 2);
    const State fine = integrate(*taylor().bind(system, {}, {{1e-13, 1e-13}}), start, 2);
    EXPECT_LT(distance(coarse.y, fine.y), 1e-4) << count;
    // the constraints as they are typed
    double length = 1;
    for (int p = 0; p < count; ++p) {
      const double* x = fine.y.data() + 5 * p;
      EXPECT_NEAR(x[0] * x[0] + x[1] * x[1], length * length, 1e-12 * length * length) << count << " " << p;
      length = 1 + 0.1 * x[4];
    }
  }
}

TEST(Taylor, WithinAStepIsAsAccurateAsAtItsEnd) {
  const auto system = pendulum();
  State state{0, {1, 0}, {0, 0}, {0}};
  const auto method = taylor().bind(system, {}, {{1e-10, 1e-10}});
  const auto fine = taylor().bind(system, {}, {{1e-15, 1e-15}});
  ASSERT_TRUE(method->start(state));
  State within = state;
  double worst = 0, off = 0, psi = 0;
  for (int k = 0; k < 12; ++k) {
    const double t0 = state.t;
    ASSERT_TRUE(method->advance(state, 10));
    for (const double part : {0.13, 0.5, 0.87}) {
      method->interpolate(t0 + part * (state.t - t0), within);
      const State right = integrate(*fine, {0, {1, 0}, {0, 0}, {0}}, within.t);
      worst = std::max({worst, distance(within.y, right.y), distance(within.z, right.z)});
      psi = std::max(psi, distance(within.psi, right.psi));
      off = std::max(off, std::abs(within.y[0] * within.y[0] + within.y[1] * within.y[1] - 1));
    }
  }
  EXPECT_LT(worst, 2e-9);  // measured 3e-10
  EXPECT_LT(psi, 2e-8);
  EXPECT_LT(off, 5e-16);
}

TEST(Taylor, GivenStepsHaveTheOrderOfTheSeries) {
  const auto system = pendulum();
  const State start{0, {1, 0}, {0, 0}, {0}};
  const State right = integrate(*taylor().bind(system, {}, {{1e-15, 1e-15}}), start, 1);
  for (const int order : {3, 6, 9}) {
    const auto error = [&](int steps) {
      const auto method = taylor({.order = order}).bind(system);
      State s = start;
      for (int k = 0; k < steps; ++k) EXPECT_TRUE(method->step(s, 1.0 / steps));
      return distance(s.z, right.z);
    };
    const double slope = std::log2(error(10) / error(20));
    EXPECT_GT(slope, order - 1) << order;  // measured 8.1 for 9
    EXPECT_LT(slope, order + 2) << order;
  }
}

TEST(Taylor, StepsBackUndoStepsToTheToleranceOfTheSeries) {
  const auto system = pendulum();
  const State start{0, {1, 0}, {0, 0}, {0}};
  State s = start;
  const auto method = taylor({.order = 24}).bind(system);
  for (const double h : {0.05, 0.05, 0.05, -0.05, -0.05, -0.05}) ASSERT_TRUE(method->step(s, h));
  EXPECT_LT(distance(s.y, start.y), 1e-14);
  EXPECT_LT(distance(s.z, start.z), 1e-14);
}

// Derivatives that stand in equations which are differentiated differently often: of a wrong series nearly all steps
// would be refused.
TEST(Taylor, ExpandsEquationsThatShareDerivatives) {
  const Model model = load_model(std::string(HINGE_EXAMPLES) + "/amplifier.toml",
                                 {{"integrate.method", "taylor"}, {"integrate.tolerance", "1e-8"}});
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(0.02);
  EXPECT_EQ(run.report().counters.rejected, 0);
  EXPECT_LT(run.report().counters.steps, 200);
}

// y^2 = t^2 from y = 1 at t = -1: two solutions meet at t = 0, both smooth.
TEST(Taylor, StopsWhereSolutionsMeet) {
  Dae dae;
  const Expression y = dae.unknown("y");
  dae.equation(y * y - dae.t() * dae.t());
  const auto system = dae.build();
  try {
    integrate(*taylor().bind(system, {}, {{1e-8, 1e-8}}), {-1, {1}, {-1}, {}}, 1);
    FAIL() << "went on";
  } catch (const StepFailure& failure) {
    const std::string text = failure.what();
    EXPECT_NE(text.find("the system Jacobian of the DAE is singular"), std::string::npos) << text;
    double t = 1;
    EXPECT_EQ(std::sscanf(text.c_str(), "at t = %lf", &t), 1);
    EXPECT_NEAR(t, 0, 1e-9);  // found, not only noticed
  }
}

// y^2 = 1 - t ends at t = 1, as x' = x^2 from 1 does.
TEST(Taylor, StopsWhereTheSolutionEnds) {
  Dae impasse;
  const Expression y = impasse.unknown("y");
  impasse.equation(y * y + impasse.t() - 1.0);
  Dae pole;
  const Expression x = pole.unknown("x");
  pole.equation(pole.derivative(x) - x * x);
  for (const auto& system : {impasse.build(), pole.build()}) {
    const auto method = taylor().bind(system, {}, {{1e-8, 1e-8}});
    State s = consistent_start(*system, 0, {.position = {1}});
    ASSERT_TRUE(method->start(s));
    StepResult result;
    while (result && s.t < 2) result = method->advance(s, 2);
    EXPECT_FALSE(result);
    EXPECT_NEAR(s.t, 1, 1e-3);  // what was computed is kept, up to nearly there
    EXPECT_LT(s.t, 1 + 1e-5);   // errors move the pole
  }
}

// A comet close to its sun: the series of the motion converges for a short time only.
TEST(Taylor, GivenStepsThatAreTooLongForTheSeriesStop) {
  Lagrangian comet;
  const Vector q = comet.coordinates("q", 2), v = comet.velocity(q);
  comet.kinetic(0.5 * dot(v, v));
  comet.potential(-1.0 / norm(q));
  const auto system = comet.build();
  for (const double e : {0.9, 0.95, 0.98}) {
    const double speed = std::sqrt((1 + e) / (1 - e)), time = std::pow(1 - e, 1.5);
    State s{0, {1 - e, 0}, {0, speed}, {}};
    EXPECT_TRUE(taylor().bind(system)->step(s, 0.05 * time)) << e;
    s = {0, {1 - e, 0}, {0, speed}, {}};
    const StepResult result = taylor().bind(system)->step(s, 3 * time);
    EXPECT_FALSE(result) << e;
    EXPECT_NE(result.reason.find("does not converge"), std::string::npos) << result.reason;
  }
}

// Multipliers between steps: those of the positions and velocities there.
TEST(Taylor, MultipliersWithinAStepBelongToItsMotion) {
  const auto system = pendulum();
  for (const double tolerance : {1e-4, 1e-6, 1e-8}) {
    State state{0, {1, 0}, {0, 0}, {0}};
    const auto method = taylor().bind(system, {}, {{tolerance, tolerance}});
    ASSERT_TRUE(method->start(state));
    State within = state;
    for (int k = 0; k < 20; ++k) {
      const double t0 = state.t;
      ASSERT_TRUE(method->advance(state, 20));
      for (const double part : {0.2, 0.6, 0.9}) {
        method->interpolate(t0 + part * (state.t - t0), within);
        // q.q'' + q'.q' = 0 with q'' = -g e2 - psi q
        const double right = within.z[0] * within.z[0] + within.z[1] * within.z[1] - 9.81 * within.y[1];
        EXPECT_NEAR(within.psi[0], right, 1e-12);
      }
    }
  }
}

TEST(Taylor, DoesNotPassAShortForce) {
  Lagrangian l;
  const Expression q = l.coordinate("q"), v = l.velocity(q);
  l.kinetic(0.5 * v * v);
  const Expression s = (l.t() - 3.0) / 0.2;
  l.force({q}, {exp(-s * s)});
  const State end = integrate(*bind_piecewise(taylor(), l.build(), {}, {{1e-9, 1e-9}}), {0, {0}, {0}, {}}, 6);
  EXPECT_NEAR(end.z[0], 0.2 * std::sqrt(std::acos(-1.0)), 1e-8);
}

// q'' = -sign(q): parabolas, with a kink at every passage.
TEST(Taylor, StepsOntoKinks) {
  Lagrangian l;
  const Expression q = l.coordinate("q"), v = l.velocity(q);
  l.kinetic(0.5 * v * v);
  l.potential(abs(q));
  const State end = integrate(*bind_piecewise(taylor(), l.build(), {}, {{1e-10, 1e-10}}), {0, {0.5}, {0}, {}}, 5);
  const double t = 5 - 4;  // a period is 4 sqrt(2 q0) = 4
  EXPECT_NEAR(end.y[0], 0.5 - 0.5 * t * t, 1e-9);
  EXPECT_NEAR(end.z[0], -t, 1e-9);
}

class OwnPendulum final : public System {
 public:
  OwnPendulum() : System(pendulum()->layout()) {}
};

TEST(Taylor, RefusesWhatIsNotMadeOfExpressions) {
  try {
    taylor().bind(std::make_shared<OwnPendulum>(), {}, {{1e-6, 1e-6}});
    FAIL() << "taken";
  } catch (const UnsuitableMethod& refused) {
    EXPECT_NE(std::string(refused.what()).find("made of expressions"), std::string::npos) << refused.what();
  }
  EXPECT_THROW(taylor({.order = 1}), InputError);
  EXPECT_THROW(taylor({.order = 61}), InputError);
}

}  // namespace
}  // namespace hinge::taylor_test
