// Models made to fool us. Each has its exact motion, and every method that accepts it has to be right to what it
// promises, or to say that it is not.
#pragma once

#include <ostream>

#include "treachery/trial.hpp"

namespace hinge::test {

struct Treachery {
  const char* name;
  std::string model;  ///< without method, step and tolerance
  std::vector<std::string> columns;
  Motion motion;
  double step = 0.01;       ///< where its length is given
  double tolerance = 1e-8;  ///< where it is chosen
  double absolute = 0;      ///< 0: the same
  double coarse = 0.3;      ///< error allowed to methods of order 1, with that step
  double fine = 0.02;       ///< and to the others
  double factor = 1e4;      ///< errors allowed with a tolerance, as a multiple of it
  enum class Demand {
    right_or_said,  ///< a sound run is right
    right,          ///< and nobody may doubt it
    said            ///< nobody can be right
  } demand = Demand::right_or_said;
  int known = 0;  ///< not mended yet: item 1 to 15 of the list of defects; 16: contacts, which have a list of their own
};
inline void PrintTo(const Treachery& t, std::ostream* out) { *out << t.name; }

/// All ways through one model. What is wrong, a line for each.
inline std::string judge(const Treachery& t) {
  std::string wrong;
  int accepted = 0;
  for (const Way& way : ways()) {
    const Tolerance tolerance{t.tolerance, t.absolute > 0 ? t.absolute : t.tolerance};
    const Outcome o = attempt(
        [&] {
          // the text is read with the method, whose options it may have
          const MethodName method = parse_method_names(way.text).front();
          Model model = parse_model(t.model, "model", {{"integrate.method", method.name}, {"integrate.step", "1"}});
          Options given = model.method_options;
          for (const auto& [name, value] : method.options) given[name] = value;
          model = with_method(std::move(model), way, t.step, tolerance);
          if (!given.empty()) model.choice = make_method(method.name, given);
          return model;
        },
        t.columns, t.motion);
    using Kind = Outcome::Kind;
    const std::string who = way.text + (way.chosen ? ", tolerance" : ", step");
    if (o.kind == Kind::refused) continue;
    ++accepted;
    const double allowed = way.chosen ? t.factor * t.tolerance : way.order == 1 ? t.coarse : t.fine;
    if (o.kind == Kind::slow) wrong += fmt::format("{}: came to t = {:g} only\n", who, o.end);
    if (o.kind == Kind::sound && t.demand == Treachery::Demand::said)
      wrong += fmt::format("{}: passed as sound\n", who);
    else if (o.kind == Kind::sound && !(o.error <= allowed))
      wrong += fmt::format("{}: sound, but the error is {:.2e} (allowed {:.1e}): {}\n", who, o.error, allowed, o.where);
    if ((o.kind == Kind::doubtful || o.kind == Kind::failed) && t.demand == Treachery::Demand::right)
      wrong += fmt::format("{}: {} (error {:.1e}): {}\n", who, o.kind == Kind::failed ? "failed" : "a false alarm",
                           o.error, o.words);
  }
  if (accepted == 0 && t.demand == Treachery::Demand::right) wrong += "every method refuses it\n";
  return wrong;
}

/// For TEST_P: a case that is known to fail is skipped, and says so when it does not fail any more.
inline void expect_honest(const Treachery& t) {
  const std::string wrong = judge(t);
  if (t.known == 0) {
    EXPECT_EQ(wrong, "");
    return;
  }
  if (wrong.empty())
    std::cout << t.name << " is right now: turn it on\n";
  else
    GTEST_SKIP() << "known, item " << t.known << ":\n" << wrong;
}

}  // namespace hinge::test
