// Which method takes which system is decided where it is bound, for every user of the library, and the refusal names
// methods that do.
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "method/nonsmooth/contact_problems.hpp"

namespace hinge::bind_test {
namespace {

std::string refusal(const MethodChoice& method, const std::shared_ptr<const System>& system,
                    const StepOptions& steps = {}) {
  try {
    method.bind(system, {}, steps);
  } catch (const UnsuitableMethod& e) {
    return e.what();
  }
  return "";
}

bool says(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

std::shared_ptr<const System> decay(bool noise) {
  Dae dae;
  const Expression x = dae.unknown("x");
  dae.equation(dae.derivative(x) + x);
  if (noise) dae.noise(Vector{1.0});
  return dae.build();
}

const StepOptions chosen{.tolerance = {1e-6, 1e-6}};

TEST(Bind, RefusesSystemsOfAnotherKind) {
  const std::string dae = refusal(gauss_lobatto(2), decay(false));
  EXPECT_TRUE(says(dae, "gauss-lobatto integrates mechanical systems") && says(dae, "use bdf, radau or taylor")) << dae;
  EXPECT_TRUE(says(refusal(explicit_runge_kutta(), decay(false), chosen), "use bdf, radau, auto or taylor"));
  const std::string noise = refusal(radau(), decay(true));
  EXPECT_TRUE(says(noise, "noise") && says(noise, "use euler-maruyama")) << noise;
  EXPECT_TRUE(says(refusal(radau(), decay(true), chosen), "use euler-maruyama with a step in the place"));
  EXPECT_EQ(refusal(euler_maruyama(), decay(true)), "");

  const auto ball = contact_problems::ball(0.5).system;
  const std::string contacts = refusal(rattle(), ball);
  EXPECT_TRUE(says(contacts, "rattle knows no contacts") &&
              says(contacts, "use moreau-jean, symplectic-euler, generalized-alpha"))
      << contacts;
  EXPECT_TRUE(says(refusal(automatic(), ball, chosen), "use event-driven"));
  EXPECT_EQ(refusal(moreau_jean(), ball), "");

  Dae diode;
  const Expression x = diode.unknown("x"), l = diode.unknown("l");
  diode.equation(diode.derivative(x) - l);
  diode.complementarity(x, l);
  const std::string pairs = refusal(radau(), diode.build());
  EXPECT_TRUE(says(pairs, "radau knows no complementarity pairs") && says(pairs, "use moreau-jean")) << pairs;
}

TEST(Bind, RefusesTheSameWithoutAStepper) {
  EXPECT_THROW(gauss_lobatto(2).refuse(*decay(false)), UnsuitableMethod);
  EXPECT_THROW(radau().refuse(*contact_problems::ball(0.5).system), UnsuitableMethod);
  EXPECT_NO_THROW(radau().refuse(*decay(false), chosen));
}

// What is said of a method is what it does with these steps.
TEST(Bind, VariableStagesAreNamed) {
  const auto describe = [](const RadauOptions& options, const StepOptions& steps) {
    const MethodChoice choice = radau(options).specialised(*decay(false), steps);
    return std::pair(choice.description, choice.order);
  };
  EXPECT_EQ(describe({}, chosen), std::pair(std::string("Radau IIA, 3, 5 or 7 stages"), 0));
  EXPECT_EQ(describe({}, {}), std::pair(std::string("Radau IIA, 3 stages"), 5));
  EXPECT_EQ(describe({.stages = 5}, chosen), std::pair(std::string("Radau IIA, 5 stages"), 9));
  Simulation run(decay(false), radau(), {.tolerance = {1e-6, 1e-6}});
  run.keep_rows();
  run.start({.position = {1}});
  EXPECT_EQ(run.report().method, "Radau IIA, 3, 5 or 7 stages");
  const auto& about = run.trajectory().header.about;
  EXPECT_TRUE(std::any_of(about.begin(), about.end(), [](const auto& line) {
    return line.first == "method" && line.second == "Radau IIA, 3, 5 or 7 stages";
  }));
}

// The default is no choice: of a DAE its own equations, while what is for mechanical systems is refused by name.
TEST(Bind, FormulationsOfMechanicalSystemsAreRefusedForDaes) {
  for (const char* method : {"radau", "bdf"}) {
    EXPECT_EQ(refusal(make_method(method, {}), decay(false)), "");
    for (const char* form : {"ggl", "projected-invariants"})
      EXPECT_TRUE(says(refusal(make_method(method, {{"formulation", std::string(form)}}), decay(false)),
                       "is for mechanical systems"))
          << method << form;
  }
}

}  // namespace
}  // namespace hinge::bind_test
