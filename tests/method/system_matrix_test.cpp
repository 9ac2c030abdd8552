// The matrix of methods by kinds of systems in docs/methods.md: every cell is run. A cell is "yes" where the method
// comes to the motion that another one has; where it refuses, the cell is the number of a note, and the note says why.
// HINGE_WRITE_TABLES=1 writes the table anew.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/hinge.hpp"
#include "places.hpp"

namespace hinge::system_matrix_test {
namespace {

constexpr double the_end = 0.1;

// ---- Kinds of systems ---------------------------------------------------------------------------------------------

class OwnPendulum final : public System {
 public:
  OwnPendulum() : System(layout(), structure()) {}

 protected:
  void force(double, const double*, const double*, double* out) const override {
    out[0] = 0;
    out[1] = -9.81;
  }
  void constraint(double, const double* y, double* out) const override { *out = (y[0] * y[0] + y[1] * y[1] - 1) / 2; }
  double energy(double, const double* y, const double* z) const override {
    return (z[0] * z[0] + z[1] * z[1]) / 2 + 9.81 * y[1];
  }
  bool derivative(Quantity what, double, const double* y, const double*, const double*, double* out) const override {
    if (what != Quantity::constraint_y) return false;
    std::copy_n(y, 2, out);
    return true;
  }

 private:
  static Layout layout() {
    Layout l;
    l.y = {{"q", {2}, 0}};
    l.z = {{"v", {2}, 0}};
    l.psi = {{"psi", {1}, 0}};
    l.constraints = {"rod"};
    l.ny = l.nz = 2;
    l.npsi = 1;
    return l;
  }
  static Structure structure() {
    Structure s;
    s.has_energy = true;
    s.depends_on_time = false;
    s.velocity_is_z = s.mass_is_constant = s.is_separable = true;
    s.reaction_is_linear = s.reaction_is_affine = s.reaction_is_ideal = true;
    return s;
  }
};

struct Kind {
  std::string head;     // of the column
  std::string meaning;  // below the table
  std::string text;     // of the model; empty: OwnPendulum
};

const char* const top = R"(
[[body]]
name = "top"
mass = 1
inertia = [0.2, 0.3, 0.4]
position = [0.3, 0, 0.8]
velocity = [0, 1.5, 0]
angular_velocity = [0, 0, 5]
[[joint]]
type = "spherical"
bodies = ["ground", "top"]
point = [0, 0, 0]
)";

std::vector<Kind> kinds() {
  const std::string start = "[initial]\nposition = { q = [1, 0] }\nvelocity = { q = [0, 1] }\n";
  const std::string rod = "constraints = [\"(dot(q, q) - 1)/2\"]\n";
  const std::string body = "[[body]]\nname = \"ball\"\nmass = 2\nfriction = 0.3\n";
  return {
      {"constant mass", "`[lagrangian]` with a constant mass matrix and a potential",
       "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q', q')/2\"\npotential = \"9.81*q[1]\"\n" + rod +
           start},
      {"M(q)", "`[lagrangian]` with a mass matrix that depends on the position",
       "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"(1 + q[0]^2)*dot(q', q')/2\"\npotential = \"9.81*q[1]\"\n" +
           rod + start},
      {"moving", "`[lagrangian]` with a constraint that depends on time, and a force that no potential has",
       "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q', q')/2\"\npotential = \"9.81*q[1]\"\n"
       "force = { q = \"-0.3*q'\" }\nconstraints = [\"(dot(q, q) - (1 + 0.1*t^2)^2)/2\"]\n" +
           start},
      {"H(q, p)", "`[hamiltonian]`",
       "[hamiltonian]\ncoordinates = [\"q[2]\"]\nmomenta = [\"p[2]\"]\nhamiltonian = \"dot(p, p)/2 + 9.81*q[1]\"\n" +
           rod + "[initial]\nposition = { q = [1, 0] }\nmomentum = { p = [0, 1] }\n"},
      {"mechanical", "`[mechanical]`",
       "[mechanical]\ncoordinates = [\"q[2]\"]\nmass = \"[2, 1]\"\nforce = \"[0, -9.81]\"\n" + rod + start},
      {"velocity constraints", "`[lagrangian]` with `velocity_constraints`",
       "[lagrangian]\ncoordinates = [\"q[2]\", \"a\"]\nkinetic = \"dot(q', q')/2 + a'^2/2\"\n"
       "velocity_constraints = [\"q[0]'*sin(a) - q[1]'*cos(a)\"]\n[initial]\nposition = { q = [0, 0], a = 0 "
       "}\nvelocity = { q = [1, 0], a = 1 }\n"},
      {"r(z, psi)", "`[odae]` whose reaction depends on the velocity and is not linear in its multiplier",
       "[odae]\ny = [\"q[2]\"]\nz = [\"u[2]\"]\npsi = [\"l\"]\nv = \"u\"\nf = \"[0, -9.81]\"\n"
       "r = \"-q*(l + 0.01*l^3) - 0.01*l*u\"\n"
       "g = [\"(dot(q, q) - 1)/2\"]\n[initial]\ny = { q = [1, 0] }\nz = { u = [0, 1] }\n"},
      {"own C++", "a `System` of one's own in C++, v = z, separable", ""},
      {"contacts", "`[lagrangian]` with gaps that are expressions",
       "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q', q')/2\"\npotential = \"9.81*q[1]\"\n"
       "unilateral = [{ gap = \"q[1]\", name = \"floor\" }]\n[initial]\nposition = { q = [0, 0.02] }\nvelocity = { q = "
       "[1, 0] }\n"},
      {"bodies, plane", "`[multibody]` in the plane, without shapes that may touch",
       "[multibody]\ngravity = [0, -9.81]\n" + body +
           "inertia = 0.2\nposition = [0.3, 0]\n[[joint]]\ntype = \"revolute\"\nbodies = [\"ground\", \"ball\"]\npoint "
           "= [0, 0]\n"},
      {"bodies, space", "`[multibody]` in space, without shapes that may touch",
       std::string("[multibody]\ngravity = [0, 0, -9.81]\n") + top + "[initial]\nconsistent = \"project\"\n"},
      {"shapes, plane", "the same in the plane, with shapes that touch",
       "[multibody]\ngravity = [0, -9.81]\n[[body]]\nname = \"floor\"\nfixed = true\nshape = { plane = [0, 1] }\n" +
           body + "shape = { disk = 0.5 }\nposition = [0, 0.52]\n"},
      {"shapes, space", "the same in space",
       "[multibody]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"floor\"\nfixed = true\nshape = { plane = [0, 0, 1] "
       "}\n" +
           body + "shape = { sphere = 0.5 }\nposition = [0, 0, 0.52]\n"},
      {"`[dae]`", "F(t, x, x') = 0",
       "[dae]\nunknowns = [\"x\", \"y\"]\nequations = [\"x' = -y\", \"y = x + 0.1*x^3\"]\n[initial]\nunknowns = { x = "
       "1 }\n"},
      {"pairs", "`[dae]` with complementarity",
       "[dae]\nunknowns = [\"v\", \"i\"]\nequations = [\"v' = i - v\"]\ncomplementarity = [[\"v + i - sin(20*t)\", "
       "\"i\"]]\n"
       "[initial]\nunknowns = { v = 0 }\n"},
      {"noise", "linear `[dae]` with noise",
       "[dae]\nunknowns = [\"x\"]\nequations = [\"x' = -x\"]\nnoise = [[0.1]]\n[initial]\nunknowns = { x = 1 }\n"},
  };
}

// ---- A cell -------------------------------------------------------------------------------------------------------

struct Scene {
  std::shared_ptr<const System> system;
  Start start;
};

Scene scene_of(const Kind& kind) {
  if (kind.text.empty()) return {std::make_shared<const OwnPendulum>(), {.position = {1, 0}, .velocity = {0, 1}}};
  const Model m = parse_model(kind.text + "[integrate]\nstep = 0.001\nend = 1\n", kind.head);
  return {m.system, m.start};
}

MethodChoice method_called(const std::string& name) {
  return name == "spark" ? spark(gauss_lobatto_tableau(2)) : make_method(name, {});
}

// The state at the end, or why there is none.
std::string run(const MethodChoice& method, const Scene& scene, State& end) {
  try {
    SimulationOptions options;
    if (method.info.can.given_steps)
      options.step = 0.001;
    else
      options.tolerance = {1e-8, 1e-8};
    Simulation s(scene.system, method, options);
    s.start(scene.start);
    s.until(the_end);
    end = s.state();
    return "";
  } catch (const UnsuitableMethod& e) {
    std::string why = e.what();
    why = why.substr(0, why.find("; use "));
    return why.substr(0, why.find(", or use "));
  }
}

double distance(const State& a, const State& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.y.size(); ++i) sum += (a.y[i] - b.y[i]) * (a.y[i] - b.y[i]);
  return std::sqrt(sum);
}

std::string table() {
  const std::vector<Kind> all = kinds();
  std::string head = "| |", line = "| --- |", text, legend;
  std::vector<Scene> scenes;
  for (const Kind& kind : all) {
    head += " " + kind.head + " |";
    line += " --- |";
    scenes.push_back(scene_of(kind));
    legend += fmt::format("{}: {}", kind.head, kind.meaning) + (legend.empty() || &kind != &all.back() ? "; " : ".");
  }
  std::vector<State> known(all.size());
  std::vector<std::string> notes;
  for (const MethodInfo& info : methods()) {
    const MethodChoice method = method_called(info.name);
    text += fmt::format("| [`{0}`](#{0}) |", info.name);
    for (std::size_t k = 0; k < all.size(); ++k) {
      State end;
      std::string why = run(method, scenes[k], end);
      if (why.empty()) {
        text += " yes |";
        if (known[k].y.empty()) known[k] = end;
        EXPECT_LT(distance(end, known[k]), 0.01) << info.name << " on " << all[k].head;
        continue;
      }
      for (std::size_t at; (at = why.find(info.name)) != std::string::npos;) why.replace(at, info.name.size(), "it");
      if (const auto quote = why.find("it '"); quote == 0) why.erase(2, why.find("' ") - 1);  // the name of a tableau
      const auto at = std::find(notes.begin(), notes.end(), why);
      text += fmt::format(" {} |", at - notes.begin() + 1);
      if (at == notes.end()) notes.push_back(why);
    }
    text += "\n";
  }
  text = head + "\n" + line + "\n" + text + "\n" + legend + "\n\n";
  for (std::size_t k = 0; k < notes.size(); ++k) text += fmt::format("{}. {}\n", k + 1, notes[k]);
  return text;
}

TEST(SystemMatrix, IsWhatThePageSays) {
  const std::string path = HINGE_EXAMPLES "/../docs/methods.md";
  const std::string begin = "<!-- methods by systems -->\n", end = "<!-- end of methods by systems -->";
  std::stringstream page;
  page << std::ifstream(path).rdbuf();
  std::string text = page.str();
  const auto from = text.find(begin), to = text.find(end);
  ASSERT_NE(from, std::string::npos);
  ASSERT_NE(to, std::string::npos);
  text.replace(from + begin.size(), to - from - begin.size(), table());
  if (std::getenv("HINGE_WRITE_TABLES"))
    std::ofstream(path) << text;
  else
    EXPECT_TRUE(page.str() == text) << "docs/methods.md differs from what methods do; make docs-tables writes it anew";
}

}  // namespace
}  // namespace hinge::system_matrix_test
