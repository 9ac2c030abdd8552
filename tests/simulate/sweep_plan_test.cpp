// Which runs a sweep has: values in their order, draws by their laws, and texts that are neither.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "hinge/sweep.hpp"

namespace hinge::sweep_plan_test {
namespace {

std::string settings_text(const SweepPlan& plan, std::size_t run) {
  std::string text;
  for (const Setting& s : plan.settings(run)) text += s.key + "=" + s.value + " ";
  return text;
}

std::string complaint(const std::string& vary, const std::string& sample = "") {
  SweepPlan plan;
  try {
    if (!vary.empty()) plan.vary(vary);
    if (!sample.empty()) plan.sample(sample);
  } catch (const InputError& e) {
    return e.what();
  }
  return "none";
}

TEST(SweepPlan, CombinesAllValuesTheLastKeyFastest) {
  SweepPlan plan;
  plan.vary("parameters.m=1:2:3");
  plan.vary("parameters.l=0.1, 7");
  ASSERT_EQ(plan.runs(), 6U);
  EXPECT_EQ(settings_text(plan, 0), "parameters.m=1 parameters.l=0.1 ");
  EXPECT_EQ(settings_text(plan, 1), "parameters.m=1 parameters.l=7 ");
  EXPECT_EQ(settings_text(plan, 2), "parameters.m=1.5 parameters.l=0.1 ");
  EXPECT_EQ(settings_text(plan, 5), "parameters.m=2 parameters.l=7 ");
  EXPECT_EQ(plan.numbers(5), (std::vector<double>{2, 7}));
}

TEST(SweepPlan, RangesIncludeBothEndsAsTheyAreWritten) {
  SweepPlan plan;
  plan.vary("a.b=0.1:0.7:7");
  plan.vary("a.c=1e-3:1e3:7:log");
  EXPECT_EQ(plan.varied[0].numbers.front(), 0.1);
  EXPECT_EQ(plan.varied[0].numbers.back(), 0.7);
  EXPECT_EQ(plan.varied[1].numbers.back(), 1e3);
  for (std::size_t k = 0; k < 7; ++k) {
    EXPECT_NEAR(plan.varied[0].numbers[k], 0.1 * static_cast<double>(k + 1), 1e-15);
    EXPECT_NEAR(std::log10(plan.varied[1].numbers[k]), static_cast<double>(k) - 3, 1e-14);
  }
}

TEST(SweepPlan, ListsMayHoldTextsAndBrackets) {
  SweepPlan plan;
  plan.vary("initial.position.q=[1,0],[0,1]");
  plan.vary("integrate.method=rattle,radau");
  ASSERT_EQ(plan.runs(), 4U);
  EXPECT_EQ(settings_text(plan, 3), "initial.position.q=[0,1] integrate.method=radau ");
  EXPECT_TRUE(plan.varied[1].texts);
  EXPECT_EQ(plan.numbers(2), (std::vector<double>{1, 0}));  // places in the lists
}

TEST(SweepPlan, DrawDependsOnSeedKeyAndItsNumberAlone) {
  SweepPlan alone, among;
  alone.sample("p.m=normal(1,0.1):1000");
  among.vary("p.l=1,2");
  among.sample("p.k=uniform(0,1):1000");
  among.sample("p.m=normal(1,0.1):1000");
  EXPECT_EQ(alone.numbers(17)[0], among.numbers(17)[2]);
  EXPECT_EQ(alone.numbers(17)[0], among.numbers(1017)[2]);  // every combination gets the same draws
  const double first = alone.numbers(17)[0];
  alone.seed = 2;
  EXPECT_NE(alone.numbers(17)[0], first);  // control
  EXPECT_NE(among.numbers(17)[1], among.numbers(18)[1]);
}

struct LawCase {
  const char* text;
  double mean, deviation;
};

TEST(SweepPlan, DrawsHaveTheMomentsOfTheirLaws) {
  const double e = std::exp(0.125);  // lognormal(0, 0.5): mean exp(1/8), deviation mean sqrt(exp(1/4) - 1)
  for (const LawCase& law : {LawCase{"normal(3,0.5)", 3, 0.5}, LawCase{"uniform(-1,2)", 0.5, 3 / std::sqrt(12.0)},
                             LawCase{"lognormal(0,0.5)", e, e * std::sqrt(std::exp(0.25) - 1)},
                             LawCase{"exponential(2)", 2, 2}, LawCase{"triangular(0,1,2)", 1, std::sqrt(1.0 / 6)}}) {
    SweepPlan plan;
    plan.sample(std::string("p.m=") + law.text + ":100000");
    double mean = 0, square = 0;
    for (std::size_t k = 0; k < plan.draws; ++k) {
      const double x = plan.numbers(k)[0];
      mean += x / static_cast<double>(plan.draws);
      square += x * x / static_cast<double>(plan.draws);
    }
    const double deviation = std::sqrt(square - mean * mean);
    EXPECT_LT(std::abs(mean - law.mean) / law.deviation, 0.012) << law.text;  // 1/sqrt(N) = 0.0032
    EXPECT_NEAR(deviation / law.deviation, 1, 0.02) << law.text;
  }
}

TEST(SweepPlan, DrawsOfTwoKeysAndOfNeighboursAreIndependent) {
  SweepPlan plan;
  plan.sample("p.a=normal(0,1):100000");
  plan.sample("p.b=normal(0,1):100000");
  double keys = 0, neighbours = 0;
  for (std::size_t k = 0; k + 1 < plan.draws; ++k) {
    keys += plan.numbers(k)[0] * plan.numbers(k)[1];
    neighbours += plan.numbers(k)[0] * plan.numbers(k + 1)[0];
  }
  EXPECT_LT(std::abs(keys) / 1e5, 0.012);  // 1/sqrt(N) = 0.0032
  EXPECT_LT(std::abs(neighbours) / 1e5, 0.012);
}

TEST(SweepPlan, SaysWhatIsWrongAndWhatToWrite) {
  const std::pair<const char*, const char*> varied[] = {
      {"m", "there is no '='"},
      {"=1,2", "there is no key"},
      {"p.m=", "nothing behind"},
      {"p.m=1:2", "a range says how many values"},
      {"p.m=1:2:0", "'0' is not a number of values"},
      {"p.m=1:2:1", "'1' is not a number of values"},
      {"p.m=1:2:3.5", "'3.5' is not a number of values"},
      {"p.m=1:2:-3", "'-3' is not a number of values"},
      {"p.m=1:2:99999999999999999999999", "is not a number of values"},
      {"p.m=a:2:3", "'a' is not a number"},
      {"p.m=1:nan:3", "'nan' is not a number"},
      {"p.m=1:1:3", "begins where it ends"},
      {"p.m=-1:1:3:log", "positive numbers"},
      {"p.m=1:2:3:lin", "':lin'"},
      {"p.m=-1e308:1e308:3", "longer than numbers can be"},
      {"p.m=1,,2", "a value of the list is empty"},
      {"p.m=1,2,1", "1 is given twice"}};
  for (const auto& [text, cause] : varied) {
    EXPECT_NE(complaint(text).find(cause), std::string::npos) << text << ": " << complaint(text);
    EXPECT_TRUE(complaint(text).starts_with(std::string("--vary ") + text + ": ")) << complaint(text);
    EXPECT_NE(complaint(text).find("write it as in --vary parameters.m1=0.5:2:100"), std::string::npos) << text;
  }
  const std::pair<const char*, const char*> sampled[] = {
      {"p.m", "there is no '='"},
      {"p.m=normal(1,2)", "the number of draws is missing"},
      {"p.m=normal(1,2):0", "'0' is not a number of draws"},
      {"p.m=normal:5", "is no law with its numbers"},
      {"p.m=gauss(1,2):5", "there is no law 'gauss'; there are normal(mean, deviation)"},
      {"p.m=normal(1):5", "normal takes 2 numbers"},
      {"p.m=normal(1,x):5", "'x' is not a number"},
      {"p.m=normal(1,0):5", "the deviation must be positive"},
      {"p.m=uniform(2,1):5", "the low end must be less"},
      {"p.m=exponential(-1):5", "the mean must be positive"},
      {"p.m=triangular(0,3,2):5", "must be in order"}};
  for (const auto& [text, cause] : sampled) {
    EXPECT_NE(complaint("", text).find(cause), std::string::npos) << text << ": " << complaint("", text);
    EXPECT_NE(complaint("", text).find("write it as in --sample "), std::string::npos) << text;
  }
  EXPECT_NE(complaint("p.m=1,2", "p.m=normal(1,2):3").find("'p.m' is given twice"), std::string::npos);
  EXPECT_NE(complaint("p.l=1,2", "p.m=normal(1,2):9999999").find("more than 10000000 runs"), std::string::npos);
  SweepPlan plan;
  plan.sample("p.a=normal(0,1):10");
  EXPECT_THROW(plan.sample("p.b=normal(0,1):11"), InputError);
}

}  // namespace
}  // namespace hinge::sweep_plan_test
