// Treachery: mechanisms near singular positions, units, drift, dependent constraints, contacts that sink in.
#include <array>
#include <numbers>
#include <random>

#include "treachery/reference.hpp"
#include "treachery/treachery.hpp"

namespace hinge::test::mechanism_test {
namespace {

using std::cos, std::sin, std::numbers::pi;
using Demand = Treachery::Demand;
using Values = std::vector<double>;

// ---- A slider-crank that turns freely: a'^2 J(a)/2 = E

std::string slider_crank(double l, double end) {
  return fmt::format(R"toml([parameters]
r = 0.1
l = {}
[lagrangian]
coordinates = ["A[2]", "x"]
kinetic = "0.5/6*dot(A',A') + 0.4/6*(dot(A',A') + A[0]'*x' + x'^2) + 0.2/2*x'^2"
constraints = ["(dot(A,A) - r^2)/2", "((x - A[0])^2 + A[1]^2 - l^2)/2"]
[initial]
position = {{ A = ["r", 0], x = "r + l" }}
velocity = {{ A = [0, "r*50"] }}
[integrate]
end = {}
)toml",
                     l, end);
}
Motion slider_crank_motion(double length) {
  const long double r = 0.1L, l = length;
  const auto slope = [=](long double a) {  // dx/da
    return -r * std::sin(a) - r * r * std::sin(a) * std::cos(a) / std::sqrt(l * l - r * r * std::sin(a) * std::sin(a));
  };
  const auto inertia = [=](long double a) {
    const long double s = slope(a);
    return 2 * (0.5L / 6 * r * r + 0.4L / 6 * (r * r - r * std::sin(a) * s + s * s) + 0.1L * s * s);
  };
  const long double momentum = 50 * std::sqrt(inertia(0));
  auto angle = std::make_shared<Reference>(
      [=](long double, const Numbers& a) { return Numbers{momentum / std::sqrt(inertia(a[0]))}; }, 0, Numbers{0},
      length < 0.11 ? 2e-5L : 1e-3L);
  return [=](double t) {
    const long double a = angle->at(t)[0];
    return Values{static_cast<double>(r * std::cos(a)), static_cast<double>(r * std::sin(a)),
                  static_cast<double>(r * std::cos(a) + std::sqrt(l * l - r * r * std::sin(a) * std::sin(a)))};
  };
}

// ---- A pendulum of any units, in coordinates that may lie far away

struct Pendulum {
  double length = 1, mass = 1, time = 1;  // units
  double scale = 1;                       // of the constraint
  double at = 0;                          // where it hangs
  double angle = 1.5, rate = 0;           // at the start, from below; the rate in units
  double end = 10;
  double damping = 0;
};
std::string pendulum_model(const Pendulum& p, const std::string& integrate = "", const std::string& more = "") {
  const double g = 9.81 * p.length / p.time / p.time, speed = p.rate * p.length / p.time;
  return fmt::format(R"toml([lagrangian]
coordinates = ["q[2]"]
kinetic = "{0:.17g}/2*dot(q',q')"
potential = "{1:.17g}*q[1]"
constraints = ["{2:.17g}*((q[0]-{3:.17g})^2 + q[1]^2 - {4:.17g}^2)"{10}]
[initial]
position = {{ q = ["{3:.17g} + {4:.17g}*sin({5:.17g})", "-{4:.17g}*cos({5:.17g})"] }}
velocity = {{ q = ["{6:.17g}*cos({5:.17g})", "{6:.17g}*sin({5:.17g})"] }}
[integrate]
end = {7:.17g}
{8}
[output]
interval = {9:.17g}
)toml",
                     p.mass, p.mass * g, p.scale, p.at, p.length, p.angle, speed, p.end * p.time, integrate,
                     0.25 * p.time, more);
}
Motion pendulum_motion(const Pendulum& p) {
  auto angle = std::make_shared<Reference>(
      [](long double, const Numbers& x) {
        return Numbers{x[1], -9.81L * std::sin(x[0])};
      },
      0, Numbers{p.angle, p.rate}, 0.05L);
  return [=](double t) {
    const long double a = angle->at(static_cast<long double>(t) / p.time)[0];
    return Values{p.at + p.length * static_cast<double>(std::sin(a)), -p.length * static_cast<double>(std::cos(a))};
  };
}
const std::vector<std::string> q{"q[0]", "q[1]"};

std::string parallelogram() {
  return R"toml([lagrangian]
coordinates = ["B[2][2]"]
kinetic = "sum(k, 0, 1, dot(B'[k], B'[k]))/6 + (dot(B'[0], B'[0]) + dot(B'[0], B'[1]) + dot(B'[1], B'[1]))/6"
potential = "9.81*((B[0][1] + B[1][1])/2 + (B[0][1] + B[1][1])/2)"
constraints = ["dot(B[0], B[0]) - 1", "dot(B[1] - [1, 0], B[1] - [1, 0]) - 1", "dot(B[1] - B[0], B[1] - B[0]) - 1"]
[initial]
position = { B = [[0, 1], [1, 1]] }
velocity = { B = [[1, 0], [1, 0]] }
[integrate]
end = 2
)toml";
}

std::vector<Treachery> cases() {
  std::vector<Treachery> all;
  struct Crank {
    const char* name;
    double l, h;
    Demand demand;
  };
  for (const Crank& c :
       {Crank{"crank", 0.3, 0.001, Demand::right}, Crank{"crank_near_singular", 0.1005, 0.0002, Demand::right_or_said},
        Crank{"crank_jumps", 0.100001, 0.001, Demand::right_or_said},
        Crank{"crank_jumps_and_fails", 0.100001, 0.0005, Demand::right_or_said},
        Crank{"crank_jumps_elsewhere", 0.10003, 0.0013, Demand::right_or_said},
        Crank{"crank_turns_back", 0.100001, 0.00005, Demand::right_or_said}})
    all.push_back({.name = c.name,
                   .model = slider_crank(c.l, 0.25),
                   .columns = {"A[0]", "A[1]", "x"},
                   .motion = slider_crank_motion(c.l),
                   .step = c.h,
                   .tolerance = 1e-9,
                   .fine = 0.1,
                   .factor = 1e6,
                   .demand = c.demand});
  all.push_back({.name = "parallelogram_through_flat",
                 .model = parallelogram(),
                 .columns = {"B[0][0]", "B[0][1]", "B[1][0]"},
                 .motion =
                     [angle = std::make_shared<Reference>(
                          [](long double, const Numbers& x) {
                            return Numbers{x[1], -9.81L * 2 / (2.0L / 3 + 1) * std::cos(x[0])};
                          },
                          0, Numbers{std::numbers::pi_v<long double> / 2, -1}, 0.02L)](double t) {
                       const long double a = angle->at(t)[0];
                       return Values{static_cast<double>(std::cos(a)), static_cast<double>(std::sin(a)),
                                     static_cast<double>(1 + std::cos(a))};
                     },
                 .step = 0.002,
                 .factor = 1e6});
  // ---- Units
  const std::array<Pendulum, 5> units{
      Pendulum{.length = 1e6, .mass = 1e-6, .time = 1e3}, Pendulum{.length = 1e-6, .mass = 1e6, .time = 1e-3},
      Pendulum{.mass = 1e5, .scale = 1e-3}, Pendulum{.length = 1e-3, .mass = 1e-6, .scale = 1e6}, Pendulum{.at = 1e6}};
  const char* const unit_names[] = {"units_large", "units_small", "constraint_scaled_down", "constraint_scaled_up",
                                    "far_from_the_origin"};
  for (std::size_t k = 0; k < units.size(); ++k)
    all.push_back({
        .name = unit_names[k],
        .model = pendulum_model(units[k]),
        .columns = q,
        .motion = pendulum_motion(units[k]),
        .step = 0.005 * units[k].time,
        .tolerance = 1e-9,
        .absolute = 1e-9 * units[k].length * std::min(1.0, 1 / units[k].time),
        .coarse = 0.5,
        .factor = 1e5,
    });
  // ---- Drift and long runs
  const char* const forms[][2] = {{"drift_index_1", "index-1"},
                                  {"drift_index_2", "index-2"},
                                  {"drift_index_3", "index-3"},
                                  {"drift_baumgarte", "baumgarte"},
                                  {"drift_ggl", "ggl"}};
  for (const auto& [name, form] : forms)
    all.push_back(
        {.name = name,
         .model = pendulum_model({.end = 60}, fmt::format("formulation = \"{}\"\nprojection = \"none\"", form)),
         .columns = q,
         .motion = pendulum_motion({.end = 60}),
         .step = 0.01,
         .tolerance = 1e-7,
         .coarse = 3,
         .fine = 3,
         .factor = 1e5});
  all.push_back({.name = "whirl",
                 .model = pendulum_model({.rate = 60, .end = 4}),
                 .columns = q,
                 .motion = pendulum_motion({.rate = 60, .end = 4}),
                 .step = 0.001,
                 .tolerance = 1e-10,
                 .coarse = 3,
                 .fine = 2,
                 .factor = 1e6,
                 .demand = Demand::right});
  all.push_back({.name = "nearly_upright",
                 .model = pendulum_model({.angle = pi - 1e-4, .end = 6}),
                 .columns = q,
                 .motion = pendulum_motion({.angle = pi - 1e-4, .end = 6}),
                 .step = 0.002,
                 .tolerance = 1e-10,
                 .coarse = 1,
                 .fine = 0.2,
                 .factor = 1e6});
  // ---- Dependent constraints
  const std::string same = ", \"q[0]^2 + q[1]^2 - 1\"", nearly = ", \"q[0]^2 + q[1]^2 - 1 + 1e-9*(q[1] + cos(1.5))\"";
  all.push_back({.name = "constraint_twice",
                 .model = pendulum_model({.end = 2}, "", same),
                 .columns = q,
                 .motion = pendulum_motion({.end = 2}),
                 .step = 0.005});
  all.push_back({.name = "constraint_nearly_twice",  // the two hold at two points only: nothing moves
                 .model = pendulum_model({.end = 2}, "", nearly),
                 .columns = q,
                 .motion =
                     [](double) {
                       return Values{sin(1.5), -cos(1.5)};
                     },
                 .step = 0.005});
  // ---- Contacts
  all.push_back({.name = "bead_in_a_ring",
                 .model = "[lagrangian]\ncoordinates = [\"q[2]\"]\nkinetic = \"dot(q',q')/2\"\nunilateral = [{ gap = "
                          "\"1 - norm(q)\" }]\n"
                          "[initial]\nposition = { q = [1, 0] }\nvelocity = { q = [0, 1] }\n[integrate]\nend = 20\n",
                 .columns = q,
                 .motion =
                     [](double t) {
                       return Values{cos(t), sin(t)};
                     },
                 .step = 0.01,
                 .coarse = 0.5,
                 .fine = 0.5});
  all.push_back({.name = "torsion_spring_beyond_half_a_turn",
                 .model =
                     "[multibody]\ndimension = 2\n[[body]]\nname = \"wheel\"\nmass = 1\ninertia = 1\nangular_velocity "
                     "= 6\ncollide = false\n"
                     "[[joint]]\ntype = \"revolute\"\nbodies = [\"ground\", \"wheel\"]\npoint = [0, 0]\nstiffness = 1\n"
                     "[integrate]\nend = 10\n",
                 .columns = {"wheel_angle"},
                 .motion = [](double t) { return Values{6 * sin(t)}; },
                 .step = 0.01});
  all.push_back({.name = "free_top",  // symmetric: the spin goes round with (1 - 1/2) 5
                 .model = "[multibody]\ndimension = 3\n[[body]]\nname = \"top\"\nmass = 1\ninertia = [2, 2, "
                          "1]\nangular_velocity = [1, 0, 5]\n"
                          "[integrate]\nend = 10\n",
                 .columns = {"top_spin[0]", "top_spin[1]", "top_spin[2]"},
                 .motion =
                     [](double t) {
                       return Values{cos(2.5 * t), -sin(2.5 * t), 5};
                     },
                 .step = 0.005,
                 .coarse = 0.5});
  return all;
}

class Mechanisms : public testing::TestWithParam<Treachery> {};
TEST_P(Mechanisms, AreRightOrSaySo) { expect_honest(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Treachery, Mechanisms, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.name); });

// The closer the rod is to the crank, the faster the slider turns back; steps drawn at random see it or do not.
TEST(Mechanisms, RandomCranksAreRightOrSaySo) {
  std::mt19937_64 engine(7);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
  };
  for (int k = 0; k < 10; ++k) {
    const double l = 0.1 * (1 + std::pow(10, -uniform(0.5, 6))), h = std::pow(10, uniform(-4, -2.7));
    EXPECT_EQ(judge({.name = "crank",
                     .model = slider_crank(l, 0.12),
                     .columns = {"A[0]", "A[1]", "x"},
                     .motion = slider_crank_motion(l),
                     .step = h,
                     .tolerance = 1e-9,
                     .coarse = 0.5,
                     .fine = 0.2,
                     .factor = 1e6}),
              "")
        << "l = " << l << ", step " << h;
  }
}

}  // namespace
}  // namespace hinge::test::mechanism_test
