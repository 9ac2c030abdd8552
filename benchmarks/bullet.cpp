// A settled pile of spheres, one thread: microseconds per contact and step beside Bullet, and the residual that each
// reaches. Everything that a step does is in the time: search, warm start, solution, motion.
//
// Spheres of radius 0.03 to 0.06 lie in a box, friction 0.4, step 1/200. Bullet gets the pile that Hinge has settled
// and first takes a second of its own. The residual of both is the natural map with exact friction, computed by
// hinge's contact_residual from the velocities before the step, the contacts that the program found and the impulses it
// applied: `ours` is the worst contact, in velocities, relative to the largest |q|, `2-norm` the sum of squares,
// relative to the largest of |q|, |r| and |u|. What a contact demands of the normal velocity is the program's own
// choice (Bullet: a fifth of the penetration per step) and part of q. Bullet's velocities after the step must be those
// that its impulses give: the last column says how far they are.
#include <cmath>
#include <cstdio>
#include <memory>
#include <vector>

#include <btBulletDynamicsCommon.h>

#include "hinge/contact.hpp"
#include "hinge/multibody.hpp"
#include "hinge/nonsmooth.hpp"
#include "hinge/simulate.hpp"
#include "measure.hpp"

namespace {

using Eigen::Vector3d;

constexpr double friction = 0.4, density = 1000, step = 0.005, gravity = 9.81, low_radius = 0.03, high_radius = 0.06;

struct Pile {
  std::vector<double> radii;
  std::shared_ptr<const hinge::System> system;
  hinge::State state;
  double side;
};

// Left, right, front, back, floor.
Vector3d wall_normal(int k) { return (k % 2 == 0 ? 1.0 : -1.0) * Vector3d::Unit(k / 2); }

hinge::MethodChoice stepping(double tolerance) {
  hinge::MoreauJeanOptions o;
  o.gap = hinge::GapTreatment::linearised;
  o.solving.solver = "block-gauss-seidel";
  o.solving.tolerance = tolerance;
  return hinge::moreau_jean(o);
}

void advance(hinge::Stepper& stepper, hinge::State& state, int steps) {
  for (int k = 0; k < steps; ++k)
    if (const auto result = stepper.step(state, step); !result.ok) {
      std::printf("Hinge failed: %s\n", result.reason.c_str());
      std::exit(1);
    }
}

Pile settled(int n) {
  Pile pile;
  hinge::RandomNumbers random(1);
  for (int i = 0; i < n; ++i) pile.radii.push_back(low_radius + (high_radius - low_radius) * random.uniform());
  pile.side = 1.1 * std::cbrt(n / 1000.0);
  const Vector3d low = Vector3d::Zero(), high(pile.side, pile.side, 1.6 * pile.side);
  hinge::Multibody scene;
  scene.gravity({0, 0, -gravity});
  hinge::ParticleOptions particles;
  particles.positions = hinge::place_at_random(3, pile.radii, low, high, random);
  particles.radii = pile.radii;
  particles.density = density;
  particles.friction = friction;
  for (int k = 0; k < 5; ++k) {
    hinge::BodyOptions wall;
    wall.name = "wall" + std::to_string(k);
    wall.shapes = {hinge::plane(wall_normal(k))};
    wall.position = k % 2 == 0 ? low : high;
    wall.fixed = true;
    wall.friction = friction;
    scene.body(wall);
  }
  scene.particles(particles);
  pile.system = scene.build();
  hinge::Simulation start(scene, stepping(1e-3), {.step = step});
  start.start(scene.start());
  pile.state = start.state();
  for (const auto& [tolerance, steps] : {std::pair{1e-2, 160}, std::pair{1e-3, 160}, std::pair{1e-4, 80}}) {
    const auto stepper = stepping(tolerance).bind(pile.system, {});
    advance(*stepper, pile.state, steps);
  }
  return pile;
}

void header() {
  std::printf("%-8s %8s %-22s %10s %9s %12s %10s %10s %10s\n", "program", "spheres", "solver", "contacts", "ms/step",
              "us/contact", "ours", "2-norm", "check");
}

void row(const char* program, int n, const char* solver, double contacts, double seconds, double ours, double norm,
         double check) {
  std::printf("%-8s %8d %-22s %10.0f %9.3f %12.3f %10.2e %10.2e", program, n, solver, contacts, 1e3 * seconds,
              1e6 * seconds / contacts, ours, norm);
  if (check >= 0) std::printf(" %10.1e", check);
  std::printf("\n");
}

// The problem of a step from what was found and applied, for both programs.
struct Problem {
  hinge::ContactProblem problem;
  std::vector<double> r;

  Problem(const std::vector<double>& radii) {
    problem.bodies.resize(static_cast<int>(radii.size()), 0, 0);
    int body = 0;
    for (const double radius : radii) {
      const double mass = density * 4.0 / 3.0 * M_PI * radius * radius * radius;
      auto inverse = problem.bodies.inverse(body++);
      inverse.setZero();
      inverse.diagonal() << Vector3d::Constant(1 / mass), Vector3d::Constant(1 / (0.4 * mass * radius * radius));
    }
  }
  Eigen::Map<Eigen::VectorXd> v_free() { return {problem.bodies.v_free.data(), std::ssize(problem.bodies.v_free)}; }
  /// Adds a contact and returns its number.
  int add(int a, int b, double w) {
    hinge::ContactBodies& bodies = problem.bodies;
    bodies.pair.insert(bodies.pair.end(), {a, b});
    bodies.H.resize(bodies.H.size() + 36, 0.0);
    bodies.w.insert(bodies.w.end(), {w, 0, 0});
    problem.mu.push_back(friction);
    return bodies.blocks() - 1;
  }
  void add(int a, int b, const Vector3d& arm_a, const Vector3d& arm_b, const Vector3d (&frame)[3], double w,
           const double* impulse) {
    const int i = add(a, b, w);
    for (int k = 0; k < 3; ++k) {
      if (a >= 0) problem.bodies.rows(i, 0).row(k) << frame[k].transpose(), arm_a.cross(frame[k]).transpose();
      if (b >= 0) problem.bodies.rows(i, 1).row(k) << -frame[k].transpose(), -arm_b.cross(frame[k]).transpose();
      r.push_back(impulse[k]);
    }
  }
  hinge::ContactResidual residual() const {
    return hinge::contact_residual(problem, Eigen::Map<const Eigen::VectorXd>(r.data(), std::ssize(r)));
  }
};

void run_hinge(const Pile& pile, double tolerance, int steps) {
  const int n = static_cast<int>(pile.radii.size());
  hinge::State state = pile.state;
  const auto stepper = stepping(tolerance).bind(pile.system, {});
  advance(*stepper, state, 60);  // warm
  double seconds = 0, contacts = 0;
  for (int k = 0; k < steps; ++k) {
    seconds += bench::time_of([&] { advance(*stepper, state, 1); });
    contacts += stepper->contact_statistics()->contacts;
  }
  // one more step, looked at from outside
  const hinge::State before = state;
  advance(*stepper, state, 1);
  const hinge::ContactImpulses& found = *stepper->contact_impulses();
  Problem p(pile.radii);
  // velocities of all spheres, then their spins
  const auto place = [n](int column) {
    return column < 3 * n ? std::pair{column / 3, column % 3} : std::pair{(column - 3 * n) / 3, 3 + column % 3};
  };
  for (int j = 0; j < 6 * n; ++j) {
    const auto [body, k] = place(j);
    p.v_free()[6 * body + k] = before.z[static_cast<std::size_t>(j)] - (k == 2 ? step * gravity : 0);
  }
  const hinge::ContactList& l = found.contacts;
  for (int i = 0; i < l.count; ++i) {
    int pair[2] = {-1, -1};
    const int number = p.add(-1, -1, l.gap[static_cast<std::size_t>(i)] / step);
    for (int e = l.first[static_cast<std::size_t>(i)]; e < l.first[static_cast<std::size_t>(i) + 1]; ++e) {
      const auto [body, slot] = place(l.column[static_cast<std::size_t>(e)]);
      if (pair[0] < 0) pair[0] = body;
      if (body != pair[0]) pair[1] = body;
      for (int k = 0; k < 3; ++k)
        p.problem.bodies.rows(number, body == pair[0] ? 0 : 1)(k, slot) = l.H[static_cast<std::size_t>(3 * e + k)];
    }
    std::copy_n(pair, 2, p.problem.bodies.pair.data() + 2 * number);
  }
  p.r = found.impulse;
  const hinge::ContactResidual residual = p.residual();
  char name[40];
  std::snprintf(name, sizeof name, "tolerance %.0e", tolerance);
  row("Hinge", n, name, contacts / steps, seconds / steps, residual.ours, residual.siconos, -1);
}

Vector3d vector(const btVector3& v) { return {v.x(), v.y(), v.z()}; }

class Bullet {
 public:
  explicit Bullet(const Pile& pile, int iterations) : pile_(pile), iterations_(iterations) {
    world_.setGravity(btVector3(0, 0, -static_cast<btScalar>(gravity)));
    btContactSolverInfo& info = world_.getSolverInfo();
    info.m_numIterations = iterations;
    info.m_solverMode |= SOLVER_USE_2_FRICTION_DIRECTIONS;
    info.m_splitImpulse = 0;
    for (int k = 0; k < 5; ++k) {
      const Vector3d normal = wall_normal(k);
      shapes_.push_back(std::make_unique<btStaticPlaneShape>(
          btVector3(static_cast<btScalar>(normal(0)), static_cast<btScalar>(normal(1)),
                    static_cast<btScalar>(normal(2))),
          static_cast<btScalar>(k % 2 == 1 ? -pile.side : 0.0)));
      add(0, 0, Vector3d::Zero(), -1);
    }
    for (std::size_t i = 0; i < pile.radii.size(); ++i) {
      const double radius = pile.radii[i];
      shapes_.push_back(std::make_unique<btSphereShape>(static_cast<btScalar>(radius)));
      add(density * 4.0 / 3.0 * M_PI * radius * radius * radius, radius,
          Eigen::Map<const Vector3d>(pile.state.y.data() + 3 * i), static_cast<int>(i));
    }
    world_.setInternalTickCallback(
        [](btDynamicsWorld* world, btScalar) { static_cast<Bullet*>(world->getWorldUserInfo())->remember(); }, this,
        true);
  }

  void run(int steps) {
    const int n = static_cast<int>(pile_.radii.size());
    for (int k = 0; k < 200; ++k) world_.stepSimulation(static_cast<btScalar>(step), 0);
    double seconds = 0, contacts = 0;
    for (int k = 0; k < steps; ++k) {
      seconds += bench::time_of([&] { world_.stepSimulation(static_cast<btScalar>(step), 0); });
      contacts += count();
    }
    double check = 0;
    const hinge::ContactResidual residual = look(check);
    char name[40];
    std::snprintf(name, sizeof name, "%d iterations", iterations_);
    row("Bullet", n, name, contacts / steps, seconds / steps, residual.ours, residual.siconos, check);
  }

 private:
  void add(double mass, double radius, const Vector3d& at, int index) {
    btRigidBody::btRigidBodyConstructionInfo info(static_cast<btScalar>(mass), nullptr, shapes_.back().get());
    const auto moment = static_cast<btScalar>(0.4 * mass * radius * radius);
    info.m_localInertia = btVector3(moment, moment, moment);
    info.m_friction = static_cast<btScalar>(std::sqrt(friction));  // those of a pair are multiplied
    info.m_restitution = 0;
    info.m_startWorldTransform.setIdentity();
    info.m_startWorldTransform.setOrigin(
        btVector3(static_cast<btScalar>(at(0)), static_cast<btScalar>(at(1)), static_cast<btScalar>(at(2))));
    bodies_.push_back(std::make_unique<btRigidBody>(info));
    btRigidBody& body = *bodies_.back();
    body.setUserIndex(index);
    body.setActivationState(DISABLE_DEACTIVATION);
    body.setDamping(0, 0);
    world_.addRigidBody(&body);
  }
  void remember() {
    before_.clear();
    for (const auto& body : bodies_)
      if (body->getUserIndex() >= 0)
        before_.push_back({vector(body->getLinearVelocity()), vector(body->getAngularVelocity()),
                           vector(body->getWorldTransform().getOrigin())});
  }
  int count() {
    int sum = 0;
    for (int k = 0; k < dispatcher_.getNumManifolds(); ++k)
      sum += dispatcher_.getManifoldByIndexInternal(k)->getNumContacts();
    return sum;
  }
  hinge::ContactResidual look(double& check) {
    Problem p(pile_.radii);
    for (std::size_t b = 0; b < before_.size(); ++b)
      p.v_free().segment<6>(static_cast<Eigen::Index>(6 * b)) << before_[b].velocity - Vector3d(0, 0, step * gravity),
          before_[b].spin;
    for (int k = 0; k < dispatcher_.getNumManifolds(); ++k) {
      const btPersistentManifold& m = *dispatcher_.getManifoldByIndexInternal(k);
      const int a = m.getBody0()->getUserIndex(), b = m.getBody1()->getUserIndex();
      for (int i = 0; i < m.getNumContacts(); ++i) {
        const btManifoldPoint& point = m.getContactPoint(i);
        const Vector3d frame[3] = {vector(point.m_normalWorldOnB), vector(point.m_lateralFrictionDir1),
                                   vector(point.m_lateralFrictionDir2)};
        const auto arm = [&](int body, const btVector3& at) -> Vector3d {
          return body >= 0 ? Vector3d(vector(at) - before_[static_cast<std::size_t>(body)].position) : Vector3d::Zero();
        };
        const double distance = point.getDistance();
        const double impulse[3] = {point.m_appliedImpulse, point.m_appliedImpulseLateral1,
                                   point.m_appliedImpulseLateral2};
        p.add(a, b, arm(a, point.getPositionWorldOnA()), arm(b, point.getPositionWorldOnB()), frame,
              distance > 0 ? distance / step : world_.getSolverInfo().m_erp2 * distance / step, impulse);
      }
    }
    // what its impulses give, beside what it has
    const hinge::ContactBodies& bodies = p.problem.bodies;
    Eigen::VectorXd v = Eigen::VectorXd::Zero(6 * bodies.count());
    for (int i = 0; i < bodies.blocks(); ++i)
      for (const int side : {0, 1})
        if (const int b = bodies.body(i, side); b >= 0)
          v.segment<6>(6 * b) += bodies.rows(i, side).transpose() * Eigen::Map<const Vector3d>(p.r.data() + 3 * i);
    double largest = 0;
    for (const auto& body : bodies_) {
      const int b = body->getUserIndex();
      if (b < 0) continue;
      const Vector3d now = p.v_free().segment<3>(6 * b) + bodies.inverse(b).topLeftCorner<3, 3>() * v.segment<3>(6 * b);
      largest = std::max(largest, (now - vector(body->getLinearVelocity())).lpNorm<Eigen::Infinity>());
    }
    check = largest / (step * gravity);
    return p.residual();
  }

  struct Motion {
    Vector3d velocity, spin, position;
  };
  const Pile& pile_;
  int iterations_;
  btDefaultCollisionConfiguration configuration_;
  btCollisionDispatcher dispatcher_{&configuration_};
  btDbvtBroadphase broadphase_;
  btSequentialImpulseConstraintSolver solver_;
  std::vector<std::unique_ptr<btCollisionShape>> shapes_;
  std::vector<std::unique_ptr<btRigidBody>> bodies_;
  btDiscreteDynamicsWorld world_{&dispatcher_, &broadphase_, &solver_, &configuration_};
  std::vector<Motion> before_;
};

}  // namespace

int main(int argc, char** argv) {
  const bool quick = bench::quick(argc, argv);
  header();
  for (const int n : {1000, 5000}) {
    if (quick && n > 1000) continue;
    const Pile pile = settled(n);
    for (const double tolerance : {1e-2, 1e-3, 1e-4}) run_hinge(pile, tolerance, quick ? 20 : 100);
    for (const int iterations : {10, 50, 200, 1000}) {
      if (quick && iterations > 50) continue;
      Bullet(pile, iterations).run(iterations > 200 ? 20 : quick ? 20 : 100);
    }
  }
}
