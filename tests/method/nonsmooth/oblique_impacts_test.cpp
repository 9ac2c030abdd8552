// Impacts of round bodies that fly past each other obliquely, by a good part of their size in a step: the normal of the
// impact is that of the moment at which they touch. Drawn at random, against the closed form.
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "body/body_table.hpp"
#include "hinge/hinge.hpp"
#include "hinge/nonsmooth.hpp"
#include "random_draw.hpp"

namespace hinge::oblique_impacts_test {
namespace {

using Eigen::Vector3d;

Vector3d draw_vector(Draw& draw, int dimension, double size) {
  Vector3d v = Vector3d::Zero();
  for (int k = 0; k < dimension; ++k) v[k] = draw.number(-size, size);
  return v;
}

struct Body {
  double radius = 0.03, mass = 1;  // infinite: fixed
  Vector3d x = Vector3d::Zero(), v = Vector3d::Zero(), w = Vector3d::Zero();
};

// One impact of two round bodies that meet at time `touch`, with Newton's law and Coulomb's.
struct Impact {
  int dimension = 3;
  double e = 0, mu = 0, touch = 0, speed = 0;
  Body a{}, b{};
  Vector3d n = Vector3d::Zero();  // at the touch, from a to b

  double inertia(const Body& body) const {
    return (dimension == 3 ? 0.4 : 0.5) * body.mass * body.radius * body.radius;
  }
  BodyOptions body(const char* name, const Body& of) const {
    BodyOptions d{.name = name,
                  .shapes = {sphere(of.radius)},
                  .position = of.x - touch * of.v,
                  .velocity = of.v,
                  .angular_velocity = of.w,
                  .friction = mu,
                  .restitution = e};
    d.fixed = std::isinf(of.mass);
    if (!d.fixed) d.mass = of.mass;
    return d;
  }
  void strike() {
    const double light = 1 / a.mass + 1 / b.mass;
    const Vector3d u = a.v - b.v + (a.radius * a.w + b.radius * b.w).cross(n), t = u - u.dot(n) * n;
    const double normal = (1 + e) * u.dot(n) / light, slip = t.norm(),
                 most = slip / (light * (dimension == 3 ? 3.5 : 3));
    Vector3d p = -normal * n;
    if (slip > 0) p -= std::min(mu * normal, most) * t / slip;
    for (const double side : {1.0, -1.0}) {
      Body& of = side > 0 ? a : b;
      if (std::isinf(of.mass)) continue;
      of.v += side * p / of.mass;
      of.w += (of.radius * n).cross(p) / inertia(of);
    }
  }
};

Impact draw_impact(Draw& draw, int dimension, double step, double largest) {
  Impact i{.dimension = dimension};
  i.b.radius = draw.chance(0.3) ? draw.number(0.02, largest) : 0.03;
  i.b.mass = draw.chance(0.2) ? HUGE_VAL : draw.chance(0.5) ? 1 : draw.number(0.3, 5);
  i.e = draw.chance(0.3) ? 1 : draw.chance(0.3) ? 0 : draw.number(0, 1);
  i.mu = draw.chance(0.5) ? 0 : draw.number(0.05, 0.6);
  const double both = i.a.radius + i.b.radius, past = draw.number(0.05, 0.97);
  Vector3d along;
  do along = draw_vector(draw, dimension, 1);
  while (!(along.norm() > 0.1));
  along.normalize();
  const Vector3d across = along.cross(dimension == 3 ? Vector3d(0.36, 0.48, -0.8) : Vector3d(0, 0, 1)).normalized();
  i.n = std::sqrt(1 - past * past) * along - past * across;
  i.speed = draw.number(0.5, 4);
  i.b.v = std::isinf(i.b.mass) ? Vector3d(0, 0, 0) : draw_vector(draw, dimension, 1);
  i.a.v = i.b.v + i.speed * along;
  i.b.x = draw_vector(draw, dimension, 1);
  i.a.x = i.b.x - both * i.n;
  for (Body* of : {&i.a, &i.b})
    if (i.mu > 0 && !std::isinf(of->mass))
      of->w = dimension == 3 ? draw_vector(draw, 3, 30) : Vector3d(0, 0, draw.number(-30, 30));
  i.touch = draw.number(0.5, 4) * step;
  return i;
}

double kinetic(const Impact& i) {
  double sum = 0;
  for (const Body* of : {&i.a, &i.b})
    if (!std::isinf(of->mass)) sum += of->mass * of->v.squaredNorm() / 2 + i.inertia(*of) * of->w.squaredNorm() / 2;
  return sum;
}

Vector3d angular_momentum(const Impact& i) {
  Vector3d sum = Vector3d::Zero();
  for (const Body* of : {&i.a, &i.b}) sum += of->mass * of->x.cross(of->v) + i.inertia(*of) * of->w;
  return sum;
}

struct Errors {  // of velocities, as parts of the speed; of momenta and energy, as parts of theirs
  double velocity = 0, spin = 0, momentum = 0, angular = 0, gain = 0;
  int impacts = 0;
};

Errors errors_of(Impact i, Multibody& scene, double step) {
  Simulation run(scene, moreau_jean(), {.step = step});
  run.start(scene.start());
  const double end = step * (std::ceil(i.touch / step) + 2);
  while (run.state().t < end - step / 2) run.step();
  EXPECT_TRUE(run.report().doubts.empty());
  Impact found = i;
  for (Body* of : {&found.a, &found.b}) of->x -= i.touch * of->v;
  const double before = kinetic(found), size = i.a.mass * 0.03 * i.speed;
  const bool free = !std::isinf(i.b.mass);
  const Vector3d momentum = free ? Vector3d(i.a.mass * i.a.v + i.b.mass * i.b.v) : Vector3d::Zero(),
                 turning = free ? angular_momentum(found) : Vector3d::Zero();
  i.strike();
  const auto poses = body_poses(*scene.build(), run.state());
  const std::vector<double>& z = run.state().z;
  Errors r;
  std::size_t at = 0, body = 0;
  for (const auto& [of, exact] : {std::pair{&found.a, &i.a}, {&found.b, &i.b}}) {
    if (std::isinf(of->mass)) continue;
    for (int k = 0; k < i.dimension; ++k) of->v[k] = z[at++];
    for (int k = i.dimension == 3 ? 0 : 2; k < 3; ++k) of->w[k] = z[at++];
    of->x = poses[body].position;
    if (i.dimension == 3) of->w = poses[body].rotation * of->w;
    ++body;
    r.velocity = std::max(r.velocity, (of->v - exact->v).norm() / i.speed);
    r.spin = std::max(r.spin, (of->w - exact->w).norm() * of->radius / i.speed);
  }
  r.gain = (kinetic(found) - before) / before;
  r.impacts = static_cast<int>(run.report().contacts->impacts);
  if (!free) return r;
  r.momentum = (found.a.mass * found.a.v + found.b.mass * found.b.v - momentum).norm() / (i.a.mass * i.speed);
  r.angular = (angular_momentum(found) - turning).norm() / size;
  return r;
}

void keep_largest(Errors& all, const Errors& r) {
  all.velocity = std::max(all.velocity, r.velocity), all.spin = std::max(all.spin, r.spin);
  all.momentum = std::max(all.momentum, r.momentum), all.angular = std::max(all.angular, r.angular);
  all.gain = std::max(all.gain, r.gain);
}

// Two spheres, or disks, of like or other sizes and masses, or one of them fixed; smooth or rough and turning.
TEST(ObliqueImpacts, OfTwoRoundBodiesHaveTheClosedForm) {
  constexpr double step = 1.0 / 240;
  Draw draw(2801);
  Errors all;
  for (int trial = 0; trial < 400; ++trial) {
    const Impact i = draw_impact(draw, trial % 2 ? 2 : 3, step, 0.3);
    Multibody scene(i.dimension);
    scene.body(i.body("a", i.a));
    scene.body(i.body("b", i.b));
    const Errors r = errors_of(i, scene, step);
    EXPECT_EQ(r.impacts, 1) << trial;
    keep_largest(all, r);
  }
  EXPECT_LT(all.velocity, 0.01);   // measured 2.0e-3; with the normal of the start of the step 0.42
  EXPECT_LT(all.spin, 0.01);       // measured 2.5e-3; 0.34
  EXPECT_LT(all.momentum, 1e-12);  // measured 2.2e-15
  EXPECT_LT(all.angular, 1e-11);   // measured 5.7e-14
  EXPECT_LT(all.gain, 1e-12);      // measured 1.5e-15
}

// A sphere against an edge or a corner of a fixed box: what it is flung off by is the normal there.
TEST(ObliqueImpacts, AtEdgesAndCornersHaveTheClosedForm) {
  constexpr double step = 1.0 / 240;
  Draw draw(2802);
  Errors all;
  for (int trial = 0; trial < 300; ++trial) {
    Impact i = draw_impact(draw, 3, step, 0.03);
    i.b.mass = HUGE_VAL;
    i.b.w = Vector3d::Zero();
    i.a.v -= i.b.v;
    i.b.v = Vector3d::Zero();
    Vector3d half(0.2, 0.3, 0.25), corner = half;
    // the normal of the box there, -n, points out of all sides that meet
    const int along = draw.integer(0, 3);  // an edge along an axis, or a corner
    Vector3d out(draw.number(0.1, 1), draw.number(0.1, 1), draw.number(0.1, 1));
    if (along < 3) out[along] = corner[along] = 0;
    const Vector3d n = -out.normalized();
    const Eigen::Quaterniond turn = Eigen::Quaterniond::FromTwoVectors(i.n, n);
    i.n = n;
    i.a.v = turn * i.a.v;
    i.a.x = corner - i.a.radius * n;
    i.b.radius = 0;
    Multibody scene;
    scene.body(i.body("a", i.a));
    scene.body({.name = "box", .shapes = {box(2 * half)}, .fixed = true, .friction = i.mu, .restitution = i.e});
    keep_largest(all, errors_of(i, scene, step));
  }
  EXPECT_LT(all.velocity, 0.04);  // measured 0.022, at a rough edge that is slid along
  EXPECT_LT(all.spin, 0.04);      // measured 0.019
  EXPECT_LT(all.gain, 1e-12);     // measured 2.0e-15
}

// Two that come from both sides at once: what was symmetric stays so.
TEST(ObliqueImpacts, KeepSymmetricScenesSymmetric) {
  Draw draw(2803);
  for (int trial = 0; trial < 40; ++trial) {
    const double past = draw.number(0.031, 0.058), step = 1.0 / 240, speed = draw.number(1, 4);
    Multibody scene;
    for (const double side : {-1.0, 1.0})
      scene.body({.name = side < 0 ? "left" : "right",
                  .mass = 1,
                  .shapes = {sphere(0.03)},
                  .position = {side * past, 0, 0},
                  .restitution = 1});
    scene.body({.name = "middle",
                .mass = 1,
                .shapes = {sphere(0.03)},
                .position = {0, -0.06 - draw.number(0, 3) * speed * step, 0},
                .velocity = {0, speed, 0},
                .restitution = 1});
    Simulation run(scene, moreau_jean(), {.step = step});
    run.start(scene.start());
    const double energy = *run.report().energy;
    run.until(0.1);
    // along the normals (+-s, c): each side gets w, the middle loses 2 c w, and energy is kept
    const double s = past / 0.06, c = std::sqrt(1 - s * s), w = 2 * c * speed / (1 + 2 * c * c);
    const std::vector<double>& z = run.state().z;
    EXPECT_NEAR(z[0], -z[6], 1e-10) << trial;
    EXPECT_NEAR(z[1], z[7], 1e-10) << trial;
    EXPECT_NEAR(z[12], 0, 1e-10) << trial;
    EXPECT_NEAR(z[6], s * w, 0.01 * speed) << trial;
    EXPECT_NEAR(z[13], speed - 2 * c * w, 0.01 * speed) << trial;
    EXPECT_NEAR(*run.report().energy, energy, 1e-4 * energy) << trial;  // measured 5.4e-6
  }
}

// A crowd with more contacts than that is followed for has the normals of the start of its steps, and says so.
TEST(ObliqueImpacts, InALargeCrowdAreDoubtful) {
  Draw draw(2804);
  const auto doubts = [&](double step) {
    Multibody scene;
    for (int k = 0; k < 343; ++k)
      scene.body({.name = "b" + std::to_string(k),
                  .mass = 1,
                  .shapes = {sphere(0.03)},
                  .position = 0.075 * Vector3d(k % 7, k / 7 % 7, k / 49),
                  .velocity = draw_vector(draw, 3, 2),
                  .restitution = 0.9});
    Simulation run(scene, moreau_jean(), {.step = step});
    run.start(scene.start());
    run.until(0.05);
    return run.report().doubts;
  };
  const auto long_steps = doubts(1.0 / 240);
  ASSERT_EQ(long_steps.size(), 1U);
  EXPECT_GT(long_steps[0].value, 3);
  EXPECT_LT(long_steps[0].value, 20);  // measured 6.72
  EXPECT_TRUE(doubts(1.0 / 4000).empty());
}

}  // namespace
}  // namespace hinge::oblique_impacts_test
