// Claims about what lies between the steps of methods that choose them: on random manufactured problems, whose solution
// is known, every number of every row and every event is within a stated multiple of the tolerance; rows are in order
// of time; and what the report says of constraints is true of the rows.
//
// Algebraic unknowns and driven coordinates are up to 20 times faster than what is integrated: an error estimate that
// looks at the latter alone would let steps pass over them.
#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "hinge/model.hpp"

namespace hinge::rows_between_steps_test {
namespace {

// a sum of sines, as a function and as text, with its derivatives
struct Wave {
  struct Part {
    double size, frequency, phase;
  };
  std::vector<Part> parts;

  double at(double t, int derivative = 0) const {
    double sum = 0;
    for (const Part& p : parts)
      sum += p.size * std::pow(p.frequency, derivative) *
             std::sin(p.frequency * t + p.phase + derivative * std::numbers::pi / 2);
    return sum;
  }
  std::string text(int derivative = 0) const {
    std::string sum = "(0";
    for (const Part& p : parts)
      sum += fmt::format(" + {:.17g}*sin({:.17g}*t + {:.17g})", p.size * std::pow(p.frequency, derivative), p.frequency,
                         p.phase + derivative * std::numbers::pi / 2);
    return sum + ")";
  }
};

class Waves {
 public:
  explicit Waves(unsigned seed) : random_(seed) {}
  double between(double low, double high) { return std::uniform_real_distribution(low, high)(random_); }
  Wave wave(double fastest) {
    Wave w;
    for (int k = 0; k < 2; ++k)
      w.parts.push_back({between(0.2, 1), between(0.3, 1) * fastest, between(0, 2 * std::numbers::pi)});
    return w;
  }

 private:
  std::mt19937 random_;
};

struct Problem {
  std::string text;                                      // without [integrate] and [output]
  std::vector<std::function<double(double)>> y, z, psi;  // exact; a null function: not compared
  std::function<double(double)> root;                    // of its event
};

std::function<double(double)> value_of(const Wave& w, int derivative = 0) {
  return [w, derivative](double t) { return w.at(t, derivative); };
}

std::string event_on(const std::string& name, double level) {
  return fmt::format("[[event]]\nname = \"e\"\nroot = \"{} - {:.17g}\"\n", name, level);
}

Problem index_1(unsigned seed) {
  Waves r(seed);
  const Wave x = r.wave(20), w = r.wave(1.5);
  const double c = r.between(0.1, 0.5), rate = r.between(0.5, 2), level = r.between(-0.3, 0.3);
  Problem p;
  p.text = fmt::format(
      "[dae]\nunknowns = [\"x\", \"w\"]\nequations = [\n"
      "\"x + {0:.17g}*x^3 + w = {1} + {0:.17g}*{1}^3 + {2}\",\n\"w' = -{3:.17g}*(w - {2}) + {4}\"]\n"
      "[initial]\nunknowns = {{ w = {5:.17g} }}\nguess = {{ x = {6:.17g} }}\n",
      c, x.text(), w.text(), rate, w.text(1), w.at(0), x.at(0));
  p.text += event_on("x", level);
  p.y = {value_of(x), value_of(w)};
  p.z = {value_of(x, 1), value_of(w, 1)};
  p.root = [x, level](double t) { return x.at(t) - level; };
  return p;
}

Problem index_2(unsigned seed) {
  Waves r(seed);
  const Wave x = r.wave(8), y = r.wave(1.5), z = r.wave(5);
  const double c = r.between(0.05, 0.2), level = r.between(-0.3, 0.3);
  Problem p;
  p.text = fmt::format(
      "[dae]\nunknowns = [\"x\", \"y\", \"z\"]\nequations = [\n"
      "\"x' = z + {0} - {1}\",\n\"y' = -(y - {2}) + 0.3*(z - {1}) + {3}\",\n"
      "\"x + {4:.17g}*y^2 = {5} + {4:.17g}*{2}^2\"]\n"
      "[initial]\nunknowns = {{ x = {6:.17g}, y = {7:.17g} }}\nguess = {{ z = {8:.17g} }}\nconsistent = \"project\"\n",
      x.text(1), z.text(), y.text(), y.text(1), c, x.text(), x.at(0), y.at(0), z.at(0));
  p.text += event_on("z", level);
  p.y = {value_of(x), value_of(y), value_of(z)};
  p.z = {value_of(x, 1), value_of(y, 1), value_of(z, 1)};
  p.root = [z, level](double t) { return z.at(t) - level; };
  return p;
}

Problem index_3(unsigned seed) {
  Waves r(seed);
  const Wave x = r.wave(8), y = r.wave(1.5), l = r.wave(5);
  const double c = r.between(0.05, 0.2), level = r.between(-0.3, 0.3);
  Problem p;
  p.text = fmt::format(
      "[dae]\nunknowns = [\"x\", \"y\", \"u\", \"v\", \"l\"]\nequations = [\n\"x' = u\",\n\"y' = v\",\n"
      "\"u' = -l + {0} + {1}\",\n"
      "\"v' = -2*{2:.17g}*(y*l - {3}*{1}) - (y - {3}) - (v - {4}) + {5}\",\n"
      "\"x + {2:.17g}*y^2 = {6} + {2:.17g}*{3}^2\"]\n"
      "[initial]\nunknowns = {{ x = {7:.17g}, y = {8:.17g}, u = {9:.17g}, v = {10:.17g} }}\n"
      "guess = {{ l = {11:.17g} }}\nconsistent = \"project\"\n",
      x.text(2), l.text(), c, y.text(), y.text(1), y.text(2), x.text(), x.at(0), y.at(0), x.at(0, 1), y.at(0, 1),
      l.at(0));
  p.text += event_on("l", level);
  p.y = {value_of(x), value_of(y), value_of(x, 1), value_of(y, 1), value_of(l)};
  p.z = {value_of(x, 1), value_of(y, 1), value_of(x, 2), value_of(y, 2), value_of(l, 1)};
  p.root = [l, level](double t) { return l.at(t) - level; };
  return p;
}

// One coordinate driven through a constraint that depends on the other, or both.
Problem driven(unsigned seed, bool fully) {
  Waves r(seed);
  const Wave x = r.wave(8), y = r.wave(fully ? 8 : 1.5), l = r.wave(5), m = r.wave(3);
  const double c = fully ? 0 : r.between(0.05, 0.2), level = r.between(-0.3, 0.3);
  // f = -dV/dq;  x'' = f_x - l,  y'' = f_y - 2 c y l - m
  std::string forces =
      fmt::format("-x*({0} + {1}) - y*({2} + 2*{3:.17g}*{4}*{1}", x.text(2), l.text(), y.text(2), c, y.text());
  forces += fully ? fmt::format(" + {})", m.text()) : fmt::format(") + (y - {})^2", y.text());
  Problem p;
  p.text = fmt::format(
      "[lagrangian]\ncoordinates = [\"x\", \"y\"]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"{0}\"\n"
      "constraints = [\"x + {1:.17g}*y^2 - {2} - {1:.17g}*{3}^2\"{4}]\n"
      "[initial]\nposition = {{ x = {5:.17g}, y = {6:.17g} }}\nvelocity = {{ x = {7:.17g}, y = {8:.17g} }}\n"
      "consistent = \"project\"\n",
      forces, c, x.text(), y.text(), fully ? fmt::format(", \"y - {}\"", y.text()) : "", x.at(0), y.at(0), x.at(0, 1),
      y.at(0, 1));
  p.text += event_on("x", level);
  p.y = {value_of(x), value_of(y)};
  p.z = {value_of(x, 1), value_of(y, 1)};
  p.psi = {value_of(l)};
  if (fully) p.psi.push_back(value_of(m));
  p.root = [x, level](double t) { return x.at(t) - level; };
  return p;
}

int sign_changes(const std::function<double(double)>& f, double end) {
  int count = 0;
  constexpr int samples = 20000;
  for (int k = 0; k < samples; ++k) count += (f(end * k / samples) < 0) != (f(end * (k + 1) / samples) < 0) ? 1 : 0;
  return count;
}

struct Outcome {
  double y = 0, z = 0, psi = 0;  // largest errors of rows, in units of the tolerance
  double event = 0;              // of the root function at the events
  bool in_order = true;
  int events = 0, expected = 0, rows = 0;
  double violation = 0, reported = 0;  // of constraints, in rows; as the report has it
};

double error_of(const std::vector<double>& x, const std::vector<std::function<double(double)>>& exact, double t) {
  double worst = 0;
  for (std::size_t i = 0; i < exact.size(); ++i)
    worst = std::max(worst, std::abs(x[i] - exact[i](t)) / (1 + std::abs(exact[i](t))));
  return worst;
}

Outcome run(const Problem& p, const std::string& method, double tolerance, double end = 3) {
  const Model model = parse_model(p.text + fmt::format("[integrate]\nmethod = \"{}\"\nend = {}\ntolerance = {:g}\n"
                                                       "[output]\ninterval = 0.0371\n",
                                                       method, end, tolerance),
                                  "manufactured");
  Simulation s = model.simulation_for("");
  Outcome o;
  double last = 0;
  const auto constraints = s.system().evaluation({Quantity::constraint});
  s.on_row([&](const Row& row) {
    const State& x = *row.state;
    o.in_order = o.in_order && x.t >= last;
    last = x.t;
    ++o.rows;
    o.y = std::max(o.y, error_of(x.y, p.y, x.t) / tolerance);
    o.z = std::max(o.z, error_of(x.z, p.z, x.t) / tolerance);
    o.psi = std::max(o.psi, error_of(x.psi, p.psi, x.t) / tolerance);
    constraints->at(x.t, x.y.data(), x.z.data(), x.psi.data());
    for (int i = 0; i < s.system().ng(); ++i)
      o.violation = std::max(o.violation, std::abs((*constraints)[Quantity::constraint][i]));
  });
  s.start(model.start);
  s.until(end);
  const Report report = s.report();
  for (const Occurrence& e : report.events) o.event = std::max(o.event, std::abs(p.root(e.state.t)) / tolerance);
  o.events = static_cast<int>(report.events.size());
  o.expected = sign_changes(p.root, end);
  o.reported = report.constraint;
  return o;
}

struct Limits {
  double y, z, psi, event;
};

void compare(const std::function<Problem(unsigned)>& make, const std::string& method, const Limits& limits) {
  Outcome worst;
  for (unsigned seed = 1; seed <= 6; ++seed)
    for (const double tolerance : {1e-5, 1e-7, 1e-9}) {
      const Outcome o = run(make(seed), method, tolerance);
      const std::string about = fmt::format("{} seed {} tolerance {:g}", method, seed, tolerance);
      EXPECT_TRUE(o.in_order) << about;
      EXPECT_GE(o.rows, 81) << about;
      EXPECT_EQ(o.events, o.expected) << about;
      EXPECT_LT(o.y, limits.y) << about;
      EXPECT_LT(o.z, limits.z) << about;
      EXPECT_LT(o.psi, limits.psi) << about;
      EXPECT_LT(o.event, limits.event) << about;
      EXPECT_LE(o.violation, o.reported) << about;
      worst.y = std::max(worst.y, o.y);
      worst.z = std::max(worst.z, o.z);
      worst.psi = std::max(worst.psi, o.psi);
      worst.event = std::max(worst.event, o.event);
    }
  if (std::getenv("HINGE_SHOW_ERRORS"))
    fmt::print("{}: y {:.3g}, z {:.3g}, psi {:.3g}, event {:.3g}\n", method, worst.y, worst.z, worst.psi, worst.event);
}

// Between steps there is no more error than at their ends, where it has gathered over the whole run.

TEST(RowsBetweenSteps, OfIndex1MeetTheTolerance) {
  for (const char* method : {"auto", "radau"}) compare(index_1, method, {0.1, 0.1, 0.1, 0.1});  // measured 1.5e-4
  compare(index_1, "bdf", {3, 3, 3, 3});                                                        // 0.35
}

TEST(RowsBetweenSteps, OfIndex2MeetTheTolerance) {
  for (const char* method : {"auto", "radau"}) compare(index_2, method, {10, 10, 10, 10});  // measured 2.4, 3.2, -, 0.8
  compare(index_2, "bdf", {50, 50, 50, 20});                                                // 16, 22, -, 5.6
}

TEST(RowsBetweenSteps, OfIndex3MeetTheTolerance) {
  for (const char* method : {"auto", "radau"})
    compare(index_3, method, {200, 200, 200, 200});  // measured 65, 100, -, 58
  compare(index_3, "bdf", {3, 3, 3, 3});             // 0.24
}

TEST(RowsBetweenSteps, OfDrivenMechanismsMeetTheTolerance) {
  const auto partly = [](unsigned seed) { return driven(seed, false); };
  const auto fully = [](unsigned seed) { return driven(seed, true); };
  for (const char* method : {"auto", "explicit", "event-driven"})
    compare(partly, method, {5, 5, 10, 5});            // measured 1.0, 0.5, 2.6, 0.3
  compare(partly, "radau", {50, 50, 150, 10});         // 12, 18, 55, 3
  compare(partly, "half-explicit", {50, 50, 50, 20});  // 12, 19, 16, 4
  compare(partly, "bdf", {50, 150, 50, 20});           // 18, 49, 14, 4
  for (const char* method : {"auto", "explicit", "event-driven", "radau", "bdf"})
    compare(fully, method, {1e-2, 1e-2, 1e-2, 1e-2});     // rounding
  compare(fully, "half-explicit", {50, 1e-2, 1e-2, 50});  // 13: positions drift
}

// docs/model-file.md, "How accurate is an algebraic unknown?"
TEST(RowsBetweenSteps, OfTheDocumentedCircuitAreAsDocumented) {
  Problem p;
  p.text =
      "[dae]\nunknowns = [\"u\", \"i\", \"j\"]\nequations = [\"u = sin(t)\", \"i' = u - i\", \"j = i + u'\"]\n"
      "[initial]\nunknowns = { i = 0 }\n";
  const auto i = [](double t) { return (std::sin(t) - std::cos(t) + std::exp(-t)) / 2; };
  p.y = {[](double t) { return std::sin(t); }, i, [i](double t) { return i(t) + std::cos(t); }};
  p.z = {[](double t) { return std::cos(t); }, [i](double t) { return std::sin(t) - i(t); },
         [i](double t) { return std::sin(t) - i(t) - std::sin(t); }};
  p.root = [](double) { return 1.0; };
  for (const double tolerance : {1e-6, 1e-8}) {
    const Outcome radau = run(p, "radau", tolerance, 10), bdf = run(p, "bdf", tolerance, 10);
    EXPECT_LT(radau.y, 1);  // 0.15 at most
    EXPECT_LT(radau.z, 1);
    EXPECT_LT(bdf.y, 5);  // 2.3
    EXPECT_LT(bdf.z, 5);
  }
}

// Events between rows, of every kind of function, with steps of any length: rows come in order of time.
TEST(RowsBetweenSteps, AreInOrderOfTimeAmongEvents) {
  Waves r(7);
  for (int k = 0; k < 60; ++k) {
    const std::string text = fmt::format(
        "[lagrangian]\ncoordinates = [\"x\", \"y\"]\nkinetic = \"(x'^2 + y'^2)/2\"\npotential = \"{:g}*(x^2 + y^2)\"\n"
        "constraints = [\"y - {:g}*x\"]\n[initial]\nposition = {{ x = 1, y = 1 }}\nvelocity = {{ x = {:g}, y = 0 }}\n"
        "consistent = \"project\"\n[integrate]\nmethod = \"{}\"\nend = 4\ntolerance = {:g}\n[output]\ninterval = {:g}\n"
        "[[event]]\nname = \"A\"\nroot = \"x - {:g}\"\n[[event]]\nname = \"B\"\nroot = \"y' - {:g}\"\n"
        "[[event]]\nname = \"C\"\nroot = \"sin({:g}*t) - 0.5\"\n",
        r.between(0.5, 3), r.between(0.5, 2), r.between(-1, 1),
        std::vector{"explicit", "radau", "bdf", "half-explicit"}[static_cast<std::size_t>(k % 4)],
        std::pow(10, r.between(-9, -4)), r.between(0.05, 0.6), r.between(-0.5, 0.5), r.between(-0.5, 0.5),
        r.between(1, 6));
    const Model model = parse_model(text, "events");
    Simulation s = model.simulation_for("");
    s.keep_rows();
    s.start(model.start);
    s.until(4);
    const std::vector<double> t = s.trajectory().times();
    EXPECT_TRUE(std::is_sorted(t.begin(), t.end())) << text;
    EXPECT_GT(s.report().events.size(), 0u);
  }
}

// 0.47/200 times 100 is an ulp short of 0.235: the row is not a step late.
TEST(RowsBetweenSteps, OfStepsOfGivenLengthAreNotLateByAnUlp) {
  for (int n = 3; n < 2000; n += 7) {
    const double end = 0.47 + 0.001 * n, step = end / n;
    std::vector<double> times;
    for (int k = 1; k < n; k += 1 + n / 10) times.push_back(end * k / n);
    Lagrangian free;
    const Expression x = free.coordinate("x");
    free.kinetic(0.5 * free.velocity(x) * free.velocity(x));
    Simulation run(free, rattle(), {.step = step, .times = times});
    run.keep_rows();
    run.start({.position = {0}, .velocity = {1}});
    run.until(end);
    const std::vector<double> t = run.trajectory().times();
    ASSERT_EQ(t.size(), times.size() + 2) << n;
    for (std::size_t k = 0; k < times.size(); ++k) ASSERT_NEAR(t[k + 1], times[k], 1e-12) << n;
  }
}

}  // namespace
}  // namespace hinge::rows_between_steps_test
