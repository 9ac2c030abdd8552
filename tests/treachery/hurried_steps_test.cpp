// Treachery: steps of given length in which a gap closes and opens again, a normal turns, or one impact follows the
// other. What comes out is right, or doubtful.
#include "random_draw.hpp"
#include "treachery/trial.hpp"

namespace hinge::test::hurried_steps_test {
namespace {

struct Ended {
  bool sound = false;
  std::string doubts;
  State state;
};
Ended run(const std::string& text) {
  const Model model = parse_model(text, "model");
  Simulation simulation = model.simulation_for("");
  simulation.start(model.start);
  simulation.until(model.end);
  const Report report = simulation.report();
  Ended end{report.doubts.empty(), "", simulation.state()};
  for (const Doubt& doubt : report.doubts) end.doubts += fmt::format("{}: {:.3g}; ", doubt.cause, doubt.value);
  return end;
}

// A point flies at a round pillar in the origin, or past it.
struct Pillar {
  double radius, beside, speed, restitution, from, end;
  std::string model(const std::string& method, double step) const {
    return fmt::format(
        "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q',q')/2\"\npotential = \"0\"\n"
        "unilateral = [{{ name = \"pillar\", gap = \"norm(q) - {}\", restitution = {} }}]\n[initial]\n"
        "position.q = [{}, {}]\nvelocity.q = [{}, 0]\n[integrate]\n{}\nstep = {}\nend = {}\n",
        radius, restitution, from, beside, speed, method, step, end);
  }
  std::array<double, 4> exact() const {
    if (std::abs(beside) >= radius) return {from + speed * end, beside, speed, 0};
    const double x = -std::sqrt(radius * radius - beside * beside), time = (x - from) / speed;
    if (time > end) return {from + speed * end, beside, speed, 0};
    const double nx = x / radius, ny = beside / radius, un = speed * nx;
    const double vx = speed - (1 + restitution) * un * nx, vy = -(1 + restitution) * un * ny;
    return {x + vx * (end - time), beside + vy * (end - time), vx, vy};
  }
};
Pillar drawn(Draw& draw) {
  Pillar p{draw.number(0.03, 0.3), 0, draw.number(2, 60), draw.one_of(std::vector<double>{0, 0.3, 0.6, 1}), 0, 0};
  p.beside = p.radius * draw.number(-1.3, 1.3);
  p.from = -draw.number(0.6, 1.2);
  p.end = draw.number(1.3, 2.5) / p.speed;
  return p;
}

TEST(HurriedSteps, PillarsAreStruckOrItIsSaid) {
  Draw draw(71);
  int right = 0, doubted = 0;
  for (int k = 0; k < 400; ++k) {
    const Pillar p = drawn(draw);
    const double step = p.radius / p.speed * draw.power(-1.7, 0.7);
    const std::string method = draw.one_of(std::vector<std::string>{
        "method = \"moreau-jean\"", "method = \"generalized-alpha\"", "method = \"paoli-schatzman\""});
    const Ended end = run(p.model(method, step));
    const auto exact = p.exact();
    const double off = std::hypot(end.state.z[0] - exact[2], end.state.z[1] - exact[3]) / p.speed;
    (end.sound ? right : doubted) += 1;
    if (!end.sound) continue;
    EXPECT_LT(off, 0.4)  // measured 0.35, of those that graze
        << p.model(method, step) << "offset/radius " << p.beside / p.radius << " step*v/radius "
        << step * p.speed / p.radius;
  }
  EXPECT_GT(right, 100);    // measured 211
  EXPECT_GT(doubted, 100);  // 189
}

// The control: shorter steps are right, and are not doubted.
TEST(HurriedSteps, PillarsWithShortStepsAreNotDoubted) {
  Draw draw(72);
  for (int k = 0; k < 60; ++k) {
    Pillar p = drawn(draw);
    if (std::abs(std::abs(p.beside) / p.radius - 1) < 0.1) p.beside = 0.5 * p.radius;  // no grazing
    const double step = 0.005 * p.radius / p.speed;
    const Ended end = run(p.model("method = \"moreau-jean\"", step));
    const auto exact = p.exact();
    EXPECT_TRUE(end.sound) << end.doubts << p.model("", step);
    EXPECT_LT(std::hypot(end.state.z[0] - exact[2], end.state.z[1] - exact[3]), 0.02 * p.speed) << p.model("", step);
  }
}

// A point between two walls, one apart: v e^n after n impacts.
TEST(HurriedSteps, ImpactsInQuickSuccession) {
  Draw draw(73);
  int right = 0, doubted = 0;
  for (int k = 0; k < 200; ++k) {
    const double e = draw.number(0.7, 0.98), speed = draw.number(1, 50), room = draw.number(0.01, 0.5),
                 start = draw.number(0.2, 0.8) * room, time = room / speed * draw.number(3, 12),
                 step = room / speed * draw.power(-2.5, 0.7);
    double exact = speed, now = (room - start) / speed;
    for (; now < time; now += room / exact) exact *= e;
    const std::string walls = fmt::format(
        "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\nunilateral = [{{ name = \"left\", gap = \"x\", "
        "restitution = {0} }}, {{ name = \"right\", gap = \"{1} - x\", restitution = {0} }}]\n[initial]\n"
        "position = {{ x = {2} }}\nvelocity = {{ x = {3} }}\n",
        e, room, start, speed);
    const std::string stops = fmt::format(
        "[multibody]\ndimension = 2\n[[body]]\nname = \"arm\"\nmass = 1\ninertia = 0.1\nangular_velocity = {3}\n"
        "[[joint]]\nname = \"hinge\"\ntype = \"revolute\"\nbodies = [\"ground\", \"arm\"]\npoint = [0, 0]\n"
        "limits = [{1}, {2}]\nrestitution = {0}\n",
        e, -start, room - start, speed);
    const bool arm = k % 2;
    const std::string text =
        (arm ? stops : walls) + fmt::format("[integrate]\nmethod = \"moreau-jean\"\nstep = {}\nend = {}\n", step, time);
    const Ended end = run(text);
    (end.sound ? right : doubted) += 1;
    if (!end.sound) continue;
    const double v = std::abs(end.state.z[arm ? 2 : 0]);
    EXPECT_GT(v, 0.6 * exact) << text << step * speed / room;
    EXPECT_LT(v, 1.6 * exact) << text << step * speed / room;
  }
  EXPECT_GT(right, 60);    // measured 86
  EXPECT_GT(doubted, 60);  // 114
}

// With the velocities of contacts alone a ball ends beyond a plate, or is stopped in front of it.
TEST(HurriedSteps, PlatesArePassedUnsaidByNoTreatmentOfGaps) {
  Draw draw(74);
  int doubted = 0;
  for (int k = 0; k < 150; ++k) {
    const double thick = draw.number(0.004, 0.05), radius = draw.number(0.01, 0.05), speed = draw.power(1, 3.2),
                 from = -draw.number(0.3, 1.2), aside = draw.number(-0.3, 0.3);
    const std::string gap = draw.one_of(std::vector<std::string>{"velocity", "velocity", "linearised", "both"});
    const std::string text = fmt::format(
        "[multibody]\n[[body]]\nname = \"plate\"\nfixed = true\nshape = {{ box = [{}, 1, 1] }}\n[[body]]\nname = "
        "\"ball\"\nmass = 1\nshape = {{ sphere = {} }}\nposition = [{}, {}, 0]\nvelocity = [{}, 0, 0]\n[integrate]\n"
        "method = \"moreau-jean\"\ngap = \"{}\"\nstep = {}\nend = {}\n",
        thick, radius, from, aside, speed, gap, draw.power(-4, -1.5), 3 / speed);
    const Ended end = run(text);
    if (!end.sound) ++doubted;
    if (end.sound) {
      EXPECT_LT(end.state.y[0], 0) << text;
    }
  }
  EXPECT_GT(doubted, 20);  // measured 31
}

}  // namespace
}  // namespace hinge::test::hurried_steps_test
