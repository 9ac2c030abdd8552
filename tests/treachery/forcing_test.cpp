// Treachery: fast forcing beside slow motion, pulses, switches, tables, events, prescribed motion that jumps.
#include <numbers>
#include <random>

#include "random_draw.hpp"
#include "treachery/reference.hpp"
#include "treachery/treachery.hpp"

namespace hinge::test::forcing_test {
namespace {

using std::cos, std::sin, std::exp, std::numbers::pi;
using Demand = Treachery::Demand;
using Values = std::vector<double>;

std::string cart(const std::string& force, double x, double v, double end, const std::string& more = "") {
  return fmt::format(
      "{}\n[mechanical]\ncoordinates = [\"x\"]\nmass = [1]\nforce = [\"{}\"]\n[initial]\nposition = {{ x = {} }}\n"
      "velocity = {{ x = {} }}\n[integrate]\nend = {}\n",
      more, force, x, v, end);
}

// Under a force that is constant between increasing times, from rest.
Motion pushed(std::vector<double> times, std::vector<double> forces) {
  return [=](double t) {
    double x = 0, v = 0, now = 0;
    for (std::size_t k = 0; k < times.size() && now < t; ++k) {
      const double h = std::min(t, times[k]) - now;
      x += v * h + forces[k] * h * h / 2;
      v += forces[k] * h;
      now += h;
    }
    return Values{x, v};
  };
}

Motion carrier(double frequency, double duty) {
  std::vector<double> times, forces;
  for (int k = 0; k < 4000; ++k) {
    times.insert(times.end(), {(k + duty) / frequency, (k + 1) / frequency});
    forces.insert(forces.end(), {1, 0});
  }
  return pushed(times, forces);
}

// Height of a ball that falls from 1 under gravity 1 and keeps a part e of its velocity at 0.
Values bounce(double t, double e) {
  const double first = std::sqrt(2.0);
  if (t < first) return {1 - t * t / 2};
  double begin = first, up = e * first;
  while (t > begin + 2 * up && up > 1e-12) begin += 2 * up, up *= e;
  const double s = std::min(t - begin, 2 * up);
  return {up * s - s * s / 2};
}

struct Table {
  std::string text;
  Motion motion;
};
// A force by straight lines between many points; twice its integral.
Table measured_force(int count, double end) {
  std::vector<double> f;
  std::string times, forces;
  const double h = end / count;
  for (int k = 0; k <= count; ++k) {
    f.push_back(std::round(1e6 * (0.3 + sin(0.7 * k) * cos(0.13 * k * k))) / 1e6);
    times += fmt::format("{}{:.17g}", k > 0 ? ", " : "", h * k);
    forces += fmt::format("{}{:.17g}", k > 0 ? ", " : "", f.back());
  }
  const auto motion = [f, h, count](double t) {
    double x = 0, v = 0;
    for (int k = 0; k < count && k * h < t; ++k) {
      const double s = std::min(t - k * h, h), a = f[static_cast<std::size_t>(k)];
      const double slope = (f[static_cast<std::size_t>(k) + 1] - a) / h;
      x += v * s + a * s * s / 2 + slope * s * s * s / 6;
      v += a * s + slope * s * s / 2;
    }
    return Values{x, v};
  };
  return {
      cart(fmt::format("sum(i, 0, {}, if(t >= T[i] and t < T[i+1], F[i] + (F[i+1]-F[i])*(t-T[i])/(T[i+1]-T[i]), 0))",
                       count - 1),
           0, 0, end, fmt::format("[parameters]\nT = [{}]\nF = [{}]\n", times, forces)),
      motion};
}

const std::vector<std::string> x{"x"}, xv{"x", "x'"};

std::vector<Treachery> cases() {
  std::vector<Treachery> all;
  const std::string rows = "[output]\ninterval = 0.1\n";
  // ---- Algebraic parts that are fast, beside slow ones
  for (const double w : {20.0, 77.0})
    all.push_back({.name = w == 20 ? "fast_algebraic" : "faster_algebraic",
                   .model = fmt::format(
                       "[dae]\nunknowns = [\"x\", \"w\"]\nequations = [\"x = sin({}*t)\", \"w' = -w\"]\n[initial]\n"
                       "unknowns = {{ w = 1 }}\n[integrate]\nend = 5\n{}",
                       w, rows),
                   .columns = {"x", "w"},
                   .motion =
                       [=](double t) {
                         return Values{sin(w * t), exp(-t)};
                       },
                   .step = 0.05,
                   .tolerance = 1e-8});
  all.push_back(
      {.name = "fast_algebraic_nonlinear",
       .model =
           "[dae]\nunknowns = [\"y\", \"w\"]\nequations = [\"y + y^3 = sin(30*t) + sin(30*t)^3\", \"w' = -w + y\"]\n"
           "[initial]\nunknowns = { w = 1, y = 0 }\n[integrate]\nend = 3\n" +
           rows,
       .columns = {"y", "w"},
       .motion =
           [](double t) {
             const double s = (sin(30 * t) - 30 * cos(30 * t)) / 901;
             return Values{sin(30 * t), s + (1 + 30.0 / 901) * exp(-t)};
           },
       .step = 0.002});
  all.push_back({.name = "fast_index_two",
                 .model = "[dae]\nunknowns = [\"x\", \"v\", \"w\"]\nequations = [\"x = sin(20*t)\", \"x' = v\", \"w' = "
                          "-w\"]\n[initial]\n"
                          "unknowns = { w = 1 }\n[integrate]\nend = 5\n" +
                          rows,
                 .columns = {"x", "v", "w"},
                 .motion =
                     [](double t) {
                       return Values{sin(20 * t), 20 * cos(20 * t), exp(-t)};
                     },
                 .step = 0.002});
  all.push_back(
      {.name = "driven_by_constraints",
       .model = "[lagrangian]\ncoordinates = [\"x\", \"y\"]\nkinetic = \"(x'^2+y'^2)/2\"\npotential = \"x*y\"\n"
                "constraints = [\"x - sin(3*t)\", \"y - cos(5*t)\"]\n[initial]\nposition = { x = 0, y = 1 }\n"
                "velocity = { x = 3, y = 0 }\n[integrate]\nend = 5\n" +
                rows,
       .columns = {"x", "y"},
       .motion =
           [](double t) {
             return Values{sin(3 * t), cos(5 * t)};
           },
       .step = 0.01});
  all.push_back(
      {.name = "driven_crank",
       .model = "[multibody]\ngravity = [0, -9.81]\n[[body]]\nname = \"crank\"\nmass = 1\ninertia = 0.1\nposition = "
                "[0.5, 0]\n"
                "collide = false\n[[joint]]\nname = \"drive\"\ntype = \"revolute\"\nbodies = [\"ground\", \"crank\"]\n"
                "point = [0, 0]\nmotor = { angle = \"2*sin(3*t)\" }\n[initial]\nconsistent = \"project\"\n"
                "[integrate]\nend = 3\n" +
                rows,
       .columns = {"crank[0]", "crank[1]"},
       .motion =
           [](double t) {
             return Values{0.5 * cos(2 * sin(3 * t)), 0.5 * sin(2 * sin(3 * t))};
           },
       .step = 0.01});
  // ---- Switches
  all.push_back({.name = "pulse",
                 .model = cart("if(t >= 5 and t < 5.001, 1000, 0)", 0, 0, 8),
                 .columns = xv,
                 .motion = pushed({5, 5.001, 1e9}, {0, 1000, 0}),
                 .step = 0.037});
  all.push_back({.name = "smooth_pulse",
                 .model = cart("1e4*exp(-((t-5)/1e-4)^2)", 0, 0, 8),
                 .columns = {"x'"},
                 .motion = [](double t) { return Values{std::sqrt(pi) / 2 * (1 + std::erf((t - 5) / 1e-4))}; },
                 .step = 0.037});
  all.push_back({.name = "carrier_50_hertz",
                 .model = cart("if(sin(2*pi*50*t) > 0, 1, 0)", 0, 0, 2),
                 .columns = xv,
                 .motion = carrier(50, 0.5),
                 .step = 0.013,
                 .fine = 0.01});
  all.push_back({.name = "carrier_as_long_as_the_step",
                 .model = cart("if(sin(2*pi*50*t + 0.1) > 0, 1, 0)", 0, 0, 2),
                 .columns = {"x'"},
                 .motion =
                     [](double t) {
                       const double d = 0.1 / (100 * pi);
                       return Values{carrier(50, 0.5)(t + d)[1] - d};
                     },
                 .step = 0.02,
                 .fine = 0.01});
  all.push_back({.name = "forcing_as_long_as_the_step",
                 .model = cart("100*cos(2*pi*20*t) - x", 0, 0, 6),
                 .columns = x,
                 .motion =
                     [](double t) {
                       const double w = 40 * pi, a = 100 / (1 - w * w);
                       return Values{a * (cos(w * t) - cos(t))};
                     },
                 .step = 0.05});
  all.push_back({.name = "sawtooth_of_parabolas",
                 .model = cart("-sign(x)", 1, 0, 9),
                 .columns = x,
                 .motion =
                     [](double t) {
                       const double quarter = std::sqrt(2.0), s = std::fmod(t, 4 * quarter);
                       const double u = std::fmod(s + quarter, 2 * quarter) - quarter;  // from the last top
                       return Values{(s > quarter && s < 3 * quarter ? -1 : 1) * (1 - u * u / 2)};
                     },
                 .step = 0.01,
                 .fine = 0.1});
  all.push_back({.name = "bilinear_spring",
                 .model = cart("if(x > 0, -x, -9*x)", 1, 0, 9),
                 .columns = x,
                 .motion =
                     [](double t) {
                       const double period = pi + pi / 3, s = std::fmod(t + pi / 2, period);
                       return Values{s < pi ? sin(s) : -sin(3 * (s - pi)) / 3};
                     },
                 .step = 0.01});
  all.push_back({.name = "dry_friction",
                 .model = cart("-sign(x')", 0, 1, 2),
                 .columns = x,
                 .motion = [](double t) { return Values{t < 1 ? t - t * t / 2 : 0.5}; },
                 .step = 0.01});
  for (const int count : {100, 400}) {
    const Table table = measured_force(count, 10);
    all.push_back({.name = count == 100 ? "table_of_100" : "table_of_400",
                   .model = table.text,
                   .columns = xv,
                   .motion = table.motion,
                   .step = 0.01});
  }
  // ---- Events and rows
  all.push_back({.name = "events_among_rows",
                 .model = cart("-x", 1, 0, 20) +
                          "[[event]]\nname = \"zero\"\nroot = \"x\"\n[[event]]\nname = \"half\"\nroot = \"x - 0.5\"\n"
                          "[output]\ninterval = 0.37\n",
                 .columns = xv,
                 .motion =
                     [](double t) {
                       return Values{cos(t), -sin(t)};
                     },
                 .step = 0.05,
                 .fine = 0.05});
  all.push_back({.name = "ball_by_events",
                 .model = cart("-1", 1, 0, 6) +
                          "[[event]]\nname = \"floor\"\nroot = \"x\"\ndirection = \"falling\"\naction = \"change\"\n"
                          "velocity = { x = \"-0.8*x'\" }\n",
                 .columns = x,
                 .motion = [](double t) { return bounce(t, 0.8); },
                 .step = 0.0137});
  all.push_back(
      {.name = "ball_on_a_floor",
       .model =
           "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\npotential = \"x\"\nunilateral = [{ gap = \"x\", "
           "restitution = 0.8 }]\n[initial]\nposition = { x = 1 }\n[integrate]\nend = 4\n",
       .columns = x,
       .motion = [](double t) { return bounce(t, 0.8); },
       .step = 0.001});
  // ---- Prescribed motion that cannot be
  all.push_back(
      {.name = "prescribed_position_jumps",
       .model =
           "[lagrangian]\ncoordinates = [\"x\", \"y\"]\nkinetic = \"(x'^2+y'^2)/2\"\npotential = \"(x-y)^2/2\"\n"
           "constraints = [\"x - if(t < 1, 0, 1)\"]\n[initial]\nposition = { x = 0, y = 1 }\n[integrate]\nend = 2\n",
       .columns = {},
       .motion = [](double) { return Values{}; },
       .demand = Demand::said});
  all.push_back({.name = "prescribed_velocity_jumps",
                 .model = "[lagrangian]\ncoordinates = [\"x\"]\nkinetic = \"x'^2/2\"\nconstraints = [\"x - max(0, "
                          "2*(t-1))\"]\n[initial]\n"
                          "position = { x = 0 }\n[integrate]\nend = 2\n",
                 .columns = x,
                 .motion = [](double t) { return Values{std::max(0.0, 2 * (t - 1))}; }});
  return all;
}

class Forcing : public testing::TestWithParam<Treachery> {};
TEST_P(Forcing, IsRightOrSaysSo) { expect_honest(GetParam()); }
INSTANTIATE_TEST_SUITE_P(Treachery, Forcing, testing::ValuesIn(cases()),
                         [](const auto& each) { return std::string(each.param.name); });

// ---- A strip with a force in it, which steps of given length pass in one step or two
// ------------------------------------

std::string strip(double place, double half, double force, double end) {
  return cart(fmt::format("if(abs(x - {:.17g}) < {:.17g}, {:.17g}, 0)", place, half, force), 0, 1, end);
}
Motion strip_motion(double place, double half, double force) {
  return [=](double t) {
    const double in = place - half, fast = std::sqrt(1 + 4 * half * force), out = in + (fast - 1) / force;
    if (t < in) return Values{t};
    if (t < out) return Values{in + (t - in) + force * (t - in) * (t - in) / 2};
    return Values{place + half + fast * (t - out)};
  };
}

TEST(Forcing, StripsAreNeverPassedWithoutAWord) {
  std::mt19937_64 engine(11);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
  };
  for (int k = 0; k < 12; ++k) {
    const double h = std::pow(10, uniform(-2, -1)), half = h * uniform(0.05, 0.45), place = uniform(0.5, 1.5);
    const double gain = uniform(0.5, 2), force = ((1 + gain) * (1 + gain) - 1) / (4 * half);
    EXPECT_EQ(judge({.name = "strip",
                     .model = strip(place, half, force, 3),
                     .columns = x,
                     .motion = strip_motion(place, half, force),
                     .step = h,
                     .coarse = 0.1,
                     .fine = 0.1}),
              "")
        << "at " << place << ", half " << half << ", force " << force << ", step " << h;
  }
}

// Conditions that change for many steps, or whose forces do not jump, are no reason for doubt.
TEST(Forcing, WideStripsAndKinksWithoutJumpsAreSound) {
  std::mt19937_64 engine(13);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * static_cast<double>(engine() >> 11) * 0x1p-53;
  };
  for (int k = 0; k < 4; ++k) {
    const double h = 0.002, half = uniform(0.1, 0.2), place = uniform(0.5, 1), force = uniform(0.5, 2);
    EXPECT_EQ(judge({.name = "strip",
                     .model = strip(place, half, force, 2),
                     .columns = x,
                     .motion = strip_motion(place, half, force),
                     .step = h,
                     .demand = Demand::right}),
              "");
    const double stiff = uniform(0.5, 4);  // x = sin t above, a half period of frequency w below
    EXPECT_EQ(judge({.name = "bilinear",
                     .model = cart(fmt::format("-x - min(x, 0)*{:.17g}", stiff), 0, 1, 9),
                     .columns = x,
                     .motion =
                         [w = std::sqrt(1 + stiff)](double t) {
                           const double s = std::fmod(t, pi + pi / w);
                           return Values{s < pi ? sin(s) : -sin(w * (s - pi)) / w};
                         },
                     .step = 0.01,
                     .demand = Demand::right}),
              "");
  }
}

// A pendulum whose pivot is driven: shake's velocities are off the constraints with few steps to a period, and rattle's
// multipliers are of first order, which is no reason to doubt a motion.
std::string driven_pendulum(double frequency, double amplitude, double end) {
  return fmt::format(
      "[lagrangian]\ncoordinates = [\"x\", \"y[2]\"]\nkinetic = \"x'^2/2 + dot(y',y')/2\"\npotential = \"9.81*y[1]\"\n"
      "constraints = [\"x - {0}*sin({1}*t)\", \"(y[0]-x)^2+y[1]^2-1\"]\n[initial]\nposition = {{ x = 0, y = [0.3, "
      "{2}] }}\nvelocity = {{ x = {3}, y = [{3}, 0] }}\n[integrate]\nend = {4}\n",
      amplitude, frequency, -std::sqrt(1 - 0.09), amplitude * frequency, end);
}
Motion pendulum_tip(double w, double a) {
  const auto f = [=](long double t, const Numbers& s) {  // x'' = pivot'' at the tip of a rod of length 1
    return Numbers{s[1], -9.81L * sinl(s[0]) + a * w * w * sinl(w * t) * cosl(s[0])};
  };
  auto reference = std::make_shared<Reference>(f, 0, Numbers{asinl(0.3L), 0}, 0.2L / w);
  return [=](double t) {
    const auto angle = static_cast<double>(reference->at(t)[0]);
    return std::vector<double>{a * sin(w * t) + sin(angle), -cos(angle)};
  };
}

TEST(Forcing, DrivesWithFewStepsToAPeriodAreSaid) {
  Draw draw(61);
  for (int k = 0; k < 6; ++k) {
    const double w = draw.number(3, 20), a = draw.number(0.05, 0.4), period = 2 * pi / w;
    for (const char* const method : {"shake", "rattle"}) {
      const double step = period / draw.number(4, 8), end = 6 * period;
      const Outcome o = attempt(
          [&] {
            const std::string text = driven_pendulum(w, a, end);
            return with_method(parse_model(text, "model", {{"integrate.step", "1"}}), {method, 2, false}, step, {});
          },
          {"y[0]", "y[1]"}, pendulum_tip(w, a));
      EXPECT_NE(o.kind, Outcome::Kind::sound)
          << method << ", " << period / step << " steps to a period, error " << o.error;
    }
  }
}

TEST(Forcing, LongDrivesAreNoFalseAlarm) {
  Draw draw(62);
  for (int k = 0; k < 4; ++k) {
    const double w = draw.number(2, 6), a = draw.number(0.02, 0.1), period = 2 * pi / w, step = period / 60;
    for (const char* const method : {"shake", "rattle"}) {
      const Outcome o = attempt(
          [&] {
            const std::string text = driven_pendulum(w, a, 20 * period);
            return with_method(parse_model(text, "model", {{"integrate.step", "1"}}), {method, 2, false}, step, {});
          },
          {"y[0]", "y[1]"}, pendulum_tip(w, a), 600);
      EXPECT_EQ(o.kind, Outcome::Kind::sound) << method << ": " << o.words;
      EXPECT_LT(o.error, 0.15) << method << ", frequency " << w << ", amplitude " << a << ": " << o.where;
    }
  }
}

}  // namespace
}  // namespace hinge::test::forcing_test
