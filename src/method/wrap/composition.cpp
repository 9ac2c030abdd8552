// Symmetric compositions: higher order from one method by substeps of different lengths, some of them negative.
//
// A symmetric method S_h of order 2 is the base itself where it is symmetric, and else base_{h/2} o adjoint_{h/2}.
// S_{g1 h} o ... o S_{gn h} with g_i = g_{n+1-i} is symmetric again, so its order is even. It is 4 when
//
//   sum g_i = 1,  sum g_i^3 = 0
//
// and from order 2 k to 2 k + 2 in the same way with exponent 2 k + 1.
//
//   triple-jump   order 4: 3 substeps, order 6: 9 (H. Yoshida, Phys. Lett. A 150 (1990))
//   suzuki        order 4: 5, order 6: 25; shorter substeps (M. Suzuki, Phys. Lett. A 146 (1990))
//   optimised     order 4: 5 (R. I. McLachlan, SIAM J. Sci. Comput. 16 (1995)),
//                 order 6: 9 (W. Kahan, R.-C. Li, Math. Comp. 66 (1997))
//
// Preserved: what the base preserves, and time symmetry. If the partner is not the adjoint of the base, the pair is not
// symmetric and every composition falls back to order 1: for reactions nonlinear in psi, true conjugate symplectic
// Euler is not the adjoint of true symplectic Euler.
#include "method/wrap/composition.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "method/method_entry.hpp"

namespace hinge {

namespace {

// The lengths of `inner`, scaled and put side by side: outer lengths times inner lengths.
std::vector<double> nested(const std::vector<double>& outer, const std::vector<double>& inner) {
  std::vector<double> all;
  for (const double o : outer)
    for (const double i : inner) all.push_back(o * i);
  return all;
}

// From order 2 k to 2 k + 2, with  sum g_i = 1 and sum g_i^(2 k + 1) = 0.
std::vector<double> triple_jump(int k) {
  const double root = std::pow(2.0, 1.0 / (2 * k + 1)), g = 1 / (2 - root);
  return {g, -root * g, g};
}

std::vector<double> suzuki(int k) {
  const double root = std::pow(4.0, 1.0 / (2 * k + 1)), g = 1 / (4 - root);
  return {g, g, -root * g, g, g};
}

std::vector<double> mirrored(std::vector<double> half) {
  double rest = 1;
  for (const double g : half) rest -= 2 * g;
  std::vector<double> all = half;
  all.push_back(rest);
  all.insert(all.end(), half.rbegin(), half.rend());
  return all;
}

class Composition final : public Stepper {
 public:
  Composition(std::vector<std::unique_ptr<Stepper>> substeps, std::vector<double> lengths)
      : substeps_(std::move(substeps)), lengths_(std::move(lengths)) {}

  StepResult step(State& state, double h) override {
    before_ = state;  // same sizes after the first step: nothing is allocated
    const double t0 = state.t;
    double travelled = 0;
    for (std::size_t i = 0; i < substeps_.size(); ++i) {
      state.t = t0 + travelled * h;
      if (StepResult result = substeps_[i]->step(state, lengths_[i] * h); !result) {
        result.reason = fmt::format("substep {} of {}: {}", i + 1, substeps_.size(), result.reason);
        state = before_;
        reset();
        return result;
      }
      travelled += lengths_[i];
    }
    state.t = t0 + h;
    multipliers_ = substeps_.back()->multipliers();
    count();
    return {};
  }

  void reset() override {
    for (const auto& s : substeps_) s->reset();
  }

 private:
  void count() {
    Counters sum;
    for (const auto& s : substeps_) sum += s->counters();
    sum.steps = counters_.steps + 1;
    counters_ = sum;
  }

  // One stepper for each substep: its first guesses continue what it saw at the same place of earlier steps.
  std::vector<std::unique_ptr<Stepper>> substeps_;
  std::vector<double> lengths_;
  State before_;
};

MethodInfo composition_info() {
  return {
      .name = "composition",
      .summary = "substeps of a method and its adjoint, or of a symmetric method; keeps what the base keeps",
      .order = "2, 4 or 6",
      .multiplier_order = "that of the base",
      .preserves = everything,
      .options = {word_row("base", {"symplectic-euler"}, "the method to compose; its own options stand beside these"),
                  {.name = "order",
                   .meaning = "of the composition",
                   .default_value = "4",
                   .type = OptionType::integer,
                   .values = {2, 4, 6}},
                  word_row("scheme", {"suzuki", "triple-jump", "optimised"}, "lengths of the substeps"),
                  flag_row("base_first", "true: each pair begins with the base, not with its adjoint")},
      .reference =
          "H. Yoshida, Phys. Lett. A 150 (1990) 262-268; M. Suzuki, Phys. Lett. A 146 (1990) 319-323; R. "
          "I. McLachlan, SIAM J. Sci. Comput. 16 (1995) 151-168; W. Kahan, R.-C. Li, Math. Comp. 66 "
          "(1997) 1089-1099"};
}

}  // namespace

std::vector<double> composition_lengths(const std::string& scheme, int from, int to) {
  check_options(composition_info().options, {{"order", static_cast<double>(to)}, {"scheme", scheme}});
  if (to <= from) return {1.0};
  if (scheme == "optimised") {
    if (from != 2)
      throw OptionError(
          "scheme",
          fmt::format("'scheme' is \"optimised\", which starts from order 2, and the base gives order {}; choose "
                      "\"suzuki\" or \"triple-jump\"",
                      from));
    // McLachlan: g1 = 0.28 chosen for a small error constant, g2 then follows from sum g^3 = 0. Kahan and Li: a root of
    // the four conditions of order 6 with short substeps.
    if (to == 4) return mirrored({0.28, 0.62546642846767004501});
    return mirrored({0.39216144400731413928, 0.33259913678935943860, -0.70624617255763935981, 0.082213596293550800230});
  }
  std::vector<double> lengths = {1.0};
  for (int k = from / 2; k < to / 2; ++k) lengths = nested(scheme == "suzuki" ? suzuki(k) : triple_jump(k), lengths);
  return lengths;
}

namespace {

// `partner` empty: the base is symmetric and alone.
std::unique_ptr<Stepper> make_composition(std::shared_ptr<const System> system, const MethodChoice& base,
                                          const std::optional<MethodChoice>& partner,
                                          const std::vector<double>& lengths, bool base_first,
                                          const SolverOptions& options) {
  std::vector<std::unique_ptr<Stepper>> substeps;
  std::vector<double> sublengths;
  for (const double g : lengths) {
    if (!partner) {
      substeps.push_back(base.bind(system, options));
      sublengths.push_back(g);
      continue;
    }
    substeps.push_back((base_first ? base : *partner).bind(system, options));
    substeps.push_back((base_first ? *partner : base).bind(system, options));
    sublengths.insert(sublengths.end(), 2, g / 2);
  }
  return std::make_unique<Composition>(std::move(substeps), std::move(sublengths));
}

MethodChoice composition_from(const GivenOptions& o) {
  const std::string base = o.word("base");
  if (base == composition_info().name)
    throw OptionError("base", "'base' is \"composition\"; compose a method that is not composed yet");
  Options rest = o.given();
  const std::vector<OptionInfo> own = composition_info().options;
  std::erase_if(rest,
                [&](const auto& option) { return option.first == "projection" || find_option(own, option.first); });
  const MethodChoice made = [&] {
    try {
      return make_method(base, rest);
    } catch (const OptionError& e) {
      throw OptionError(e.option, fmt::format("'base': {}", e.what()));
    } catch (const InputError& e) {
      throw OptionError("base", fmt::format("'base': {}", e.what()));
    }
  }();
  return composition(made, {o.integer("order"), o.word("scheme"), o.flag("base_first")});
}

MethodChoice compose(const MethodChoice& base, const std::optional<MethodChoice>& partner, bool symmetric,
                     const CompositionOptions& which) {
  if (base.order < 1)
    throw OptionError(
        "base", fmt::format("'base' is \"{}\" and its order is not stated; state it, as in order = 2 in the tableau",
                            base.info.name));
  const int from = base.order + base.order % 2;  // symmetric methods have even order
  const std::vector<double> lengths = composition_lengths(which.scheme, from, which.order);
  if (which.order < from)
    throw OptionError(
        "order", fmt::format("'order' is {}, but the base gives order {} already; choose a higher one, or use '{}'",
                             which.order, from, base.info.name));
  MethodChoice choice{composition_info(), symmetric ? std::max(from, which.order) : 1, "", {}, base.multiplier_order};
  const Preserves& kept = base.info.preserves;
  choice.info.preserves = kept;
  choice.info.preserves.symmetric = symmetric;
  choice.info.can.velocity_constraints = base.info.can.velocity_constraints;
  const std::size_t substeps = (partner ? 2 : 1) * lengths.size();
  choice.description =
      fmt::format("composition of {}: {}{} substep{}, order {}", base.description,
                  lengths.size() > 1 ? which.scheme + ", " : "", substeps, substeps == 1 ? "" : "s", choice.order);
  choice.make = [base, partner, lengths, first = which.base_first](std::shared_ptr<const System> system,
                                                                   const SolverOptions& solver, const StepOptions&) {
    return make_composition(std::move(system), base, partner, lengths, first, solver);
  };
  choice.warnings = base.warnings;
  choice.system_facts = base.system_facts;
  return choice;
}

}  // namespace

MethodChoice composition(const MethodChoice& base, const CompositionOptions& which) {
  if (base.info.preserves.symmetric) return compose(base, std::nullopt, true, which);
  if (!base.adjoint)
    throw OptionError("base",
                      fmt::format("'base' is \"{}\", which is not symmetric and whose adjoint is not known; choose a "
                                  "symmetric method or symplectic-euler",
                                  base.info.name));
  return compose(base, base.adjoint(), true, which);
}

MethodChoice composition(const MethodChoice& base, const MethodChoice& partner, const CompositionOptions& which) {
  return compose(base, partner, false, which);
}

MethodEntry composition_entry() { return {composition_info(), composition_from, "base"}; }

}  // namespace hinge
