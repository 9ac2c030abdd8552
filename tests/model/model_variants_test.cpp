// One model for all runs of a sweep: for every example, drawn values of its parameters, 0 and 1 and those of others
// among them, lead to the rows that the run has alone, bit by bit, or to the same complaint.
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expression/native.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"
#include "model/given_values.hpp"
#include "places.hpp"

namespace hinge::model_variants_test {
namespace {

using Overrides = std::vector<Override>;

template <class Make>
std::string rows_of(Make make) {
  std::string all;
  try {
    const Model model = make();
    Simulation run = model.simulation_for("");
    run.on_row([&](const Row& row) {
      for (const double x : row.values)
        all += fmt::format(" {:x}", std::isnan(x) ? 0 : std::bit_cast<std::uint64_t>(x));
      all += '\n';
    });
    run.start(model.start);
    run.until(model.end);
    run.finish();
    const Report report = run.report();
    all += fmt::format("{} {} {}", report.steps, report.counters.evaluations, verdict_text(report));
  } catch (const Error& e) {
    all += e.what();
  }
  return all;
}

std::string number(std::mt19937_64& draw, double usual, const std::vector<double>& others) {
  const auto below = [&](std::size_t n) { return draw() % n; };
  switch (below(6)) {
    case 0: return below(2) ? "0" : "1.0";
    case 1: return fmt::format("{}", others[below(others.size())]);
    default: return fmt::format("{}", usual * (0.7 + 0.6 * static_cast<double>(draw() >> 11) * 0x1p-53));
  }
}

TEST(ModelVariants, OfExamplesHaveTheRowsOfRunsThatAreAlone) {
  std::mt19937_64 draw(31);
  const bool shared = native_use() != NativeUse::off;  // only machine code is
  long found = 0, different = 0, models = 0;
  for (const auto& entry : std::filesystem::directory_iterator(HINGE_EXAMPLES)) {
    const std::string path = entry.path().string();
    if (entry.path().extension() != ".toml" || entry.file_size() > 6000) continue;
    const Model base = load_model(path);
    if (!(base.system->ny() <= 40) || !base.system->structure().is_symbolic) continue;
    std::vector<std::string> names;
    std::vector<double> values;
    for (const auto& [name, text] : given_values(base.text, "parameters", {}))
      if (char* end = nullptr; values.push_back(std::strtod(text.c_str(), &end)), !text.empty() && *end == 0)
        names.push_back(name);
      else
        values.pop_back();
    if (names.empty()) continue;
    const double length = 5 * std::max(base.simulation.step, 0.004);
    const Overrides always{{"integrate.end", fmt::format("{}", base.simulation.start + length)}};
    const std::size_t first = draw() % names.size(), second = draw() % names.size();
    const ModelVariants variants(base.text, path, always);
    std::string before;
    ++models;
    for (int k = 0; k < 5; ++k) {
      Overrides own{{"parameters." + names[first], number(draw, values[first], values)}};
      if (second != first) own.push_back({"parameters." + names[second], number(draw, values[second], values)});
      Overrides all = always;
      all.insert(all.end(), own.begin(), own.end());
      const std::string alone = rows_of([&] { return parse_model(base.text, path, all); });
      EXPECT_EQ(rows_of([&] { return variants.with(own); }), alone) << path << ": " << own[0].key << own[0].value;
      different += alone != before;
      before = alone;
    }
    found += variants.found();
  }
  EXPECT_GT(models, 20);
  EXPECT_GT(found, shared ? 25 : -1);  // measured 33
  EXPECT_GT(different, 2 * models);    // the numbers do matter
}

TEST(ModelVariants, EveryThreadHasTheRowsOfOneAlone) {
  const std::string path = HINGE_EXAMPLES "/double-spherical-pendulum.toml";
  const Overrides always{{"integrate.method", "explicit"}, {"integrate.tolerance", "1e-8"}, {"integrate.end", "0.5"}};
  const std::string text = load_model(path).text;
  std::vector<std::string> alone, shared(64);
  const auto own = [](std::size_t k) {
    return Overrides{{"parameters.m1", fmt::format("{}", 0.5 + 0.01 * static_cast<double>(k))}};
  };
  for (std::size_t k = 0; k < shared.size(); ++k) {
    Overrides all = always;
    all.push_back(own(k)[0]);
    alone.push_back(rows_of([&] { return parse_model(text, path, all); }));
  }
  const ModelVariants variants(text, path, always);
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < 4; ++t)
    threads.emplace_back([&, t] {
      for (std::size_t k = t; k < shared.size(); k += 4) shared[k] = rows_of([&] { return variants.with(own(k)); });
    });
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(alone, shared);
  EXPECT_GT(variants.found(), native_use() == NativeUse::off ? -1 : 40);
}

}  // namespace
}  // namespace hinge::model_variants_test
