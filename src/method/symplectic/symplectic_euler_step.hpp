// The step of a symplectic Euler method; the equations are in symplectic_euler.hpp. symplectic_euler.cpp: the step and
// its solution. symplectic_euler_matrix.cpp: the Newton matrices.
#pragma once

#include <array>
#include <memory>
#include <vector>

#include "hinge/method.hpp"
#include "method/branch_guard.hpp"
#include "method/symplectic/step_rounding.hpp"
#include "solve/linear/block_matrix.hpp"
#include "solve/newton/extrapolation.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

/// The columns of the table in the header.
struct EulerWeights {
  bool at_end;  // Ye = y1 and e = 0; else Ye = y0 and e = 1
  std::array<double, 2> first, second, multiplier;
  bool coupled() const { return first[1] != 0; }
};

class SymplecticEuler final : public Stepper {
 public:
  SymplecticEuler(std::shared_ptr<const System> system, const EulerWeights& weights, const SolverOptions& options);
  StepResult step(State& state, double h) override;
  void reset() override {
    guess_.reset();
    guess_psi_.reset();
    for (Part& part : parts_) part.kept = false, part.newton.forget();
  }

 private:
  using Q = Quantity;
  enum Unknown { at_y, at_z_mid, at_p0, at_z, at_p1, unknowns };

  // A system of equations that is solved in one piece: all of the step, or one of its two halves.
  struct Part {
    bool has_first, has_second;
    int offset;  // of its first unknown
    BlockMatrix matrix;
    const char* what;
    Convergence newton;
    bool kept = false;
    bool ages_fast = false;  // a matrix of an earlier step was of no use
  };

  void lay_out(Part& part);
  void evaluate_first(const State& state, double h);
  void evaluate_second(double t1);
  void residual_first(const State& state, double h);
  void residual_second(double h);
  void assemble(Part& part, const State& state, double h);
  void assemble_first(BlockMatrix& matrix, int& block, double h);
  void assemble_second(BlockMatrix& matrix, int& block, double h, bool alone);
  void set_units(const State& state, double h);
  double measure(const Part& part);
  double velocity_size(const double* dz);
  double safe_length(const Part& part, const State& state, double h);
  void move(const Part& part, double length);
  bool solve(Part& part, const State& state, double h, bool shorten);
  bool solve_from_rest(Part& part, const State& state, double h);
  double momentum_speed();
  bool solve_safely(const State& state, double h);
  bool guess_is_on_branch(const State& state);
  StepResult follow_branch(const State& state, double h);
  void first_guess(const State& state, double h);
  bool same_side(const State& state, double h);

  double* x(Unknown u) { return x_.data() + offset_[u]; }
  double* d(Unknown u) { return d_.data() + offset_[u]; }
  double* psi(int k) { return x(k == 0 ? at_p0 : at_p1); }
  double end_time(const State& state, double h) const { return state.t + h; }

  std::shared_ptr<const System> system_;
  EulerWeights w_;
  SolverOptions options_;
  int ny_, nz_, m_;
  std::array<int, unknowns + 1> offset_{};
  std::vector<Part> parts_;
  Pattern identity_;
  BranchGuard guard_;
  Extrapolation guess_, guess_psi_;
  std::unique_ptr<Evaluation> start_, mid_, mid_derivatives_, position_, position_derivatives_;
  std::unique_ptr<Evaluation> end_;
  std::array<std::unique_ptr<Evaluation>, 2> kick0_, kick0_derivatives_, kick1_, end_derivatives_;
  std::vector<double> x_, kept_x_, d_, trial_psi_, branch_from_, velocity_z_, velocity_change_, ones_;
  StepRounding unit_;
  bool raised_ = false;  // for a solution from rest
  double last_h_ = 0;
  bool velocity_is_z_;
};

}  // namespace hinge
