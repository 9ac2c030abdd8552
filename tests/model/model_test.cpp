// Claims about model files: what the text says is what the C++ interface would have built.
#include "hinge/model.hpp"

#include <cmath>

#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "run_text.hpp"

namespace hinge::model_test {
namespace {

using test::run_text;

using Values = std::vector<double>;

const std::string times = "[integrate]\nstep = 0.01\nend = 0.2\n";

/// The value of an expression in the parameters.
Values value(const std::string& parameters, const std::string& expression) {
  const Report report =
      run_text("[parameters]\n" + parameters + "\n[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\n" +
               "[initial]\nposition = { x = 0 }\n[integrate]\nstep = 1\nend = 0\n[output]\nquantities = { result = \"" +
               expression + "\" }\n");
  return report.quantities[0].value;
}

std::string message(const std::string& text) {
  try {
    parse_model(text, "test.toml");
  } catch (const InputError& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Model, ParametersMayUseEachOtherInAnyOrder) {
  EXPECT_EQ(value("a = \"b + c\"\nb = \"2*c\"\nc = 3", "a"), Values{9});
  EXPECT_EQ(value("c = 3\nb = \"2*c\"\na = \"b + c\"", "a"), Values{9});
  EXPECT_EQ(value("z = 1\ny = \"z + 1\"\nx2 = \"y + 1\"\nw = \"x2 + 1\"\nv = \"w + 1\"", "v"), Values{5});
  EXPECT_EQ(value("a = \"pi\"\nb = \"sin(a/2)\"", "b"), Values{1});
}

TEST(Model, ParametersMayBeVectorsAndArrays) {
  EXPECT_EQ(value("v = [1, 2, 3]", "v"), (Values{1, 2, 3}));
  EXPECT_EQ(value("v = [\"2*k\", 2, 3]\nk = 4", "v[0]"), Values{8});
  EXPECT_EQ(value("v = \"[1, 2]\"\nw = \"2*v\"", "w"), (Values{2, 4}));
  EXPECT_EQ(value("v = [3, 4]", "norm(v)"), Values{5});
  EXPECT_EQ(value("a = [[1, 2], [3, 4]]", "a[1][0] + a[0][1]"), Values{5});
  EXPECT_EQ(value("a = [[1, 2], [3, 4]]\nb = \"a[1]\"", "dot(b, b)"), Values{25});
}

const std::string pendulum = R"toml([parameters]
m = 2
[lagrangian]
coordinates = ["q[2]"]
kinetic = "m/2*speed2"
potential = "9.81*m*height"
constraints = ["(dot(q,q) - 1)/2"]
[define]
speed2 = "dot(q',q')"
height = "below + 0"
below = "q[1]"
[initial]
position = { q = [1, 0] }
velocity = { q = [0, "1/2"] }
)toml";

TEST(Model, DefinedNamesStandForExpressions) {
  const Report report =
      run_text(pendulum + times + "[output]\nquantities = { h = \"height\", v2 = \"speed2\", rise = \"height'\" }\n");
  EXPECT_EQ(report.quantities[0].name, "h");  // in the order of the file
  EXPECT_EQ(report.quantities[0].value[0], report.final.y[1]);
  EXPECT_NEAR(report.quantities[1].value[0], std::pow(report.velocity[0], 2) + std::pow(report.velocity[1], 2), 1e-15);
  EXPECT_EQ(report.quantities[2].value[0], report.velocity[1]);
}

TEST(Model, EqualsTheSystemBuiltInCpp) {
  const Report from_file = run_text(pendulum + times);
  Lagrangian l;
  const Vector q = l.coordinates("q", 2), v = l.velocity(q);
  l.kinetic(dot(v, v));
  l.potential(9.81 * 2.0 * q[1]);
  l.constrain(0.5 * (dot(q, q) - 1.0));
  Simulation simulation(l, gauss_lobatto(2), {.step = 0.01});
  simulation.start({.position = {1, 0}, .velocity = {0, 0.5}});
  simulation.until(0.2);
  const Report built = simulation.report();
  for (std::size_t k = 0; k < 2; ++k) {
    EXPECT_NEAR(from_file.final.y[k], built.final.y[k], 1e-14);  // measured 0
    EXPECT_NEAR(from_file.final.z[k], built.final.z[k], 1e-14);  // measured 0
  }
  EXPECT_NEAR(from_file.final.psi[0], built.final.psi[0], 1e-12);  // measured 0
  EXPECT_EQ(from_file.method, built.method);
  EXPECT_EQ(from_file.steps, built.steps);
}

// The same pendulum in the words of every section.
TEST(Model, AllSectionsDescribeTheSameMotion) {
  const Report l = run_text(pendulum + times);
  const std::vector<std::string> others = {R"toml([lagrangian]
coordinates = ["q[2]"]
lagrangian = "dot(q',q') - 9.81*2*q[1]"
constraints = "(dot(q,q) - 1)/2"
[initial]
position = { q = [1, 0] }
momentum = { q = [0, 1] }
)toml",
                                           R"toml([lagrangian]
coordinates = ["x", "y"]
kinetic = "x'^2 + y'^2"
force = { y = "-9.81*2" }
constraints = ["(x^2 + y^2 - 1)/2"]
[initial]
position = { x = 1, y = 0 }
velocity = { "y'" = 0.5 }
)toml",
                                           R"toml([lagrangian]
coordinates = ["q[2]"]
kinetic = "dot(q',q')"
potential = "9.81*2*q[1]"
constraints = ["(dot(q,q) - 1)/2"]
multipliers = ["tension"]
reaction = { q = "-tension*q" }
[initial]
position = { q = [1, 0] }
velocity = { q = [0, 0.5] }
)toml",
                                           R"toml([hamiltonian]
coordinates = ["q[2]"]
momenta = ["p[2]"]
hamiltonian = "dot(p,p)/4 + 9.81*2*q[1]"
constraints = ["(dot(q,q) - 1)/2"]
[initial]
position = { q = [1, 0] }
velocity = { q = [0, 0.5] }
)toml",
                                           R"toml([mechanical]
coordinates = ["q[2]"]
mass = [[2, 0], [0, 2]]
force = [0, "-9.81*2"]
constraints = ["(dot(q,q) - 1)/2"]
[initial]
position = [1, 0]
velocity = [0, 0.5]
)toml",
                                           R"toml([mechanical]
coordinates = ["q[2]"]
mass = [2, 2]
force = { q = [0, "-9.81*2"] }
constraints = ["(dot(q,q) - 1)/2"]
[initial]
position = { q = [1, 0] }
momentum = { q = [0, 1] }
)toml",
                                           R"toml([odae]
y = ["q[2]"]
z = ["w[2]"]
psi = ["tension"]
v = "w"
p = "2*w"
f = [0, "-9.81*2"]
r = "-tension*q"
g = ["(dot(q,q) - 1)/2"]
[initial]
y = { q = [1, 0] }
z = { w = [0, 0.5] }
)toml"};
  for (const std::string& text : others) {
    SCOPED_TRACE(text);
    const Report other = run_text(text + times);
    for (std::size_t k = 0; k < 2; ++k) {
      EXPECT_NEAR(other.final.y[k], l.final.y[k], 1e-13);        // measured 0
      EXPECT_NEAR(other.velocity[k], l.velocity[k], 1e-13);      // measured 0
      EXPECT_NEAR(other.momentum[k], 2 * l.velocity[k], 1e-13);  // measured 0
    }
    EXPECT_NEAR(other.final.psi[0], l.final.psi[0], 1e-11);  // measured 0
  }
}

TEST(Model, FamiliesWriteChainsOfAnyLength) {
  const std::string text = R"toml([parameters]
N = 3
l = 0.5
[lagrangian]
coordinates = ["q[N][2]"]
kinetic = "sum(i, 0, N-1, dot(q[i]',q[i]'))/2"
force = { q = { for = "i", from = 1, value = "[0, -10*(i+1)]" } }
constraints = [
  "(dot(q[0],q[0]) - l^2)/2",
  { for = "k", from = 1, to = "N-1", constraint = "(dot(q[k]-q[k-1],q[k]-q[k-1]) - l^2)/2" },
]
[initial]
position = { q = { for = "i", value = "[(i+1)*l, 0]" } }
velocity = { q = { for = "i", to = 1, value = "[0, i]" } }
)toml" + times;
  const Model model = parse_model(text, "test.toml");
  EXPECT_EQ(model.system->ny(), 6);
  EXPECT_EQ(model.system->ng(), 3);
  EXPECT_EQ(model.start.position, (Values{0.5, 0, 1, 0, 1.5, 0}));
  EXPECT_EQ(model.start.velocity, (Values{0, 0, 0, 1, 0, 0}));  // zero where nothing is said
  EXPECT_EQ(model.system->layout().constraints[2].rfind("1 (k = 2)", 0), 0U);
  const auto e = model.system->evaluation({Quantity::force});
  e->at(0, model.start.position.data(), model.start.velocity.data(), nullptr);
  EXPECT_EQ(
      Values((*e)[Quantity::force], (*e)[Quantity::force] + model.system->pattern(Quantity::force).entries()).back(),
      -30);
  const std::string plain = R"toml([lagrangian]
coordinates = ["q[3][2]"]
kinetic = "(dot(q[0]',q[0]') + dot(q[1]',q[1]') + dot(q[2]',q[2]'))/2"
force = { q = [[0, 0], [0, -20], [0, -30]] }
constraints = ["(dot(q[0],q[0]) - 1/4)/2", "(dot(q[1]-q[0],q[1]-q[0]) - 1/4)/2", "(dot(q[2]-q[1],q[2]-q[1]) - 1/4)/2"]
[initial]
position = { q = [[0.5, 0], [1, 0], [1.5, 0]] }
velocity = { q = [[0, 0], [0, 1], [0, 0]] }
)toml" + times;
  const Report a = run_text(text), b = run_text(plain);
  for (std::size_t k = 0; k < 6; ++k) EXPECT_NEAR(a.final.y[k], b.final.y[k], 1e-12);  // measured 0
  EXPECT_EQ(run_text(text, {{"parameters.N", "1"}, {"initial.velocity", "{}"}}).final.y.size(),
            2U);  // the family is empty then
}

TEST(Model, MassMatricesMayHoldExpressions) {
  const std::string text = R"toml([parameters]
m = 3
[mechanical]
coordinates = ["a", "b"]
mass = [["m + a^2", "a*b"], ["a*b", "[m, b][0] + 1"]]
force = ["-a*a'^2 - a*b'^2", "-b*a'^2"]
[initial]
position = { a = 0.3, b = 0.2 }
velocity = { a = 1 }
)toml" + times;
  const Model model = parse_model(text, "test.toml");
  const auto e = model.system->evaluation({Quantity::momentum});
  const double y[] = {0.3, 0.2}, z[] = {1, 2};
  e->at(0, y, z, nullptr);
  EXPECT_NEAR((*e)[Quantity::momentum][0], 3.09 + 0.12, 1e-15);
  EXPECT_NEAR((*e)[Quantity::momentum][1], 0.06 + 8, 1e-15);
  // that force is what a free body with this mass matrix has: the kinetic energy stays
  const Report report = run_text(
      text, {{"output.quantities.energy2", "(m+a^2)*a'^2 + 2*a*b*a'*b' + (m+1)*b'^2"}, {"integrate.stages", "4"}});
  EXPECT_NEAR(report.quantities[0].value[0], 3.09, 1e-11);  // measured 3.1e-15
}

TEST(Model, InitialValuesMayBeVelocityOrMomentum) {
  const std::string head =
      "[lagrangian]\ncoordinates = [\"x\", \"y\"]\nkinetic = \"x'^2 + 3*y'^2/2\"\n[initial]\nposition = { x = 1, y = 2 "
      "}\n";
  EXPECT_EQ(parse_model(head, "test.toml").start.velocity, Values{});
  EXPECT_EQ(run_text(head + times).final.z, (Values{0, 0}));
  EXPECT_EQ(parse_model(head + "velocity = { y = \"1 + 1\" }", "test.toml").start.velocity, (Values{0, 2}));
  EXPECT_EQ(parse_model(head + "momentum = { x = 4, y = 6 }", "test.toml").start.momentum, (Values{4, 6}));
  const Report report = run_text(head + "momentum = { x = 4, y = 6 }\n" + times);
  EXPECT_NEAR(report.velocity[0], 2, 1e-15);
  EXPECT_NEAR(report.velocity[1], 2, 1e-15);
}

TEST(Model, HamiltonianQuantitiesMayUseVelocities) {
  const Report report = run_text(R"toml([hamiltonian]
coordinates = ["q[2]"]
momenta = ["p[2]"]
hamiltonian = "p[0]^2/2 + p[1]^2/8 + q[1] + p[0]*q[1]"
[initial]
position = { q = [0, 1] }
momentum = { p = [1, 2] }
[integrate]
step = 0.1
end = 1
[output]
quantities = { v = "q'", power = "(q[0]*q[1])'" }
)toml");
  EXPECT_EQ(report.quantities[0].value, report.velocity);
  EXPECT_NEAR(report.velocity[0], report.final.z[0] + report.final.y[1], 1e-15);
  EXPECT_NEAR(report.velocity[1], report.final.z[1] / 4, 1e-15);
  EXPECT_NEAR(report.quantities[1].value[0],
              report.velocity[0] * report.final.y[1] + report.final.y[0] * report.velocity[1], 1e-14);
}

TEST(Model, QuantitiesMayUseMultipliersAndTime) {
  const Report report =
      run_text(pendulum + times +
               "[output]\nquantities = { pull = \"psi[0]*norm(q)\", clock = \"t\", both = \"[t, psi[0]]\" }\n");
  EXPECT_NEAR(report.quantities[0].value[0], report.final.psi[0], 1e-12);
  EXPECT_EQ(report.quantities[1].value[0], 0.2);
  EXPECT_EQ(report.quantities[2].value, (Values{0.2, report.final.psi[0]}));
  EXPECT_EQ(report.quantities[2].shape, std::vector<int>{2});
}

TEST(Model, ExactSolutionsAreRead) {
  const Model model = parse_model(R"toml([parameters]
w = 2
[lagrangian]
coordinates = ["x"]
kinetic = "x'^2/2"
potential = "w^2*x^2/2"
[initial]
position = { x = 1 }
[exact]
position = { x = "cos(w*t)" }
velocity = { x = "-w*sin(w*t)" }
)toml" + times,
                                  "test.toml");
  ASSERT_EQ(model.exact.position.size(), 1U);
  ASSERT_EQ(model.exact.velocity.size(), 1U);
  EXPECT_EQ(model.exact.momentum.size() + model.exact.multiplier.size(), 0U);
  Simulation simulation(model.system, gauss_lobatto(6), {.step = 0.05});
  simulation.observe("exact", model.exact.position);
  simulation.observe("speed", model.exact.velocity);
  simulation.start(model.start);
  simulation.until(1);
  const Report report = simulation.report();
  EXPECT_NEAR(report.quantities[0].value[0], std::cos(2.0), 1e-15);
  EXPECT_NEAR(report.final.y[0], report.quantities[0].value[0], 1e-13);  // measured 3.3e-16
  EXPECT_NEAR(report.final.z[0], report.quantities[1].value[0], 1e-13);  // measured 8.9e-16
}

TEST(Model, ChoicesHaveDefaults) {
  const Model model = parse_model(pendulum, "folder/swing.toml");
  EXPECT_EQ(model.title, "swing");
  EXPECT_EQ(model.path, "folder/swing.toml");
  EXPECT_EQ(model.text, pendulum);
  EXPECT_EQ(model.method, "gauss-lobatto");
  EXPECT_TRUE(std::isnan(model.end));
  EXPECT_EQ(model.simulation.every, 1);
  EXPECT_EQ(model.start.consistent, Consistency::check);
  EXPECT_THROW(model.simulation_for(""), InputError);  // no step
  const Model chosen = parse_model(pendulum + R"toml(consistent = "project"
[integrate]
method = "rattle"
start = 1
end = "1 + m"
step = "1/8"
newton = "full"
linear_algebra = "sparse"
max_iterations = 7
[output]
interval = "m/4"
file = "swing.csv"
)toml",
                                   "swing.toml");
  EXPECT_EQ(chosen.method, "rattle");
  EXPECT_EQ(chosen.end, 3);
  EXPECT_EQ(chosen.simulation.start, 1);
  EXPECT_EQ(chosen.simulation.step, 0.125);
  EXPECT_EQ(chosen.simulation.interval, 0.5);
  EXPECT_EQ(chosen.simulation.solver.newton, SolverOptions::Newton::full);
  EXPECT_EQ(chosen.simulation.solver.linear_algebra, LinearAlgebra::sparse);
  EXPECT_EQ(chosen.simulation.solver.max_iterations, 7);
  EXPECT_EQ(chosen.output_file, "swing.csv");
  EXPECT_EQ(chosen.start.consistent, Consistency::project);
}

TEST(Model, MovingConstraintsMayUseTime) {
  const Report report = run_text(R"toml([lagrangian]
coordinates = ["q[2]"]
kinetic = "dot(q',q')/2"
constraints = ["q[0] - sin(t)", "q[1] - q[0]*q[0]"]
[initial]
position = { q = [0, 0] }
velocity = { q = [1, 0] }
)toml" + times);
  EXPECT_NEAR(report.final.y[0], std::sin(0.2), 1e-15);
  EXPECT_NEAR(report.final.y[1], std::pow(std::sin(0.2), 2), 1e-15);
  EXPECT_NEAR(report.final.z[0], std::cos(0.2), 1e-14);
  EXPECT_LT(report.hidden_constraint, 1e-14);  // measured 5.6e-17
}

TEST(Model, ErrorsSayWhereTheyAre) {
  EXPECT_EQ(message(pendulum), "accepted");
  EXPECT_EQ(message("[lagrangian]\ncoordinates = [\"q\"]\nkinetic = \"r'\"\n")
                .rfind("test.toml:3:11: lagrangian.kinetic: unknown name 'r'", 0),
            0U);
  EXPECT_EQ(message("").rfind("test.toml: there is no system", 0), 0U);
  try {
    parse_model(pendulum, "test.toml", {{"parameters.m", "x y"}, {"integrate.step", "0", "--step"}});
    FAIL();
  } catch (const InputError& e) {
    EXPECT_EQ(std::string(e.what()).rfind("--set parameters.m: ", 0), 0U) << e.what();
  }
  EXPECT_THROW(load_model("no/such/file.toml"), InputError);
}

TEST(Model, ErrorsSpeakOfWhatWasWritten) {
  const std::string decay = "[dae]\nunknowns = [\"x\"]\nequations = [\"x' = -x\"]\n[initial]\nunknowns = { x = 1 }\n";
  const auto with = [&](const std::string& equation) {
    return message("[dae]\nunknowns = [\"x\"]\nequations = [\"" + equation + "\"]\n[initial]\nunknowns = { x = 1 }\n");
  };
  EXPECT_EQ(message(decay), "accepted");
  EXPECT_NE(with("x' == -x").find("write = between"), std::string::npos) << with("x' == -x");
  EXPECT_EQ(with("x' = -if(t == 1, 2, x)"), "accepted");  // a comparison inside is none of this
  const std::string recorded = message(decay + "[output]\ntimes = [\"t\"]\n");
  EXPECT_NE(recorded.find("times to record at are numbers"), std::string::npos) << recorded;
  EXPECT_EQ(message(decay + "[output]\ntimes = [0.5, \"1/4\"]\n"), "accepted");
  const std::string none = message(decay + "[output]\ntimes = []\n");
  EXPECT_NE(none.find("leave it out to record every step"), std::string::npos) << none;
}

}  // namespace
}  // namespace hinge::model_test
