// Methods: advance the state by one step.
//
//   hinge::gauss_lobatto(2)      a choice of method, to hand to a Simulation
//   hinge::methods()             every method with what it preserves
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "hinge/solve.hpp"
#include "hinge/system.hpp"

namespace hinge {

struct State {
  double t = 0;
  std::vector<double> y, z, psi;
};

/// How the nonlinear equations of a step are solved.
struct SolverOptions {
  /// `automatic` keeps the factorised small matrix while it converges well and falls back to full Newton when not.
  enum class Newton { automatic, simplified, full };
  Newton newton = Newton::automatic;
  LinearAlgebra linear_algebra = LinearAlgebra::automatic;
  int max_iterations = 50;
  void validate() const;
};

/// What the work so far has cost.
struct Counters {
  long steps = 0;
  long iterations = 0;      ///< Newton iterations, simplified and full, of both blocks
  long evaluations = 0;     ///< passes over the system's functions
  long factorisations = 0;  ///< of the small matrix and of full ones
  long full_newton = 0;     ///< steps that needed full Newton
};

struct StepResult {
  bool ok = true;
  std::string reason;  ///< why a step failed: filled only then
  explicit operator bool() const { return ok; }
};

/// A method bound to a system, with its work space.
class Stepper {
 public:
  virtual ~Stepper() = default;
  /// Advances `state` by h, which may be negative. When it fails, the state is as it was.
  virtual StepResult step(State& state, double h) = 0;
  /// To be called when the state has been changed from outside: forgets what was remembered of earlier steps.
  virtual void reset() = 0;
  const Counters& counters() const { return counters_; }

 protected:
  Counters counters_;
};

/// What a method keeps; printed by `hinge methods` and tested for every method by the property harness.
struct Preserves {
  bool position_level = false;  ///< g = 0 to round-off
  bool velocity_level = false;  ///< g_t + g_y v = 0 to round-off
  bool symplectic = false;      ///< for Hamiltonian and Lagrangian systems
  bool symmetric = false;       ///< a step of -h undoes a step of h
  bool momentum_maps = false;   ///< linear and angular momenta of a symmetric system
};

using OptionValue = std::variant<double, std::string, bool>;
using Options = std::map<std::string, OptionValue>;

struct OptionInfo {
  std::string name, meaning, default_value;
};

/// One entry of the list of methods.
struct MethodInfo {
  std::string name;
  std::string summary;
  std::string order;  ///< as a formula in the options: "2 s"
  Preserves preserves;
  std::vector<OptionInfo> options;
  std::string reference;
};

/// A method with its options chosen, not yet bound to a system.
struct MethodChoice {
  MethodInfo info;
  int order = 0;
  std::string description;  ///< "Gauss-Lobatto, 2 stages"
  std::function<std::unique_ptr<Stepper>(std::shared_ptr<const System>, const SolverOptions&)> bind;
};

/// s = 1..12 stages, order 2 s. Keeps both constraint levels, symplectic, symmetric.
MethodChoice gauss_lobatto(int stages);
/// s = 2..12 stages, order 2 s - 2. Keeps both constraint levels, symplectic, symmetric.
MethodChoice lobatto_iiia_iiib(int stages);
/// Two-stage Lobatto IIIA-IIIB, order 2: explicit but for the constraints when the system is separable.
MethodChoice rattle();

/// All methods, in the order in which they are documented.
std::vector<MethodInfo> methods();
/// The method called `name` with options; an unknown name or option is an InputError that names the nearest.
MethodChoice make_method(const std::string& name, const Options& options);

}  // namespace hinge
