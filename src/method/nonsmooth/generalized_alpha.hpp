// The generalized-alpha method for constrained systems with v = z:
//
//   y1 = y0 + h z0 + h^2 ((1/2 - beta) a0 + beta a1) [- h G(y1)^T mu]
//   z1 = z0 + h ((1 - gamma) a0 + gamma a1)
//   (1 - alpha_m) a1 + alpha_m a0 = (1 - alpha_f) w1 + alpha_f w0
//   p_z(y1) w1 = b(t1, y1, z1) + r(t1, y1, z1, psi1),   0 = g(t1, y1)   [0 = g_t + G z1]
//
// The brackets belong to the formulation "ggl". w is the acceleration of the equations of motion, a an auxiliary
// variable that approximates it at t + (alpha_m - alpha_f) h (Arnold and Bruls): only so is the order 2 with
// multipliers and with a mass that is not constant. a0 of the first step is made accordingly, from the derivative of
// the acceleration. Coefficients from the spectral radius rho at infinite frequency (Chung and Hulbert):
//
//   alpha_m = (2 rho - 1)/(rho + 1),  alpha_f = rho/(rho + 1),  gamma = 1/2 + alpha_f - alpha_m,
//   beta = (1 + alpha_f - alpha_m)^2 / 4
//
// Order 2 in y, z and psi. rho = 1 keeps high frequencies, rho = 0 removes them in one step. Preserved: the position
// level at round-off, with "ggl" the velocity level too. Not preserved: symplecticity, symmetry, momentum maps, energy,
// which is dissipated where rho < 1. With "index-3" the first steps have errors of order 1 in psi, which die out like
// rho^n, and not at all for rho = 1.
//
// Bodies in space are moved by the exponential of a mean velocity, as Lie groups are (Arnold, Bruls, Cardona):
//
//   y1 = y0 o exp(h D) [- h G(y1)^T mu],   D = z0 + h ((1/2 - beta) a0 + beta a1)
//
// with all other equations as they are; a and w are those of velocities along the axes of the bodies. Order 2.
//
// Contacts: generalized_alpha_contacts.cpp; order 1 across impacts, and with "ggl" no penetration.
//
// Reference: J. Chung, G. M. Hulbert, J. Appl. Mech. 60 (1993) 371-375; M. Arnold, O. Bruls, Multibody Syst. Dyn. 18
// (2007) 185-202; O. Bruls, A. Cardona, M. Arnold, Mech. Mach. Theory 48 (2012) 121-137; Q. Z. Chen, V. Acary, G.
// Virlez, O. Bruls, Int. J. Numer. Methods Eng. 96 (2013) 487-511; O. Bruls, V. Acary, A. Cardona, Comput. Methods
// Appl. Mech. Eng. 281 (2014) 131-161.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "body/spin_balance.hpp"
#include "formulation/acceleration.hpp"
#include "formulation/implicit/implicit_problem.hpp"
#include "hinge/method.hpp"
#include "method/nonsmooth/contact_step.hpp"
#include "solve/linear/linear.hpp"
#include "solve/newton/convergence.hpp"

namespace hinge {

class GeneralizedAlpha final : public Stepper {
 public:
  GeneralizedAlpha(std::shared_ptr<const System> system, const GeneralizedAlphaOptions& options,
                   const SolverOptions& solver);
  StepResult step(State& state, double h) override;
  void reset() override {
    begun_ = false;
    changed_ = counters_.steps > 0;
    if (contacts_) contacts_->reset();
  }
  const ContactStatistics* contact_statistics() const override { return contacts_ ? &contacts_->measured() : nullptr; }
  void set_contact_statistics(const ContactStatistics& s) override {
    if (contacts_) contacts_->statistics = s;
  }
  const ContactImpulses* contact_impulses() const override { return contacts_ ? &contacts_->impulses() : nullptr; }

 private:
  bool begin(const State& state, double h);
  bool move_by_runge_kutta(const State& state, double h, std::vector<double>& acceleration);
  bool solve(double t1, double h);
  bool left_rounding(double t1, double h);
  void rates(double h);
  void move_by_mean(double h);
  void differentiate_turns(double h);
  bool factor(double h);
  static Eigen::Matrix3d turn_tangent(double h, const double* spin);
  void respond_by_turns(double h, const double* dy, const double* dz, double* rate);
  const double* as_velocity(const double* dy);
  void shift_position(double factor, const double* column, double h);
  void respond(double h, const double* dy, const double* dz, double* dx);
  bool update_jump(bool position, double h, Eigen::VectorXd& jump);
  void hold_gaps(const Eigen::MatrixXd& normal_response);
  void count_displacement(double h, const double* mass, const std::vector<double>& y_free,
                          const std::vector<double>& z_free);
  bool resolve_contacts(const State& state, double h);

  std::shared_ptr<const System> system_;
  SolverOptions options_;
  std::unique_ptr<ImplicitProblem> problem_;
  std::unique_ptr<LinearSolver> solver_;
  Acceleration acceleration_;
  double alpha_m_, alpha_f_, beta_, gamma_, weight_;  // weight: of w1 in a1
  int n_, nz_, m_;                                    // positions, velocities, multipliers
  bool turns_;                                        // bodies in space
  std::unique_ptr<Evaluation> motion_;                // v, where it is not z
  std::vector<double> from_, mean_, moved_;
  std::vector<int> position_velocity_;  // where (P_i, z_i) stands in the matrix
  std::vector<double> x_, rate_, residual_, within_, f_x_, f_rate_, matrix_;
  std::vector<double> y_star_, z_star_, a_, w_, psi_, forward_, backward_, work_;
  std::vector<double> row_scale_, column_scale_;
  double last_h_ = 0, end_time_ = 0, t1_ = 0;
  bool begun_ = false;
  bool changed_ = false;  // the equations may have been others before
  Convergence newton_{options_.max_iterations};
  // where there are contacts:
  std::unique_ptr<ContactStep> contacts_;
  std::optional<SpinBalance> spins_;  // of bodies in space
  bool two_levels_ = true;
  std::vector<double> response_rate_, before_, shift_, gap_;  // before: H z0; shift: e times its normal part
  std::vector<double> start_z_, turned_;                      // z0 along the axes of the end
  std::vector<char> asleep_;
  Eigen::VectorXd lambda_;
  Eigen::MatrixXd tangents_;  // P
};

}  // namespace hinge
