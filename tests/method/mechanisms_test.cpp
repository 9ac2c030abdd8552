// Closed chains in space whose joints say more than is needed: they run as they are, all rows hold to rounding, and
// what is unique is what the model in the plane says.
#include <cmath>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/hinge.hpp"
#include "places.hpp"
#include "random_draw.hpp"

namespace hinge::mechanisms_test {
namespace {

Model example(const char* name, const std::vector<Override>& overrides = {}) {
  return load_model(fmt::format("{}/{}.toml", HINGE_EXAMPLES, name), overrides);
}

Report run(const Model& m, MethodChoice method, SimulationOptions options, double end, State* state = nullptr) {
  Simulation s(m.system, std::move(method), std::move(options));
  s.start(m.start);
  s.until(end);
  if (state) *state = s.state();
  return s.report();
}

struct Mechanism {
  const char* name;
  int rows, rank;
  double speed;  // size of the velocities, in which the second level is measured
};
void PrintTo(const Mechanism& m, std::ostream* out) { *out << m.name; }

class ClosedChain : public testing::TestWithParam<Mechanism> {};

TEST_P(ClosedChain, KeepsAllRowsToRounding) {
  const Mechanism& mechanism = GetParam();
  const Model m = example(mechanism.name);
  EXPECT_EQ(m.system->ng(), mechanism.rows);
  SimulationOptions chosen, given;
  chosen.tolerance = {1e-8, 1e-8};
  given.step = 0.002;
  State exact, other;
  SimulationOptions tight;
  tight.tolerance = {1e-11, 1e-11};
  run(m, explicit_runge_kutta(), tight, 0.4, &exact);
  const auto look = [&](MethodChoice method, const SimulationOptions& options, double allowed) {
    const std::string label = method.description;
    const Report r = run(m, std::move(method), options, 0.4, &other);
    EXPECT_LT(r.constraint, 3e-14) << label;
    EXPECT_LT(r.hidden_constraint, 1e-13 * mechanism.speed) << label;
    EXPECT_TRUE(r.doubts.empty()) << label << ": " << (r.doubts.empty() ? "" : r.doubts[0].cause);
    for (std::size_t i = 0; i < exact.y.size(); ++i) EXPECT_NEAR(other.y[i], exact.y[i], allowed) << label;
  };
  look(explicit_runge_kutta(), chosen, 1e-6);
  look(radau(), chosen, 1e-6);
  look(make_method("bdf", {}), chosen, 1e-5);
  look(gauss_lobatto(2), given, 1e-6);
  const int dependent = mechanism.rows - mechanism.rank;
  const Report r = run(m, rattle(), given, 0.01);
  const std::string said =
      fmt::format("{} of {} constraints follow from the others (rank {})", dependent, mechanism.rows, mechanism.rank);
  EXPECT_EQ(!r.remarks.empty() && r.remarks[0].find(said) == 0, dependent > 0) << said;
}
INSTANTIATE_TEST_SUITE_P(Examples, ClosedChain,
                         testing::Values(Mechanism{"spatial-four-bar", 20, 17, 10},
                                         Mechanism{"bennett-linkage", 20, 17, 20},
                                         Mechanism{"sarrus-linkage", 30, 29, 5},
                                         Mechanism{"double-cardan-shaft", 18, 17, 12},
                                         Mechanism{"delta-robot", 21, 21, 5}, Mechanism{"stewart-platform", 72, 72, 5}),
                         [](const auto& m) {
                           std::string name = m.param.name;
                           for (char& c : name) c = c == '-' ? '_' : c;
                           return name;
                         });

// ---- A random four-bar: in space and in the plane
// ---------------------------------------------------------------------

struct FourBar {
  double x[4], y[4];  // the joints: ground, crank - coupler, coupler - rocker, ground
  double mass[3], inertia[3];
};

FourBar draw_four_bar(Draw& draw) {
  FourBar f{{0, draw.number(-0.4, 0.4), draw.number(0.6, 1.2), draw.number(0.9, 1.4)},
            {0, draw.number(0.3, 0.6), draw.number(0.5, 1.1), draw.number(-0.2, 0.2)},
            {},
            {}};
  for (int i = 0; i < 3; ++i) f.mass[i] = draw.number(0.2, 2), f.inertia[i] = draw.number(0.01, 0.1);
  return f;
}

std::string text_of(const FourBar& f, bool plane) {
  std::string s = plane ? "[multibody]\ngravity = [0, -9.81]\n" : "[multibody]\ngravity = [0, -9.81, 0]\n";
  const char* names[] = {"ground", "crank", "coupler", "rocker", "ground"};
  for (int i = 0; i < 3; ++i)
    s += fmt::format("[[body]]\nname = \"{}\"\nmass = {}\ninertia = {}\nposition = [{}, {}{}]\n", names[i + 1],
                     f.mass[i], plane ? fmt::format("{}", f.inertia[i]) : fmt::format("[0.1, 0.1, {}]", f.inertia[i]),
                     (f.x[i] + f.x[i + 1]) / 2, (f.y[i] + f.y[i + 1]) / 2, plane ? "" : ", 0");
  for (int i = 0; i < 4; ++i)
    s += fmt::format("[[joint]]\ntype = \"revolute\"\nbodies = [\"{}\", \"{}\"]\npoint = [{}, {}{}]\n{}", names[i],
                     names[i + 1], f.x[i], f.y[i], plane ? "" : ", 0", plane ? "" : "axis = [0, 0, 1]\n");
  return s + "[integrate]\nmethod = \"explicit\"\ntolerance = 1e-12\nend = 0.5\n";
}

// Energy-momentum leaves velocities off the constraints by O(h^2), in all directions. Across the way of a point that is
// all there is, and no reason to doubt the motion.
TEST(ClosedChain, DriftAcrossTheWayIsNoDoubt) {
  Draw draw(18);
  for (int k = 0; k < 6; ++k) {
    const Model m = example(
        "bennett-linkage", {{"multibody.gravity",
                             fmt::format("[{}, {}, {}]", draw.number(-6, 6), draw.number(-6, 6), draw.number(-6, 6))}});
    SimulationOptions given, tight;
    given.step = draw.number(0.001, 0.002);
    tight.tolerance = {1e-10, 1e-10};
    State exact, other;
    run(m, explicit_runge_kutta(), tight, 0.3, &exact);
    const Report r = run(m, make_method("energy-momentum", {}), given, 0.3, &other);
    EXPECT_TRUE(r.doubts.empty()) << k << ": " << (r.doubts.empty() ? "" : r.doubts[0].cause);
    EXPECT_GT(r.hidden_constraint, 1e-5);  // 2.1e-4 with steps of 0.002, of velocities up to 20
    for (std::size_t i = 0; i < exact.y.size(); ++i) EXPECT_NEAR(other.y[i], exact.y[i], 1e-4) << k;  // measured 2.0e-5
  }
}

// Positions agree, and so do the forces of the joints in the plane, which are unique.
TEST(ClosedChain, InSpaceMovesAsInThePlane) {
  for (unsigned seed = 1; seed < 9; ++seed) {
    SCOPED_TRACE(seed);
    Draw draw(seed);
    const FourBar f = draw_four_bar(draw);
    const Model space = parse_model(text_of(f, false), "m.toml"), plane = parse_model(text_of(f, true), "m.toml");
    SimulationOptions options;
    options.tolerance = {1e-12, 1e-12};
    State a, b;
    run(space, explicit_runge_kutta(), options, 0.3, &a);
    run(plane, explicit_runge_kutta(), options, 0.3, &b);
    for (std::size_t body = 0; body < 3; ++body)
      for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(a.y[7 * body + k], b.y[3 * body + k], 1e-10);
    for (std::size_t joint = 0; joint < 4; ++joint)
      for (std::size_t k = 0; k < 2; ++k)
        EXPECT_NEAR(a.psi[5 * joint + k], b.psi[2 * joint + k], 1e-8 * (1 + std::abs(b.psi[2 * joint + k])));
  }
}

// ---- Dead points, assembly ------------------------------------------------------------------------------------------

TEST(SingularPosition, IsPassedByRadauWithATolerance) {
  const Model m = load_model(HINGE_PAPERS "/ivp/four-bar.toml", {{"integrate.tolerance", "1e-8"}});
  SimulationOptions options;
  options.tolerance = {1e-8, 1e-8};
  State s;
  const Report r = run(m, radau(), options, 10, &s);
  EXPECT_NEAR(s.y[0], 0.3284581115408, 1e-5);  // measured 2.8e-6; ten singular positions
  EXPECT_NEAR(s.y[1], 0.9445185381786, 1e-5);
  EXPECT_TRUE(r.doubts.empty());
}

std::string loop(const char* initial) {
  return fmt::format(
      "[lagrangian]\ncoordinates = [\"A[2]\", \"B[2]\"]\nkinetic = \"dot(A',A')/2 + dot(B',B')/2\"\nconstraints = "
      "[\"dot(A,A) - 1\", \"dot(B-A,B-A) - 16\", \"dot(B-[3,0],B-[3,0]) - 2.5^2\"]\n[initial]\n{}\n[integrate]\nmethod "
      "= "
      "\"radau\"\ntolerance = 1e-6\nend = 0.1\n",
      initial);
}

TEST(Assembly, FindsWhatIsLeftOutAndKeepsWhatIsFixed) {
  State s;
  SimulationOptions options;
  options.tolerance = {1e-6, 1e-6};
  const Model open = parse_model(loop("position = { A = [1, 0] }\nconsistent = \"project\"\nfixed = [\"A\"]\n"
                                      "velocity = { A = [0, 2] }"),
                                 "m.toml");
  Simulation run(open.system, radau(), options);
  run.start(open.start);
  EXPECT_EQ(run.state().y[0], 1);
  EXPECT_EQ(run.state().y[1], 0);
  EXPECT_NEAR(std::hypot(run.state().y[2] - 3, run.state().y[3]), 2.5, 1e-13);
  EXPECT_NEAR(run.state().z[1], 2, 1e-14);
  EXPECT_LT(run.report().hidden_constraint, 1e-13);
  // far away: nothing near the guess
  const Model rough = parse_model(loop("position = { A = [-7, 3], B = [20, -9] }\nconsistent = \"project\""), "m.toml");
  Simulation other(rough.system, radau(), options);
  other.start(rough.start);
  EXPECT_LT(other.report().constraint, 1e-13);
}

TEST(Assembly, NamesWhatCannotClose) {
  const Model m = parse_model(
      loop("position = { A = [-7, 0.1], B = [-5, 0.1] }\nconsistent = \"project\"\nfixed = [\"A\"]"), "m.toml");
  Simulation run(m.system, radau(), m.simulation);
  try {
    run.start(m.start);
    FAIL() << "A is 7 away from where it has to be 1";
  } catch (const InconsistentStart& e) {
    const std::string text = e.what();
    EXPECT_NE(text.find("constraint 0 \"dot(A,A) - 1\" is off by 48.01"), std::string::npos) << text;
    EXPECT_NE(text.find("fix fewer"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace hinge::mechanisms_test
