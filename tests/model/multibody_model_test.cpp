// [multibody] models: what they mean, and what is said about scenes that cannot be.
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "places.hpp"

namespace hinge::multibody_model_test {
namespace {

std::string complaint(const std::string& text) {
  try {
    const Model model = parse_model(text, "scene.toml");
    Simulation run = model.simulation_for("");
    run.start(model.start);
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

struct BadScene {
  const char* text;
  std::vector<const char*> says;  // parts of the complaint
};

const std::string floor_and_ball = R"(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
shape = { plane = [0, 0, 1] }
fixed = true
[[body]]
name = "ball"
mass = 1
shape = { sphere = 0.5 }
position = [0, 0, 1]
)";

TEST(MultibodyModel, BadScenesAreNamedWithPlaceCauseAndRemedy) {
  const std::vector<BadScene> scenes = {
      {"[[body]]\nname = \"b\"\nmass = 0\nshape = { sphere = 1 }\nposition = [9, 0, 2]",
       {"mass", "the mass is 0", "fixed = true"}},
      {"[[body]]\nname = \"b\"\nshape = { sphere = 1 }\nposition = [9, 0, 2]", {"the mass is 0", "density"}},
      {"[[body]]\nname = \"b\"\nmass = 1\nshape = { sphere = 0 }", {"shape.sphere", "radius is 0", "positive"}},
      {"[[body]]\nname = \"b\"\nmass = 1\nshape = { box = [1, 0, 1] }", {"shape.box", "size along y", "positive"}},
      {"[[body]]\nname = \"b\"\nmass = nan\nshape = { sphere = 1 }", {"mass", "not finite"}},
      {"[[body]]\nname = \"b\"\nmass = 1\nshape = { sphere = 1 }\nposition = [0, nan, 5]", {"position", "not finite"}},
      {"[[body]]\nname = \"ball\"\nmass = 1\nshape = { sphere = 1 }", {"name", "'ball' is declared twice"}},
      {"[[body]]\nname = \"ground\"\nmass = 1\nshape = { sphere = 1 }", {"name", "'ground'", "choose another name"}},
      {"[[body]]\nname = \"b\"\nmass = 1\nposition = [9, 0, 2]", {"inertia is missing", "shape"}},
      {"[[body]]\nname = \"b\"\nmass = 1\ninertia = [1, 1, 5]", {"inertia", "no body has the principal moments"}},
      {"[[body]]\nname = \"b\"\nmass = 1\nshape = { plane = [0, 0, 1] }", {"shape", "a plane is infinite"}},
      {"[[body]]\nname = \"b\"\nmass = 1\nshape = { sphrere = 1 }", {"sphrere", "sphere"}},
      {"[[body]]\nname = \"b\"\nmass = 1\nshape = { disk = 1 }", {"shape.disk", "plane"}},
      {"[[body]]\nname = \"b\"\nmass = 1\nshape = { sphere = 1 }\nrestitution = 2\nposition = [9, 0, 2]",
       {"restitution", "between 0 and 1"}},
      {"[[joint]]\ntype = \"revolute\"\nbodies = [\"ground\", \"bal\"]\naxis = [0, 0, 1]",
       {"bodies", "no body 'bal'", "did you mean 'ball'"}},
      {"[[joint]]\ntype = \"hinge\"\nbodies = [\"ground\", \"ball\"]", {"type", "\"hinge\" is unknown", "revolute"}},
      {"[[joint]]\ntype = \"revolute\"\nbodies = [\"ball\", \"ball\"]\naxis = [0, 0, 1]", {"both are 'ball'"}},
      {"[[joint]]\ntype = \"revolute\"\nbodies = [\"ground\", \"floor\"]\naxis = [0, 0, 1]",
       {"neither 'ground' nor 'floor' moves"}},
      {"[[joint]]\ntype = \"revolute\"\nbodies = [\"ground\", \"ball\"]", {"'axis' is missing"}},
      {"[[joint]]\ntype = \"universal\"\nbodies = [\"ground\", \"ball\"]\naxis = [0, 0, 1]\naxis2 = [0, 1, 1]",
       {"axis2", "perpendicular"}},
      {"[[joint]]\ntype = \"rod\"\nbodies = [\"ground\", \"ball\"]\npoints = [[0, 0, 1], [0, 0, 1]]",
       {"points", "length 0"}},
      {"[[joint]]\nname = \"pin\"\ntype = \"spherical\"\nbodies = [\"ground\", \"ball\"]\npoints = [[0, 0, 2], [0, 0, "
       "1.5]]",
       {"joint 'pin'", "ground - ball", "position level by 0.5"}},
      {"[[joint]]\ntype = \"spherical\"\nbodies = [\"ground\", \"ball\"]\nmotor = { angle = \"t\" }",
       {"motor", "spherical joint has no angle"}},
      {"[[spring]]\nbodies = [\"ground\", \"ball\"]\nstiffness = 1", {"points", "where the spring is held"}},
      {"[[spring]]\nbodies = [\"floor\", \"ball\"]\nstiffness = -1", {"stiffness", "0 or positive"}},
      {"[[particles]]\ncount = 100000\nradius = 0.1\ndensity = 1\nbox = [[5, 5, 5], [6, 6, 6]]",
       {"box", "of the 100000 particles fit", "grid"}},
      {"[[particles]]\ncount = 10\nradius = [0.1, -0.1]\ndensity = 1\nbox = [[5, 5, 5], [6, 6, 6]]",
       {"radius", "less than the smallest"}},
      {"[[particles]]\ncount = 10\nradius = 0.1\nbox = [[5, 5, 5], [6, 6, 6]]", {"give a density"}},
      {"[contact]\nfriction = -1", {"contact.friction", "0 or positive"}},
      {"[contact]\nfrction = 1", {"contact", "friction"}},
      {"[container]\nbox = [[0, 0, 0], [1, 1, 1]]\nopen = \"topp\"", {"open", "top"}},
  };
  const std::string run = "\n[integrate]\nmethod = \"moreau-jean\"\nstep = 0.01\nend = 1\n";
  ASSERT_EQ(complaint(floor_and_ball + run), "");
  for (const BadScene& bad : scenes) {
    const std::string text = complaint(floor_and_ball + bad.text + run);
    EXPECT_NE(text, "") << bad.text;
    for (const char* part : bad.says) EXPECT_NE(text.find(part), std::string::npos) << bad.text << "\nsays: " << text;
  }
  EXPECT_NE(complaint("[multibody]\n" + run).find("nothing moves"), std::string::npos);
  EXPECT_NE(complaint("[[body]]\nname = \"a\"\n" + run).find("[multibody]"), std::string::npos);
}

TEST(MultibodyModel, ReadsWhatItSays) {
  const Model model = parse_model(R"(
[parameters]
l = 0.5
[multibody]
gravity = [0, -10]
[[body]]
for = "i"
from = 0
to = 2
name = "link{i}"
mass = "i + 1"
shape = { box = ["l", 0.1] }
collide = false
position = ["(i + 1/2)*l", 0]
force = ["0.1*i", "t"]
[[joint]]
for = "i"
from = 0
to = 1
type = "revolute"
bodies = ["link{i}", "link{i+1}"]
point = ["(i + 1)*l", 0]
[[joint]]
name = "pivot"
type = "revolute"
bodies = ["ground", "link0"]
point = [0, 0]
[[spring]]
bodies = ["ground", "link2"]
points = [[3, 0], [1.5, 0]]
stiffness = 2
[integrate]
method = "gauss-lobatto"
step = 0.01
end = 0.1
[output]
quantities = { a = "pivot_angle", v = "link1'", w = "link2_angular_velocity", e = "link2_e1" }
)",
                                  "chain.toml");
  const System& system = *model.system;
  EXPECT_EQ(system.layout().kind, SystemKind::multibody);
  EXPECT_EQ(system.ny(), 9);
  EXPECT_EQ(system.ng(), 6);
  EXPECT_FALSE(system.contact_finder());
  const auto e = system.evaluation({Quantity::momentum_z, Quantity::force, Quantity::energy});
  e->at(3, model.start.position.data(), model.start.velocity.data(), nullptr);
  EXPECT_DOUBLE_EQ((*e)[Quantity::momentum_z][6], 3);
  EXPECT_DOUBLE_EQ((*e)[Quantity::momentum_z][8], 3 * (0.25 + 0.01) / 12);
  EXPECT_DOUBLE_EQ((*e)[Quantity::force][6], 0.2);
  EXPECT_DOUBLE_EQ((*e)[Quantity::force][7], 3 - 30);
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(model.end);
  EXPECT_LT(run.report().constraint, 1e-14);
}

// What is allowed to overlap begins so; a little is moved out.
TEST(MultibodyModel, StartsWithTheOverlapThatIsAllowed) {
  const auto height = [](const std::string& z, const std::string& contact, const std::string& gap = "") {
    const Model model = parse_model(R"(
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
shape = { plane = [0, 0, 1] }
fixed = true
[[body]]
name = "ball"
mass = 1
shape = { sphere = 0.5 }
position = [0, 0, )" + z + "]\n" + contact +
                                        "\n[integrate]\nmethod = \"moreau-jean\"\nstep = 0.01\nend = 0.1\n" + gap,
                                    "scene.toml");
    Simulation run = model.simulation_for("");
    run.start(model.start);
    run.until(model.end);
    return run.state().y[2];
  };
  EXPECT_NEAR(height("0.49", "[contact]\noverlap = 0.02"), 0.5, 1e-14);  // pushed out, a hundredth of it per step
  EXPECT_NEAR(height("0.49", "[contact]\noverlap = 0.02", "gap = \"velocity\"\n"), 0.49, 1e-15);
  EXPECT_NEAR(height("0.4999999", ""), 0.5, 1e-15);
  EXPECT_THROW(height("0.49", ""), InconsistentStart);
  EXPECT_NEAR(height("0.49", "[initial]\nconsistent = \"project\""), 0.5, 1e-14);
  EXPECT_THROW(height("0.49", "[contact]\noverlap = 0.009"), InconsistentStart);
  EXPECT_THROW(height("0.6", "[contact]\noverlap = -1"), InputError);
}

// A motor's speed counts from the start of the run, whenever that is.
TEST(MultibodyModel, MotorsTurnFromTheStartOfTheRun) {
  const Model model = parse_model(R"(
[multibody]
[[body]]
name = "arm"
mass = 1
shape = { box = [1, 0.1, 0.1] }
[[joint]]
name = "axle"
type = "revolute"
bodies = ["ground", "arm"]
point = [0, 0, 0]
axis = [0, 0, 1]
motor = { speed = 2 }
[initial]
consistent = "project"
[integrate]
method = "gauss-lobatto"
start = 1
step = 0.01
end = 1.5
[output]
quantities = { a = "axle_angle" }
)",
                                  "motor.toml");
  Simulation run = model.simulation_for("");
  run.start(model.start);
  const auto angle = [&] { return 2 * std::atan2(run.state().y[6], run.state().y[3]); };
  EXPECT_NEAR(angle(), 0, 1e-14);  // was 2
  run.until(model.end);
  EXPECT_NEAR(angle(), 1, 1e-12);
}

// A ball that slides and then rolls at 5/7 of its speed.
TEST(MultibodyModel, BowlingBallRollsAtFiveSevenths) {
  const Model model = load_model(HINGE_EXAMPLES "/bowling-ball.toml");
  Simulation run = model.simulation_for("");
  run.start(model.start);
  run.until(0.4);
  EXPECT_NEAR(run.state().z[0], 5 - 0.3 * 9.81 * 0.4, 1e-12);
  run.until(1);
  EXPECT_NEAR(run.state().z[0], 25.0 / 7, 1e-12);
  EXPECT_NEAR(run.state().z[4], 250.0 / 7, 1e-11);
  EXPECT_NEAR(run.state().y[0], 3.9181523781785907, 1e-6);  // measured 4e-7
}

}  // namespace
}  // namespace hinge::multibody_model_test
