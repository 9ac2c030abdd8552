// Work and precision of radau: Andrews' squeezing mechanism (7 coordinates, 6 constraints, to t = 0.03) and the double
// spherical pendulum (to t = 10), over tolerances, numbers of stages and formulations.
//
//   digits   -log10 of the largest error of y and z at the end, relative where numbers are larger than 1
//   ms       processor time of the run without setting up; J evaluations of F, LU factorisations
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hinge/hinge.hpp"
#include "measure.hpp"

namespace {

using hinge::Expression;
using hinge::Vector;

struct Problem {
  std::string title;
  std::shared_ptr<const hinge::System> system;
  hinge::Start start;
  double end;
  std::vector<double> reference;  // y and z at the end
};

Problem andrews() {
  const double m1 = .04325, m2 = .00365, m3 = .02373, m4 = .00706, m5 = .07050, m6 = .00706, m7 = .05498;
  const double i1 = 2.194e-6, i2 = 4.410e-7, i3 = 5.255e-6, i4 = 5.667e-7, i5 = 1.169e-5, i6 = 5.667e-7, i7 = 1.912e-5;
  const double xa = -.06934, ya = -.00227, xb = -.03635, yb = .03273, xc = .014, yc = .072, c0 = 4530, l0 = .07785;
  const double mom = .033, d = .028, da = .0115, e = .02, ea = .01421, rr = .007, ra = .00092, ss = .035, sa = .01874;
  const double sb = .01043, sc = .018, sd = .02, ta = .02308, tb = .00916, u = .04, ua = .01228, ub = .00449, zf = .02;
  const double zt = .04, fa = .01421;
  hinge::Mechanical m;
  const Vector q = m.coordinates("q", 7), v = m.velocity(q);
  const Expression be = q[0], th = q[1], ga = q[2], ph = q[3], de = q[4], om = q[5], ep = q[6];
  std::vector<Expression> mass(49, Expression(0.0));
  const auto set = [&](int i, int j, const Expression& x) {
    mass[static_cast<std::size_t>(7 * i + j)] = x;
    mass[static_cast<std::size_t>(7 * j + i)] = x;
  };
  set(0, 0, m1 * ra * ra + m2 * (rr * rr - 2 * da * rr * cos(th) + da * da) + i1 + i2);
  set(0, 1, m2 * (da * da - da * rr * cos(th)) + i2);
  set(1, 1, Expression(m2 * da * da + i2));
  set(2, 2, Expression(m3 * (sa * sa + sb * sb) + i3));
  const double ee = e - ea, ff = zf - fa;
  set(3, 3, Expression(m4 * ee * ee + i4));
  set(3, 4, m4 * (ee * ee + zt * ee * sin(ph)) + i4);
  set(4, 4, m4 * (zt * zt + 2 * zt * ee * sin(ph) + ee * ee) + m5 * (ta * ta + tb * tb) + i4 + i5);
  set(5, 5, Expression(m6 * ff * ff + i6));
  set(5, 6, m6 * (ff * ff - u * ff * sin(om)) + i6);
  set(6, 6, m6 * (ff * ff - 2 * u * ff * sin(om) + u * u) + m7 * (ua * ua + ub * ub) + i6 + i7);
  m.mass(Vector(mass));
  const Expression xd = sd * cos(ga) + sc * sin(ga) + xb, yd = sd * sin(ga) - sc * cos(ga) + yb;
  const Expression length = sqrt((xd - xc) * (xd - xc) + (yd - yc) * (yd - yc));
  const Expression force = -c0 * (length - l0) / length;
  const Expression fx = force * (xd - xc), fy = force * (yd - yc);
  m.force(Vector(std::vector<Expression>{
      mom - m2 * da * rr * v[1] * (v[1] + 2 * v[0]) * sin(th), m2 * da * rr * v[0] * v[0] * sin(th),
      fx * (sc * cos(ga) - sd * sin(ga)) + fy * (sd * cos(ga) + sc * sin(ga)), m4 * zt * ee * v[4] * v[4] * cos(ph),
      -m4 * zt * ee * v[3] * (v[3] + 2 * v[4]) * cos(ph), -m6 * u * ff * v[6] * v[6] * cos(om),
      m6 * u * ff * v[5] * (v[5] + 2 * v[6]) * cos(om)}));
  const Expression x = rr * cos(be) - d * cos(be + th), y = rr * sin(be) - d * sin(be + th);
  m.constrain(x - ss * sin(ga) - xb);
  m.constrain(y + ss * cos(ga) - yb);
  m.constrain(x - e * sin(ph + de) - zt * cos(de) - xa);
  m.constrain(y + e * cos(ph + de) - zt * sin(de) - ya);
  m.constrain(x - zf * cos(om + ep) - u * sin(ep) - xa);
  m.constrain(y - zf * sin(om + ep) + u * cos(ep) - ya);
  return {"Andrews' squeezing mechanism",
          m.build(),
          {.position = {-0.0617138900142764496, 0, 0.455279819163070380, 0.222668390165885884, 0.487364979543842550,
                        -0.222668390165885884, 1.23054744454982119}},
          0.03,
          {15.81077119515370, -15.75637105841183, 0.04082224011964571, -0.5347301163420798, 0.5244099658799541,
           0.5347301163420798, 1.048080741041938, 1139.920302259106, -1424.379295177541, 11.03291191061592,
           19.29337410502737, 0.5735699148293643, -19.29337410502737, 0.3231791492490498}};
}

Problem double_spherical_pendulum() {
  hinge::Lagrangian l;
  const Vector a = l.coordinates("q1", 3), b = l.coordinates("q2", 3), va = l.velocity(a), vb = l.velocity(b);
  l.kinetic(0.5 * (dot(va, va) + dot(vb, vb)));
  l.potential(9.81 * (a[2] + b[2]));
  l.constrain(0.5 * (dot(a, a) - 1));
  const Vector c = b - a;
  l.constrain(0.5 * (dot(c, c) - 1));
  return {
      "double spherical pendulum",
      l.build(),
      {.position = {1, 0, 0, 2, 0, 0}, .velocity = {0, 0.5, 0, 0, 1, 0.3}, .consistent = hinge::Consistency::project},
      10,
      {}};
}

struct Run {
  double digits = 0, seconds = 0;
  hinge::Counters counters;
  std::vector<double> end;
};

Run measure(const Problem& p, const hinge::MethodChoice& method, double tolerance) {
  Run run;
  const auto once = [&](hinge::Simulation& s) { s.until(p.end); };
  std::vector<double> times;
  for (int k = 0; k < 5; ++k) {
    hinge::Simulation s(p.system, method, {.tolerance = {tolerance, tolerance}});
    s.start(p.start);
    times.push_back(bench::time_of([&] { once(s); }));
    run.counters = s.report().counters;
    run.end = s.state().y;
    run.end.insert(run.end.end(), s.state().z.begin(), s.state().z.end());
  }
  run.seconds = bench::median(times);
  double error = 0;
  for (std::size_t k = 0; k < p.reference.size(); ++k)
    error = std::max(error, std::abs(run.end[k] - p.reference[k]) / std::max(1.0, std::abs(p.reference[k])));
  run.digits = -std::log10(error + 1e-16);
  return run;
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = bench::quick(argc, argv);
  Problem dsp = double_spherical_pendulum();
  dsp.reference = measure(dsp, hinge::radau({.stages = 7}), 1e-13).end;
  const std::vector<Problem> problems = {andrews(), dsp};
  const std::vector<hinge::Formulation> formulations = {hinge::Formulation::projected_invariants,
                                                        hinge::Formulation::ggl, hinge::Formulation::index_1,
                                                        hinge::Formulation::index_2, hinge::Formulation::index_3};
  for (const Problem& p : problems) {
    fmt::print("{}\n{:>22} {:>6} {:>9} {:>7} {:>8} {:>6} {:>5} {:>5} {:>6} {:>6} {:>5}\n", p.title, "formulation", "s",
               "tolerance", "digits", "ms", "steps", "rej", "fail", "iter", "F", "LU");
    for (const hinge::Formulation f : formulations) {
      if (quick && f != formulations.front()) continue;
      for (const int stages : {3, 5, 7, 0})
        for (const double tolerance : {1e-6, 1e-8, 1e-10, 1e-12}) {
          hinge::RadauOptions options;
          options.stages = stages;
          options.formulation.formulation = f;
          try {
            const Run r = measure(p, hinge::radau(options), tolerance);
            fmt::print("{:>22} {:>6} {:>9.0e} {:>7.1f} {:>8.2f} {:>6} {:>5} {:>5} {:>6} {:>6} {:>5}\n",
                       hinge::formulation_name(f), stages > 0 ? std::to_string(stages) : "var", tolerance, r.digits,
                       1e3 * r.seconds, r.counters.steps, r.counters.rejected, r.counters.failed, r.counters.iterations,
                       r.counters.evaluations, r.counters.factorisations);
            std::fflush(stdout);
          } catch (const hinge::Error& error) {
            fmt::print("{:>22} {:>6} {:>9.0e} {}\n", hinge::formulation_name(f), stages, tolerance, error.what());
          }
        }
    }
  }
}
