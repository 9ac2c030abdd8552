// What is asked of a run and cannot be, or means something else than it seems to, is refused or said: times to record
// at that lie after the end, a step beside a tolerance.
#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/model.hpp"

namespace hinge::asked_of_a_run_test {
namespace {

const std::string free_point = R"toml([mechanical]
coordinates = ["x"]
mass = [1]
force = [0]
[initial]
position = { x = 0 }
velocity = { x = 1 }
)toml";

std::string listed(const std::vector<double>& times) {
  std::string text;
  for (const double t : times) text += (text.empty() ? "" : ", ") + fmt::format("{:.17g}", t);
  return "[" + text + "]";
}

struct Answer {
  std::string refusal;
  std::vector<std::string> warnings;
  std::vector<double> rows;
};

Answer run(const std::string& text, const std::vector<Override>& overrides) {
  try {
    const Model model = parse_model(free_point + text, "m.toml", overrides);
    Simulation simulation = model.simulation_for("");
    simulation.keep_rows();
    simulation.start(model.start);
    simulation.until(model.end);
    return {"", simulation.report().warnings, simulation.trajectory().times()};
  } catch (const InputError& e) {
    return {e.what(), {}, {}};
  }
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

// Random times of which some lie after a random end: with both in the file, with both set, and with the times alone
// set, that is a mistake. Where only the end was moved, the times until there are recorded, and the others are said.
TEST(AskedOfARun, TimesAfterTheEndAreRefusedOrSaid) {
  std::mt19937 random(27);
  const auto between = [&](double a, double b) { return std::uniform_real_distribution(a, b)(random); };
  for (int n = 0; n < 60; ++n) {
    const double end = between(0.5, 3);
    const int after = static_cast<int>(between(0, 3)), before = static_cast<int>(between(after ? 0 : 1, 4));
    std::vector<double> times;
    for (int k = 0; k < before; ++k) times.push_back(between(0.01, 0.99) * end);
    std::vector<double> wanted = times;
    for (int k = 0; k < after; ++k) times.push_back(between(1.001, 3) * end);
    std::shuffle(times.begin(), times.end(), random);
    const std::string stop = fmt::format("{:.17g}", end), at = listed(times);
    const std::string steps = "[integrate]\ntolerance = 1e-6\n";
    const std::string file = "[output]\ntimes = " + at + "\n";
    const Override set_end{"integrate.end", stop, "--end"}, set_times{"output.times", at, ""};
    const std::string refusals[] = {run(steps + "end = " + stop + "\n" + file, {}).refusal,
                                    run(steps, {set_end, set_times}).refusal,
                                    run(steps + "end = " + stop + "\n", {set_times}).refusal};
    for (const std::string& refusal : refusals)
      EXPECT_EQ(says(refusal, "lies after the end, "), after > 0) << at << " until " << stop << ": " << refusal;
    const Answer moved = run(steps + "end = 100\n" + file, {set_end});
    EXPECT_EQ(moved.refusal, "");
    EXPECT_EQ(moved.warnings.empty(), after == 0);
    if (after > 0) {
      EXPECT_TRUE(says(moved.warnings.at(0), fmt::format("{} of {} times lie after the end", after, times.size())))
          << moved.warnings.at(0);
    }
    wanted.insert(wanted.end(), {0.0, end});
    std::sort(wanted.begin(), wanted.end());
    EXPECT_EQ(moved.rows, wanted);
  }
}

// Sums of a tenth end beside the end, by rounding; the row is at the end.
TEST(AskedOfARun, TimesThatMissTheEndByRoundingAreAtTheEnd) {
  std::mt19937 random(28);
  for (int n = 0; n < 50; ++n) {
    const int count = std::uniform_int_distribution(2, 1000)(random);
    const double each = std::uniform_real_distribution(0.01, 1.0)(random), end = count * each;
    std::vector<double> times = {0};
    for (int k = 0; k < count; ++k) times.push_back(times.back() + each);
    const Answer a = run(
        fmt::format("[integrate]\ntolerance = 1e-6\nend = {:.17g}\n[output]\ntimes = {}\n", end, listed(times)), {});
    EXPECT_EQ(a.refusal, "");
    ASSERT_EQ(a.rows.size(), times.size());
    EXPECT_EQ(a.rows.back(), end);
  }
}

TEST(AskedOfARun, AStepBesideAToleranceIsSaidToBeTheFirst) {
  const Override step{"integrate.step", "0.01", "--step"}, tolerance{"integrate.tolerance", "1e-6", "--tolerance"};
  const auto warned = [&](const std::string& integrate, const std::vector<Override>& overrides) {
    const Answer a = run("[integrate]\nend = 1\n" + integrate, overrides);
    EXPECT_EQ(a.refusal, "") << integrate;
    for (const std::string& w : a.warnings) EXPECT_TRUE(says(w, "the first step only")) << w;
    return !a.warnings.empty();
  };
  EXPECT_TRUE(warned("", {step, tolerance}));
  EXPECT_TRUE(warned("method = \"radau\"\n", {step, tolerance}));
  EXPECT_TRUE(warned("step = 0.01\ntolerance = 1e-6\n", {}));
  EXPECT_FALSE(warned("step = 0.01\ntolerance = 1e-6\nmethod = \"radau\"\n", {}));  // who names the method knows
  EXPECT_FALSE(warned("", {step}));
  EXPECT_FALSE(warned("", {tolerance}));
  EXPECT_FALSE(warned("tolerance = 1e-6\n", {step}));  // one takes the place of the other
  EXPECT_FALSE(warned("step = 0.01\n", {tolerance}));
  const Answer a = run("[integrate]\nend = 1\n", {step, tolerance});
  ASSERT_EQ(a.warnings.size(), 1U);
  EXPECT_TRUE(says(a.warnings[0], "(here auto, since none is named)")) << a.warnings[0];
}

}  // namespace
}  // namespace hinge::asked_of_a_run_test
