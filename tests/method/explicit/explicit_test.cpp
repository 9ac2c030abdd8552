// Explicit Runge-Kutta methods: orders, tolerances, dense output, drift and what keeps it away.
#include "method/explicit/explicit.hpp"

#include <gtest/gtest.h>

#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "method/controls.hpp"
#include "method/explicit/explicit_problems.hpp"

namespace hinge::explicit_test {
namespace {

using namespace explicit_problems;

MethodChoice choose(int order, Projection projection = Projection::both) {
  return explicit_runge_kutta({.order = order, .projection = projection});
}

// sum_i b_i c_i^(k-1) = 1/k up to the order, row sums, and the error estimates' weights sum to zero
TEST(DormandPrince, SatisfiesQuadratureConditions) {
  for (const int order : {5, 8}) {
    const ExplicitTableau& t = dormand_prince(order);
    for (std::size_t i = 0; i < t.c.size(); ++i) {
      double sum = 0;
      for (const auto& [j, w] : t.a[i]) sum += w;
      EXPECT_NEAR(sum, t.c[i], 2e-14) << order << " " << i;  // measured 6e-15
    }
    for (int k = 1; k <= order; ++k) {
      double sum = 0;
      for (const auto& [j, w] : t.b()) sum += w * std::pow(t.c[static_cast<std::size_t>(j)], k - 1);
      EXPECT_NEAR(sum, 1.0 / k, 2e-14) << order << " " << k;
    }
    // Differences to methods of lower order: they vanish on polynomials up to that order, and not on the next.
    const auto expect_difference = [&](const ExplicitTableau::Row& row, int lower) {
      for (int k = 1; k <= lower + 1; ++k) {
        double sum = 0;
        for (const auto& [j, w] : row) sum += w * std::pow(t.c[static_cast<std::size_t>(j)], k - 1);
        if (k <= lower)
          EXPECT_NEAR(sum, 0, 2e-14) << order << " " << lower << " " << k;
        else
          EXPECT_GT(std::abs(sum), 1e-5) << order << " " << lower;
      }
    };
    expect_difference(t.error, order == 5 ? 4 : 5);
    if (order == 8)
      expect_difference(t.second_error, 3);
    else
      EXPECT_TRUE(t.second_error.empty());
  }
}

TEST(Explicit, HasItsOrderOnConstrainedSystems) {
  for (const Projection projection : {Projection::both, Projection::none}) {
    const Errors five = orders(hoop(), "hoop", choose(5, projection), 40, 3);
    EXPECT_NEAR(five.y, 5, 0.3);
    EXPECT_NEAR(five.z, 5, 0.3);
    EXPECT_GT(five.psi, 4.7);  // 5.2, and 6.1 without projection: the leading terms nearly cancel
    const Errors crank = orders(slider_crank(), "slider_crank", choose(5, projection), 40, 3);
    EXPECT_GT(crank.y, 4.7);  // 5.9, for the same reason
    EXPECT_GT(crank.z, 4.7);
    const Errors eight = orders(hoop(), "hoop", choose(8, projection), 20);
    EXPECT_NEAR(eight.y, 8, 0.8);
    EXPECT_NEAR(eight.z, 8, 0.8);
    EXPECT_NEAR(eight.psi, 8, 0.8);
  }
}

TEST(Explicit, KeepsBothLevelsOnlyByProjection) {
  for (const int order : {5, 8}) {
    const Levels kept = levels(hoop(), choose(order), 0.02, 4);
    EXPECT_LT(kept.position, 2e-15);
    EXPECT_LT(kept.velocity, 5e-15);
    const Levels drifted = levels(hoop(), choose(order, Projection::none), 0.02, 4);
    EXPECT_GT(drifted.position, 1e-13);
    EXPECT_GT(drifted.velocity, 1e-14);
    const Levels velocities = levels(hoop(), choose(order, Projection::velocity), 0.02, 4);
    EXPECT_GT(velocities.position, 1e-14);
    EXPECT_LT(velocities.velocity, 5e-15);
  }
}

TEST(Explicit, ErrorFollowsTheTolerance) {
  const auto r = reference("hoop");
  for (const int order : {5, 8}) {
    double last = 1;
    for (const double tolerance : {1e-5, 1e-7, 1e-9, 1e-11}) {
      const Report run = adaptive(hoop(), choose(order), tolerance, 1.0);
      const double error = std::max(distance(run.final.y, r.p), distance(run.final.z, r.v));
      EXPECT_LT(error, 50 * tolerance) << order;
      EXPECT_GT(error, 0.001 * tolerance) << order;
      EXPECT_LT(error, 0.2 * last) << order;
      EXPECT_LT(run.constraint, 2e-15);
      EXPECT_LT(run.hidden_constraint, 5e-15);
      last = error;
    }
  }
}

// Error of the polynomial inside steps of length h, over halved steps: order 5 (global 4 plus 1) and 8.
TEST(Explicit, InterpolatesBetweenSteps) {
  const Problem problem = hoop();
  for (const int order : {5, 8}) {
    const auto worst = [&](double h) {
      const auto method = choose(order).bind(problem.system, {}, {{0.9, 0.9}, h, h});
      const auto exact = choose(8).bind(problem.system, {}, {{1e-13, 1e-13}});
      State s = consistent_start(*problem.system, 0, problem.start), e = s, i = s;
      EXPECT_TRUE(method->start(s));
      EXPECT_TRUE(method->advance(s, 1.0));
      EXPECT_NEAR(s.t, h, 1e-12);
      double error = 0;
      for (const double part : {0.2, 0.37, 0.5, 0.71, 0.9}) {
        State x = consistent_start(*problem.system, 0, problem.start);
        EXPECT_TRUE(exact->start(x));
        while (x.t < part * h) EXPECT_TRUE(exact->advance(x, part * h));
        method->interpolate(part * h, i);
        error = std::max({error, distance(i.y, x.y), distance(i.z, x.z), 0.01 * distance(i.psi, x.psi)});
      }
      return error;
    };
    const double rate = order == 5 ? std::log2(worst(0.1) / worst(0.05)) : std::log2(worst(0.2) / worst(0.1));
    EXPECT_NEAR(rate, order == 5 ? 5 : 8, 0.7) << order;
  }
}

TEST(Explicit, InterpolatedStatesSatisfyTheConstraints) {
  const Problem problem = hoop();
  const auto method = choose(8).bind(problem.system, {}, {{1e-4, 1e-4}});
  State s = consistent_start(*problem.system, 0, problem.start), i = s;
  ASSERT_TRUE(method->start(s));
  ASSERT_TRUE(method->advance(s, 1.0));
  method->interpolate(0.4 * s.t, i);
  const auto g = problem.system->evaluation({Quantity::constraint, Quantity::constraint_rate});
  g->at(i.t, i.y.data(), i.z.data(), i.psi.data());
  for (int k = 0; k < 2; ++k) {
    EXPECT_LT(std::abs((*g)[Quantity::constraint][k]), 1e-15);
    EXPECT_LT(std::abs((*g)[Quantity::constraint_rate][k]), 4e-15);
  }
}

// A system that is singular as a matrix and regular on the motions the constraint leaves free.
TEST(Explicit, TakesASingularMass) {
  const Problem problem = slider_crank(0);
  const Levels kept = levels(problem, choose(8), 0.01, 1);
  EXPECT_LT(kept.position, 1e-14);
  const State coarse = problems::integrate(problem, choose(8), 0.02, 1),
              fine = problems::integrate(problem, choose(8), 0.01, 1);
  EXPECT_LT(distance(coarse.y, fine.y), 1e-10);
}

TEST(Explicit, TakesSystemsWithoutConstraints) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 1), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.potential(0.5 * dot(q, q));
  const Problem problem{l.build(), {.position = {1}, .velocity = {0}}};
  const State s = problems::integrate(problem, choose(8), 0.1, 1);
  EXPECT_NEAR(s.y[0], std::cos(1.0), 1e-13);
  const Report run = adaptive(problem, choose(5), 1e-9, 1.0);
  EXPECT_NEAR(run.final.y[0], std::cos(1.0), 1e-8);
}

TEST(Explicit, SaysWhereAPoleStopsIt) {
  Lagrangian l;
  const Vector q = l.coordinates("q", 1), v = l.velocity(q);
  l.kinetic(0.5 * dot(v, v));
  l.force(q, {pow(v[0], 2.0)});  // v' = v^2: infinite at t = 1
  Simulation run(l, choose(8), {.tolerance = {1e-8, 1e-8}});
  run.start({.position = {0}, .velocity = {1}});
  try {
    run.until(2.0);
    FAIL() << "went through a pole";
  } catch (const StepFailure& e) {
    EXPECT_NEAR(run.state().t, 1, 1e-3);
    EXPECT_NE(std::string(e.what()).find("at t = "), std::string::npos) << e.what();
  }
}

TEST(Explicit, RefusesOtherOrdersAndFormulations) {
  EXPECT_THROW(make_method("explicit", {{"order", 7.0}}), InputError);
  EXPECT_THROW(make_method("explicit", {{"formulation", std::string("ggl")}}), InputError);
  EXPECT_THROW(make_method("explicit", {{"alpha", 3.0}}), InputError);
  EXPECT_THROW(make_method("explicit", {{"projection", std::string("all")}}), InputError);
}

// ---- drift (T10) ------------------------------------------------------------------------------------------------

// Exponent of the growth of max |g| and max |g_t + G v| between t = 2.5 and 40, and the values at 40.
struct Drift {
  double position, velocity, position_at_40, velocity_at_40;
};
Drift drift(const MethodChoice& method) {
  const Levels early = levels(pendulum(), method, 0.01, 2.5), late = levels(pendulum(), method, 0.01, 40);
  return {std::log2(late.position / early.position) / 4, std::log2(late.velocity / early.velocity) / 4, late.position,
          late.velocity};
}

TEST(Drift, OfIndexOneIsQuadraticInTime) {
  const Drift d = drift(controls::runge_kutta_4(false));
  const auto& golden_rows = golden()["drift"]["RK4 index1"];
  EXPECT_NEAR(d.position, 2.0, 0.01);  // 2.0012
  EXPECT_NEAR(d.velocity, 1.0, 0.03);  // 1.014
  EXPECT_NEAR(d.position_at_40 / golden_rows[4][1].get<double>(), 1, 1e-6);
  EXPECT_NEAR(d.velocity_at_40 / golden_rows[4][2].get<double>(), 1, 1e-4);
}

TEST(Drift, OfIndexTwoIsLinearInTime) {
  const Drift d = drift(half_explicit({.order = 3}));
  EXPECT_NEAR(d.position, 1.0, 0.03);  // 1.013
  EXPECT_NEAR(d.position_at_40 / golden()["drift"]["HERK3 index2"][4][1].get<double>(), 1, 1e-6);
  EXPECT_LT(d.velocity_at_40, 3e-15);  // 8.9e-16
}

TEST(Drift, IsNoneWithProjection) {
  MethodChoice projected = half_explicit({.order = 3, .projection = Projection::both});
  for (const double end : {2.5, 40.0}) {
    const Levels kept = levels(pendulum(), projected, 0.01, end);
    EXPECT_LT(kept.position, 1e-15);
    EXPECT_LT(kept.velocity, 3e-15);
  }
}

// ---- Baumgarte (T11) --------------------------------------------------------------------------------------------

// The classical method on the index-1 form with Baumgarte's terms.
State runge_kutta_4(const Problem& problem, const FormulationOptions& options, State s, double h, int steps,
                    double& worst) {
  Acceleration acceleration(problem.system, LinearAlgebra::automatic, options);
  const auto g = problem.system->evaluation({Quantity::constraint});
  const std::size_t n = s.y.size();
  std::vector<double> v(n), a(n), y(n), z(n), dy(n), dz(n);
  const double node[] = {0, 0.5, 0.5, 1}, weight[] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
  for (int k = 0; k < steps; ++k) {
    std::fill(dy.begin(), dy.end(), 0), std::fill(dz.begin(), dz.end(), 0);
    for (int i = 0; i < 4; ++i) {
      for (std::size_t j = 0; j < n; ++j) y[j] = s.y[j] + h * node[i] * v[j], z[j] = s.z[j] + h * node[i] * a[j];
      if (i == 0) y = s.y, z = s.z;
      if (!acceleration.compute(s.t + node[i] * h, y.data(), z.data(), s.psi.data(), v.data(), a.data())) {
        worst = INFINITY;
        return s;
      }
      for (std::size_t j = 0; j < n; ++j) dy[j] += weight[i] * v[j], dz[j] += weight[i] * a[j];
    }
    for (std::size_t j = 0; j < n; ++j) s.y[j] += h * dy[j], s.z[j] += h * dz[j];
    s.t += h;
    g->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    const double now = std::abs(*(*g)[Quantity::constraint]);
    worst = !(now <= worst) ? now : worst;
  }
  return s;
}

TEST(Baumgarte, ReproducesTheTable) {
  const Problem problem = pendulum();
  for (const auto& [key, row] : golden()["baumgarte"].items()) {
    const double alpha = std::stod(key.substr(key.rfind('=') + 1));
    double worst = 0;
    const State end = runge_kutta_4(problem, {Formulation::baumgarte, alpha, alpha},
                                    consistent_start(*problem.system, 0, problem.start), 0.02, 500, worst);
    if (row.is_string()) {
      EXPECT_FALSE(worst < 1) << key;  // blown up
      continue;
    }
    EXPECT_NEAR(worst / row["max_g"].get<double>(), 1, 1e-4) << key;
    EXPECT_LT(distance(end.y, goldens::numbers(row["p"])), 1e-8) << key;
  }
}

// alpha = beta: (g0 + (g0' + alpha g0) t) e^(-alpha t); without: g0 + g0' t
TEST(Baumgarte, ObeysItsLawFromInconsistentValues) {
  const Problem problem = pendulum();
  State s = problems::integrate(problem, choose(8), 0.01, 0.3);
  const auto& law = golden()["drift_laws"];
  for (std::size_t i = 0; i < 2; ++i) {
    s.y[i] += law["dp"][i].get<double>();
    s.z[i] += law["dv"][i].get<double>();
  }
  const auto at_end = [&](const FormulationOptions& options) {
    const auto method = explicit_runge_kutta({8, options, Projection::none}).bind(problem.system, {});
    State x = s;
    for (int k = 0; k < 100; ++k) EXPECT_TRUE(method->step(x, 0.01));
    return x.y[0] * x.y[0] + x.y[1] * x.y[1] - 1;
  };
  EXPECT_NEAR(at_end({Formulation::index_1}), law["res"]["index1"]["g_law"].get<double>(), 1e-12);
  EXPECT_NEAR(at_end({Formulation::baumgarte, 4, 4}), law["res"]["baum a=b=4"]["g_law"].get<double>(), 1e-12);
  EXPECT_NEAR(at_end({Formulation::baumgarte, 2, 4}), law["res"]["baum a=2,b=4"]["g_law"].get<double>(), 1e-12);
}

// ---- SHAKE and RATTLE (T13) -------------------------------------------------------------------------------------

Problem planar_double_pendulum() {
  Hamiltonian h;
  const Vector q = h.coordinates("q", 4), p = h.momenta("p", 4);
  h.hamiltonian((p[0] * p[0] + p[1] * p[1]) / 4.0 + (p[2] * p[2] + p[3] * p[3]) / 2.0 + 9.81 * (2.0 * q[1] + q[3]));
  h.constrain((q[0] * q[0] + q[1] * q[1] - 1.0) / 2.0);
  h.constrain((pow(q[2] - q[0], 2.0) + pow(q[3] - q[1], 2.0) - 1.0) / 2.0);
  return {h.build(), {.position = {1, 0, 1 + std::cos(0.5), std::sin(0.5)}, .momentum = {0, 0, 0, 0}}};
}

TEST(ShakeAndRattle, AreRelatedAsTheTheorySays) {
  const Problem problem = planar_double_pendulum();
  const std::vector<double> mass = {2, 2, 1, 1};
  for (const int n : {100, 200, 400, 800}) {
    const auto& row = golden()["shake_rattle"]["N=" + std::to_string(n)];
    const double h = 1.0 / n;
    State r = consistent_start(*problem.system, 0, problem.start), s = r;
    const auto rattle_step = rattle().bind(problem.system, {}), shake_step = shake().bind(problem.system, {});
    ConstraintProjection projection(problem.system, Projection::velocity);
    double positions = 0, multipliers = 0, velocities = 0;
    std::vector<std::vector<double>> q = {r.y};
    std::vector<State> rattled = {r};
    std::vector<double> late, shaken;  // of the end of the last step: RATTLE's, and SHAKE's
    for (int k = 0; k < n; ++k) {
      ASSERT_TRUE(rattle_step->step(r, h));
      ASSERT_TRUE(shake_step->step(s, h));
      positions = std::max(positions, distance(r.y, s.y));
      // lambda of SHAKE at a point = the mean of RATTLE's from before and after it
      const std::vector<double>& l = rattle_step->multipliers();
      if (k > 0) {
        std::vector<double> mean = {(late[0] + l[0]) / 2, (late[1] + l[1]) / 2};
        multipliers = std::max(multipliers, distance(mean, shaken));
      }
      late = {l[2], l[3]};
      shaken = s.psi;
      q.push_back(r.y);
      rattled.push_back(r);
    }
    for (std::size_t k = 1; k + 1 < q.size(); ++k) {
      State c = rattled[k];
      for (std::size_t i = 0; i < 4; ++i) c.z[i] = mass[i] * (q[k + 1][i] - q[k - 1][i]) / (2 * h);
      ASSERT_TRUE(projection.project(c.t, c.y.data(), c.z.data(), c.psi.data()));
      velocities = std::max(velocities, distance(c.z, rattled[k].z));
    }
    EXPECT_LT(positions, 1e-12);   // golden 1e-14 to 6e-14
    EXPECT_LT(multipliers, 1e-8);  // golden 6e-12 to 2e-10
    EXPECT_LT(velocities, 1e-11);  // golden 7e-14 to 4e-13
    EXPECT_LT(distance(r.y, goldens::numbers(row["q_T1"])), 1e-11);
    for (std::size_t i = 0; i < 4; ++i) r.z[i] /= mass[i];
    EXPECT_LT(distance(r.z, goldens::numbers(row["v_T1"])), 1e-10);
  }
}

}  // namespace
}  // namespace hinge::explicit_test
