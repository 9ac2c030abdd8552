// Treachery: DAEs that multiply errors. The motion is made to be known, and neighbouring ones run away from it: what a
// step is off by grows by powers of ten, though every error test is passed.
#include "random_draw.hpp"
#include "treachery/treachery.hpp"

namespace hinge::test::growth_test {
namespace {

using std::cos, std::exp, std::sin;

struct Wave {  // c + a sin(w t)
  double c, a, w;
  explicit Wave(Draw& draw) : c(draw.number(-1, 1)), a(draw.number(0.3, 1)), w(draw.number(0.5, 3)) {}
  double at(double t) const { return c + a * sin(w * t); }
  double slope(double t) const { return a * w * cos(w * t); }
  std::string text() const { return fmt::format("({} + {}*sin({}*t))", c, a, w); }
  std::string rate() const { return fmt::format("({}*cos({}*t))", a * w, w); }
  std::string turn() const { return fmt::format("({}*sin({}*t))", -a * w * w, w); }
};

struct Case {
  std::string model;
  std::vector<std::string> columns;
  Motion motion;
};

// Motions s(t) whose neighbours go away as exp(a t), or come nearer where a < 0.
Case made(Draw& draw, int kind, double a, double end) {
  const Wave s(draw), r(draw);
  const std::string x = fmt::format("(x - {})", s.text()), y = fmt::format("(y - {})", r.text());
  std::string unknowns, equations, initial;
  std::vector<std::string> columns{"x", "y"};
  Motion motion = [=](double t) { return std::vector<double>{s.at(t), r.at(t)}; };
  switch (kind) {
    case 0: {  // of index 1: y^3 + 2 y follows x
      const double p = draw.number(0.2, 0.8);
      equations = fmt::format("\"x' = {}*{} + {}*sin(t*{}) + {}\", \"y^3 + 2*y = x\"", a, x, p, x, s.rate());
      unknowns = "\"x\", \"y\"", initial = fmt::format("x = {:.17g}", s.at(0));
      motion = [=](double t) { return std::vector<double>{s.at(t)}; };
      columns = {"x"};
      break;
    }
    case 1: {  // neighbours go round as they go away, by a few turns
      const double w = draw.number(2, 8);
      equations = fmt::format("\"x' = {}*{} - {}*{} + {}\", \"y' = {}*{} + {}*{} + {}\"", a, x, w, y, s.rate(), w, x, a,
                              y, r.rate());
      unknowns = "\"x\", \"y\"", initial = fmt::format("x = {:.17g}, y = {:.17g}", s.at(0), r.at(0));
      break;
    }
    case 2: {  // of index 2: z keeps x + y where it is to be
      const double b = draw.number(0.5, 2);
      equations = fmt::format("\"x' = {}*{} + {}*(z - t) + {}\", \"y' = {}*{} + z - t + {}\", \"x + y = {} + {}\"", a,
                              x, b, s.rate(), a, y, r.rate(), s.text(), r.text());
      unknowns = "\"x\", \"y\", \"z\"", initial = fmt::format("x = {:.17g}, y = {:.17g}", s.at(0), r.at(0));
      break;
    }
    default: {  // of index 3: a point on the curve y = x^2 that a force drives away from s, or that is held and damped
      const std::string drive =
          a > 0 ? fmt::format("{}*{}", 4 * a * a, x) : fmt::format("{0}*{1} + {0}*(u - {2})", a, x, s.rate());
      equations = fmt::format(
          "\"x' = u\", \"y' = v\", \"u' = {0}*(1 + 4*x^2) + {1} - 2*x*(l - sin(t))\", \"v' = 2*{2}^2 + 2*{3}*{1} + l - "
          "sin(t)\", \"y = x^2\"",
          drive, s.turn(), s.rate(), s.text());
      unknowns = "\"x\", \"y\", \"u\", \"v\", \"l\"";
      initial = fmt::format("x = {:.17g}, y = {:.17g}, u = {:.17g}, v = {:.17g}", s.at(0), s.at(0) * s.at(0),
                            s.slope(0), 2 * s.at(0) * s.slope(0));
      motion = [=](double t) { return std::vector<double>{s.at(t), s.at(t) * s.at(t)}; };
    }
  }
  return {fmt::format("[dae]\nunknowns = [{}]\nequations = [{}]\n[initial]\nconsistent = \"project\"\nunknowns = {{ {} "
                      "}}\n[integrate]\nend = {}\n[output]\ninterval = {}\n",
                      unknowns, equations, initial, end, end / 20),
          columns, motion};
}

Outcome run(const Case& c, const Way& way, double step, double tolerance) {
  const Model model = parse_model(c.model, "model", {{"integrate.step", fmt::format("{:.17g}", step)}});
  return attempt([&] { return with_method(model, way, step, {tolerance, tolerance}); }, c.columns, c.motion);
}

TEST(Growth, OfErrorsIsSaid) {
  Draw draw(71);
  int doubted = 0, sound = 0;
  for (int k = 0; k < 24; ++k) {
    const double a = draw.number(3, 12), end = draw.number(12, 24) / a, tolerance = draw.power(-9, -4);
    const Case c = made(draw, k % 4, a, end);
    for (const Way& way : ways()) {
      const double h = end / draw.integer(150, 600);
      const Outcome o = run(c, way, h, tolerance);
      if (o.kind == Outcome::Kind::refused) continue;
      doubted += o.kind == Outcome::Kind::doubtful;
      sound += o.kind == Outcome::Kind::sound;
      if (o.kind == Outcome::Kind::sound) {
        EXPECT_LT(o.error, 0.03)  // measured 0.016
            << k << ", " << way.text << ", step " << h << ", tolerance " << tolerance << ": " << o.where << "\n"
            << c.model;
      }
      if (o.kind == Outcome::Kind::doubtful) {
        EXPECT_GT(o.error, 2e-3)  // measured 0.0045
            << k << ", " << way.text << ", step " << h << ", tolerance " << tolerance << ": " << o.words << "\n"
            << c.model;
      }
    }
  }
  EXPECT_GT(doubted, 100);  // 153
  EXPECT_GT(sound, 10);     // 15
}

TEST(Growth, OfNeighboursThatComeNearerIsNoAlarm) {
  Draw draw(72);
  for (int k = 0; k < 24; ++k) {
    const double a = -draw.power(-1, 3), end = draw.number(2, 10), tolerance = draw.power(-9, -4);
    const Case c = made(draw, k % 4, a, end);
    for (const Way& way : ways()) {
      if (!way.chosen) continue;
      const Outcome o = run(c, way, 1, tolerance);
      if (o.kind == Outcome::Kind::refused) continue;
      EXPECT_EQ(o.kind, Outcome::Kind::sound)
          << k << ", " << way.text << ", tolerance " << tolerance << ": " << o.words << "\n"
          << c.model;
      EXPECT_LT(o.error, 5e3 * tolerance) << k << ", " << way.text << ": " << o.where << "\n" << c.model;
    }
  }
}

}  // namespace
}  // namespace hinge::test::growth_test
