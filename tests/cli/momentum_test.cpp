// [output] momentum, invariants and --condition, as users meet them.
#include <nlohmann/json.hpp>

#include "cli/program.hpp"

namespace hinge::test::momentum_test {
namespace {

using nlohmann::json;

const std::string spherical = R"toml([lagrangian]
coordinates = ["q[3]"]
kinetic = "dot(q',q')/2"
potential = "9.81*q[1]"
constraints = ["(dot(q,q) - 1)/2"]
[initial]
position = { q = [1, 0, 0] }
velocity = { q = [0, 0, 2] }
[integrate]
method = "energy-momentum"
step = 0.01
end = 1
[output]
momentum = { L = { axis = [0, 1, 0] } }
)toml";

TEST(RunCommand, ReportsMomentumMaps) {
  const Folder folder;
  const std::string model = folder.write("m.toml", spherical);
  for (const char* method : {"energy-momentum", "gauss-lobatto", "rattle"}) {
    const Answer a = hinge(folder, {"run", model, "--json", "--method", method, "--out", folder.file("m.csv")});
    ASSERT_EQ(a.status, 0) << a.err;
    const json momentum = json::parse(a.out)["diagnostics"]["momentum"]["L"];
    EXPECT_NEAR(momentum["value"].get<double>(), -2, 1e-12);
    EXPECT_LT(momentum["error"].get<double>(), 1e-13);  // measured below 3e-15
    EXPECT_NE(folder.read("m.csv").find(",energy,L"), std::string::npos);
  }
  const Answer table = hinge(folder, {"run", model});
  EXPECT_NE(table.out.find("|L - L0|"), std::string::npos);
  EXPECT_NE(table.out.find("kept exactly: energy, angular momentum about e2"), std::string::npos);
}

TEST(RunCommand, ReportsTheDiscreteEnergy) {
  const Folder folder;
  const std::string model = folder.write("m.toml", spherical);
  const Answer a = hinge(folder, {"run", model, "--json", "--set", "integrate.constraints=penalty"});
  ASSERT_EQ(a.status, 0) << a.err;
  const json d = json::parse(a.out)["diagnostics"];
  EXPECT_LT(d["discrete_energy_error"].get<double>(), 1e-11);  // measured 8e-15
  EXPECT_GT(d["energy_error"].get<double>(), 1e-7);
  const Answer table = hinge(folder, {"run", model, "--set", "integrate.constraints=penalty"});
  EXPECT_NE(table.out.find("discrete energy"), std::string::npos);
}

TEST(RunCommand, PrintsTheConditionNumber) {
  const Folder folder;
  const std::string model = folder.write("m.toml", spherical);
  const Answer a = hinge(folder, {"run", model, "--condition", "--json"});
  ASSERT_EQ(a.status, 0) << a.err;
  const json c = json::parse(a.out)["diagnostics"]["condition"];
  EXPECT_GT(c["value"].get<double>(), 1e3);
  EXPECT_NE(c["scaling"].get<std::string>().find("times h"), std::string::npos);
  EXPECT_NE(hinge(folder, {"run", model, "--condition"}).out.find("condition number, 2-norm"), std::string::npos);
  const Answer none = hinge(folder, {"run", model, "--condition", "--method", "rattle"});
  EXPECT_EQ(none.status, 2);
  EXPECT_NE(none.err.find("rattle has no condition number"), std::string::npos) << none.err;
}

TEST(BadInput, MomentumMapsAreLocated) {
  const Folder folder;
  const std::string model = folder.write("m.toml", spherical);
  const auto expect = [&](const std::string& set, const std::string& text) {
    const Answer a = hinge(folder, {"run", model, "--set", set});
    EXPECT_EQ(a.status, 2) << set;
    EXPECT_NE(a.err.find(text), std::string::npos) << a.err;
  };
  expect("output.momentum=3", "output.momentum: expected a table");
  expect("output.momentum.L=3", "output.momentum.L: expected {");
  expect("output.momentum.L={axis=[0,1]}", "--set output.momentum.L: 'axis' has 2 numbers");
  expect("output.momentum.L={axis=[0,0,0]}", "'axis' is zero");
  expect("output.momentum.L.axis=[0,0,0]", "--set output.momentum.L.axis: 'axis' is zero");
  expect("output.momentum.L={axes=[0,1,0]}", "did you mean 'axis'");
  expect("output.momentum.L={point=[0,1,0]}", "needs an 'axis'");
  expect("output.momentum.L={axis=[\"q[0]\",1,0]}", "output.momentum.L.axis: this is a number only for given");
  expect("output.momentum.q={axis=[0,1,0]}", "is recorded anyway");
  const std::string other =
      with(with(spherical, "\"q[3]\"", "\"q[3]\", \"a\""), "dot(q',q')/2", "dot(q',q')/2 + a'^2/2");
  const Answer a = hinge(folder, {"run", folder.write("a.toml", with(other, "[1, 0, 0]", "[1, 0, 0], a = 0"))});
  EXPECT_EQ(a.status, 2);
  EXPECT_NE(a.err.find("a.toml:14:18: output.momentum.L: 'a' is not a point in space"), std::string::npos) << a.err;
}

TEST(Model, InvariantsReachTheMethod) {
  const Folder folder;
  const std::string model = folder.write("m.toml", with(spherical, "constraints = [\"(dot(q,q) - 1)/2\"]\n", ""));
  const std::string potential = "lagrangian.potential=exp(q[0]*q[2])";
  const Answer plain = hinge(folder, {"run", model, "--json", "--set", potential});
  const Answer chosen =
      hinge(folder, {"run", model, "--json", "--set", potential, "--set", "lagrangian.invariants=[\"q[0]\"]"});
  ASSERT_EQ(chosen.status, 0) << chosen.err;
  EXPECT_EQ(chosen.err, "");
  const double a = json::parse(plain.out)["final"]["position"]["q"][0],
               b = json::parse(chosen.out)["final"]["position"]["q"][0];
  EXPECT_GT(std::abs(a - b), 1e-9);
  EXPECT_LT(json::parse(chosen.out)["diagnostics"]["energy_error"].get<double>(), 1e-12);
  const Answer unused = hinge(folder, {"run", model, "--set", "lagrangian.invariants=[\"q[1]*q[0]\"]"});
  EXPECT_EQ(unused.status, 0);
  EXPECT_NE(unused.err.find("does not occur in the potential"), std::string::npos) << unused.err;
  const Answer wrong = hinge(folder, {"run", model, "--set", "lagrangian.invariants=[\"q[0]\", \"q[0]^3\"]"});
  EXPECT_EQ(wrong.status, 2);
  EXPECT_NE(wrong.err.find("lagrangian.invariants[1]: the invariant"), std::string::npos) << wrong.err;
}

}  // namespace
}  // namespace hinge::test::momentum_test
