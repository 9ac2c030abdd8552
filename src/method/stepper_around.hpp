// A stepper around others: what is asked of it is asked of the one that makes the steps now. A wrapper overrides what
// it changes; nothing gets lost of the rest.
#pragma once

#include "hinge/method.hpp"

namespace hinge {

class StepperAround : public Stepper {
 public:
  StepResult start(const State& state) override { return counted(inner().start(state)); }
  StepResult step(State& state, double h) override {
    return chooses_steps() ? Stepper::step(state, h) : counted(inner().step(state, h));
  }
  StepResult advance(State& state, double limit) override {
    StepResult result = inner().advance(state, limit);
    count();
    return result;
  }
  StepResult continue_from(const State& state) override { return counted(inner().continue_from(state)); }
  void interpolate(double t, State& state) const override { inner().interpolate(t, state); }
  void sketch(double t, State& state) const override { inner().sketch(t, state); }
  void reset() override { inner().reset(); }

  const char* discrete_energy_name() const override { return inner().discrete_energy_name(); }
  double discrete_energy(double energy, const double* g) const override { return inner().discrete_energy(energy, g); }
  double summed_work() const override { return inner().summed_work(); }
  void set_summed_work(double work) override { inner().set_summed_work(work); }
  const ContactStatistics* contact_statistics() const override { return inner().contact_statistics(); }
  void set_contact_statistics(const ContactStatistics& s) override { inner().set_contact_statistics(s); }
  const ContactImpulses* contact_impulses() const override { return inner().contact_impulses(); }
  std::span<const Break> breaks() const override { return inner().breaks(); }
  std::vector<std::string> remarks() const override { return inner().remarks(); }
  std::vector<Doubt> doubts() const override { return inner().doubts(); }

 protected:
  using Stepper::Stepper;
  virtual Stepper& inner() const = 0;
  /// What all steppers inside have cost so far.
  virtual Counters work() const { return inner().counters(); }
  void count() {
    counters_ = work();
    if (!chooses_steps()) multipliers_ = inner().multipliers();
  }
  StepResult counted(StepResult result) {
    count();
    return result;
  }
};

}  // namespace hinge
