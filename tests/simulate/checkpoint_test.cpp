// A run that was cut off and goes on from its checkpoint is the run that was not, bit for bit: states, rows and files.
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"

namespace hinge::checkpoint_test {
namespace {

namespace fs = std::filesystem;

class Checkpoint : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(folder); }
  void TearDown() override { fs::remove_all(folder); }

  const fs::path folder =
      fs::temp_directory_path() / fmt::format("hinge-checkpoint-{}", ::testing::UnitTest::GetInstance()->random_seed());
  const std::string out = (folder / "run.csv").string(), file = (folder / "run.checkpoint").string();

  Simulation simulation(const Model& m, const std::string& path) const {
    Simulation s = m.simulation_for(path);
    s.keep_checkpoints({file, 0, 20});
    return s;
  }
  static std::string content(const std::string& path) {
    std::stringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }
  // Until row `cut`, where it dies.
  void run_until_row(const Model& m, const std::string& path, long cut) const {
    Simulation s = simulation(m, path);
    long rows = 0;
    s.on_row([&](const Row&) {
      if (++rows == cut) throw std::runtime_error("cut off");
    });
    s.start(m.start);
    EXPECT_THROW(s.until(m.end), std::runtime_error);
  }
};

const std::string pendulum =
    "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q',q')/2\"\npotential = \"9.81*q[1]\"\n"
    "constraints = [\"(dot(q,q) - 1)/2\"]\n[initial]\nposition = { q = [1, 0] }\n[[event]]\nname = \"low\"\nroot = "
    "\"q[0]\"\n[output]\nquantities = { h = \"q[1]\" }\n";
const std::string driven =
    "[states]\nu = { every = 0.03, update = \"-q[0]\" }\ns = { rate = \"q[1] - s\" }\n[lagrangian]\ncoordinates = "
    "[\"q[2]\"]\nkinetic = \"dot(q',q')/2\"\npotential = \"9.81*q[1]\"\nforce = { q = [\"u + s\", \"pulse(t, 0.4, "
    "0.1)\"] }\n"
    "constraints = [\"(dot(q,q) - 1)/2\"]\n[initial]\nposition = { q = [1, 0] }\n";
const std::string ball =
    "[mechanical]\ncoordinates = [\"x\", \"y\"]\nmass = [1, 1]\nforce = [0, -9.81]\nunilateral = [{ gap = \"y\", "
    "restitution = "
    "0.7, friction = 0.2, slip = \"x'\" }]\n[initial]\nposition = { x = 0, y = 0.3 }\nvelocity = { x = 1 }\n";

const std::string grains =
    "[multibody]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"floor\"\nfixed = true\nshape = { plane = [0, 0, 1] "
    "}\nfriction = 0.3\n[[body]]\nname = \"a\"\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0, 0, 0.4]\nfriction = "
    "0.3\nangular_velocity = [3, 1, 8]\n[[body]]\nname = \"b\"\nmass = 2\nshape = { sphere = 0.15 }\nposition = [0.05, "
    "0.02, 0.9]\nfriction = 0.3\n";
const std::string disk =
    "[multibody]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"ball\"\nmass = 1\ninertia = [0.1, 0.2, 0.15]\nposition = "
    "[0, "
    "0, 0.3]\nangular_velocity = [1, 2, 3]\n[[joint]]\ntype = \"rolling\"\nbodies = [\"ground\", \"ball\"]\nradius = "
    "0.3\n[initial]\nconsistent = \"project\"\n";
const std::string top =
    "[multibody]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"top\"\nmass = 1\ninertia = [0.2, 0.3, 0.4]\nposition = "
    "[0.3, "
    "0, 0.8]\nangular_velocity = [0, 0, 5]\n[[joint]]\ntype = \"spherical\"\nbodies = [\"ground\", \"top\"]\npoint = "
    "[0, "
    "0, 0]\n[initial]\nconsistent = \"project\"\n";

TEST_F(Checkpoint, ARunThatGoesOnIsTheRunThatWasNotCutOff) {
  const std::tuple<std::string, const char*> cases[] = {
      {pendulum, "method = \"explicit\"\ntolerance = 1e-8\nmax_step = 0.02"},
      {pendulum, "method = \"radau\"\ntolerance = 1e-6\nmax_step = 0.02"},
      {pendulum, "method = \"bdf\"\ntolerance = 1e-6\nmax_step = 0.02"},
      {pendulum, "method = \"auto\"\ntolerance = 1e-6\nmax_step = 0.02"},
      {pendulum, "method = \"gauss-lobatto\"\nstages = 2\nstep = 0.02"},
      {pendulum, "method = \"lobatto-iiia-iiib\"\nstages = 2\nstep = 0.02"},
      {pendulum, "method = \"rattle\"\nstep = 0.02"},
      {pendulum, "method = \"shake\"\nstep = 0.02"},
      {pendulum, "method = \"symplectic-euler\"\nstep = 0.02"},
      {pendulum, "method = \"composition\"\nbase = \"symplectic-euler\"\nstep = 0.02"},
      {pendulum, "method = \"energy-momentum\"\nstep = 0.02"},
      {pendulum, "method = \"radau\"\nstep = 0.02"},
      {pendulum, "method = \"bdf\"\nstep = 0.02"},
      {pendulum, "method = \"half-explicit\"\nstep = 0.02"},
      {pendulum, "method = \"generalized-alpha\"\nstep = 0.02"},
      {driven, "method = \"explicit\"\ntolerance = 1e-8"},
      {driven, "method = \"gauss-lobatto\"\nstages = 2\nstep = 0.02"},
      {ball, "method = \"moreau-jean\"\nstep = 0.02"},
      {ball, "method = \"event-driven\"\ntolerance = 1e-8\nmax_step = 0.02"},
      {ball, "method = \"paoli-schatzman\"\nstep = 0.02"},
      {pendulum, "method = \"taylor\"\ntolerance = 1e-8\nmax_step = 0.02"},
      {pendulum, "method = \"explicit\"\nstep = 0.02"},
      {grains, "method = \"moreau-jean\"\nstep = 0.02"},
      {grains, "method = \"moreau-jean\"\ngap = \"velocity\"\nstep = 0.02"},
      {grains, "method = \"generalized-alpha\"\nstep = 0.02"},
      {disk, "method = \"rattle\"\nstep = 0.02"},
      {disk, "method = \"rattle\"\nvelocity_constraints = \"leapfrog\"\nstep = 0.02"},
      {top, "method = \"energy-momentum\"\nstep = 0.02"},
      {top, "method = \"generalized-alpha\"\nstep = 0.02"},
      {top, "method = \"radau\"\ntolerance = 1e-8\nmax_step = 0.02"},
  };
  for (const auto& [system, integrate] : cases) {
    const Model m = parse_model(system + "[integrate]\n" + integrate + "\nend = 3\n", "m.toml");
    for (const char* path : {"run.csv", "run.h5"}) {
      if (std::string(path) == "run.h5" && (!hdf5_available() || &system != &std::get<0>(cases[0]))) continue;
      const std::string record = (folder / path).string();
      Simulation whole = simulation(m, record);
      whole.start(m.start);
      whole.until(m.end);
      whole.finish();
      const std::string text = content(record);
      const Report exact = whole.report();
      run_until_row(m, record, 95);
      ASSERT_TRUE(fs::exists(file)) << integrate;
      Simulation rest = simulation(m, record);
      rest.resume(file);
      EXPECT_GT(rest.state().t, 0.05) << integrate;
      rest.until(m.end);
      rest.finish();
      const Report r = rest.report();
      EXPECT_EQ(r.final.y, exact.final.y) << integrate;
      EXPECT_EQ(r.final.z, exact.final.z) << integrate;
      EXPECT_EQ(r.final.psi, exact.final.psi) << integrate;
      EXPECT_EQ(r.steps, exact.steps) << integrate;
      EXPECT_EQ(r.constraint, exact.constraint) << integrate;
      EXPECT_EQ(r.energy_error, exact.energy_error) << integrate;
      EXPECT_EQ(r.events.size(), exact.events.size()) << integrate;
      EXPECT_TRUE(content(record) == text) << integrate << path;
    }
  }
}

// With a file or without, a run that starts its method anew after so many steps is the same.
TEST_F(Checkpoint, TheRunWithoutIsTheSame) {
  const std::tuple<std::string, const char*> cases[] = {
      {pendulum, "method = \"gauss-lobatto\"\nstages = 2\nstep = 0.002"},
      {pendulum, "method = \"rattle\"\nstep = 0.002"},
      {pendulum, "method = \"bdf\"\nstep = 0.002"},
      {ball, "method = \"moreau-jean\"\nstep = 0.002"}};
  for (const auto& [system, integrate] : cases) {
    const Model m = parse_model(system + "[integrate]\n" + integrate + "\nend = 20.2\n", "m.toml");
    std::vector<State> ends;
    for (const bool with : {false, true}) {
      Simulation s = m.simulation_for("");
      s.keep_checkpoints({with ? file : std::string(), 0, 3000});
      s.start(m.start);
      s.until(m.end);
      ends.push_back(s.state());
    }
    EXPECT_TRUE(fs::exists(file)) << integrate;
    fs::remove(file);
    EXPECT_EQ(ends[0].y, ends[1].y) << integrate;
    EXPECT_EQ(ends[0].z, ends[1].z) << integrate;
    EXPECT_EQ(ends[0].psi, ends[1].psi) << integrate;
  }
}

// Random numbers that begin again would be another path.
// Hidden constraints of index 3 hold to the tolerance only where the method begins anew. Stopped at the first such
// place. Measured: off by at most 4e-3 with 1e-5, and by 9e-6 with 1e-8.
TEST_F(Checkpoint, DaesOfHigherIndexGoOnFromWhereTheMethodBeginsAnew) {
  const std::string text = R"x([dae]
unknowns = ["x", "y", "u", "v", "L"]
equations = ["x' = u", "y' = v", "u' = -x*L", "v' = -y*L - 1", "x^2 + y^2 = 1"]
[initial]
unknowns = { x = 1, y = 0, u = 0, v = 1 }
[integrate]
end = 10
)x";
  const auto end_of = [&](const char* method, double tolerance, long steps) {
    const Model m = parse_model(text + fmt::format("method = \"{}\"\ntolerance = {}\n", method, tolerance), "dae.toml");
    Simulation s = m.simulation_for("");
    s.keep_checkpoints({"", 0, steps});
    s.start(m.start);
    s.until(m.end);
    EXPECT_TRUE(s.report().sound());
    return s.state().y;
  };
  for (const char* method : {"bdf", "radau"}) {
    const std::vector<double> exact = end_of(method, 1e-10, 1000000);
    for (const double tolerance : {1e-5, 1e-8})
      for (const long steps : {20L, 37L, 80L}) {
        const std::vector<double> found = end_of(method, tolerance, steps);
        for (std::size_t k = 0; k < 2; ++k) EXPECT_NEAR(found[k], exact[k], tolerance < 1e-6 ? 5e-4 : 1e-2) << method;
      }
  }
}

TEST_F(Checkpoint, NoiseHasNone) {
  const Model m = parse_model(
      "[dae]\nunknowns = [\"x\"]\nequations = [\"x' = -x\"]\nnoise = [[0.1]]\n[initial]\nunknowns = { x = 1 "
      "}\n[integrate]\nmethod = \"euler-maruyama\"\nstep = 0.01\nend = 1\n",
      "m.toml");
  Simulation s = m.simulation_for("");
  EXPECT_THROW(s.keep_checkpoints({file}), InputError);
}

TEST_F(Checkpoint, OtherFilesAreRefused) {
  const auto model = [&](const std::string& more) {
    return parse_model(pendulum + "[integrate]\nmethod = \"rattle\"\n" + more, "m.toml");
  };
  const Model m = model("step = 0.02\nend = 3\n");
  Simulation s = simulation(m, "");
  s.start(m.start);
  s.until(m.end);
  const auto complaint = [&](const Model& other, const std::string& path) -> std::string {
    try {
      simulation(other, "").resume(path);
    } catch (const InputError& e) {
      return e.what();
    }
    return "none";
  };
  EXPECT_EQ(complaint(m, file), "none");
  EXPECT_NE(complaint(model("step = 0.01\nend = 3\n"), file).find("is of another model"), std::string::npos);
  EXPECT_NE(complaint(m, (folder / "none").string()).find("cannot read"), std::string::npos);
  std::ofstream(folder / "text") << "something else";
  EXPECT_NE(complaint(m, (folder / "text").string()).find("is no checkpoint of this program"), std::string::npos);
  std::string bytes = content(file);
  bytes[bytes.size() / 2] ^= 1;
  std::ofstream(file, std::ios::binary) << bytes;
  EXPECT_NE(complaint(m, file).find("is damaged"), std::string::npos);
}

}  // namespace
}  // namespace hinge::checkpoint_test
