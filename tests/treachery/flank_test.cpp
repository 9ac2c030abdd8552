// Treachery that is none: what sets off from rest on the flank of something smooth grows from far below any rounding of
// the motion to come, in steps that do not resolve it there, and need not.
#include "random_draw.hpp"
#include "treachery/treachery.hpp"

namespace hinge::test::flank_test {
namespace {

TEST(Flank, OfAPushIsNoInstability) {
  Draw draw(81);
  for (int k = 0; k < 12; ++k) {
    const double w = draw.number(0.5, 3), at = draw.number(0.8, 2), width = draw.number(0.02, 0.08),
                 height = draw.power(-1, 3);
    const std::string model = fmt::format(
        "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\npotential = \"{}*x^2/2\"\nforce = {{ x = "
        "\"{}*exp(-((t - {})/{})^2)\" }}\n[initial]\nposition = {{ x = 0 }}\n[integrate]\nend = 3\n",
        w * w, height, at, width);
    const auto outcome = [&](const Way& way, double step, const Motion& motion) {
      return attempt(
          [&] {
            return with_method(parse_model(model, "model", {{"integrate.step", "1"}}), way, step, {1e-9, 1e-12});
          },
          {"x", "x'"}, motion);
    };
    for (const Way& way : ways()) {
      if (way.chosen || way.text == "energy-momentum") continue;
      const Outcome o = outcome(way, width / 5, [&](double) { return std::vector<double>(2, 0.0); });
      EXPECT_EQ(o.words.find("beyond the stability"), std::string::npos)
          << k << ", " << way.text << ": " << o.words << "\n"
          << model;
    }
  }
}

// The control: steps that are beyond stability are said to be so, whatever else moves beside them.
TEST(Flank, StepsBeyondStabilityAreSaid) {
  Draw draw(82);
  for (int k = 0; k < 12; ++k) {
    const double h = 0.01, w = draw.number(205, 400), beside = draw.power(-3, 1);
    const std::string model = fmt::format(
        "[lagrangian]\ncoordinates = [\"x\", \"y\"]\nkinetic = \"x'^2/2 + y'^2/2\"\npotential = \"{}*x^2/2 + y^2/2\"\n"
        "[initial]\nposition = {{ x = 1e-9, y = {} }}\n[integrate]\nend = 0.3\n",
        w * w, beside);
    const Outcome o = attempt(
        [&] {
          return with_method(parse_model(model, "model", {{"integrate.step", "1"}}), {"rattle", 2, false}, h, {});
        },
        {}, [](double) { return std::vector<double>{}; });
    EXPECT_NE(o.words.find("beyond the stability"), std::string::npos) << k << ": " << o.words << "\n" << model;
  }
}

}  // namespace
}  // namespace hinge::test::flank_test
