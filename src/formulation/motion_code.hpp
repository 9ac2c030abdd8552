// Accelerations and multipliers of a small mechanism by one piece of machine code, straight from (t, y, z): its
// functions, and after them the saddle-point matrix of these, factorised and solved. And another one that puts
// positions and velocities back onto the constraints (project/two_corrections.hpp).
//
// The numbers are those that the functions and SaddleKernel give one after the other; where SaddleKernel has to decide,
// the code says so.
#pragma once

#include <memory>
#include <vector>

#include "expression/graph_library.hpp"
#include "formulation/compiled_function.hpp"
#include "hinge/system.hpp"

namespace hinge {

class MotionDraft;

class MotionCode {
 public:
  /// `exchanges`: of rows, as SaddleKernel made them at some point. Null where MotionDraft does not suit.
  static std::unique_ptr<MotionCode> make(std::shared_ptr<const System> system, const std::vector<int>& exchanges);
  ~MotionCode();

  /// False where the solution is not to be used; it is finite where it is. `keep`: with the matrix.
  bool accelerate(double t, const double* y, const double* z, bool keep) {
    CompiledFunction& function = keep ? with_matrix_ : alone_;
    if (!function) compile(keep);
    const double* const inputs[] = {&t, y, z};
    const bool settled = function(inputs);
    velocity_ = function.output();
    kept_ = keep && settled;
    return settled;
  }
  const double* velocity() const { return velocity_; }
  const double* acceleration() const { return velocity_ + ny_; }
  const double* multipliers() const { return velocity_ + ny_ + nz_; }
  /// What accelerate() does without the matrix, for who has scratch arrays of his own.
  const CompiledFunction& function() {
    if (!alone_) compile(false);
    return alone_;
  }
  bool kept() const { return kept_; }
  /// Entries of the matrix that was kept; of masses that change, and of reactions that are not ideal.
  const double* mass() const { return mass_; }
  const double* reaction() const { return reaction_; }
  const double* gradient() const { return gradient_; }

  bool can_project() const { return can_project_; }
  /// What project() calls.
  const CompiledFunction& projection() {
    if (!projection_) compile_projection();
    return projection_;
  }
  /// False where two corrections are not enough, or SaddleKernel has to decide: y and z are then as they were.
  bool project(double t, double* y, double* z);

 private:
  MotionCode(std::shared_ptr<const System> system, const std::vector<int>& exchanges);
  FunctionKey key(GraphLibrary::Making making) const;
  void compile(bool keep);
  void compile_projection();

  std::shared_ptr<const System> system_;
  std::vector<int> exchanges_;
  int ny_, nz_, m_;
  bool can_project_, kept_ = false;
  CompiledFunction alone_, with_matrix_, projection_;
  const double* velocity_ = nullptr;
  const double *mass_ = nullptr, *reaction_ = nullptr, *gradient_ = nullptr;
};

}  // namespace hinge
