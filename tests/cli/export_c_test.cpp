// hinge export-c: what it writes compiles without a warning and computes the numbers of hinge, to the last bit.
#include <cstdlib>
#include <map>
#include <sstream>

#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "formulation/start/consistent_start.hpp"
#include "hinge/model.hpp"
#include "system/symbolic.hpp"

namespace hinge::test::export_c_test {
namespace {

using Q = Quantity;
using Numbers = std::map<std::string, std::vector<double>>;

// What the example prints, after it was compiled.
Numbers printed(const Folder& folder, const std::string& name, const std::string& more = "") {
  const std::string place = folder.file("c");
  const std::string build = "cd " + place + " && cc -std=c99 -Wall -Wextra -Wpedantic -Werror -ffp-contract=off " +
                            more + " example.c " + name + ".c -lm -o example && ./example > numbers";
  EXPECT_EQ(std::system(build.c_str()), 0) << build;
  std::istringstream in(folder.read("c/numbers"));
  Numbers all;
  std::string function, number;
  for (std::size_t k = 0; in >> function >> k >> number;) {
    EXPECT_EQ(k, all[function].size());
    all[function].push_back(std::strtod(number.c_str(), nullptr));
  }
  return all;
}

void expect_same(const std::vector<double>& actual, const double* expected, std::size_t count, const char* what) {
  ASSERT_EQ(actual.size(), count) << what;
  for (std::size_t k = 0; k < count; ++k) EXPECT_EQ(actual[k], expected[k]) << what << ' ' << k;
}

class ExportC : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::system("cc --version > /dev/null 2>&1") != 0) GTEST_SKIP() << "there is no C compiler here";
  }
};

TEST_F(ExportC, NumbersAreThoseOfHinge) {
  const std::pair<std::string, std::string> models[] = {
      {std::string(HINGE_EXAMPLES) + "/double-spherical-pendulum.toml", "double_spherical_pendulum"},
      {std::string(HINGE_EXAMPLES) + "/charged-particle.toml", "charged_particle"},
      {std::string(HINGE_EXAMPLES) + "/slider-crank.toml", "slider_crank"},
      {std::string(HINGE_PAPERS) + "/ivp/andrews.toml", "andrews"}};
  for (const auto& [path, name] : models) {
    SCOPED_TRACE(path);
    const Folder folder;
    const Answer answer = hinge(folder, {"export-c", path, "--out", folder.file("c")});
    ASSERT_EQ(answer.status, 0) << answer.err;
    Numbers found = printed(folder, name);
    const Model model = load_model(path);
    const State s = consistent_start(*model.system, model.simulation.start, model.start);
    const std::pair<const char*, Q> functions[] = {{"velocity", Q::velocity},
                                                   {"momentum", Q::momentum},
                                                   {"force", Q::force},
                                                   {"reaction", Q::reaction},
                                                   {"constraint", Q::constraint},
                                                   {"constraint_rate", Q::constraint_rate},
                                                   {"mass", Q::momentum_z},
                                                   {"constraint_gradient", Q::constraint_y},
                                                   {"reaction_gradient", Q::reaction_psi},
                                                   {"rate_gradient", Q::constraint_rate_z},
                                                   {"acceleration_force", Q::acceleration_force},
                                                   {"constraint_curvature", Q::constraint_curvature}};
    for (const auto& [function, quantity] : functions) {
      const auto e = model.system->evaluation({quantity});
      e->at(s.t, s.y.data(), s.z.data(), s.psi.data());
      expect_same(found[function], (*e)[quantity], model.system->pattern(quantity).entries(), function);
    }
    EXPECT_EQ(found.count("energy"), model.system->structure().has_energy);
  }
}

TEST_F(ExportC, DaesHaveTheirResidualAndItsDerivatives) {
  const Folder folder;
  const std::string path = std::string(HINGE_EXAMPLES) + "/amplifier.toml";
  ASSERT_EQ(hinge(folder, {"export-c", path, "--out", folder.file("c")}).status, 0);
  Numbers found = printed(folder, "amplifier");
  const Model model = load_model(path);
  const State s = consistent_start(*model.system, model.simulation.start, model.start);
  const Equations& eq = dynamic_cast<const SymbolicSystem&>(*model.system).equations();
  const auto tape = eq.tape(*eq.graph, eq.residual);
  std::vector<double> scratch = tape->make_scratch(), out(eq.residual.size());
  const double* const inputs[] = {&s.t, s.y.data(), s.z.data(), nullptr};
  tape->evaluate(inputs, scratch.data(), out.data());
  expect_same(found["residual"], out.data(), out.size(), "residual");
  EXPECT_GT(found["residual_x"].size(), out.size());
  EXPECT_GT(found["residual_rate"].size(), 0u);
}

TEST_F(ExportC, CXXCompilersTakeTheHeaderToo) {
  const Folder folder;
  const std::string path = std::string(HINGE_EXAMPLES) + "/pendulum.toml";
  ASSERT_EQ(hinge(folder, {"export-c", path, "--out", folder.file("c"), "--set", "parameters.length=2", "--set",
                           "initial.position.q=[2,0]"})
                .status,
            0);
  folder.write("c/use.cpp", "#include \"pendulum.h\"\nint main() { return pendulum_ny - 2; }\n");
  const std::string build = "cd " + folder.file("c") + " && c++ -Wall -Werror -c use.cpp";
  EXPECT_EQ(std::system(build.c_str()), 0);
  EXPECT_NE(folder.read("c/pendulum.c").find("- 4.0)/2.0"), std::string::npos);  // length^2
}

TEST(ExportCRefusals, WhatIsNoExpressionIsNamed) {
  const Folder folder;
  const auto refused = [&](const std::string& model, const std::string& with) {
    const Answer a = hinge(folder, {"export-c", std::string(HINGE_EXAMPLES) + "/" + model, "--out", folder.file("c")});
    EXPECT_EQ(a.status, 2) << model;
    EXPECT_NE(a.err.find(with), std::string::npos) << a.err;
    EXPECT_FALSE(folder.has("c")) << model;
  };
  refused("disk-pile.toml", "is not made of expressions alone");
  refused("box-stack.toml", "contacts that are found by geometry");
  refused("cam-table.toml", "of tables only floor() can");
}

TEST(ExportCRefusals, WhatIsLeftOutIsSaid) {
  const Folder folder;
  const Answer a =
      hinge(folder, {"export-c", std::string(HINGE_EXAMPLES) + "/bouncing-ball.toml", "--out", folder.file("c")});
  EXPECT_EQ(a.status, 0) << a.err;
  EXPECT_NE(a.out.find("not exported: forces, friction and restitution of contacts"), std::string::npos) << a.out;
  EXPECT_NE(folder.read("c/bouncing_ball.h").find("Not here: forces"), std::string::npos);
  EXPECT_NE(folder.read("c/bouncing_ball.c").find("bouncing_ball_gap("), std::string::npos);
}

TEST(ExportCRefusals, FilesOfOthersStay) {
  const Folder folder;
  std::filesystem::create_directory(folder.file("c"));
  folder.write("c/example.c", "int main;\n");
  std::vector<std::string> command{"export-c", std::string(HINGE_EXAMPLES) + "/pendulum.toml", "--out",
                                   folder.file("c")};
  const Answer refused = hinge(folder, command);
  EXPECT_EQ(refused.status, 2);
  EXPECT_NE(refused.err.find("was not written by hinge export-c"), std::string::npos) << refused.err;
  EXPECT_EQ(folder.read("c/example.c"), "int main;\n");
  command.push_back("--force");
  EXPECT_EQ(hinge(folder, command).status, 0);
  command.pop_back();
  EXPECT_EQ(hinge(folder, command).status, 0);  // its own it replaces
}

}  // namespace
}  // namespace hinge::test::export_c_test
