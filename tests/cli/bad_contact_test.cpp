// Claims about contacts that are refused: gaps that are no numbers, restitution where a method has none, keys that
// would do nothing; and about what the program recommends instead.
#include "cli/program.hpp"
#include "model/complaint.hpp"

namespace hinge::test::bad_contact_test {
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
position = [0, 0, 5]
[[body]]
name = "box"
mass = 1
shape = { box = [1, 1, 1] }
position = [3, 0, 5]
)toml";

std::string steps(const std::string& more, const std::string& method = "moreau-jean") {
  return "\n[integrate]\nmethod = \"" + method + "\"\nstep = 0.01\nend = 0.02\n" + more;
}

std::string point(const std::string& gap, const std::string& velocity) {
  return "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q',q')/2\"\nunilateral = [" + gap +
         "]\n[initial]\nposition = { q = [2, 1] }\nvelocity = { q = " + velocity +
         " }\n[integrate]\nmethod = \"moreau-jean\"\nstep = 0.3\nend = 3\n";
}

void says(const std::string& model, const Words& words, int status = 2, const std::string& command = "run") {
  SCOPED_TRACE(model);
  const Folder folder;
  const Answer answer = hinge(folder, {command, folder.write("m.toml", model)});
  EXPECT_EQ(answer.status, status) << answer.err;
  for (const std::string& word : words)
    EXPECT_TRUE(mentions(answer.err, word)) << "no \"" << word << "\" in\n" << answer.err;
}

TEST(BadContact, AGapThatIsNoNumberIsNamed) {
  for (const char* command : {"run", "check"})
    says(point("{ gap = \"sqrt(q[0] - 3)\" }", "[0, 0]"), {"sqrt(q[0]", "not a finite number at the initial"}, 2,
         command);
  // it leaves its domain at t = 1, far from any contact that a method would list
  says(point("{ gap = \"sqrt(q[0] - 1)\" }", "[-1, 0]"), {"from t = 0.9", "gap 0", "no longer a finite number"}, 1);
  says(point("{ gap = \"sqrt(q[0] - 1)\" }", "[1, 0]"), {}, 0);  // the control
}

TEST(BadContact, RestitutionIsRefusedWhereTheGapHasNone) {
  const std::string linearised = steps("gap = \"linearised\"");
  const Words remedy{"gap = \"linearised\"", "use gap = \"velocity\", or restitution = 0"};
  const auto refused = [&](const std::string& part, const std::string& place) {
    for (const char* command : {"run", "check"})
      says(scene + part + linearised, {place, remedy[0], remedy[1]}, 2, command);
  };
  refused("restitution = 0.5", "m.toml:17: body[2].restitution");
  refused("[contact]\nrestitution = 0.5", "m.toml:18: contact.restitution");
  refused("[container]\nbox = [[-9, -9, -9], [9, 9, 9]]\nrestitution = 0.5", "m.toml:19: container.restitution");
  refused("[[particles]]\ncount = 1\nradius = 0.1\ndensity = 1\nbox = [[6, 6, 6], [7, 7, 7]]\nrestitution = 0.5",
          "m.toml:22: particles[0].restitution");
  says(point("{ gap = \"q[1]\", restitution = 0.5 }", "[0, 0]") + "gap = \"nonlinear\"\n",
       {"m.toml:4: lagrangian.unilateral[0].restitution", "gap = \"nonlinear\""});
  says(scene + "restitution = 0.5" + steps(""), {}, 0);  // the controls
  says(scene + "restitution = 0" + linearised, {}, 0);
}

TEST(BadContact, MethodsThatFitAreRecommended) {
  for (const char* command : {"run", "check"})
    says(scene + steps("", "gauss-lobatto"),
         {"knows no contacts",
          "use moreau-jean, symplectic-euler, generalized-alpha or event-driven, or collide = false"},
         2, command);
  says(scene + steps("", "event-driven"), {"may touch otherwise; use moreau-jean"});
  const std::string plane =
      "[multibody]\ngravity = [0, -9.81]\n[[body]]\nname = \"a\"\nmass = 1\nshape = { disk = 1 }\n[[body]]\nname = "
      "\"b\"\nmass = 1\nshape = { disk = 1 }\nposition = [3, 0]\n";
  says(plane + steps("", "radau"),
       {"use moreau-jean, symplectic-euler, generalized-alpha, paoli-schatzman or event-driven"});
  for (const char* method : {"moreau-jean", "paoli-schatzman", "generalized-alpha", "event-driven", "symplectic-euler"})
    says(plane + steps("", method), {}, 0);
}

TEST(BadContact, KeysThatWouldDoNothingAreRefused) {
  const std::string rod = "[[joint]]\ntype = \"rod\"\nbodies = [\"ball\", \"box\"]\n",
                    ball = "[[joint]]\ntype = \"spherical\"\nbodies = [\"ball\", \"box\"]\npoint = [1.5, 0, 5]\n";
  says(scene + rod + steps(""), {}, 0);
  says(scene + rod + "point = [0, 0, 5]" + steps(""), {"joint[0].point", "points = [[..], [..]]"});
  says(scene + rod + "axis = [0, 1, 0]" + steps(""), {"joint[0].axis", "a rod joint has no axis"});
  says(scene + ball + "axis = [0, 1, 0]" + steps(""), {"joint[0].axis", "a spherical joint has no axis"});
  says(scene + ball + "axis2 = [0, 1, 0]" + steps(""), {"joint[0].axis2", "universal"});
  says(scene + ball + "length = 2" + steps(""), {"joint[0].length", "rod"});
}

TEST(BadContact, FractionsSumToOne) {
  const auto heap = [](const std::string& fractions) {
    return "[[particles]]\ncount = 5\ndensity = 1\nbox = [[6, 6, 6], [7, 7, 7]]\nradius = { law = \"sizes\", values = "
           "[0.02, 0.05], fractions = " +
           fractions + " }\n";
  };
  says(scene + heap("[0.5, 0.9]") + steps(""), {"fractions", "sum to 1.4"});
  says(scene + heap("[0.1, 0.9]") + steps(""), {}, 0);
}

TEST(BadContact, ParticlesStartInsideTheContainer) {
  const auto box = [](const std::string& high) {
    return "[container]\nbox = [[-9, -9, 0], [9, 9, 9]]\nopen = \"top\"\n[[particles]]\ncount = 3\nradius = "
           "0.1\ndensity "
           "= 1\nbox = [[6, 6, 6], " +
           high + "]\n";
  };
  says(scene + box("[12, 7, 7]") + steps(""),
       {"particles[0].box", "does not lie inside the container", "3 beyond its right wall"});
  says(scene + box("[7, 7, 12]") + steps(""), {}, 0);  // open there
}

// --set reaches into lists of tables by number.
TEST(BadContact, SettingsReachIntoLists) {
  const Folder folder;
  const std::string model = folder.write("m.toml", scene + steps(""));
  const auto with = [&](const std::string& setting) { return hinge(folder, {"run", model, "--set", setting}); };
  const Answer moved = with("body.1.position=[7, 0, 5]");
  EXPECT_EQ(moved.status, 0) << moved.err;
  EXPECT_NE(moved.out.find("ball                      7"), std::string::npos) << moved.out;
  EXPECT_EQ(with("body.1.position.0=7").out.substr(0, 300), moved.out.substr(0, 300));
  EXPECT_NE(with("body.1.mass=-1").err.find("--set body[1].mass: the mass is -1"), std::string::npos);
  EXPECT_NE(with("body.3.mass=1").err.find("'body' is a list with 3 entries; give the number of one, 0 to 2"),
            std::string::npos);
  EXPECT_NE(with("body.ball.mass=1").err.find("as in body.0"), std::string::npos);
}

// A given value that the pairs of a DAE replace is mentioned, and the header speaks of what is done.
TEST(BadContact, AReplacedInitialValueIsMentioned) {
  const Folder folder;
  const Answer answer = hinge(
      folder, {"run", folder.write("m.toml",
                                   "[dae]\nunknowns = [\"v\", \"i\"]\nequations = [\"v' = i - v\"]\ncomplementarity = "
                                   "[[\"v + i - sin(t)\", \"i\"]]\n[initial]\nunknowns = { v = 0, i = -3 }\n" +
                                       steps(""))});
  EXPECT_EQ(answer.status, 0) << answer.err;
  EXPECT_NE(answer.out.find("i = 0 (not -3, as given: the pairs decide)"), std::string::npos) << answer.out;
  EXPECT_NE(answer.out.find("Moreau-Jean on a DAE: implicit steps with theta = 1, order 1, step"), std::string::npos);
  EXPECT_EQ(answer.out.find("Newton impacts"), std::string::npos) << answer.out;
}

}  // namespace
}  // namespace hinge::test::bad_contact_test
