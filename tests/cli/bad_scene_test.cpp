// Claims about scenes of bodies that cannot be: the program answers each with status 2 and one message that names the
// place, the cause and what to do, prints nothing else, and writes no file.
#include "cli/program.hpp"
#include "model/complaint.hpp"

namespace hinge::test::bad_scene_test {
namespace {

using Words = std::vector<std::string>;

const std::string scene = R"toml([multibody]
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
velocity = [1, 0, 0]
)toml";
const std::string end = "\n[integrate]\nmethod = \"moreau-jean\"\nstep = 0.01\nend = 0.02\n";
const std::string body = "[[body]]\nname = \"b\"\n", ball = "mass = 1\nshape = { sphere = 0.1 }\n",
                  joint = "[[joint]]\nname = \"pin\"\n", heap = "[[particles]]\n",
                  box = "box = [[5, 5, 5], [6, 6, 6]]\n";

void refuses(const std::string& part, const Words& words) {
  SCOPED_TRACE(part);
  const Folder folder;
  const Answer answer =
      hinge(folder, {"run", folder.write("m.toml", scene + part + end), "--out", folder.file("out.csv")});
  EXPECT_EQ(answer.status, 2) << answer.err;
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err.rfind("hinge: ", 0), 0U) << answer.err;
  EXPECT_LT(answer.err.size(), 2500U);
  EXPECT_FALSE(folder.has("out.csv"));
  for (const std::string& word : words)
    EXPECT_TRUE(mentions(answer.err, word)) << "no \"" << word << "\" in\n" << answer.err;
}

// The control: the scene that all others start from runs, also with what they add, done right.
TEST(BadScene, TheSceneTheOthersStartFromIsAccepted) {
  for (const std::string& part : {std::string(), body + ball + "position = [3, 0, 1]\n",
                                  joint + "type = \"spherical\"\nbodies = [\"ground\", \"ball\"]\npoint = [0, 0, 1]\n" +
                                      "[initial]\nconsistent = "
                                      "\"project\"\n",
                                  heap + "count = 5\nradius = 0.1\ndensity = 1\n" + box}) {
    const Folder folder;
    const Answer answer = hinge(folder, {"run", folder.write("m.toml", scene + part + end), "--quiet"});
    EXPECT_EQ(answer.status, 0) << part << answer.err;
    EXPECT_EQ(answer.err, "");
  }
}

TEST(BadScene, OverlapsAreMeasuredAndBothBodiesNamed) {
  const Words remedy{"overlap at the start", "move them apart", "collide = false"};
  const auto overlap = [&](const std::string& part, Words words) {
    words.insert(words.end(), remedy.begin(), remedy.end());
    refuses(part, words);
  };
  overlap(body + "mass = 1\nshape = { sphere = 0.5 }\nposition = [0.9, 0, 1]", {"ball - b", "by 0.1"});
  overlap(body + "mass = 1\nshape = { sphere = 0.5 }\nposition = [3, 0, 0.2]", {"b - floor", "by 0.3"});
  overlap(body + "mass = 1\nshape = { box = [1, 1, 1] }\nposition = [0.9, 0, 1]", {"ball - b", "by 0.1"});
  overlap("[container]\nbox = [[-0.2, -1, 0], [1, 1, 2]]", {"ball - container", "by 0.3"});
  overlap(heap + "radius = 0.1\ndensity = 1\npositions = [[5, 5, 5], [5.1, 5, 5]]",
          {"particles[0] - particles[1]", "by 0.1"});
  overlap(heap + "count = 1\nradius = 0.1\ndensity = 1\nbox = [[-0.1, -0.1, 0.9], [0.1, 0.1, 1.1]]",
          {"ball - particles[0]", "by 0.6"});
}

TEST(BadScene, ShapesHaveASize) {
  const auto shape = [](const std::string& text, Words words) {
    words.insert(words.begin(), "m.toml:16: body[2].shape");
    refuses(body + "mass = 1\nshape = { " + text + " }", words);
  };
  shape("sphere = 0", {"radius is 0", "positive"});
  shape("sphere = -1", {"radius is -1", "positive"});
  shape("box = [1, 0, 1]", {"size along y is 0", "positive"});
  shape("capsule = { radius = 0, length = 1 }", {"radius is 0", "positive"});
  shape("capsule = { radius = 0.1, length = -1 }", {"length is -1", "positive"});
  shape("cylinder = { radius = 0.1, length = 0 }", {"length is 0", "positive"});
  shape("mesh = [[0,0,0],[1,0,0],[0,1,0],[1,1,0]]", {"all points lie in one plane", "span a body"});
  refuses("[[body]]\nname = \"w\"\nfixed = true\nshape = { plane = [0, 0, 0] }",
          {"m.toml:16: body[2].shape.plane", "no direction"});
  refuses("[container]\nbox = [[1, -1, 0], [1, 1, 2]]", {"m.toml:14: container.box", "flat", "two corners differ"});
  refuses(heap + "count = 3\nradius = 0\ndensity = 1\n" + box, {"m.toml:15: particles[0].radius", "positive"});
}

TEST(BadScene, NumbersAreFiniteInEveryField) {
  const auto field = [](const std::string& part, const std::string& place) {
    refuses(part, {": " + place + ": the number is not finite", "give an ordinary number"});
  };
  for (const char* number : {"nan", "inf", "-inf"}) {
    const std::string x = number;
    field(body + "mass = " + x + "\nshape = { sphere = 0.1 }", "body[2].mass");
    field(body + ball + "position = [0, " + x + ", 9]", "body[2].position[1]");
  }
  for (const char* key : {"velocity", "angular_velocity", "force", "torque"})
    field(body + ball + "position = [3, 0, 1]\n" + key + " = [0, 0, nan]", std::string("body[2].") + key + "[2]");
  for (const char* key : {"friction", "restitution"})
    field(body + ball + "position = [3, 0, 1]\n" + key + " = nan", std::string("body[2].") + key);
  field(body + "density = nan\nshape = { sphere = 0.1 }", "body[2].density");
  field(body + "mass = 1\ninertia = [1, nan, 1]", "body[2].inertia[1]");
  field(body + "mass = 1\ninertia = [[1, 0, 0], [0, 1, nan], [0, nan, 1]]", "body[2].inertia[1][2]");
  field(body + "mass = 1\ninertia = [1, 1, 1]\ncenter = [nan, 0, 0]", "body[2].center[0]");
  field(body + ball + "rotation = [nan, 0, 0, 0]", "body[2].rotation[0]");
  field(body + ball + "rotation = { axis = [0, 0, 1], angle = nan }", "body[2].rotation.angle");
  field(body + "mass = 1\nshape = { sphere = nan }", "body[2].shape.sphere");
  field(body + "mass = 1\nshape = { box = [1, nan, 1] }", "body[2].shape.box[1]");
  field(body + "mass = 1\nshape = { sphere = 0.1, position = [nan, 0, 0] }", "body[2].shape.position[0]");
  field(body + "mass = 1\nshape = { mesh = [[0,0,0],[1,0,0],[0,1,0],[nan,1,1]] }", "body[2].shape.mesh[3][0]");
  const std::string pair = joint + "type = \"revolute\"\nbodies = [\"ground\", \"ball\"]\n";
  field(pair + "axis = [0, 0, 1]\npoint = [0, 0, nan]", "joint[0].point[2]");
  field(pair + "axis = [nan, 0, 1]", "joint[0].axis[0]");
  field(pair + "axis = [0, 0, 1]\ndamping = nan", "joint[0].damping");
  field("[[spring]]\nbodies = [\"floor\", \"ball\"]\nstiffness = nan", "spring[0].stiffness");
  field(heap + "count = 3\nradius = nan\ndensity = 1\n" + box, "particles[0].radius");
  field(heap + "count = 3\nradius = 0.1\ndensity = nan\n" + box, "particles[0].density");
  field(heap + "count = 3\nradius = 0.1\ndensity = 1\nvelocity = [0, nan, 0]\n" + box, "particles[0].velocity[1]");
  field(heap + "count = 3\nradius = 0.1\ndensity = 1\nbox = [[5, 5, 5], [6, nan, 6]]", "particles[0].box[1][1]");
  field(heap + "radius = 0.1\ndensity = 1\npositions = [[5, 5, nan]]", "particles[0].positions[0][2]");
  field("[container]\nbox = [[-2, nan, 0], [1, 1, 2]]", "container.box[0][1]");
  for (const char* key : {"friction", "restitution", "overlap", "tolerance"})
    field(std::string("[contact]\n") + key + " = nan", std::string("contact.") + key);
  refuses(body + "mass = \"1/0\"\nshape = { sphere = 0.1 }", {"m.toml:15: body[2].mass", "division by zero"});
  refuses(body + ball + "position = [3, 0, 1]\nforce = [\"log(-1)\", 0, 0]",
          {"m.toml:18: body[2].force[0]", "not a real number"});
}

TEST(BadScene, BodiesHaveMassAndAnInertiaThatExists) {
  const std::string place = "m.toml:15: body[2].mass";
  for (const char* mass : {"0", "-1"})
    refuses(body + "mass = " + mass + "\nshape = { sphere = 0.1 }",
            {place, std::string("the mass is ") + mass, "give a positive mass", "fixed = true"});
  refuses(body + "density = 0\nshape = { sphere = 0.1 }", {"body[2]", "the mass is 0", "density"});
  refuses(heap + "count = 3\nradius = 0.1\nmass = 0\n" + box, {"particles[0].mass", "mass 0", "give a density"});
  refuses(heap + "count = 3\nradius = 0.1\ndensity = -1\n" + box, {"particles[0]", "-1", "give a density"});
  const std::string inertia = "m.toml:16: body[2].inertia";
  refuses(body + "mass = 1\ninertia = [1, -1, 1]", {inertia, "-1, 1, 1", "must be positive"});
  refuses(body + "mass = 1\ninertia = [0, 1, 1]", {inertia, "0, 1, 1", "must be positive"});
  refuses(body + "mass = 1\ninertia = [1, 1, 5]", {inertia, "1, 1, 5", "sum of the other two, 2", "check the numbers"});
  refuses(body + "mass = 1\ninertia = [[1, 0, 0], [0, 1, 2], [0, 2, 1]]", {inertia, "-1, 1, 3", "must be positive"});
  refuses(body + "mass = 1\ninertia = [[1, 0, 0], [0, 1, 0.1], [0, 0, 1]]", {inertia, "not symmetric"});
}

TEST(BadScene, JointsFitTheirBodies) {
  const std::string pair = "bodies = [\"ground\", \"ball\"]\n";
  // the anchors do not meet
  refuses(joint + "type = \"spherical\"\n" + pair + "points = [[0, 0, 2], [0, 0, 1.5]]",
          {"joint 'pin'", "ground - ball: point, z", "position level by 0.5", "nearest consistent values",
           "consistent = \"project\""});
  refuses(joint + "type = \"rod\"\n" + pair + "points = [[0, 0, 2], [0, 0, 1.5]]\nlength = 0.7",
          {"joint 'pin'", "length", "position level", "nearest consistent values"});
  // the velocity is one that the joint does not allow
  refuses(joint + "type = \"spherical\"\n" + pair + "point = [0, 0, 1]",
          {"joint 'pin'", "ground - ball: point, x", "velocity level by 1", "nearest consistent values"});
  refuses(joint + "type = \"prismatic\"\naxis = [0, 0, 1]\n" + pair, {"joint 'pin'", "velocity level by 1"});
  refuses(joint + "type = \"rod\"\n" + pair + "points = [[0, 0, 2], [0, 0, 1.5]]\nlength = -0.5",
          {"joint[0].length", "-0.5", "give two different points"});
  refuses(joint + "type = \"revolute\"\naxis = [0, 0, 0]\n" + pair, {"joint[0].axis", "no direction"});
  // bodies that are none
  refuses(joint + "type = \"spherical\"\nbodies = [\"ground\", \"bal\"]",
          {"m.toml:16: joint[0].bodies", "no body 'bal'", "did you mean 'ball'?"});
  refuses(joint + "type = \"spherical\"\nbodies = [\"ball\"]", {"joint[0].bodies", "connects two bodies"});
  refuses(joint + "type = \"spherical\"\nbodies = [\"ground\", \"grains\"]\n" + heap +
              "name = \"grains\"\ncount = 2\nradius = 0.1\ndensity = 1\n" + box,
          {"joint[0].bodies", "'grains' are particles"});
  refuses("[[spring]]\nbodies = [\"ball\", \"bal\"]\nstiffness = 1", {"spring[0].bodies", "did you mean 'ball'?"});
}

TEST(BadScene, ParticlesFitTheirBox) {
  const std::string many = heap + "count = 100\nradius = 0.2\ndensity = 1\n" + box;
  refuses(many, {"m.toml:17: particles[0].box", "of the 100 particles fit", "take fewer", "grid"});
  refuses(many + "arrangement = \"grid\"", {"particles[0].box", "8 of the 100 particles fit", "2 x 2 x 2"});
  refuses(heap + "count = 1\nradius = 0.6\ndensity = 1\n" + box,
          {"particles[0].box", "1 wide", "largest particle, 1.2"});
  for (const char* count : {"0", "-3"})
    refuses(heap + "count = " + count + "\nradius = 0.1\ndensity = 1\n" + box, {"m.toml:14: particles[0].count"});
  refuses(heap + "count = 2.5\nradius = 0.1\ndensity = 1\n" + box, {"particles[0].count", "whole number"});
  refuses(heap + "count = 3\nradius = { law = \"normal\", mean = 0.1, deviation = 0.1 }\ndensity = 1\n" + box,
          {"particles[0].radius.deviation", "keeps radii positive"});
}

TEST(BadScene, UnknownKeysAreNamedWithTheNearest) {
  refuses(body + ball + "positon = [3, 0, 1]", {"m.toml:17: body[2].positon", "did you mean 'position'?"});
  refuses(joint + "typ = \"rod\"\nbodies = [\"ground\", \"ball\"]",
          {"m.toml:15: joint[0].typ", "did you mean 'type'?"});
  refuses(heap + "count = 3\nradus = 0.1\ndensity = 1\n" + box, {"m.toml:15: particles[0].radus", "'radius'?"});
  refuses("[[spring]]\nbodies = [\"floor\", \"ball\"]\nstifness = 1",
          {"m.toml:15: spring[0].stifness", "'stiffness'?"});
  refuses("[contact]\nfrction = 1", {"m.toml:14: contact.frction", "did you mean 'friction'?"});
  refuses("[contaner]\nbox = [[0, 0, 0], [1, 1, 1]]", {"m.toml:13: contaner", "did you mean 'container'?"});
  refuses(body + "mass = 1\nshape = { sphre = 0.1 }", {"body[2].shape.sphre", "sphere"});
  refuses("[contact]\nsolver = \"newtn-ac\"", {"contact.solver", "no contact solver 'newtn-ac'", "newton-ac"});
  refuses("[contact]\ncone = \"cube\"", {"contact.cone", "coulomb", "convexified"});
}

}  // namespace
}  // namespace hinge::test::bad_scene_test
