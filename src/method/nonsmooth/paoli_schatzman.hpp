// Paoli's and Schatzman's scheme, on positions alone:
//
//   M(y_k) (y_{k+1} - 2 y_k + y_{k-1}) = h^2 b(t_k, y_k, z_k) + h H^T r + h C^T s,   H and C at y_k
//   0 <= gap( (y_{k+1} + e y_{k-1})/(1 + e) )  _|_  r_N >= 0,     0 = g(t_{k+1}, y_{k+1})
//   y_1 = y_0 + h z_0 + h^2/2 a_0   in the first step
//
// The restitution e is in the place where the gap is taken. Friction acts between r and H (y_{k+1} - y_k)/h. Reported
// is z = (y_{k+1} - y_k)/h + h/2 a(y_{k+1}) where no contact is loaded, and the difference alone where one is; only the
// forces and the start use it.
//
// An impact takes two steps. With friction, or at several contacts, the sum of its two impulses obeys the laws of
// impact only where they have one direction; elsewhere the scheme does not converge, and says so (turning_impacts.hpp).
//
// Order 2 where nothing strikes, 1 with other impacts; penetration O(h) for e > 0. Preserved: the position level of
// joints at round-off. For systems whose positions add up (no rotations by quaternions).
//
// Reference: L. Paoli, M. Schatzman, SIAM J. Numer. Anal. 40 (2002) 702-733.
#pragma once

#include <memory>
#include <vector>

#include "formulation/acceleration.hpp"
#include "hinge/nonsmooth.hpp"
#include "method/nonsmooth/contact_step.hpp"
#include "method/nonsmooth/turning_impacts.hpp"

namespace hinge {

class PaoliSchatzman final : public Stepper {
 public:
  PaoliSchatzman(std::shared_ptr<const System> system, const PaoliSchatzmanOptions& options,
                 const SolverOptions& solver);
  StepResult step(State& state, double h) override;
  void reset() override {
    begun_ = false;
    contacts_.reset();
    turning_.forget();
  }
  std::vector<Doubt> doubts() const override;
  const ContactStatistics* contact_statistics() const override {
    return contacts_.has_contacts() ? &contacts_.measured() : nullptr;
  }
  void set_contact_statistics(const ContactStatistics& s) override { contacts_.statistics = s; }
  const ContactImpulses* contact_impulses() const override {
    return contacts_.has_contacts() ? &contacts_.impulses() : nullptr;
  }

 private:
  using Q = Quantity;
  bool begin(const State& state, double h);
  bool solve(const State& state, double h);
  void demand(const State& state, double h);

  std::shared_ptr<const System> system_;
  int max_iterations_, n_, m_;
  ContactStep contacts_;
  TurningImpacts turning_;
  Acceleration acceleration_;
  std::unique_ptr<Evaluation> here_, next_;
  std::vector<double> before_, y1_, v0_, v1_, v_new_, b_, M_, C_, right_, c_, w_, u_, gap_, y_bar_, a_, velocity_, psi_,
      looked_;
  double last_h_ = 0, end_time_ = 0;
  bool begun_ = false;
};

}  // namespace hinge
