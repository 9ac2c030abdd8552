// Orders of every scheme for bodies with contacts, against motions that are known or that solve ordinary equations:
// rolling, spinning and sliding on planes and balls, impacts, and a block on a spring that sticks and slips.
#include <cmath>
#include <functional>
#include <iostream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"
#include "method/properties.hpp"
#include "random_draw.hpp"

namespace hinge::body_orders_test {
namespace {

using Eigen::Vector3d;
using Eigen::VectorXd;
using G = GapTreatment;

constexpr double g = 9.81;

// ---- motions -------------------------------------------------------------------------------------------------------

// A scene without its step, and where its body is in the end.
struct Motion {
  std::string scene;
  double end = 0;
  Vector3d place, velocity;
};

// Runge's and Kutta's method of order 4, with steps that leave nothing but rounding.
VectorXd follow(VectorXd x, double end, const std::function<VectorXd(const VectorXd&)>& rate) {
  const int steps = 4000;
  const double h = end / steps;
  for (int k = 0; k < steps; ++k) {
    const VectorXd a = rate(x), b = rate(x + h / 2 * a), c = rate(x + h / 2 * b), d = rate(x + h * c);
    x += h / 6 * (a + 2 * b + 2 * c + d);
  }
  return x;
}

// Vectors of the vertical plane y = 0 as space or the plane have them.
std::string vector(int dimension, double x, double z) {
  return dimension == 2 ? fmt::format("[{:.17g}, {:.17g}]", x, z) : fmt::format("[{:.17g}, 0, {:.17g}]", x, z);
}
// A turn that takes x to -z.
std::string turn(int dimension, double w) {
  return dimension == 2 ? fmt::format("{:.17g}", -w) : fmt::format("[0, {:.17g}, 0]", w);
}
std::string floor_of(int dimension) {
  return fmt::format("[multibody]\ngravity = {}\n[[body]]\nname = \"floor\"\nfixed = true\nshape = {{ plane = {} }}\n",
                     vector(dimension, 0, -g), vector(dimension, 0, 1));
}

// A ball on a fixed ball, at the angle t from the top: x = (t, t', turn').
constexpr double large = 1, small = 0.2, arm = large + small, first_angle = 0.3;

Motion on_a_ball(int dimension, double friction, double speed, double spin, double end,
                 const std::function<VectorXd(const VectorXd&)>& rate) {
  VectorXd x(3);
  x << first_angle, speed / arm, spin;
  const std::string round = dimension == 2 ? "disk" : "sphere";
  const std::string scene = fmt::format(
      "[multibody]\ngravity = {}\n[[body]]\nname = \"hill\"\nfixed = true\nshape = {{ {} = {} }}\n"
      "[[body]]\nname = \"b\"\nmass = 1\ninertia = {}\nshape = {{ {} = {} }}\nposition = {}\nvelocity = {}\n"
      "angular_velocity = {}\n[contact]\nfriction = {}\n",
      vector(dimension, 0, -g), round, large, dimension == 2 ? "0.016" : "[0.016, 0.016, 0.016]", round, small,
      vector(dimension, arm * std::sin(x[0]), arm * std::cos(x[0])),
      vector(dimension, speed * std::cos(x[0]), -speed * std::sin(x[0])), turn(dimension, spin), friction);
  x = follow(x, end, rate);
  const double s = std::sin(x[0]), c = std::cos(x[0]);
  return {scene, end, {arm * s, 0, arm * c}, {arm * x[1] * c, 0, -arm * x[1] * s}};
}

Motion rolling(int dimension) {
  const double speed = 0.5;
  return on_a_ball(dimension, 0.9, speed, speed / small, 0.32, [](const VectorXd& x) {
    VectorXd r(3);
    r << x[1], 5.0 / 7 * g * std::sin(x[0]) / arm, 0;
    return r;
  });
}

Motion sliding(int dimension) {
  constexpr double mu = 0.2;
  return on_a_ball(dimension, mu, 1.2, 0, 0.16, [](const VectorXd& x) {
    const double normal = g * std::cos(x[0]) - arm * x[1] * x[1];
    VectorXd r(3);
    r << x[1], (g * std::sin(x[0]) - mu * normal) / arm, 2.5 * mu * normal / small;
    return r;
  });
}

// A ball that slides and spins on a plane while a spring turns its way.
Motion spinning(int) {
  constexpr double mu = 0.3, radius = 0.1, stiffness = 4;
  VectorXd x(6);  // place, velocity, two spins
  x << 0, 0, 3, 0, 0, -40;
  const std::string scene = floor_of(3) +
                            "[[body]]\nname = \"b\"\nmass = 1\nshape = { sphere = 0.1 }\nposition = [0, 0, 0.1]\n"
                            "velocity = [3, 0, 0]\nangular_velocity = [0, -40, 30]\n"
                            "force = [\"4*(0.2 - b[0])\", \"4*(1 - b[1])\", 0]\n[contact]\nfriction = 0.3\n";
  x = follow(x, 0.32, [&](const VectorXd& s) {
    const Eigen::Vector2d slip(s[2] - radius * s[5], s[3] + radius * s[4]), f = -mu * g * slip.normalized();
    VectorXd r(6);
    r << s[2], s[3], stiffness * (0.2 - s[0]) + f.x(), stiffness * (1 - s[1]) + f.y(), 2.5 * f.y() / radius,
        -2.5 * f.x() / radius;
    return r;
  });
  return {scene, 0.32, {x[0], x[1], radius}, {x[2], x[3], 0}};
}

// A block that a spring pulls, whose other end moves: it sticks until the spring is as strong as friction, and goes on
// by jerks.
Motion sticking(int dimension) {
  constexpr double mu = 0.3, mass = 1.3, k = 60, speed = 0.4, after = 1.1;
  const double w = std::sqrt(k / mass), begins = mu * mass * g / (k * speed);
  const std::string scene =
      floor_of(dimension) +
      fmt::format(
          "[[body]]\nname = \"b\"\nmass = {}\nshape = {{ {} }}\nposition = {}\nforce = [\"{}*({}*t - b[0])\", "
          "0{}]\n[contact]\nfriction = {}\n",
          mass, dimension == 2 ? "rectangle = [0.2, 0.1]" : "box = [0.2, 0.2, 0.1]", vector(dimension, 0, 0.05), k,
          speed, dimension == 2 ? "" : ", 0", mu);
  return {scene,
          begins + after,
          {speed * after - speed / w * std::sin(w * after), 0, 0.05},
          {speed * (1 - std::cos(w * after)), 0, 0}};
}

// A ball that falls and rebounds twice, from a height that is drawn: where in a step it strikes is anywhere.
Motion bouncing(int dimension, Draw& draw) {
  const double e = 0.6, height = draw.number(0.4, 0.5), end = 0.77;
  const double first = std::sqrt(2 * height / g), v = g * first, second = first + 2 * e * v / g, t = end - second;
  EXPECT_LT(t, 2 * e * e * v / g);
  const std::string scene =
      floor_of(dimension) +
      fmt::format(
          "[[body]]\nname = \"b\"\nmass = 1\nshape = {{ {} = 0.1 }}\nposition = {}\nvelocity = {}\n"
          "[contact]\nrestitution = {}\n",
          dimension == 2 ? "disk" : "sphere", vector(dimension, 0, height + 0.1), vector(dimension, 1, 0), e);
  return {scene, end, {end, 0, 0.1 + e * e * v * t - g * t * t / 2}, {1, 0, e * e * v - g * t}};
}

// ---- schemes and orders --------------------------------------------------------------------------------------------

MethodChoice with_gap(G gap) {
  MoreauJeanOptions o;
  o.gap = gap;
  return moreau_jean(o);
}

struct Error {
  double place = 0, velocity = 0;
};

Error error_of(const Motion& motion, const MethodChoice& method, double h) {
  const Model model =
      parse_model(motion.scene + fmt::format("[integrate]\nstep = {:.17g}\nend = {:.17g}\n", h, motion.end), "order");
  Simulation run(model.system, method, {.step = h});
  run.start(model.start);
  run.until(motion.end);
  const double *y = run.state().y.data(), *z = run.state().z.data();
  const bool plane = model.system->ny() == model.system->nz();
  const Vector3d place = plane ? Vector3d(y[0], 0, y[1]) : Vector3d(y[0], y[1], y[2]);
  const Vector3d velocity = plane ? Vector3d(z[0], 0, z[1]) : Vector3d(z[0], z[1], z[2]);
  return {(place - motion.place).norm(), (velocity - motion.velocity).norm()};
}

struct Order {
  double place = 0, velocity = 0, last = 0;  // last: the error of places with the smallest step
};

Order order_of(const MethodChoice& method, double h, int trials, const std::function<Motion(Draw&)>& motion) {
  properties::Ladder place, velocity;
  Order order;
  for (int k = 0; k < 4; ++k, h /= 2) {
    Error all;
    Draw draw(7);
    for (int trial = 0; trial < trials; ++trial) {
      const Error one = error_of(motion(draw), method, h);
      all.place += one.place / trials;
      all.velocity += one.velocity / trials;
    }
    place.add(h, all.place, 1e-12);
    velocity.add(h, all.velocity, 1e-12);
    order.last = all.place;
  }
  order.place = place.order();
  order.velocity = velocity.order();
  return order;
}

struct Expected {
  std::string scheme;
  MethodChoice method;
  int dimension;
  // the least orders, of places and velocities both, of rolling, sliding, spinning, sticking and bouncing; 0: is not
  // asked. With the gap "velocity" bodies leave curved surfaces a little: the velocity of sliding has about 1/2.
  double rolling, sliding, spinning, sticking, bouncing;
};

void PrintTo(const Expected& e, std::ostream* out) { *out << e.scheme; }

class BodyOrders : public testing::TestWithParam<Expected> {};

TEST_P(BodyOrders, AreThoseOfTheScheme) {
  const Expected& e = GetParam();
  const auto expect = [&](const char* what, double least, double h, int trials,
                          const std::function<Motion(Draw&)>& motion) {
    if (least == 0) return;
    const Order order = order_of(e.method, h, trials, motion);
    std::cout << fmt::format("{}, {}: places {:.2f}, velocities {:.2f}; error {:.1e}\n", e.scheme, what, order.place,
                             order.velocity, order.last);
    if (std::isnan(order.place)) {
      EXPECT_LT(order.last, 1e-11) << what;
      return;
    }
    EXPECT_GT(order.place, least - 0.3) << what;
    if (!std::isnan(order.velocity)) {
      EXPECT_GT(order.velocity, least - 0.3) << what;
    }
  };
  expect("rolling", e.rolling, 8e-3, 1, [&](Draw&) { return rolling(e.dimension); });
  expect("sliding", e.sliding, 8e-3, 1, [&](Draw&) { return sliding(e.dimension); });
  expect("spinning", e.spinning, 8e-3, 1, [&](Draw&) { return spinning(e.dimension); });
  expect("sticking and slipping", e.sticking, 8e-3, 1, [&](Draw&) { return sticking(e.dimension); });
  expect("bouncing", e.bouncing, 4e-3, 12, [&](Draw& draw) { return bouncing(e.dimension, draw); });
}

INSTANTIATE_TEST_SUITE_P(Schemes, BodyOrders,
                         testing::Values(Expected{"both", with_gap(G::both), 3, 2, 2, 2, 2, 1},
                                         Expected{"velocity", with_gap(G::velocity), 3, 1, 0.5, 1, 2, 1},
                                         Expected{"linearised", with_gap(G::linearised), 3, 1, 1, 1, 1, 0},
                                         Expected{"nonlinear", with_gap(G::nonlinear), 3, 1, 1, 1, 1, 0},
                                         Expected{"both_plane", with_gap(G::both), 2, 2, 2, 0, 2, 1},
                                         Expected{"paoli_schatzman", paoli_schatzman(), 2, 1, 1, 0, 1, 1},
                                         Expected{"generalized_alpha", generalized_alpha(), 2, 1, 1, 0, 2, 1}),
                         [](const auto& p) { return p.param.scheme; });

}  // namespace
}  // namespace hinge::body_orders_test
