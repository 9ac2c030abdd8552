// Claims about references with an error of their own: the estimate covers the true error, the best candidate is taken,
// contradictions are said, and no error below the estimate is told as measured.
#include <cmath>
#include <sstream>

#include <gtest/gtest.h>

#include "hinge/comparison.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"

namespace hinge::best_reference_test {
namespace {

// A point on a circle without gravity turns evenly: q = (cos t, sin t).
const char* const turning = R"(
[lagrangian]
coordinates = ["q[2]"]
kinetic = "dot(q', q')/2"
constraints = ["(dot(q, q) - 1)/2"]
[initial]
position = { q = [1, 0] }
velocity = { q = [0, 1] }
[integrate]
method = "gauss-lobatto"
step = 0.1
end = 10
)";

struct Turning {
  Model model = parse_model(turning, "turning.toml");
  ConvergenceProblem problem{model.system, model.start, 0, 10, {}};
  StudiedMethod method(const std::string& name) const { return {name, make_method(name, {})}; }
  double error(const Reference& r) const { return std::hypot(r.y[0] - std::cos(10.0), r.y[1] - std::sin(10.0)); }
};

TEST(BestReference, OwnErrorCoversTheTrueOne) {
  const Turning t;
  for (const char* name : {"explicit", "radau", "bdf"})
    for (const double tolerance : {1e-6, 1e-9}) {
      const Reference r = doubled_reference(t.problem, t.method(name), tolerance, 0);
      EXPECT_LT(t.error(r), *r.own_error[0]) << name << " " << tolerance;
      EXPECT_LT(*r.own_error[0], 1e4 * tolerance) << name << " " << tolerance << ": no mere excuse";
    }
  const Reference fixed = doubled_reference(t.problem, t.method("rattle"), 0, 0.01);
  EXPECT_LT(t.error(fixed), *fixed.own_error[0]);
}

TEST(BestReference, TheMostAccurateOfTheMethodsIsTaken) {
  const Turning t;
  const Reference best =
      best_reference(t.problem, {t.method("rattle"), t.method("bdf"), t.method("explicit")}, 1e-10, 0.1);
  EXPECT_EQ(best.description.rfind("explicit", 0), 0U) << best.description;
  EXPECT_TRUE(best.doubts.empty());
  const Reference alone = best_reference(t.problem, {t.method("bdf")}, 1e-10, 0);
  EXPECT_GT(*alone.own_error[0], 4 * *best.own_error[0]) << "bdf by itself is worse, and says so";  // measured 8.6
}

TEST(BestReference, WhoIsAskedMayEndIt) {
  Turning t;
  int asked = 0;
  t.problem.referring = [&](double time) { return ++asked < 2 && time < 10; };
  EXPECT_THROW(best_reference(t.problem, {t.method("rattle")}, 0, 1e-5), Error) << "ten million steps, else";
  EXPECT_EQ(asked, 2);
}

TEST(BestReference, ErrorsBelowItAreBoundsAndSaidSo) {
  const Turning t;
  const Reference coarse = doubled_reference(t.problem, t.method("bdf"), 1e-5, 0);
  const WorkPrecision work =
      compare_methods(t.problem, coarse, {t.method("explicit"), t.method("bdf")}, {1e-2, 1e-11}, {});
  for (const WorkSeries& s : work.series)
    for (const WorkPoint& p : s.points) {
      EXPECT_GE(*p.error[0], *coarse.own_error[0]);
      EXPECT_EQ(p.below[0], *p.error[0] == *coarse.own_error[0]);
    }
  EXPECT_TRUE(work.series[0].points[1].below[0]) << "better than the reference";
  EXPECT_FALSE(work.series[1].points[0].below[0]) << "and this one is measured";
  std::ostringstream text;
  text << work;
  EXPECT_NE(text.str().find("whose own error is about"), std::string::npos) << text.str();
  EXPECT_NE(text.str().find(" < "), std::string::npos) << text.str();
}

TEST(BestReference, MethodsThatApproachDifferentSolutionsAreDoubted) {
  // natural goes elsewhere where the reaction is not affine in psi
  const char* const text = R"(
[odae]
y = ["y[2]"]
z = ["z[2]"]
psi = ["psi"]
v = ["2*z[0]", "-z[1]"]
f = ["2*y[0]*y[1]*z[0]*z[1] - y[0]*z[0]*z[1]", "z[0] - y[0]*z[1]^3"]
r = ["y[1]*z[0]*psi^2", "-sqrt(y[0])*z[0]*z[1]^2*psi"]
g = ["y[0]*y[1]^2 - 1"]
[initial]
y = [1, 1]
z = [1, 1]
psi = [1]
[integrate]
method = "symplectic-euler"
step = 0.01
end = 1
)";
  const Model model = parse_model(text, "e1.toml");
  const ConvergenceProblem problem{model.system, model.start, 0, 1, {}};
  const auto studied = [](const std::string& name, const Options& options) {
    return StudiedMethod{name, make_method(name, options)};
  };
  const StudiedMethod natural = studied("symplectic-euler", {{"variant", std::string("natural")}}),
                      composed = studied("composition", {});
  EXPECT_TRUE(best_reference(problem, {composed}, 0, 0.01).doubts.empty());
  const Reference both = best_reference(problem, {natural, composed}, 0, 0.01);
  ASSERT_EQ(both.doubts.size(), 1U);
  EXPECT_NE(both.doubts[0].find("different solutions"), std::string::npos) << both.doubts[0];
}

}  // namespace
}  // namespace hinge::best_reference_test
