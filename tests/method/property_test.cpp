// The property harness: every smooth method is measured against what it declares.
//
// The declarations are MethodChoice::order, multiplier_order and info.preserves, which `hinge methods` prints. What is
// declared must hold to round-off; what is not declared must visibly fail, so declarations are neither bold nor
// modest. How things are measured: properties.hpp, discrete_lagrangian.hpp. The controls (controls.hpp) go through the
// same tests; each lacks some of the properties, which shows that the measurements notice.
//
// A new method is one line in registered_methods(); Harness.CoversEveryRegisteredMethod asks for it.
#include <algorithm>
#include <optional>
#include <ostream>
#include <regex>
#include <set>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/error.hpp"
#include "method/properties.hpp"
#include "method/symplectic/discrete_lagrangian.hpp"
#include "method/symplectic/rattle.hpp"

namespace hinge::property_test {
namespace {

using namespace properties;

// ---- who is tested ------------------------------------------------------------------------------------------------

/// What a method can treat, where that is not everything but reactions that depend on z.
struct Scope {
  bool separable_only = false;        ///< is_separable(system)
  bool affine_only = false;           ///< the reaction is affine in psi
  bool reaction_of_velocity = false;  ///< also r(t, y, z, psi)
  bool conservative_only = false;     ///< separable, with an energy, and without t
  bool velocity_is_z = false;         ///< Lagrangian and mechanical systems
  bool ideal_only = false;            ///< the reaction is -G^T psi
};

struct Subject {
  std::string label, registered_as;
  Options options;
  std::function<MethodChoice()> make;
  Scope scope{};
  std::optional<SparkTableau> tableau{};  ///< of SPARK methods: then the discrete Euler-Lagrange equations are tested
  bool same_in_both_forms = true;         ///< Hamiltonian and Lagrangian
  bool weaker_than_listed = false;        ///< options take from what the list of methods says
  double springs = 0;                     ///< the solution is that with springs mu |g|^2 instead of constraints
  double tolerance = 0;                   ///< errors that the method makes on purpose
  bool starts_itself = false;             ///< a first step is made by another method, of high order
  bool too_accurate = false;              ///< what a step does not keep is lost in round-off, or nearly so
};

std::ostream& operator<<(std::ostream& out, const Subject& s) { return out << s.label; }

Subject registered(const std::string& name, const Options& options = {}, std::optional<SparkTableau> tableau = {},
                   Scope scope = {}) {
  std::string label = name;
  for (const auto& [key, value] : options) {
    if (const auto* number = std::get_if<double>(&value)) label += fmt::format("_{}", *number);
    if (const auto* text = std::get_if<std::string>(&value)) label += "_" + *text;
    if (const auto* yes = std::get_if<bool>(&value); yes && *yes) label += "_" + key;
  }
  for (char& c : label)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return {label, name, options, [name, options] { return make_method(name, options); }, scope, std::move(tableau)};
}

Subject euler(const std::string& variant, bool conjugate, bool adjoint, double alpha = 0.5) {
  const bool natural = variant == "natural";
  Subject subject = registered("symplectic-euler",
                               {{"variant", variant}, {"conjugate", conjugate}, {"adjoint", adjoint}, {"alpha", alpha}},
                               {}, {.affine_only = natural, .reaction_of_velocity = true});
  if (natural && !adjoint)
    subject.tableau = (conjugate ? natural_conjugate_euler_tableau : natural_euler_tableau)(alpha);
  return subject;
}

/// Energy-momentum methods with options that give up some of what the method keeps without them.
Subject energy_momentum_with(const Options& options, double springs = 0, double tolerance = 0) {
  Subject subject = registered("energy-momentum", options, {}, {.conservative_only = true});
  subject.weaker_than_listed = true;
  subject.springs = springs;
  subject.tolerance = tolerance;
  return subject;
}

/// Methods that keep the constraints and nothing else.
Subject plain(const std::string& name, const Options& options, Scope scope, bool too_accurate) {
  Subject subject = registered(name, options, {}, scope);
  subject.weaker_than_listed = true;
  subject.same_in_both_forms = scope.velocity_is_z;  // or it is seen to differ
  subject.too_accurate = too_accurate;
  return subject;
}

Subject composed(const std::string& base, double order, const std::string& scheme) {
  return registered("composition", {{"base", base}, {"order", order}, {"scheme", scheme}}, {},
                    {.reaction_of_velocity = base == "symplectic-euler"});
}

/// Collocation of v is not collocation of p. With three stages and more it is so accurate that the harness cannot see
/// that it is not symplectic; radau_test.cpp has its orders.
Subject radau_with_stages(double stages) {
  Subject subject = registered("radau", {{"stages", stages}}, {}, {.reaction_of_velocity = true});
  subject.same_in_both_forms = false;
  return subject;
}

/// Differences of velocities are not those of momenta: the two forms are different methods.
Subject bdf(int order) {
  Subject subject = registered("bdf", {{"order", static_cast<double>(order)}}, {}, {.reaction_of_velocity = true});
  subject.same_in_both_forms = false;
  subject.starts_itself = order > 1;
  return subject;
}

std::vector<Subject> registered_methods() {
  return {
      registered("gauss-lobatto", {{"stages", 1.0}}, gauss_lobatto_tableau(1)),
      registered("gauss-lobatto", {{"stages", 2.0}}, gauss_lobatto_tableau(2)),
      registered("gauss-lobatto", {{"stages", 3.0}}, gauss_lobatto_tableau(3)),
      registered("gauss-lobatto", {{"stages", 4.0}}, gauss_lobatto_tableau(4)),
      registered("lobatto-iiia-iiib", {{"stages", 2.0}}, lobatto_iiia_iiib_tableau(2)),
      registered("lobatto-iiia-iiib", {{"stages", 3.0}}, lobatto_iiia_iiib_tableau(3)),
      registered("lobatto-iiia-iiib", {{"stages", 4.0}}, lobatto_iiia_iiib_tableau(4)),
      registered("lobatto-iiia-iiib", {{"stages", 5.0}}, lobatto_iiia_iiib_tableau(5)),
      registered("rattle", {}, lobatto_iiia_iiib_tableau(2)),
      registered("shake", {}, {}, {.separable_only = true}),
      registered("spark", {{"tableau", gauss_lobatto_tableau(2)}}, gauss_lobatto_tableau(2)),
      euler("true", false, false),
      euler("true", false, false, 1.0),
      euler("true", true, false),
      euler("true", false, true),
      euler("true", true, true),
      euler("natural", false, false),
      euler("natural", true, false),
      euler("natural", false, true),
      composed("symplectic-euler", 2, "suzuki"),
      composed("symplectic-euler", 4, "suzuki"),
      composed("symplectic-euler", 4, "optimised"),
      composed("symplectic-euler", 6, "optimised"),
      composed("rattle", 4, "suzuki"),
      composed("gauss-lobatto", 6, "suzuki"),
      registered("energy-momentum", {}, {}, {.conservative_only = true}),
      radau_with_stages(1),
      radau_with_stages(2),
      energy_momentum_with({{"derivative", std::string("general")}}),
      energy_momentum_with({{"projection", std::string("velocity")}}),
      // weak enough for round-off, mu times that of g, to stay below the limits
      energy_momentum_with({{"constraints", std::string("penalty")}, {"penalty", 100.0}}, 100),
      // coarse enough for the tolerance to be seen
      energy_momentum_with({{"constraints", std::string("augmented")},
                            {"penalty", 100.0},
                            {"tolerance_constraint", 1e-7},
                            {"max_augmentations", 2000.0}},
                           0, 1e-7),
      bdf(1),
      bdf(2),
      plain("explicit", {{"order", 5.0}}, {.reaction_of_velocity = true}, true),
      plain("explicit", {{"order", 8.0}}, {.reaction_of_velocity = true}, true),
      plain("explicit", {{"order", 5.0}, {"projection", std::string("none")}}, {.reaction_of_velocity = true}, true),
      plain("half-explicit", {{"order", 3.0}}, {.reaction_of_velocity = true}, true),
      plain("half-explicit", {{"order", 4.0}}, {.reaction_of_velocity = true}, true),
      plain("half-explicit", {{"order", 5.0}, {"projection", std::string("both")}}, {.reaction_of_velocity = true},
            true),
      plain("taylor", {{"order", 4.0}}, {.reaction_of_velocity = true}, true),
      plain("taylor", {{"order", 5.0}}, {.reaction_of_velocity = true}, true),
      plain("taylor", {{"order", 5.0}, {"projection", std::string("none")}}, {.reaction_of_velocity = true}, true),
      plain("generalized-alpha", {}, {.velocity_is_z = true}, false),
      plain("generalized-alpha", {{"formulation", std::string("index-3")}}, {.velocity_is_z = true}, false),
      plain("moreau-jean", {}, {.velocity_is_z = true, .ideal_only = true}, false),
      plain("moreau-jean", {{"theta", 1.0}}, {.velocity_is_z = true, .ideal_only = true}, false),
      plain("paoli-schatzman", {}, {.velocity_is_z = true, .ideal_only = true}, false),
      plain("event-driven", {{"base", std::string("gauss-lobatto")}}, {.velocity_is_z = true, .ideal_only = true},
            false),
  };
}

Subject control(const std::string& label, const MethodChoice& choice, std::optional<SparkTableau> tableau,
                Scope scope = {}, bool same_in_both_forms = true) {
  return {label, "", {}, [choice] { return choice; }, scope, std::move(tableau), same_in_both_forms};
}

std::vector<Subject> controls_that_lack_something() {
  const auto spark = [](const std::string& label, const SparkTableau& t, Preserves p, int order, int psi, Scope scope) {
    return control(label, controls::spark_with(t, p, order, psi), t, scope);
  };
  const Preserves constraints_only{.position_level = true, .velocity_level = true};
  const Preserves not_symmetric{true, true, true, false, true}, symmetric_only{true, true, false, true, false};
  return {
      spark("implicit_euler_spark", implicit_euler_tableau(0.5), constraints_only, 1, 0, {.affine_only = true}),
      spark("natural_euler_spark", natural_euler_tableau(0.5), not_symmetric, 1, 0, {.affine_only = true}),
      spark("broken_gauss_lobatto", controls::broken_gauss_lobatto(), symmetric_only, 2, 0, {.affine_only = true}),
      control("runge_kutta_4_projected", controls::runge_kutta_4(true), {}, {.reaction_of_velocity = true}, false),
      control("runge_kutta_4", controls::runge_kutta_4(false), {}, {.reaction_of_velocity = true}, false),
  };
}

bool in_scope(const Subject& subject, const System& system) {
  const Scope& scope = subject.scope;
  const bool conservative =
      is_separable(system) && system.structure().has_energy && !system.structure().depends_on_time;
  return (!scope.conservative_only || conservative) && (!scope.separable_only || is_separable(system)) &&
         (!scope.affine_only || system.structure().reaction_is_affine) &&
         (!scope.velocity_is_z || system.structure().velocity_is_z) &&
         (!scope.ideal_only || system.structure().reaction_is_ideal) &&
         (scope.reaction_of_velocity || system.pattern(Quantity::reaction_z).empty());
}

/// The problems in the subject's scope; `torus` is in everybody's.
std::vector<Arena> arenas(const Subject& subject) {
  std::vector<Arena> list;
  for (const Arena& arena : {s2_arena(), torus_arena()})
    if (in_scope(subject, *arena.problem.system)) list.push_back(arena);
  if (list.empty()) throw std::logic_error("no problem is in the scope of " + subject.label);
  return list;
}

// ---- judgement ----------------------------------------------------------------------------------------------------

/// Below `kept` a property holds, above `broken` it visibly does not.
struct Limits {
  double kept, broken;
};

/// For whoever wants to see the numbers: --gtest_output=json.
void record(const std::string& what, double value) {
  testing::Test::RecordProperty(what, fmt::format("{:.3g}", value));
}

/// Empty where declaration and measurement agree; else what does not.
std::string judge(const std::string& what, bool declared, double defect, Limits limits) {
  record(what, defect);
  if (declared && !(defect < limits.kept))
    return fmt::format("{} is declared; measured {:.3g}, allowed {:.3g}. ", what, defect, limits.kept);
  if (!declared && !(defect > limits.broken))
    return fmt::format("{} is not declared; but measured {:.3g}, not above {:.3g}. ", what, defect, limits.broken);
  return "";
}

struct Trial {
  std::string name;
  Problem problem;
  double end;
  double reference_step;  ///< of the reference solution; 0 where the solution is known
};

std::vector<Trial> order_trials() {
  return {{"s1", problems::s1(), 1.0, 0},          {"s2", problems::s2(), 1.2, 0.06},
          {"torus", problems::torus(), 1.2, 0.06}, {"rotating_hoop", problems::rotating_hoop(), 1.2, 0.06},
          {"e1", problems::e1(), 1.0, 0},          {"e1_affine", problems::e1(problems::E1::affine), 1.0, 0}};
}

/// With springs, only the torus is in scope. Their force is that of a multiplier 2 mu g.
State solution(const Subject& subject, const Trial& trial) {
  if (subject.springs == 0)
    return trial.reference_step > 0 ? reference_solution(trial.problem, trial.end, trial.reference_step)
                                    : exponential_solution(trial.end);
  State s = reference_solution(problems::torus_of_springs(subject.springs), trial.end, trial.reference_step / 10);
  const auto g = trial.problem.system->evaluation({Quantity::constraint});
  g->at(s.t, s.y.data(), s.z.data(), nullptr);
  s.psi = {2 * subject.springs * *(*g)[Quantity::constraint]};
  return s;
}

// y and z have the order on every problem. psi has at least its order on every problem, and no more on one of them.
std::string order(const Subject& subject, const MethodChoice& method) {
  // measured: 0.073 (Runge-Kutta, else 0.018); with order 8, where only long steps have errors above round-off, 0.16
  // and with a tolerance on purpose, which only long steps are above, 0.13
  const Limits tolerance{method.order < 6 && subject.tolerance == 0 ? 0.1 : 0.2, 0};
  std::string text;
  double least = INFINITY;
  std::vector<double> found, found_psi;
  for (const Trial& trial : order_trials()) {
    if (!in_scope(subject, *trial.problem.system)) continue;
    const Orders o = orders(trial.problem, method, trial.end, solution(subject, trial), 10 * subject.tolerance);
    record(trial.name + "_y", o.y);
    record(trial.name + "_z", o.z);
    record(trial.name + "_psi", o.psi);
    found.insert(found.end(), {o.y, o.z});
    found_psi.push_back(o.psi);
    if (subject.too_accurate) continue;
    text += judge(trial.name + "_off_in_y", true, std::abs(o.y - method.order), tolerance);
    text += judge(trial.name + "_off_in_z", true, std::abs(o.z - method.order), tolerance);
    least = -larger(-least, -o.psi);
  }
  if (subject.too_accurate) {
    // Of a few errors above round-off the order shows in the middle of many; measured 0.12, and 0.22 for psi.
    const auto median = [](std::vector<double>& x) {
      std::sort(x.begin(), x.end());
      return (x[x.size() / 2] + x[(x.size() - 1) / 2]) / 2;
    };
    return judge("median_off", true, std::abs(median(found) - method.order), {0.2, 0}) +
           judge("median_psi_off", true, std::abs(median(found_psi) - method.multiplier_order), {0.4, 0});
  }
  if (method.info.multiplier_order == "not stated" || method.multiplier_order == 0) return text;
  // measured 0.045; with a tolerance on purpose 0.13
  return text +
         judge("psi_off", true, std::abs(least - method.multiplier_order), {subject.tolerance == 0 ? 0.1 : 0.2, 0});
}

std::string constraints(const Subject& subject, const MethodChoice& method) {
  ConstraintLevels worst;
  for (const Problem& problem :
       {problems::s2(), problems::s2_lagrangian(), problems::relativistic(), problems::variable_mass(),
        problems::double_pendulum(), problems::rotating_hoop(), problems::torus()}) {
    if (!in_scope(subject, *problem.system)) continue;
    const ConstraintLevels levels = constraint_levels(problem, method, 0.02, 4.0);
    worst.position = larger(worst.position, levels.position);
    worst.velocity = larger(worst.velocity, levels.velocity);
  }
  // measured 1.2e-15, 1.3e-15; Runge-Kutta without projection 6.7e-4, 4.9e-4
  return judge("position_level", method.info.preserves.position_level, worst.position, {4e-15, 1e-9}) +
         judge("velocity_level", method.info.preserves.velocity_level, worst.velocity, {4e-15, 1e-9});
}

std::string symplecticity(const Subject& subject, const MethodChoice& method) {
  if (subject.too_accurate && !method.info.preserves.symplectic) return "";
  std::string text;
  for (const double h : {0.1, 0.05}) {
    double worst = 0;
    for (const Arena& arena : arenas(subject)) worst = larger(worst, symplectic_defect(arena.problem, method, h));
    // measured at both h: 6e-12, of which most is the truncation of the differences; implicit Euler 5.0e-2, 1.3e-2,
    // the wrong row of abar 6.0e-5, 7.0e-6, projected Runge-Kutta 1.4e-5, 4.2e-7
    text += judge(fmt::format("symplectic_h{}", h), method.info.preserves.symplectic, worst, {5e-11, 1e-7});
  }
  return text;
}

std::string symmetry(const Subject& subject, const MethodChoice& method) {
  if (subject.too_accurate && !method.info.preserves.symmetric) return "";
  double returned = 0, reversed = 0;
  for (const Arena& arena : arenas(subject)) {
    returned = larger(returned, symmetry_defect(arena.problem, method, 0.1));
    reversed = larger(reversed, reversibility_defect(arena, method, 0.1));
  }
  // measured 4.5e-16; implicit Euler 9.9e-2, natural symplectic Euler 5.1e-2, Runge-Kutta 1.5e-5
  return judge("symmetric", method.info.preserves.symmetric, returned, {1e-14, 1e-7}) +
         judge("reversible", method.info.preserves.symmetric, reversed, {1e-14, 1e-7});
}

// Where it is not declared a short run shows it; longer ones need not be possible.
std::string momentum(const Subject& subject, const MethodChoice& method) {
  if (subject.too_accurate && !method.info.preserves.momentum_maps) return "";
  const bool declared = method.info.preserves.momentum_maps;
  double worst = 0;
  for (const Arena& arena : arenas(subject))
    worst = larger(worst, momentum_drift(arena.problem, method, 0.12, declared ? 2000 : 100));
  // measured 6.4e-14 (composition of 18 substeps), with a stiff penalty 1.6e-13; implicit Euler 0.62, projected
  // Runge-Kutta 1.2e-3, the wrong row of abar 2.1e-4
  return judge("momentum_maps", declared, worst, {subject.registered_as == "energy-momentum" ? 5e-13 : 2e-13, 1e-8});
}

#ifdef NDEBUG
constexpr long energy_steps = 100000;
#else
constexpr long energy_steps = 10000;  // sanitizers and unoptimised code have the time for these
#endif

// An oscillation leaves a trend of about one period in all steps. Round-off moves the energy steadily, by 1e-17 a step
// with h = 0.12 and 5e-17 with h = 0.24; 1e-16 is allowed. Methods of high order get the longer step, so that their
// amplitude (2e-9, not 9e-12) stays far above that.
std::string energy(const Subject& subject, const MethodChoice& method) {
  std::string text;
  for (const Arena& arena : arenas(subject)) {
    const bool is_s2 = arena.reversal[1] < 0;
    const long steps = is_s2 ? energy_steps : 20000;
    const EnergyDrift d = energy_drift(arena.problem, method, method.order < 8 ? 0.12 : 0.24, steps);
    const double n = static_cast<double>(steps), round_off = 1e-16 * n;
    const std::string where = is_s2 ? "_s2" : "_torus";
    record("energy_amplitude" + where, d.first);
    // measured 5.2e-3 on the torus, where the first tenth has not quite seen the amplitude; on S2 below zero
    text += judge("energy_growth" + where, true, (d.last - d.first - round_off) / d.first, {2e-2, 0});
    // measured 37
    text += judge("energy_trend_in_steps" + where, true, (std::abs(d.trend) - round_off) / d.first * n, {100, 0});
  }
  return text;
}

// Round-off may add up to a random walk, but to no drift. Where nothing is declared a short run shows it.
std::string energy_kept(const Subject& subject, const MethodChoice& method) {
  if (subject.too_accurate && !method.info.preserves.energy) return "";
  const bool declared = method.info.preserves.energy;
  std::string text;
  for (const Arena& arena : arenas(subject)) {
    const Walk walk = energy_walk(arena.problem, method, method.order < 8 ? 0.12 : 0.24, declared ? energy_steps : 100);
    const std::string where = arena.reversal[1] < 0 ? "_s2" : "_torus";
    // measured 8.2e-13, which is 8e-18 in a step; where it is not kept at least 6.9e-10 (S2), 3.4e-7 (torus)
    text += judge("energy" + where, declared, walk.most(), {2e-12, 2e-10});
  }
  return text;
}

std::string euler_lagrange(const SparkTableau& tableau, const MethodChoice& method) {
  const double s2 = variational_defect(plain_s2(), problems::s2_lagrangian(), method, tableau, 0.1);
  const double relativistic = variational_defect(plain_relativistic(), problems::relativistic(), method, tableau, 0.1);
  // measured 1.1e-14; implicit Euler 0.15, 0.10, the wrong row of abar 1.3e-2, 4.8e-3
  return judge("variational_s2", method.info.preserves.symplectic, s2, {1e-13, 1e-4}) +
         judge("variational_relativistic", method.info.preserves.symplectic, relativistic, {1e-13, 1e-4});
}

std::string forms(const Subject& subject, const MethodChoice& method) {
  std::pair<Problem, Problem> pairs[] = {{problems::s2(), problems::s2_lagrangian()},
                                         {problems::relativistic_hamiltonian(), problems::relativistic()},
                                         {problems::torus(), problems::torus_lagrangian()}};
  // which consistent velocity is nearest depends on the form: give one that is consistent
  pairs[1].first.start =
      pairs[1].second.start = {.position = {0.6, 0.4, std::sqrt(0.32 / 3)}, .velocity = {0.4, -0.3, 0}};
  FormDifference worst;
  for (const auto& [hamiltonian, lagrangian] : pairs) {
    if (!in_scope(subject, *hamiltonian.system) || !in_scope(subject, *lagrangian.system)) continue;
    const FormDifference d = difference_of_forms(hamiltonian, lagrangian, method, 0.1, 100);
    worst.position = larger(worst.position, d.position);
    worst.momentum = larger(worst.momentum, d.momentum);
    worst.multiplier = larger(worst.multiplier, d.multiplier);
  }
  if (subject.too_accurate) return "";
  // measured 1.2e-13, 2.8e-13, 7.6e-12; projected Runge-Kutta 4e-4, 9e-4, 1.6e-3
  return judge("same_position", subject.same_in_both_forms, worst.position, {1e-12, 1e-7}) +
         judge("same_momentum", subject.same_in_both_forms, worst.momentum, {1e-12, 1e-7}) +
         judge("same_multiplier", subject.same_in_both_forms, worst.multiplier, {1e-10, 1e-7});
}

// ---- every method -------------------------------------------------------------------------------------------------

class EveryMethod : public testing::TestWithParam<Subject> {
 protected:
  const Subject& subject = GetParam();
  const MethodChoice method = GetParam().make();
};

TEST_P(EveryMethod, HasTheOrdersItDeclares) { EXPECT_EQ(order(subject, method), ""); }

TEST_P(EveryMethod, KeepsTheConstraintLevelsItDeclares) { EXPECT_EQ(constraints(subject, method), ""); }

TEST_P(EveryMethod, ConservesTheSymplecticFormIfItSaysSo) {
  if (subject.starts_itself) GTEST_SKIP() << "one step is not a step of this method";
  EXPECT_EQ(symplecticity(subject, method), "");
}

TEST_P(EveryMethod, IsSymmetricAndReversibleIfItSaysSo) { EXPECT_EQ(symmetry(subject, method), ""); }

TEST_P(EveryMethod, KeepsAngularMomentumIfItSaysSo) { EXPECT_EQ(momentum(subject, method), ""); }

TEST_P(EveryMethod, HasNoEnergyDriftIfSymplectic) {
  if (!method.info.preserves.symplectic) GTEST_SKIP() << "not symplectic: nothing is said about the energy";
  EXPECT_EQ(energy(subject, method), "");
}

TEST_P(EveryMethod, KeepsTheEnergyIfItSaysSo) { EXPECT_EQ(energy_kept(subject, method), ""); }

TEST_P(EveryMethod, SatisfiesTheDiscreteEulerLagrangeEquationsIfSymplectic) {
  if (!subject.tableau) GTEST_SKIP() << "no tableau: the symplectic form has to do";
  EXPECT_EQ(euler_lagrange(*subject.tableau, method), "");
}

TEST_P(EveryMethod, GivesTheSameNumbersInHamiltonianAndLagrangianForm) { EXPECT_EQ(forms(subject, method), ""); }

const auto label = [](const testing::TestParamInfo<Subject>& info) { return info.param.label; };
INSTANTIATE_TEST_SUITE_P(Registered, EveryMethod, testing::ValuesIn(registered_methods()), label);
INSTANTIATE_TEST_SUITE_P(Control, EveryMethod, testing::ValuesIn(controls_that_lack_something()), label);

class RegisteredMethod : public EveryMethod {};

TEST_P(RegisteredMethod, TreatsItsScopeAndRefusesOrWarnsBeyondIt) {
  std::vector<Trial> trials = order_trials();
  trials.push_back({"e1_linear", problems::e1(problems::E1::linear), 0, 0});
  for (const Trial& trial : trials) {
    bool refused = false;
    try {
      method.bind(trial.problem.system, {});
    } catch (const UnsuitableMethod&) {
      refused = true;
    }
    if (in_scope(subject, *trial.problem.system))
      EXPECT_FALSE(refused) << trial.name;
    else
      EXPECT_TRUE(refused || (method.warnings && !method.warnings(*trial.problem.system).empty())) << trial.name;
  }
}

// A symmetric method is its own adjoint; compositions rely on that.
TEST_P(RegisteredMethod, IsUndoneByItsAdjoint) {
  if (!method.adjoint && !method.info.preserves.symmetric) GTEST_SKIP() << "names no adjoint, is not composed";
  const MethodChoice adjoint = method.adjoint ? method.adjoint() : method;
  double worst = 0;
  for (const Arena& arena : arenas(subject)) worst = larger(worst, return_defect(arena.problem, method, adjoint, 0.1));
  EXPECT_EQ(judge("undone", true, worst, {1e-14, 0}), "");  // measured 4.5e-16
}

// "2 s - 2", "s", "1" for s stages; nothing where the text is another.
std::optional<int> order_by_formula(const std::string& formula, const Options& options) {
  std::smatch part;
  if (std::regex_match(formula, part, std::regex("[0-9]+"))) return std::stoi(formula);
  if (!options.contains("stages") || !std::regex_match(formula, part, std::regex("(?:([0-9]+) )?s(?: - ([0-9]+))?")))
    return {};
  const int s = static_cast<int>(std::get<double>(options.at("stages")));
  return (part[1].matched ? std::stoi(part[1]) : 1) * s - (part[2].matched ? std::stoi(part[2]) : 0);
}

TEST_P(RegisteredMethod, DeclaresWhatTheListOfMethodsSays) {
  const auto list = methods();
  const auto listed =
      std::find_if(list.begin(), list.end(), [&](const MethodInfo& m) { return m.name == subject.registered_as; });
  ASSERT_NE(listed, list.end());
  EXPECT_EQ(method.info.name, listed->name);
  EXPECT_EQ(order_by_formula(listed->order, subject.options).value_or(method.order), method.order);
  EXPECT_EQ(order_by_formula(listed->multiplier_order, subject.options).value_or(method.multiplier_order),
            method.multiplier_order);
  // options may add to what the list says of all, but not take from it unless the subject says so
  if (subject.weaker_than_listed) return;
  for (const auto flag : {&Preserves::position_level, &Preserves::velocity_level, &Preserves::symplectic,
                          &Preserves::symmetric, &Preserves::momentum_maps, &Preserves::energy})
    EXPECT_TRUE(!(listed->preserves.*flag) || method.info.preserves.*flag);
}

INSTANTIATE_TEST_SUITE_P(Each, RegisteredMethod, testing::ValuesIn(registered_methods()), label);

// ---- the harness itself -------------------------------------------------------------------------------------------

TEST(Harness, CoversEveryRegisteredMethod) {
  std::set<std::string> covered;
  for (const Subject& s : registered_methods()) covered.insert(s.registered_as);
  // For DAEs with noise only; it refuses the problems here, and has tests of its own.
  EXPECT_THROW(make_method("euler-maruyama", {}).bind(problems::torus().system, {}), UnsuitableMethod);
  covered.insert("euler-maruyama");
  covered.insert("auto");  // chooses its steps always: automatic_test.cpp
  for (const MethodInfo& m : methods())
    EXPECT_TRUE(covered.contains(m.name) || m.name.starts_with("own-"))
        << m.name << " has no line in registered_methods()";
}

struct Property {
  bool Preserves::*flag;
  std::string (*check)(const Subject&, const MethodChoice&);
};
constexpr Property declared_properties[] = {
    {&Preserves::position_level, constraints}, {&Preserves::velocity_level, constraints},
    {&Preserves::symplectic, symplecticity},   {&Preserves::symmetric, symmetry},
    {&Preserves::momentum_maps, momentum},     {&Preserves::energy, energy_kept}};

class HarnessOnControls : public testing::TestWithParam<Subject> {};

TEST_P(HarnessOnControls, NoticesBoldClaims) {
  const Subject& subject = GetParam();
  const MethodChoice honest = subject.make();
  for (const Property& p : declared_properties) {
    if (honest.info.preserves.*p.flag) continue;
    MethodChoice bold = honest;
    bold.info.preserves.*p.flag = true;
    bool noticed = false;
    try {
      noticed = !p.check(subject, bold).empty();
    } catch (const std::runtime_error&) {
      noticed = true;  // it cannot even go on for so long
    }
    EXPECT_TRUE(noticed);
  }
  MethodChoice bold = honest;
  ++bold.order;
  EXPECT_NE(order(subject, bold), "");
  bold = honest;
  ++bold.multiplier_order;
  EXPECT_NE(order(subject, bold), "");
  if (subject.tableau && !honest.info.preserves.symplectic) {
    bold = honest;
    bold.info.preserves.symplectic = true;
    EXPECT_NE(euler_lagrange(*subject.tableau, bold), "");
  }
}

INSTANTIATE_TEST_SUITE_P(Each, HarnessOnControls, testing::ValuesIn(controls_that_lack_something()), label);

TEST(Harness, NoticesModestClaims) {
  const Subject subject = registered("gauss-lobatto", {{"stages", 2.0}}, gauss_lobatto_tableau(2));
  const Subject conserving = registered("energy-momentum", {}, {}, {.conservative_only = true});
  for (const Property& p : declared_properties) {
    const Subject& who = p.flag == &Preserves::energy ? conserving : subject;
    MethodChoice modest = who.make();
    EXPECT_TRUE(modest.info.preserves.*p.flag);
    modest.info.preserves.*p.flag = false;
    EXPECT_NE(p.check(who, modest), "");
  }
  const MethodChoice honest = subject.make();
  MethodChoice modest = honest;
  --modest.order;
  EXPECT_NE(order(subject, modest), "");
  modest = honest;
  --modest.multiplier_order;
  EXPECT_NE(order(subject, modest), "");
}

TEST(Harness, SeesTheEnergyOfTheControlsDrift) {
  const auto drift = [](const MethodChoice& method, double h, long steps) {
    const EnergyDrift d = energy_drift(problems::s2(), method, h, steps);
    record(method.info.name + "_growth", (d.last - d.first) / d.first);
    record(method.info.name + "_trend", d.trend / d.first);
    return d;
  };
  const EnergyDrift euler = drift(controls::spark_with(implicit_euler_tableau(0.5)), 0.05, 400);
  EXPECT_GT(euler.last, 2 * euler.first);    // measured 3.3
  EXPECT_LT(euler.trend, -2 * euler.first);  // measured -2.7
  const EnergyDrift runge_kutta = drift(controls::runge_kutta_4(true), 0.12, 10000);
  EXPECT_GT(runge_kutta.last, 2 * runge_kutta.first);    // measured 9.5
  EXPECT_LT(runge_kutta.trend, -2 * runge_kutta.first);  // measured -9.5
}

}  // namespace
}  // namespace hinge::property_test
