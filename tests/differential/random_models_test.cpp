// Claims: what methods compute of random models is what an independent integrator, or a formula, says.
#include "differential/differential.hpp"
#include "treachery/reference.hpp"

namespace hinge::test::random_models_test {
namespace {

using Values = std::vector<double>;
constexpr int families = 6;

// ---- A point on an ellipse that grows and shrinks, with a mass that depends on where it is, in any units
// -------------
//
//   q = rho(t) (a cos x, b sin x) in units of length, m(q) = 1 + k q0^2, U = m0 g q1 + c q0^2/2:
//   m |q_x|^2 x'' = -q_x . (m w + (m' . q') q' - m' |q'|^2/2 + U'),   w = q_xx x'^2 + 2 q_xt x' + q_tt

struct Ellipse {
  double a, b, k, g, c, grow, beat, x0, v0;
  Numbers right_side(long double t, const Numbers& x) const {
    const long double C = std::cos(x[0]), S = std::sin(x[0]), r = 1 + grow * std::sin(beat * t),
                      r1 = grow * beat * std::cos(beat * t), r2 = -grow * beat * beat * std::sin(beat * t), v = x[1];
    const long double qx[] = {-r * a * S, r * b * C};
    const long double q0 = r * a * C, q1[] = {r1 * a * C + qx[0] * v, r1 * b * S + qx[1] * v};
    const long double w[] = {-r * a * C * v * v - 2 * r1 * a * S * v + r2 * a * C,
                             -r * b * S * v * v + 2 * r1 * b * C * v + r2 * b * S};
    const long double m = 1 + k * q0 * q0, m0 = 2 * k * q0, speed = q1[0] * q1[0] + q1[1] * q1[1];
    const long double force[] = {m * w[0] + m0 * q1[0] * q1[0] - m0 * speed / 2 + c * q0,
                                 m * w[1] + m0 * q1[0] * q1[1] + g};
    return {v, -(qx[0] * force[0] + qx[1] * force[1]) / (m * (qx[0] * qx[0] + qx[1] * qx[1]))};
  }
};

RandomModel ellipse(Draw& draw) {
  const Ellipse e{draw.uniform(0.7, 1.5), draw.uniform(0.7, 1.5), draw.pick(2) ? draw.uniform(0.1, 1) : 0.0,
                  draw.uniform(0, 5),     draw.uniform(0, 3),     draw.pick(2) ? draw.uniform(0.02, 0.2) : 0.0,
                  draw.uniform(1, 4),     draw.uniform(0, 6.2),   draw.uniform(-1.5, 1.5)};
  const double L = draw.unit(6), T = draw.unit(3), M = draw.unit(6), scale = draw.unit(3);
  const bool hamiltonian = draw.pick(2);
  const std::string mass = e.k > 0 ? fmt::format("M*(1 + {:.17g}*(q[0]/L)^2)", e.k) : "M";
  const std::string energy = fmt::format("M*{:.17g}*L/T^2*q[1] + M*{:.17g}/T^2*q[0]^2/2", e.g, e.c);
  const std::string rho = e.grow > 0 ? fmt::format("(1 + {:.17g}*sin({:.17g}*t/T))", e.grow, e.beat) : "1";
  RandomModel m;
  m.text = fmt::format("[parameters]\nL = {:.17g}\nT = {:.17g}\nM = {:.17g}\n", L, T, M);
  m.text +=
      hamiltonian
          ? fmt::format(
                "[hamiltonian]\ncoordinates = [\"q[2]\"]\nmomenta = [\"p[2]\"]\nhamiltonian = "
                "\"dot(p,p)/(2*{}) + {}\"\n",
                mass, energy)
          : fmt::format("[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"{}/2*dot(q',q')\"\npotential = \"{}\"\n",
                        mass, energy);
  m.text += fmt::format("constraints = [\"{:.17g}*((q[0]/({:.17g}*L*{}))^2 + (q[1]/({:.17g}*L*{}))^2 - 1)\"]\n", scale,
                        e.a, rho, e.b, rho);
  const double C = std::cos(e.x0), S = std::sin(e.x0), r1 = e.grow * e.beat;
  const double q[] = {L * e.a * C, L * e.b * S};
  const double v[] = {L / T * (r1 * e.a * C - e.a * S * e.v0), L / T * (r1 * e.b * S + e.b * C * e.v0)};
  const double m0 = hamiltonian ? M * (1 + e.k * e.a * e.a * C * C) : 1;
  m.text += fmt::format(
      "[initial]\nconsistent = \"project\"\nposition = {{ q = [{:.17g}, {:.17g}] }}\n{} = {{ {} = [{:.17g}, {:.17g}] "
      "}}\n",
      q[0], q[1], hamiltonian ? "momentum" : "velocity", hamiltonian ? "p" : "q", m0 * v[0], m0 * v[1]);
  m.text += fmt::format("[integrate]\nend = {:.17g}\n[output]\ninterval = {:.17g}\n", T, 0.073 * T);
  m.columns = {"q[0]", "q[1]"};
  auto angle = std::make_shared<Reference>([e](long double t, const Numbers& x) { return e.right_side(t, x); }, 0,
                                           Numbers{e.x0, e.v0}, 0.1L);
  m.motion = [=](double t) {
    const long double s = static_cast<long double>(t) / T, x = angle->at(s)[0], r = 1 + e.grow * std::sin(e.beat * s);
    return Values{L * static_cast<double>(r * e.a * std::cos(x)), L * static_cast<double>(r * e.b * std::sin(x))};
  };
  m.step = 0.01 * T;
  m.tolerance = {1e-8, 1e-8 * L * std::min({1.0, 1 / T, hamiltonian ? M / T : 1.0})};
  return m;
}

// ---- DAEs of index 1, 2 and 3 that were made for their solutions
// ---------------------------------------------------------

struct Wave {  // c + a sin(w t + f)
  double c, a, w, f;
  explicit Wave(Draw& draw)
      : c(draw.uniform(-1, 1)), a(draw.uniform(0.3, 1)), w(draw.uniform(0.5, 4)), f(draw.uniform(0, 6)) {}
  double at(double t) const { return c + a * std::sin(w * t + f); }
  std::string text() const { return fmt::format("({:.17g} + {:.17g}*sin({:.17g}*t + {:.17g}))", c, a, w, f); }
  std::string slope() const { return fmt::format("({:.17g}*cos({:.17g}*t + {:.17g}))", a * w, w, f); }
  std::string curve() const { return fmt::format("(-({:.17g})*sin({:.17g}*t + {:.17g}))", a * w * w, w, f); }
};

RandomModel manufactured(Draw& draw) {
  const Wave X(draw), Y(draw), Z(draw);
  const int index = 1 + draw.pick(3);
  const double a = draw.uniform(-2, 2), b = draw.sign() * draw.uniform(0.5, 2), c = draw.uniform(0.5, 2),
               d = draw.uniform(-1, 1), scale = draw.unit(2);
  RandomModel m;
  const auto equation = [&](const std::string& form, const char* x, const char* y, const char* z, const char* dx,
                            const char* dy) {
    return fmt::vformat(form, fmt::make_format_args(a, b, c, d, x, y, z, dx, dy));
  };
  const std::string Xt = X.text(), Yt = Y.text(), Zt = Z.text(), dX = X.slope(), dY = Y.slope();
  std::vector<std::string> forms;
  if (index == 1)  // y and z follow from x, which is differential
    forms = {"{7} - {0}*{4} - {1}*{5}*{6}", "{5}^3 + {2}*{5} + {3}*{4}", "{2}*{6} - {1}*{4}*{5}"};
  else if (index == 2)  // z keeps x + c y where it shall be
    forms = {"{7} - {0}*{4}*{5} - {1}*{6}", "{8} + {5} - {3}*{4} - {1}*{2}*{6}", "{4} + {2}*{5}"};
  std::string equations;
  for (const std::string& form : forms) {
    const std::string own = equation(form, "x", "y", "z", "x'", "y'");
    const std::string exact = equation(form, Xt.c_str(), Yt.c_str(), Zt.c_str(), dX.c_str(), dY.c_str());
    equations += fmt::format("  \"{:.17g}*({} - ({}))\",\n", scale, own, exact);
  }
  std::string names = "\"x\", \"y\", \"z\"",
              values = fmt::format("x = {:.17g}, y = {:.17g}, z = {:.17g}", X.at(0), Y.at(0), Z.at(0));
  if (index == 3) {  // x and y move on a curve that the solution makes; z holds them there
    const auto force = [&](const char* x, const char* y, const char* z, bool second) {
      return second ? fmt::format("(-{}*{} + {}*2*{}*{})", c, y, z, b, y) : fmt::format("({}*{} + {}*1)", a, x, z);
    };
    equations = fmt::format(
        "  \"x' - u\",\n  \"y' - v\",\n  \"u' - {} - {} + {}\",\n  \"v' - {} - {} + {}\",\n"
        "  \"{:.17g}*(x + {}*y^2 - ({} + {}*{}^2))\",\n",
        force("x", "y", "z", false), X.curve(), force(Xt.c_str(), Yt.c_str(), Zt.c_str(), false),
        force("x", "y", "z", true), Y.curve(), force(Xt.c_str(), Yt.c_str(), Zt.c_str(), true), scale, b, Xt, b, Yt);
    names = "\"x\", \"y\", \"u\", \"v\", \"z\"";
    values += fmt::format(", u = {:.17g}, v = {:.17g}", X.a * X.w * std::cos(X.f), Y.a * Y.w * std::cos(Y.f));
  }
  m.text = fmt::format(
      "[dae]\nunknowns = [{}]\nequations = [\n{}]\n[initial]\nconsistent = \"project\"\nunknowns = {{ {} }}\n"
      "[integrate]\nend = 1\n[output]\ninterval = 0.073\n",
      names, equations, values);
  m.second_order = 0.6;  // moreau-jean is an implicit Euler method here
  m.columns = {"x", "y", "z"};
  m.motion = [=](double t) { return Values{X.at(t), Y.at(t), Z.at(t)}; };
  m.step = 0.005;
  return m;
}

// ---- A cart under a force by pieces: switches, tables, kinks; with events and quantities
// ---------------------------------

RandomModel cart(Draw& draw) {
  const bool lines = draw.pick(2), inside = draw.pick(2);
  const int pieces = 2 + draw.pick(10);
  std::vector<double> times{0}, low, high;
  for (int k = 0; k < pieces; ++k) {
    times.push_back(times.back() + draw.uniform(0.1, 0.5));
    low.push_back(draw.uniform(-2, 2));
    high.push_back(lines ? draw.uniform(-2, 2) : low.back());
  }
  std::string force;
  for (std::size_t k = 0; k < low.size(); ++k)
    force += fmt::format("{}if(t >= {:.17g} and t < {:.17g}, {:.17g} + {:.17g}*(t - {:.17g}), 0)", k > 0 ? " + " : "",
                         times[k], times[k + 1], low[k], (high[k] - low[k]) / (times[k + 1] - times[k]), times[k]);
  RandomModel m;
  const double mass = draw.unit(3);
  std::string table;
  if (lines && draw.pick(2)) {  // the same as a table, which is zero from the end on, and steps between its lines
    for (std::size_t k = 0; k < low.size(); ++k) {
      if (k > 0) high[k - 1] = low[k];
      table += fmt::format("{}[{:.17g}, {:.17g}]", k > 0 ? ", " : "", times[k], low[k]);
    }
    table =
        fmt::format("[tables]\nf = {{ points = [{}, [{:.17g}, {:.17g}]], kind = \"linear\", beyond = \"constant\" }}\n",
                    table, times.back(), high.back());
    force = "f(t)";
  }
  m.text =
      table +
      fmt::format(
          "[mechanical]\ncoordinates = [\"x\"]\nmass = [{:.17g}]\nforce = [\"{:.17g}*({})\"]\n[initial]\nposition = {{ "
          "x = "
          "0 }}\n[integrate]\nend = {:.17g}\n"
          "[[event]]\nname = \"there\"\nroot = \"x - {:.17g}\"\n[output]\nquantities = {{ twice = \"2*x + x'\" }}\n{}",
          mass, mass, force, times.back(), draw.uniform(-0.3, 0.3), inside ? "interval = 0.0731\n" : "");
  m.columns = {"x", "x'", "twice"};
  m.motion = [=](double t) {
    double x = 0, v = 0;
    for (std::size_t k = 0; k < low.size() && times[k] < t; ++k) {
      const double h = times[k + 1] - times[k], s = std::min(t, times[k + 1]) - times[k],
                   slope = (high[k] - low[k]) / h;
      x += v * s + low[k] * s * s / 2 + slope * s * s * s / 6;
      v += low[k] * s + slope * s * s / 2;
    }
    return Values{x, v, 2 * x + v};
  };
  m.first_order = m.second_order = m.higher_order = 0.6;  // across switches all are of order 1
  m.step = 0.005;
  return m;
}

// ---- A ball that bounces
// -----------------------------------------------------------------------------------------------

RandomModel ball(Draw& draw) {
  const double g = draw.uniform(0.5, 20), e = draw.uniform(0.3, 1), height = draw.uniform(0.2, 2), L = draw.unit(4);
  const double fall = std::sqrt(2 * height / g), end = fall * (1 + 2 * e + e * e);  // in the third flight
  RandomModel m;
  m.text = fmt::format(
      "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\npotential = \"{:.17g}*x\"\nunilateral = [{{ gap = "
      "\"x\", "
      "restitution = {:.17g} }}]\n[initial]\nposition = {{ x = {:.17g} }}\n[integrate]\nend = {:.17g}\n",
      g * L, e, height * L, end);
  m.columns = {"x"};
  m.motion = [=](double t) {
    if (t < fall) return Values{L * (height - g * t * t / 2)};
    double begin = fall, up = e * g * fall;
    while (t > begin + 2 * up / g) begin += 2 * up / g, up *= e;
    const double s = t - begin;
    return Values{L * (up * s - g * s * s / 2)};
  };
  m.step = end / 2000;
  m.tolerance = {1e-8, 1e-8 * L};
  m.first_order = m.second_order = m.higher_order = 0.03;
  return m;
}

// ---- Chains and trees of rods in the plane, as bodies with joints
// -------------------------------------------------------------------
//
// The middle of rod b is at sum_a c_ba (cos x_a, sin x_a): c_ba = l_a for the rods that carry it, l_b/2 for its own.
//
//   sum_j A_ij (cos(x_i - x_j) x_j'' + sin(x_i - x_j) x_j'^2) = -g b_i cos(x_i),
//   A_ij = sum_b m_b c_bi c_bj + I_i delta_ij,   b_i = sum_b m_b c_bi

RandomModel rods(Draw& draw, bool branches) {
  const std::size_t n =
      branches ? 3 + static_cast<std::size_t>(draw.pick(3)) : 1 + static_cast<std::size_t>(draw.pick(3));
  const double L = draw.unit(3), M = draw.unit(3), g = 9.81;
  std::vector<double> l, mass, inertia, angle, rate;
  std::vector<std::size_t> parent;  // n: the ground
  for (std::size_t i = 0; i < n; ++i) {
    l.push_back(draw.uniform(0.4, 1.2));
    mass.push_back(draw.uniform(0.3, 2));
    inertia.push_back(mass[i] * l[i] * l[i] * draw.uniform(0.05, 0.2));
    angle.push_back(draw.uniform(-2.5, -0.5));
    rate.push_back(draw.uniform(-1, 1));
    parent.push_back(i == 0 ? n : branches ? static_cast<std::size_t>(draw.pick(static_cast<int>(i))) : i - 1);
  }
  RandomModel m;
  const double T = std::sqrt(L);  // so that gravity stays as it is
  m.text = fmt::format("[multibody]\ngravity = [0, -{:.17g}]\n", g);
  std::vector<std::array<double, 4>> ends(n + 1);  // x, y and their rates; of the ground: zero
  std::vector<std::vector<double>> c(n, std::vector<double>(n, 0.0));
  std::string joints;
  for (std::size_t i = 0; i < n; ++i) {
    const double half = l[i] / 2 * std::cos(angle[i]), rise = l[i] / 2 * std::sin(angle[i]);
    const auto [x, y, u, v] = ends[parent[i]];
    m.text += fmt::format(
        "[[body]]\nname = \"rod{}\"\nmass = {:.17g}\ninertia = {:.17g}\nposition = [{:.17g}, {:.17g}]\nangle = "
        "{:.17g}\n"
        "velocity = [{:.17g}, {:.17g}]\nangular_velocity = {:.17g}\ncollide = false\n",
        i, M * mass[i], M * L * L * inertia[i], L * (x + half), L * (y + rise), angle[i], L / T * (u - rise * rate[i]),
        L / T * (v + half * rate[i]), rate[i] / T);
    joints += fmt::format("[[joint]]\ntype = \"revolute\"\nbodies = [\"{}\", \"rod{}\"]\npoint = [{:.17g}, {:.17g}]\n",
                          i == 0 ? "ground" : fmt::format("rod{}", parent[i]), i, L * x, L * y);
    ends[i] = {x + 2 * half, y + 2 * rise, u - 2 * rise * rate[i], v + 2 * half * rate[i]};
    for (std::size_t a = parent[i]; a < n; a = parent[a]) c[i][a] = l[a];
    c[i][i] = l[i] / 2;
    m.columns.push_back(fmt::format("rod{}_angle", i));
  }
  m.text +=
      joints +
      fmt::format("[initial]\nconsistent = \"project\"\n[integrate]\nend = {:.17g}\n[output]\ninterval = {:.17g}\n",
                  0.8 * T, 0.073 * T);
  const auto right_side = [=](long double, const Numbers& state) {
    std::vector<Numbers> A(n, Numbers(n + 1));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        long double a = i == j ? inertia[i] : 0;
        for (std::size_t b = 0; b < n; ++b) {
          a += mass[b] * c[b][i] * c[b][j];
          if (i == j) A[i][n] -= g * mass[b] * c[b][i] * std::cos(state[i]);
        }
        A[i][j] = a * std::cos(state[i] - state[j]);
        A[i][n] -= a * std::sin(state[i] - state[j]) * state[n + j] * state[n + j];
      }
    for (std::size_t k = 0; k < n; ++k)  // positive definite: no pivots are needed
      for (std::size_t i = 0; i < n; ++i) {
        if (i == k) continue;
        const long double f = A[i][k] / A[k][k];
        for (std::size_t j = k; j <= n; ++j) A[i][j] -= f * A[k][j];
      }
    Numbers out(state.begin() + static_cast<long>(n), state.end());
    for (std::size_t i = 0; i < n; ++i) out.push_back(A[i][n] / A[i][i]);
    return out;
  };
  Numbers begin(angle.begin(), angle.end());
  begin.insert(begin.end(), rate.begin(), rate.end());
  auto angles = std::make_shared<Reference>(right_side, 0, begin, 0.01L);
  m.motion = [=](double t) {
    const Numbers a = angles->at(static_cast<long double>(t) / T);
    return Values(a.begin(), a.begin() + static_cast<long>(n));
  };
  m.step = 0.005 * T;
  m.tolerance = {1e-8, 1e-8 * L * std::min(1.0, 1 / T)};
  return m;
}
RandomModel chain(Draw& draw) { return rods(draw, false); }
RandomModel tree(Draw& draw) { return rods(draw, true); }

// Multipliers of implicit Euler at index 3 are of order 0.
bool known(const Way& way, const Outcome& o) { return way.text == "moreau-jean" && o.where.starts_with("z "); }

void expect_no_findings(const Findings& found) {
  EXPECT_EQ(found.wrong, 0) << summary(found);
  EXPECT_LT(found.refused, found.runs);
  EXPECT_LE(found.coarse, 1 + found.runs / 1000) << summary(found);
}

TEST(RandomModels, PointsOnEllipsesInAnyUnits) {
  expect_no_findings(search(draws(models_of_family(families)), ellipse, known));
}
TEST(RandomModels, ManufacturedDaes) {
  expect_no_findings(search(draws(models_of_family(families)), manufactured, known));
}
TEST(RandomModels, CartsUnderForcesByPieces) {
  expect_no_findings(search(draws(models_of_family(families)), cart, known));
}
TEST(RandomModels, BallsThatBounce) { expect_no_findings(search(draws(models_of_family(families)), ball, known)); }
// Of hundreds of thousands: motions that multiply errors by 1e4 to 1e10, which nobody said.
TEST(RandomModels, ThoseThatWereWrongOnce) {
  expect_no_findings(search({1000411, 1002527, 1008655, 1014305, 1018363, 916003191}, manufactured, known));
}
TEST(RandomModels, ChainsOfRods) { expect_no_findings(search(draws(models_of_family(families)), chain, known)); }

TEST(RandomModels, TreesOfRods) { expect_no_findings(search(draws(models_of_family(families)), tree, known)); }

}  // namespace
}  // namespace hinge::test::random_models_test
