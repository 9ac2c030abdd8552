// What is said of contacts is said of the whole run, whatever its units are and however often the method began anew;
// and what their problems may cost.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/model.hpp"
#include "hinge/simulate.hpp"
#include "random_draw.hpp"

namespace hinge::contact_verdict_test {
namespace {

// Joined from pieces the path is the path: its rise is the largest of W_k - W_j, j <= k.
TEST(WorkDone, OfPiecesIsThatOfTheWhole) {
  Draw draw(1);
  for (int trial = 0; trial < 200; ++trial) {
    const int steps = draw.integer(1, 40);
    WorkDone whole, joined, piece;
    std::vector<double> sums{0};
    for (int k = 0; k < steps; ++k) {
      const double work = draw.integer(-8, 8);  // sums are exact
      whole.add(work);
      piece.add(work);
      sums.push_back(sums.back() + work);
      if (draw.chance(0.2)) joined += std::exchange(piece, {});
    }
    joined += piece;
    double rise = 0;
    for (std::size_t j = 0; j < sums.size(); ++j)
      for (std::size_t k = j; k < sums.size(); ++k) rise = std::max(rise, sums[k] - sums[j]);
    for (const WorkDone& w : {whole, joined}) {
      EXPECT_EQ(w.sum, sums.back());
      EXPECT_EQ(w.rise, rise);
      EXPECT_EQ(w.least, *std::min_element(sums.begin(), sums.end()));
      EXPECT_EQ(w.most, *std::max_element(sums.begin(), sums.end()));
    }
  }
}

Report report_of(const Model& model, long steps_between_starts) {
  Simulation run = model.simulation_for("");
  run.keep_checkpoints({"", 0, steps_between_starts});
  run.start(model.start);
  run.until(model.end);
  return run.report();
}

// Heaps that fall and come to rest, solved loosely. What they give and take at rest is nothing beside their fall, also
// where the method has begun anew since.
TEST(ContactVerdict, EnergyComparesWithThatOfTheWholeRun) {
  Draw draw(2);
  for (int trial = 0; trial < 5; ++trial) {
    const double width = draw.number(0.22, 0.3);
    const Model model = parse_model(fmt::format(R"(
[multibody]
gravity = [0, 0, -9.81]
[container]
box = [[0, 0, 0], [{0}, {0}, 2]]
open = "top"
[[particles]]
name = "grains"
count = 60
radius = [0.03, 0.04]
density = {1}
box = [[0, 0, 0], [{0}, {0}, 1.1]]
seed = {2}
[contact]
friction = {3}
solver = "block-gauss-seidel"
tolerance = 1e-2
[integrate]
method = "moreau-jean"
gap = "linearised"
step = 0.004
end = 1.2
)",
                                                width, draw.power(-3, 4), draw.integer(1, 1000), draw.number(0.2, 0.5)),
                                    "heap.toml");
    for (const int steps : {20, 1000000}) {
      const Report report = report_of(model, steps);
      for (const Doubt& doubt : report.doubts) EXPECT_EQ(doubt.cause.find("energy"), std::string::npos) << doubt.cause;
      EXPECT_LT(report.contacts->work.rise, 1e-3 * report.contacts->kinetic);
      for (std::size_t k = 0; k < report.remarks.size(); ++k)  // of a kind one
        for (std::size_t j = 0; j < k; ++j)
          EXPECT_NE(report.remarks[k].substr(report.remarks[k].find(" of ")),
                    report.remarks[j].substr(report.remarks[j].find(" of ")));
    }
  }
}

// A tower of boxes that struck each other in other units of length, mass and time: the same motion and verdict.
TEST(ContactVerdict, DoesNotDependOnUnits) {
  Draw draw(3);
  for (int trial = 0; trial < 12; ++trial) {
    const int boxes = draw.integer(2, 5);
    const double heavy = draw.power(0, 6), gap = draw.number(0, 0.05), friction = draw.number(0.3, 0.8);
    std::vector<double> sizes;
    for (int k = 0; k < boxes; ++k) sizes.push_back(draw.number(0.5, 1.5));
    struct Outcome {
      std::vector<double> position;
      std::vector<std::string> doubts;
    };
    const auto outcome = [&](double length, double mass, double time) {
      std::string text = fmt::format("[multibody]\ngravity = [0, 0, {}]\n", -length / (time * time));
      text += "[[body]]\nname = \"floor\"\nshape = { plane = [0, 0, 1] }\nfixed = true\n";
      double height = 0;
      for (int k = 0; k < boxes; ++k) {
        const double size = sizes[static_cast<std::size_t>(k)];
        text += fmt::format(
            "[[body]]\nname = \"b{}\"\nmass = {}\nshape = {{ box = [{}, {}, {}] }}\nposition = [0, 0, {}]\n", k,
            mass * (k + 1 == boxes ? heavy : 1), length * size, length * size, length * size,
            length * (height + gap + size / 2));
        height += gap + size;
      }
      text +=
          fmt::format("[contact]\nfriction = {}\n[integrate]\nstep = {}\nend = {}\n", friction, 0.005 * time, 2 * time);
      const Model model = parse_model(text, "tower.toml");
      Simulation run = model.simulation_for("");
      run.start(model.start);
      run.until(model.end);
      Outcome out;
      for (int k = 0; k < boxes; ++k)
        for (int i = 0; i < 3; ++i) out.position.push_back(run.state().y[static_cast<std::size_t>(7 * k + i)] / length);
      for (const Doubt& doubt : run.report().doubts) out.doubts.push_back(doubt.cause.substr(0, doubt.cause.find('(')));
      return out;
    };
    const Outcome usual = outcome(1, 1, 1);
    EXPECT_TRUE(usual.doubts.empty()) << usual.doubts.front();
    const double length = draw.power(-7, 7), mass = draw.power(-20, 20), time = draw.power(-6, 6);
    const Outcome other = outcome(length, mass, time);
    EXPECT_EQ(usual.doubts, other.doubts) << length << ' ' << mass << ' ' << time;
    for (std::size_t k = 0; k < usual.position.size(); ++k)
      EXPECT_NEAR(usual.position[k], other.position[k], 1e-7) << length << ' ' << mass << ' ' << time;
  }
}

// Contact updates that solvers take in steps, in plain solutions of as many contacts by a hundred sweeps.
struct Work {
  double worst = 0, all = 0, steps = 0;
  int contacts = 0;
  void of(const std::string& text, int bodies) {
    const Model model = parse_model(text, "boxes.toml");
    Simulation run = model.simulation_for("");
    run.start(model.start);
    double before = 0;
    while (run.state().t < model.end * (1 - 1e-12)) {
      const int last = run.report().contacts.value_or(ContactStatistics{}).contacts;
      run.step();
      const ContactStatistics c = run.report().contacts.value_or(ContactStatistics{});
      const double plain = 100.0 * std::max({last, c.contacts, bodies, 8});
      contacts = std::max(contacts, c.contacts);
      worst = std::max(worst, (c.updates - before) / plain);
      all += (c.updates - before) / plain;
      ++steps;
      before = c.updates;
    }
  }
};

std::string box(Draw& draw, int k, double x, double y, double z) {
  return fmt::format(
      "[[body]]\nname = \"b{}\"\ndensity = {}\nshape = {{ box = [{}, {}, {}] }}\nposition = [{}, {}, {}]\n"
      "rotation = {{ axis = [{}, {}, 1], angle = {} }}\n",
      k, draw.power(2, 4), draw.number(0.1, 0.3), draw.number(0.1, 0.3), draw.number(0.1, 0.3), x, y, z,
      draw.number(-0.2, 0.2), draw.number(-0.2, 0.2), draw.number(0, 3));
}

// Towers that fall: few contacts, many impacts in a step.
TEST(ContactWork, OfAStepIsBounded) {
  Draw draw(4);
  Work work;
  for (int trial = 0; trial < 6; ++trial) {
    std::string text =
        "[multibody]\ngravity = [0, 0, -9.81]\n[[body]]\nname = \"floor\"\nshape = { plane = [0, 0, 1] }\nfixed = "
        "true\n";
    const int bodies = draw.integer(2, 12);
    for (int k = 0; k < bodies; ++k)
      text += box(draw, k, draw.number(-0.05, 0.05), draw.number(-0.05, 0.05), 0.25 + 0.36 * k);
    text += fmt::format("[contact]\nfriction = {}\nrestitution = {}\n[integrate]\nstep = 0.002\nend = 1\n",
                        draw.number(0.1, 0.9), draw.chance(0.5) ? 0.3 : 0.0);
    work.of(text, bodies);
  }
  std::cout << "at most " << work.worst << " plain solutions in a step, on average " << work.all / work.steps << '\n';
  EXPECT_LT(work.worst, 600);            // measured 480
  EXPECT_LT(work.all, 12 * work.steps);  // measured 9.1
}

// Heaps that fall, of more than 200 rows of contacts in the end.
TEST(ContactWork, OfAStepOfAHeapIsBounded) {
  Draw draw(5);
  Work work;
  for (int trial = 0; trial < 2; ++trial) {
    std::string text =
        "[multibody]\ngravity = [0, 0, -9.81]\n[container]\nbox = [[-0.54, -0.54, 0], [0.54, 0.54, 9]]\nopen = "
        "\"top\"\n";
    const int bodies = 32;
    for (int k = 0; k < bodies; ++k)
      text += box(draw, k, k % 2 == 0 ? -0.27 : 0.27, k / 2 % 2 == 0 ? -0.27 : 0.27, 0.25 + 0.38 * (k / 4));
    text += fmt::format("[contact]\nfriction = {}\n[integrate]\nstep = 0.004\nend = 0.8\n", draw.number(0.2, 0.8));
    work.of(text, bodies);
  }
  std::cout << work.contacts << " contacts: at most " << work.worst << " plain solutions in a step, on average "
            << work.all / work.steps << '\n';
  EXPECT_GT(work.contacts, 70);
  EXPECT_LT(work.worst, 400);            // measured 273
  EXPECT_LT(work.all, 20 * work.steps);  // measured 15
}

}  // namespace
}  // namespace hinge::contact_verdict_test
