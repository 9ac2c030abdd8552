// Floors made of pieces: what slides over them keeps its velocity, its height and its attitude to rounding.

#include <gtest/gtest.h>

#include "collide/scenes.hpp"
#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"

namespace hinge::seams_test {
namespace {

using Eigen::Quaterniond;
using Eigen::Vector3d;
using scenes::Random;

BodyShape at(BodyShape shape, const Vector3d& position, const Quaterniond& rotation = Quaterniond::Identity()) {
  shape.position = position;
  shape.rotation = rotation;
  return shape;
}

/// Two prisms with the top at z = 0: a rectangle cut along a diagonal.
void add_prisms(std::vector<BodyShape>& floor, double x0, double x1, double y0, double y1, double depth) {
  for (const Vector3d& third : {Vector3d(x1, y0, 0), Vector3d(x0, y1, 0)}) {
    Shape prism{.kind = Shape::Kind::mesh};
    for (const double z : {0.0, -depth})
      for (const Vector3d& corner : {Vector3d(x0, y0, 0), Vector3d(x1, y1, 0), third})
        prism.vertices.push_back(corner + z * Vector3d::UnitZ());
    floor.push_back({prism});
  }
}

/// From x = -1 to 2 and at least y = -1 to 1, the top at z = 0 up to `rough`.
std::vector<BodyShape> random_floor(Random& random, int kind, double rough) {
  std::vector<BodyShape> floor;
  const int rows = kind == 1 ? 3 : 1;
  double y = -1.2;
  for (int row = 0; row < rows; ++row) {
    const double y1 = row + 1 == rows ? 1.2 : y + random.uniform(0.5, 0.9);
    for (double x = -1; x < 2;) {
      const double wide = random.uniform(0.05, 0.9), depth = random.uniform(0.02, 0.5);
      const double hole = rough * random.uniform(), step = rough * random.uniform(-1, 1);
      const double more = kind == 3 ? random.uniform(0, 0.5) : 0;
      if (kind == 2)
        add_prisms(floor, x, x + wide, y, y1, depth);
      else
        floor.push_back(at(box({wide - hole, y1 - y + more, depth}), {x + wide / 2, (y + y1) / 2, step - depth / 2}));
      x += wide;
    }
    y = y1;
  }
  return floor;
}

struct Slider {
  std::vector<BodyShape> shapes;
  double height = 0;  ///< of its centre of mass
};
Slider random_slider(Random& random, int kind) {
  const double a = random.uniform(0.05, 0.3), b = random.uniform(0.05, 0.3), c = random.uniform(0.05, 0.2);
  const Quaterniond lying(
      Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d(random.normal(), random.normal(), 0).normalized()));
  switch (kind) {
    case 0: return {{box({a, b, c})}, c / 2};
    case 1: return {{sphere(c)}, c};
    case 2: return {{at(capsule(c, a), {0, 0, 0}, lying)}, c};
    case 3: return {{cylinder(a, c)}, c / 2};
    case 4: return {{at(cylinder(c, a), {0, 0, 0}, lying)}, c};
    case 5: return {{at(box({a, b, c}), {a / 2, 0, 0}), at(box({a, b, c}), {-a / 2, 0, 0})}, c / 2};
    default: {
      Shape mesh{.kind = Shape::Kind::mesh};
      for (int k = 0; k < 6; ++k) {
        const double angle = k + random.uniform(0, 0.9);
        for (const double z : {-1.0, 1.0}) mesh.vertices.push_back({a * std::cos(angle), a * std::sin(angle), z * c});
      }
      const Vector3d centre = mesh.centre_of_mass(3);
      for (Vector3d& v : mesh.vertices) v -= centre;
      return {{BodyShape{mesh}}, c};
    }
  }
}

struct Slid {
  std::string failure;
  double velocity = 0, spin = 0, height = 0;  ///< changes
};

Slid slide(std::uint64_t seed, const MoreauJeanOptions& options, int floor_kind, int slider_kind, bool compound,
           double rough) {
  Random random{seed};
  const Quaterniond turn = random.rotation();
  const Vector3d shift = random.vector(), up = turn * Vector3d::UnitZ();
  Multibody scene;
  scene.gravity(-9.81 * up);
  const auto floor = random_floor(random, floor_kind, rough);
  if (compound)
    scene.body({.name = "floor", .shapes = floor, .position = shift, .rotation = turn, .fixed = true});
  else
    for (std::size_t k = 0; k < floor.size(); ++k)
      scene.body({.name = "tile" + std::to_string(k),
                  .shapes = {floor[k]},
                  .position = shift,
                  .rotation = turn,
                  .fixed = true});
  const Slider slider = random_slider(random, slider_kind);
  const double speed = random.uniform(0.1, 5), heading = random.uniform(-0.3, 0.3), about = random.uniform(-3, 3);
  const Vector3d velocity = speed * (turn * Vector3d(std::cos(heading), std::sin(heading), 0));
  scene.body({.name = "slider",
              .density = 1000,
              .shapes = slider.shapes,
              .position = shift + turn * Vector3d(-0.6, 0, slider.height),
              .rotation = turn * Quaterniond(Eigen::AngleAxisd(about, Vector3d::UnitZ())),
              .velocity = velocity});
  const int steps = 20 + random.below(80);
  const double h = 2.0 / speed / steps;
  const auto system = scene.build();
  const Start start = scene.start();
  State state{0, start.position, start.velocity, {}};
  const auto stepper = moreau_jean(options).bind(system, {});
  Slid slid;
  for (int k = 0; k < steps; ++k) {
    if (const StepResult result = stepper->step(state, h); !result) return {result.reason};
    const Vector3d v(state.z.data()), w(state.z.data() + 3), x(state.y.data());
    slid.velocity = std::max(slid.velocity, (v - velocity).norm());
    slid.spin = std::max(slid.spin, w.norm());
    slid.height = std::max(slid.height, std::abs(up.dot(x - shift) - slider.height));
  }
  return slid;
}

// A row of boxes that stand loosely beside each other on a floor, and one that slides over them.
Slid slide_over_loose(std::uint64_t seed, const MoreauJeanOptions& options, int slider_kind, int dimension) {
  Random random{seed};
  Multibody scene(dimension);
  const Vector3d up = Vector3d::Unit(dimension - 1);
  scene.gravity(-9.81 * up);
  scene.body({.name = "table", .shapes = {plane(up)}, .fixed = true});
  const double tall = random.uniform(0.1, 0.4), wide = random.uniform(0.3, 0.6);
  double x = -1;
  for (int k = 0; x < 2; ++k) {
    const double length = random.uniform(0.2, 0.8);
    Vector3d size(length, wide, tall), place(x + length / 2, 0, tall / 2);
    if (dimension == 2) size = {length, tall, 1}, place = {x + length / 2, tall / 2, 0};
    scene.body({.name = "b" + std::to_string(k), .mass = 100, .shapes = {box(size)}, .position = place});
    x += length;
  }
  const Slider slider = dimension == 3 ? random_slider(random, slider_kind) : Slider{{box({0.2, 0.1, 1})}, 0.05};
  const double speed = random.uniform(0.5, 4);
  const Vector3d velocity(speed, 0, 0);
  Vector3d place = (tall + slider.height) * up;
  place[0] = -0.6;
  scene.body({.name = "slider", .mass = 1, .shapes = slider.shapes, .position = place, .velocity = velocity});
  const int steps = 20 + random.below(40);
  const double h = 2.0 / speed / steps;
  const auto system = scene.build();
  const Start start = scene.start();
  State state{0, start.position, start.velocity, {}};
  const auto stepper = moreau_jean(options).bind(system, {});
  Slid slid;
  const std::size_t y0 = state.y.size() - (dimension == 2 ? 3 : 7), z0 = state.z.size() - (dimension == 2 ? 3 : 6);
  for (int k = 0; k < steps; ++k) {
    if (const StepResult result = stepper->step(state, h); !result) return {result.reason};
    for (int c = 0; c < dimension; ++c)
      slid.velocity = std::max(slid.velocity, std::abs(state.z[z0 + static_cast<std::size_t>(c)] - velocity[c]));
    for (std::size_t c = z0 + static_cast<std::size_t>(dimension); c < state.z.size(); ++c)
      slid.spin = std::max(slid.spin, std::abs(state.z[c]));
    slid.height =
        std::max(slid.height, std::abs(state.y[y0 + static_cast<std::size_t>(dimension) - 1] - place[dimension - 1]));
  }
  return slid;
}

constexpr GapTreatment treatments[] = {GapTreatment::velocity, GapTreatment::linearised, GapTreatment::nonlinear};

MoreauJeanOptions options_of(GapTreatment gap, int draw) {
  MoreauJeanOptions o{.gap = gap};
  o.activation = 0.5 * (draw % 3);
  return o;
}

// Rows of tiles, tiles whose corners meet the middle of others, prisms, tiles of different width; turned and shifted at
// random; one body or many. Boxes, spheres, capsules, cylinders upright and lying, compound boxes, prisms; any speed,
// step, heading. Measured: below 1e-11.
TEST(Seams, WhatSlidesOverTilesKeepsItsVelocity) {
  int draw = 0;
  for (int floor = 0; floor < 4; ++floor)
    for (int slider = 0; slider < 7; ++slider)
      for (const GapTreatment gap : treatments) {
        ++draw;
        const Slid s = slide(static_cast<std::uint64_t>(draw), options_of(gap, draw), floor, slider, draw % 2, 0);
        ASSERT_EQ(s.failure, "");
        EXPECT_LT(std::max({s.velocity, s.spin, s.height}), 1e-9)
            << "floor " << floor << " slider " << slider << " gap " << static_cast<int>(gap);
      }
}

// Steps and gaps of 1e-12 between tiles. What rises by 1e-12 in a step of 5e-4 is 2e-9 fast.
TEST(Seams, RoundingBetweenTilesIsNoStep) {
  int draw = 0;
  for (int floor = 0; floor < 4; ++floor)
    for (int slider = 0; slider < 7; ++slider) {
      ++draw;
      const GapTreatment gap = treatments[1 + draw % 2];
      const Slid s = slide(static_cast<std::uint64_t>(draw), options_of(gap, draw), floor, slider, draw % 2, 1e-12);
      ASSERT_EQ(s.failure, "");
      EXPECT_LT(std::max({s.velocity, s.spin, s.height}), 1e-6) << "floor " << floor << " slider " << slider;
    }
}

// Up to what the contact solver leaves: 1e-6 of the velocities where there are many contacts.
TEST(Seams, LooseBoxesBesideEachOtherAreOneSurface) {
  int draw = 0;
  for (const int slider : {0, 1, 3, 4, 7})
    for (const GapTreatment gap : {GapTreatment::linearised, GapTreatment::nonlinear}) {
      ++draw;
      const bool plane = slider == 7;
      const Slid s = slide_over_loose(static_cast<std::uint64_t>(draw % 2 + 1), {.gap = gap}, slider, plane ? 2 : 3);
      ASSERT_EQ(s.failure, "");
      EXPECT_LT(std::max({s.velocity, s.spin, s.height}), 1e-4) << "slider " << slider;
    }
}

struct Stop {
  double velocity = 0, height = 0;
};
/// A box slides from one tile to another that is higher by `step`, in the plane or in
/// space.
Stop slide_to(double step, double size, GapTreatment gap, int dimension, double h) {
  Multibody scene(dimension);
  const Vector3d up = Vector3d::Unit(dimension - 1);
  scene.gravity(-9.81 * up);
  const auto shape = [&](double x, double y, double z) {
    return box(dimension == 3 ? Vector3d(x, y, z) : Vector3d(x, z, 1));
  };
  const auto tile = [&](const char* name, double x, double top) {
    scene.body({.name = name,
                .shapes = {shape(1, 1, 0.2)},
                .position = x * Vector3d::UnitX() + (top - 0.1) * up,
                .fixed = true});
  };
  tile("low", 0, 0);
  tile("high", 1, step);
  scene.body({.name = "box",
              .mass = 1,
              .shapes = {shape(size, size, size)},
              .position = 0.2 * Vector3d::UnitX() + size / 2 * up,
              .velocity = {1, 0, 0}});
  const auto system = scene.build();
  const Start start = scene.start();
  State state{0, start.position, start.velocity, {}};
  const auto stepper = moreau_jean({.gap = gap, .activation = 1}).bind(system, {});
  for (double t = 0; t < 0.5; t += h) EXPECT_TRUE(stepper->step(state, h));
  return {state.z[0], state.y[static_cast<std::size_t>(dimension) - 1] - size / 2};
}

TEST(Seams, StepsOfAThousandthStopAndOfAMillionthDoNot) {
  Random random{5};
  for (const int dimension : {2, 3})
    for (const GapTreatment gap : treatments)
      for (int k = 0; k < 3; ++k) {
        const double size = random.uniform(0.05, 0.2), h = random.uniform(0.001, 0.01);
        EXPECT_LT(std::abs(slide_to(1e-3 * size, size, gap, dimension, h).velocity), 0.5) << dimension << " " << k;
        const Stop over = slide_to(1e-8 * size, size, gap, dimension, h);
        EXPECT_NEAR(over.velocity, 1, 1e-4) << dimension << " " << k;
        EXPECT_NEAR(over.height, 1e-8 * size, 1e-7 * size) << dimension << " " << k;
      }
}

// In the corner between a floor and a wall both carry: nothing is hidden there.
TEST(Seams, FloorAndWallBothCarryInTheirCorner) {
  for (const GapTreatment gap : treatments) {
    Multibody scene;
    scene.gravity({3, 0, -9.81});
    scene.body({.name = "floor", .shapes = {box({4, 1, 0.2})}, .position = {0, 0, -0.1}, .fixed = true});
    scene.body({.name = "wall", .shapes = {box({0.2, 1, 1})}, .position = {0.1, 0, 0.5}, .fixed = true});
    scene.body({.name = "box", .mass = 2, .shapes = {box({0.2, 0.3, 0.4})}, .position = {-0.1, 0, 0.2}});
    const auto system = scene.build();
    const Start start = scene.start();
    State state{0, start.position, start.velocity, {}};
    const auto stepper = moreau_jean({.gap = gap}).bind(system, {});
    for (int k = 0; k < 100; ++k) ASSERT_TRUE(stepper->step(state, 0.01));
    for (const double v : state.z) EXPECT_NEAR(v, 0, 1e-10);
    EXPECT_NEAR(state.y[2], 0.2, 1e-10);
    double up = 0, back = 0;
    const ContactImpulses& impulses = *stepper->contact_impulses();
    for (int i = 0; i < impulses.contacts.count; ++i) {
      const Vector3d n(impulses.contacts.frame.data() + 9 * i);
      up += n[2] * impulses.impulse[static_cast<std::size_t>(3 * i)];
      back -= n[0] * impulses.impulse[static_cast<std::size_t>(3 * i)];
    }
    EXPECT_NEAR(up, 2 * 9.81 * 0.01, 1e-8);
    EXPECT_NEAR(back, 2 * 3 * 0.01, 1e-8);
  }
}

// Two cards of length l and thickness d that lean against each other, each at the angle a from upright. They touch in
// two parallel edges; the force there is level by symmetry. With the weight w of one, moments about its foot give the
// force P = w (l/2 sin a - d/2 cos a)/(l cos a), which friction carries at the foot, on w: they stand when
//
//   mu >= (tan a - d/l)/2
double drop_of_cards(double angle, double length, double thick, double mu, int dimension) {
  Multibody scene(dimension);
  const Vector3d up = Vector3d::Unit(dimension - 1);
  scene.gravity(-9.81 * up);
  scene.body({.name = "floor", .shapes = {plane(up)}, .fixed = true, .friction = mu});
  const double c = std::cos(angle), s = std::sin(angle), height = (length * c + thick * s) / 2,
               aside = (length * s + thick * c) / 2;
  for (const double side : {-1.0, 1.0}) {
    const Vector3d place = side * aside * Vector3d::UnitX() + height * up;
    const Eigen::AngleAxisd turn = dimension == 3 ? Eigen::AngleAxisd(-side * angle, Vector3d::UnitY())
                                                  : Eigen::AngleAxisd(side * angle, Vector3d::UnitZ());
    scene.body({.name = side < 0 ? "left" : "right",
                .mass = 0.01,
                .shapes = {box(dimension == 3 ? Vector3d(thick, 0.7 * length, length) : Vector3d(thick, length, 1))},
                .position = place,
                .rotation = Quaterniond(turn),
                .friction = mu});
  }
  const auto system = scene.build();
  const Start start = scene.start();
  State state{0, start.position, start.velocity, {}};
  MoreauJeanOptions options{.gap = GapTreatment::linearised};
  options.solving.solver = "block-gauss-seidel";
  const auto stepper = moreau_jean(options).bind(system, {});
  double drop = 0;
  for (int k = 0; k < 300 && drop < 0.002 * length; ++k) {  // once they fall it is decided
    const StepResult result = stepper->step(state, 0.002);
    EXPECT_TRUE(result) << result.reason;
    if (!result) break;
    drop = height - state.y[static_cast<std::size_t>(dimension) - 1];
  }
  return drop;
}

TEST(Cards, StandWhereTheirFrictionCarriesThem) {
  Random random{3};
  for (int k = 0; k < 12; ++k) {
    const int dimension = 2 + k % 2;
    const double angle = random.uniform(0.15, 0.75), length = random.uniform(0.05, 0.2);
    const double thick = length * random.uniform(0.01, 0.08), limit = (std::tan(angle) - thick / length) / 2;
    EXPECT_LT(std::abs(drop_of_cards(angle, length, thick, 1.01 * limit, dimension)), 1e-8 * length) << angle;
    EXPECT_GT(drop_of_cards(angle, length, thick, 0.98 * limit, dimension), 1e-3 * length) << angle;
  }
}

}  // namespace
}  // namespace hinge::seams_test
