// The step of a SPARK method in its two blocks; the equations are in spark.hpp. spark.cpp: the step, first guesses,
// branches. spark_stages.cpp: block 1. spark_end.cpp: block 2.
#pragma once

#include <array>
#include <memory>
#include <utility>
#include <vector>

#include "expression/rounding_bounds.hpp"
#include "method/branch_guard.hpp"
#include "method/symplectic/spark.hpp"
#include "method/symplectic/spark_code.hpp"
#include "method/symplectic/spark_jacobian.hpp"
#include "method/symplectic/step_rounding.hpp"
#include "solve/linear/saddle_point.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/extrapolation.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

class Spark final : public Stepper {
 public:
  Spark(std::shared_ptr<const System> system, SparkTableau tableau, const SolverOptions& options);

  StepResult step(State& state, double h) override;
  void reset() override {
    forget_guesses();
    small_.forget();
    end_small_.forget();
    acceleration_ = 0;
    stages_newton_.forget();
    end_newton_.forget();
    full_steps_left_ = 0;
    full_streak_ = 16;
  }

 private:
  using Q = Quantity;

  void first_guess(const State& state);
  void forget_guesses() {
    for (Extrapolation* g : {&guess_v_, &guess_z_, &guess_l_, &guess_end_z_, &guess_end_l_}) g->reset();
  }
  void note_acceleration(double a);
  StepResult solve_step(const State& state, double h);
  StepResult follow_branch(const State& state, double h);
  bool guess_is_on_branch(const State& state);
  bool solve_safely(const State& state, double h);
  bool stayed_on_branch(const State& state, double h);
  bool same_side(const State& state, double h);
  void sum_end_momentum(double h);
  void sum_end_position(const State& state, double h);
  void refresh_small_matrix(const State& state, double h);
  StepResult solve_stages(const State& state, double h);
  bool simplified_stages(const State& state, double h);
  double improve_stages(const State& state, double h, bool first);
  double improve_stages_by_code(const State& state, double h, bool first);
  bool full_stages(const State& state, double h);
  void prepare_rounding();
  bool stages_left_rounding(const State& state, double h);
  StepResult solve_end(const State& state, double h);
  double measure_end(const double* dz, double multiplier_effect);
  bool simplified_end(double t1, double h);
  double improve_end(double h, const Evaluation& now);
  double improve_end_by_code(double t1, double h);
  bool full_end(double t1, double h);

  void evaluate_stages(double t, double h);
  void evaluate_nodes(const State& state, double h, bool derivatives);
  void evaluate_final_stages(const State& state, double h);
  SparkCode::Stages stages_from(const State& state, double h) const {
    return {state.t, h, state.y.data(), p0_.data(), stage_y_.data(), stage_z_.data(), multiplier_.data()};
  }
  void stage_residuals(double h);
  void sum_stage_positions(const State& state, double h);
  double measure_stages(double multiplier_effect);
  void set_units(const State& state, double h);
  void raise_units(const State& state, double h, const double* v);
  double velocity_size(const double* dz);

  double* y_(int i) { return stage_y_.data() + i * ny_; }
  double* z_(int i) { return stage_z_.data() + i * nz_; }
  double* v_(int i) { return stage_v_.data() + i * ny_; }
  double* f_(int i) { return stage_f_.data() + i * nz_; }
  double* p_(int i) { return stage_p_.data() + i * nz_; }
  double* l_(int k) { return multiplier_.data() + k * m_; }
  double* node_y_(int k) { return node_positions_.data() + k * ny_; }
  double* r_(int k) { return node_r_.data() + k * nz_; }
  double* dz_(int i) { return increment_z_.data() + i * nz_; }
  double* dl_(int k) { return increment_l_.data() + k * m_; }

  std::shared_ptr<const System> system_;
  SparkTableau c_;
  SolverOptions options_;
  BranchGuard guard_;
  int s_, st_, ny_, nz_, m_;
  Eigen::MatrixXd n_inverse_;  // N^-1, N = (Abar Atilde)_{1..st, 0..st-1}

  struct NodeEvaluations {
    std::unique_ptr<Evaluation> values, with_derivatives;
  };
  std::unique_ptr<Evaluation> start_, stage_, end_, end_values_, reference_;
  NodeEvaluations first_node_, inner_node_, last_node_;
  SchurComplement small_, end_small_;  // of block 1 (made in the middle of a step) and of block 2 (at its end)
  std::vector<double> velocity_z_;     // v_z where the small matrix was made
  std::unique_ptr<SparkJacobian> jacobian_;
  RoundingBounds rounding_;  // of p, f, r and g; made with the matrix
  std::unique_ptr<SaddlePoint> saddle_;
  // First guesses: each kind of unknown has its own, since rounding spoils the inner multipliers (by 1/h^2) first.
  Extrapolation guess_v_, guess_z_, guess_l_, guess_end_z_, guess_end_l_;
  double last_h_ = 0;
  bool fresh_ = false;       // was the small matrix made in this step?
  double acceleration_ = 0;  // size of v_z p_z^-1 f where it was last looked at
  int full_steps_left_ = 0, full_streak_ = 16;

  std::vector<double> stage_y_, stage_z_, stage_v_, stage_f_, stage_p_, node_positions_, node_r_, multiplier_;
  // The unknowns of a step and where they are kept while a step is grown in pieces.
  std::array<std::pair<std::vector<double>*, std::vector<double>*>, 5> kept_unknowns() {
    return {{{&stage_v_, &kept_v_},
             {&stage_z_, &kept_z_},
             {&multiplier_, &kept_multiplier_},
             {&z1_, &kept_z1_},
             {&psi1_, &kept_psi1_}}};
  }
  std::vector<double> kept_v_, kept_z_, kept_multiplier_, kept_z1_, kept_psi1_;
  std::vector<double> increment_z_, increment_l_, node_g_, node_gy_, node_rpsi_, p0_, y1_, z1_, psi1_, branch_from_;
  std::vector<double> residual_, mass_residual_, work_, work2_, work_m_, work_y_, newton_, position_change_, within_;
  StepRounding unit_;
  Convergence stages_newton_{options_.max_iterations, newton_policy::stages},
      end_newton_{options_.max_iterations, newton_policy::velocity_level},
      full_newton_{options_.max_iterations, newton_policy::full};  // of the block that was solved last
  bool velocity_is_z_ = false, force_is_constant_ = false;
  std::unique_ptr<SparkCode> code_;
  int code_in_ = 16;             // steps until it is made: what it takes is worth some of them
  bool stages_by_code_ = false;  // of the present step, the last iteration
};

}  // namespace hinge
