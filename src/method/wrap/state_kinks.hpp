// Steps of given length on equations with conditions on coordinates or velocities, `if(abs(x - 1) < 0.01, 50, 0)`: a
// condition that changes and changes back within a step is not seen at its ends.
//
// Within a step the motion is taken to be the cubic polynomial through positions and velocities at both ends. Root
// functions of the conditions (expression/branches.hpp) with the same sign at both ends are followed along it. Where
// one has the other sign in between, for a part w of the step, forces are off by up to
//
//   h w |f(there) - f(between the ends)|
//
// A condition on positions that changes in one step and back in the next holds for a time that steps do not resolve
// either: w = 1/2 there. (One on velocities may go to and fro at rest, as sign(v) does.)
//
// The sum of that over all steps is compared with the momentum. Kinks in which forces do not jump do not count.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "hinge/method.hpp"
#include "method/wrap/root_watch.hpp"

namespace hinge {

class StateKinks {
 public:
  explicit StateKinks(std::shared_ptr<const System> system);
  /// True where there are no conditions of this kind.
  bool empty() const { return moving_.empty(); }
  /// A step has led from one state to the other.
  void look(const State& from, const State& to);
  std::optional<Doubt> doubt() const;

 private:
  struct End {
    std::vector<double> v, p, f;
  };
  void take(const State& s, End& out);
  void go_to(double theta);
  double least(std::size_t root, double sign, double low, double high, double& at);
  void follow(std::size_t k);
  void add(const double* force, const double* before, double part, double theta, double t);

  std::shared_ptr<const System> system_;
  std::shared_ptr<RootWatch> roots_;
  std::vector<std::size_t> moving_;  // roots that depend on more than t
  std::unique_ptr<Evaluation> parts_;
  const State *from_ = nullptr, *to_ = nullptr;
  State within_;
  End begin_, end_;
  std::vector<double> earlier_;               // forces where the step before began
  std::vector<char> changed_;                 // did the root change its sign in the step before?
  State last_;                                // where that has ended
  std::vector<std::vector<double>> samples_;  // values of the roots within the step
  std::vector<double> missed_, largest_;      // impulses and momenta
  double first_ = 0;
  long count_ = 0;
};

}  // namespace hinge
