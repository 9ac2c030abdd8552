// Random models with motions that are known otherwise: every method runs each of them, and all rows are compared.
//
// The test suite draws a thousand; HINGE_RANDOM_MODELS = 100000 in the environment draws that many, and
// HINGE_RANDOM_SEED other ones.
#pragma once

#include <cstdlib>
#include <map>
#include <random>

#include "treachery/trial.hpp"

namespace hinge::test {

class Draw {
 public:
  explicit Draw(std::uint64_t seed) : engine_(seed) {}
  double uniform(double low, double high) {  // the same on all machines
    return low + (high - low) * static_cast<double>(engine_() >> 11) * 0x1p-53;
  }
  double sign() { return engine_() & 1 ? 1 : -1; }
  int pick(int count) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(count)); }
  /// A power of ten that is no whole one.
  double unit(double exponent) { return std::pow(10.0, uniform(-exponent, exponent)); }

 private:
  std::mt19937_64 engine_;
};

struct RandomModel {
  std::string text;  ///< without method, step and tolerance
  std::vector<std::string> columns;
  Motion motion;
  double step = 0.01;
  Tolerance tolerance{1e-8, 1e-8};
  double first_order = 0.3, second_order = 0.03, higher_order = 0.003;  ///< errors allowed with that step
  double factor = 1e5;                                                  ///< with a tolerance: as a multiple of it
};

/// What came out of many models: each wrong one with its number, and how often methods were asked.
struct Findings {
  long runs = 0, refused = 0, failed = 0, doubtful = 0, coarse = 0, wrong = 0;
  std::map<std::string, int> by_method;
  std::string text;
};

inline long models_of_family(int families) {
  const char* all = std::getenv("HINGE_RANDOM_MODELS");
  return (all ? std::atol(all) : 1000) / families;
}
inline std::uint64_t random_seed() {
  const char* seed = std::getenv("HINGE_RANDOM_SEED");
  return seed ? static_cast<std::uint64_t>(std::atoll(seed)) : 1;
}

/// What nobody calls wrong: a doubt about less than this is a false alarm. A hundredth of a number where the length of
/// the steps was given; what the tolerance was asked for, a hundred times, where there is one.
inline double right_to(const Way& way, const RandomModel& random) {
  return way.chosen ? 100 * random.tolerance.relative : 0.01;
}

/// The numbers that models are drawn from.
inline std::vector<std::uint64_t> draws(long count) {
  std::vector<std::uint64_t> all;
  for (long k = 0; k < count; ++k) all.push_back(random_seed() * 1000003 + static_cast<std::uint64_t>(k));
  return all;
}

/// Runs models of a generator by all methods. Sound and wrong, failed or doubted: all are findings, unless
/// `forgiven` knows the reason. Motions that multiply errors by more than is allowed are drawn as well, one in
/// thousands: where a hundredth of the tolerance, or a tenth of the step, makes the error as much smaller as it should,
/// the run was coarse, and `Findings` counts it as that.
template <class Make>
Findings search(const std::vector<std::uint64_t>& numbers, Make make,
                const std::function<bool(const Way&, const Outcome&)>& forgiven) {
  Findings found;
  for (const std::uint64_t k : numbers) {
    Draw draw(k);
    const RandomModel random = make(draw);
    const Model model = parse_model(random.text, "model", {{"integrate.step", fmt::format("{:.17g}", random.step)}});
    for (const Way& way : ways()) {
      const Outcome o = attempt([&] { return with_method(model, way, random.step, random.tolerance); }, random.columns,
                                random.motion);
      using Kind = Outcome::Kind;
      ++found.runs;
      found.refused += o.kind == Kind::refused;
      found.failed += o.kind == Kind::failed;
      found.doubtful += o.kind == Kind::doubtful;
      if (o.kind == Kind::refused || forgiven(way, o)) continue;
      const double allowed = way.chosen       ? random.factor * random.tolerance.relative
                             : way.order == 1 ? random.first_order
                             : way.order == 2 ? random.second_order
                                              : random.higher_order;
      if (o.kind == Kind::sound && o.error <= allowed) continue;
      // Reactions that are off by a twentieth are no matter of positions, which are compared here.
      if (o.kind == Kind::doubtful && !way.chosen && o.error <= allowed &&
          o.words.find("the reactions that they show") != std::string::npos)
        continue;
      if (o.kind == Kind::doubtful && o.error > right_to(way, random)) continue;
      // what had gone elsewhere when it stopped was rightly stopped
      if (o.kind == Kind::failed && o.error > allowed) continue;
      if (o.kind == Kind::sound && o.error <= 100 * allowed) {
        const Tolerance finer{random.tolerance.relative / 100, random.tolerance.absolute / 100};
        const Outcome again =
            attempt([&] { return with_method(model, way, random.step / 10, finer); }, random.columns, random.motion);
        const double part = way.order <= 2 && !way.chosen ? 0.3 : 0.1;  // of order 2, some are of order 1 on DAEs
        if (again.kind == Kind::sound && again.error <= part * o.error) {
          ++found.coarse;
          continue;
        }
      }
      const std::string who = way.text + (way.chosen ? ", tolerance" : ", step");
      const char* const kinds[] = {"refused", "failed", "doubtful", "wrong", "without end"};
      ++found.wrong;
      if (++found.by_method[who] <= 2 && found.text.size() < 6000)
        found.text += fmt::format("model {}, {}: {}, error {:.1e} (allowed {:.0e}) {} {}\n{}\n", k, who,
                                  kinds[static_cast<int>(o.kind)], o.error, allowed, o.where, o.words, random.text);
    }
  }
  return found;
}

inline std::string summary(const Findings& found) {
  std::string text = fmt::format("{} runs, {} refused, {} failed, {} doubtful, {} coarse, {} findings\n", found.runs,
                                 found.refused, found.failed, found.doubtful, found.coarse, found.wrong);
  for (const auto& [method, count] : found.by_method) text += fmt::format("  {}: {}\n", method, count);
  return text + found.text;
}

}  // namespace hinge::test
