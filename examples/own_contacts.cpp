// Contacts of one's own, in C++: a bead in a round bowl, with friction. It checks its own result.
//
//   y = (x, h),  z = y',  p = m z,  f = (0, -m gravity)
//   gap = R - |y|,   N = -y/|y|,   T = (y_h, -y_x)/|y|,   u = (N z, T z),   u_N = d gap/dt
//   0 <= r_N  _|_  u_N >= 0 while the gap is closed,   |r_T| <= mu r_N against the sliding
//
// A system that has contacts gives a ContactFinder: asked at a position, it lists those nearby with their gaps and the
// rows that make velocities of the contact, u = H z, out of the velocities of the system. The methods ask for nothing
// else.
//
// What to expect: the bead is let go beside the middle, strikes the bowl without a rebound, slides down and up, and is
// held by friction where the bowl is less steep than the friction cone. The exit status is 1 when it does not rest, is
// outside the cone or the bowl, or has gained energy.
//
// After `make test`, which configures and builds it:
//
//   build/example_own_contacts
#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>

#include <hinge/hinge.hpp>

namespace {

constexpr double mass = 0.2, gravity = 9.81, radius = 1.5, friction = 0.3;

double gap_at(const double* y) { return radius - std::hypot(y[0], y[1]); }

class BowlContact final : public hinge::ContactFinder {
 public:
  int dimension() const override { return 2; }  // a normal and a tangential row

  void find(double, const double* y, double band, hinge::ContactList& out) override {
    out.clear(dimension());
    const double gap = gap_at(y), distance = std::hypot(y[0], y[1]);
    if (gap > band || !(distance > 0)) return;
    out.count = 1;
    out.key.push_back(0);  // there is one contact only; its name from step to step
    out.gap.push_back(gap);
    out.friction.push_back(friction);
    out.restitution.push_back(0);
    out.drift.insert(out.drift.end(), {0, 0});  // the bowl does not move
    const double n[2] = {-y[0] / distance, -y[1] / distance};
    for (int k = 0; k < 2; ++k) {  // column after column of H: its entry of N, then of T
      out.column.push_back(k);
      out.H.insert(out.H.end(), {n[k], k == 0 ? -n[1] : n[0]});
    }
    out.first.push_back(2);
  }
  void gaps(double, const double* y, const hinge::ContactList& list, double* out) override {
    std::fill_n(out, list.count, gap_at(y));
  }
  std::string name(std::uint64_t) const override { return "bead - bowl"; }
  double length_scale() const override { return radius; }
};

class BeadInBowl final : public hinge::System {
 public:
  BeadInBowl() : System(layout(), {.has_energy = true, .velocity_is_z = true, .has_contacts = true}) {}
  std::unique_ptr<hinge::ContactFinder> contact_finder() const override { return std::make_unique<BowlContact>(); }

 protected:
  void momentum(double, const double*, const double* z, double* out) const override {
    for (int k = 0; k < 2; ++k) out[k] = mass * z[k];
  }
  void force(double, const double*, const double*, double* out) const override {
    out[0] = 0;
    out[1] = -mass * gravity;
  }
  double energy(double, const double* y, const double* z) const override {
    return mass * ((z[0] * z[0] + z[1] * z[1]) / 2 + gravity * y[1]);
  }

 private:
  static hinge::Layout layout() {
    hinge::Layout l;
    l.y = {{"q", {2}, 0}};
    l.z = {{"v", {2}, 0}};
    l.ny = l.nz = 2;
    return l;
  }
};

bool check(const char* what, double value, double bound) {
  const bool good = value <= bound;  // false for NaN as well
  std::cout << (good ? "  passed  " : "  FAILED  ") << what << ": " << value << " (at most " << bound << ")\n";
  return good;
}

}  // namespace

int main() try {
  hinge::Simulation run(std::make_shared<BeadInBowl>(), hinge::moreau_jean(), {.step = 1e-3});
  run.start({.position = {1.0, 0.0}, .velocity = {0, 0}});
  const double energy = mass * gravity * run.state().y[1];
  run.until(10.0);

  const hinge::Report report = run.report();
  std::cout << report << '\n';
  const auto& [y, z] = std::pair(run.state().y, run.state().z);
  bool good = check("speed at the end", std::hypot(z[0], z[1]), 1e-10);
  good &= check("steepness where it rests", std::abs(y[0] / y[1]), friction);
  good &= check("depth in the bowl", -gap_at(y.data()), 5e-3);  // gaps drift with the step: measured 2.3e-3
  good &= check("energy gained", mass * gravity * y[1] - energy, 0);
  good &= check("problems not solved", static_cast<double>(report.contacts.value().unconverged), 0);
  std::cout << (good ? "all checks passed\n" : "some checks FAILED\n");
  return good ? 0 : 1;
} catch (const hinge::Error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
