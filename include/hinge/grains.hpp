// Many spheres between walls, as one flat problem: on the cores of the host, or on an OpenCL device.
//
//   GrainScene scene;  ...
//   Grains grains(scene, {.threads = 4});
//   grains.set(state);
//   while (...) grains.step(1e-3);
//   grains.get(state);
//
// The step is that of moreau_jean with gap = linearised: laws between r and u1 + g/h, theta = 1, exact friction. Where
// grains have a restitution e, contacts that close within the step, faster than 2 h |gravity|, have the law between r
// and u1 + e u0 (Newton's, at the beginning of the step). Contacts are swept (block Gauss-Seidel) until the residual is
// at the tolerance; reactions go on from the last step. The same bits for any number of threads.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "hinge/error.hpp"

namespace hinge {

struct GrainWall {
  enum class Kind {
    plane,    ///< normal.x = offset
    orifice,  ///< the same, as a thin plate with a round hole; grains below it do not feel it any more, but for its rim
    drum      ///< the inside of a cylinder around the axis through `centre`, along `normal`
  };
  Eigen::Vector3d normal{0, 0, 1};  ///< out of the wall; of a drum the axis
  double offset = 0;
  double friction = 0;
  Kind kind = Kind::plane;
  Eigen::Vector3d centre{0, 0, 0};    ///< of the hole; on the axis
  double radius = 0;                  ///< of the hole or the cylinder
  Eigen::Vector3d velocity{0, 0, 0};  ///< of a plane, which moves with it
  double spin = 0;                    ///< of a drum about its axis
  double restitution = 0;
};

struct GrainScene {
  std::vector<double> radius, mass, moment, friction;  ///< of each grain; friction is combined by the geometric mean
  std::vector<GrainWall> walls;
  Eigen::Vector3d gravity{0, 0, -9.81};
  std::vector<double> restitution{};  ///< none where it is empty; the larger of two counts
  void validate() const;
};

/// Three numbers per grain, four of the rotation (the real part first); the spin is that in space.
struct GrainState {
  std::vector<double> position, rotation, velocity, spin;
};

enum class GrainDevice { threads, opencl };
/// mixed: sweeps in single precision, velocities anew in double at every look at the residual, which is double.
enum class GrainPrecision { mixed, full };

struct GrainOptions {
  GrainDevice device = GrainDevice::threads;
  GrainPrecision precision = GrainPrecision::full;  ///< of opencl; threads sweep in double
  int threads = 1;
  double tolerance = 1e-4;  ///< of the residual of a step, relative to the largest |q|
  int sweeps = 1000;        ///< in a step, at most
  /// Penetration is undone at this speed at most; 0: no limit. Negative: by a hundredth of the smallest grain per step,
  /// by positions alone.
  double recover = -1;
  /// Sweeps begin where the last two lead on to; and from 16 layers on reactions are stretched by a smooth field
  /// between them, until that changes them by 0.3 % at most: the weight of the heap has arrived at the walls then.
  bool accelerate = true;
  int look = 0;          ///< at the residual after every so many sweeps; 0: where it may be small enough
  bool profile = false;  ///< of opencl: the time of every kernel, which takes time itself
  void validate() const;
};

/// Seconds since the beginning, by phases.
struct GrainSeconds {
  double search = 0;     ///< cells and pairs
  double assembly = 0;   ///< colours, contacts, reactions of the last step
  double sweeps = 0;     ///<
  double stretches = 0;  ///< of reactions, on the coarse level
  double residual = 0;   ///< and sums: momentum, energy
  double motion = 0;     ///<
  double transfer = 0;   ///< of states between host and device
  double all() const { return search + assembly + sweeps + stretches + residual + motion + transfer; }
};

struct GrainKernel {
  std::string name;
  long runs = 0;
  double seconds = 0;
};

struct GrainReport {
  std::string device, precision;
  long steps = 0, sweeps = 0, updates = 0;    ///< so far; updates of single contacts
  long stretches = 0;                         ///< of all reactions by a smooth field, so far
  int contacts = 0, loaded = 0, colours = 0;  ///< in the last step; the most colours of a block
  double residual = 0;                        ///< of the last step
  double largest_residual = 0;                ///< of any
  long unconverged = 0;                       ///< steps that ended above the tolerance
  double penetration = 0;                     ///< largest at the beginning of a step
  /// Largest |sum of m (v1 - v0) - h m g - impulses of walls| of a step, relative to the larger of the last two.
  double momentum_balance = 0;
  /// Of the weight, what the walls carried in the last step: 1 for a heap that rests. A small residual alone does not
  /// say that the weight of a large heap has arrived at the floor.
  double carried = 0;
  double normal_work = 0, friction_work = 0;  ///< of the reactions, so far
  double device_bytes = 0;                    ///< memory that is held
  GrainSeconds seconds;
};

/// As it was solved in the last step: u1 and the gap as a velocity against the reaction.
struct GrainContact {
  int a = 0, b = 0;        ///< grains; b = -1 - k: the wall k
  Eigen::Vector3d normal;  ///< from b to a
  double gap = 0;          ///< over the step; less where an old penetration is not to be undone at once
  double arm_a = 0, arm_b = 0, friction = 0;
  double reaction = 0;         ///< along the normal, on a
  Eigen::Vector3d tangential;  ///< reaction across it
};
using GrainContacts = std::vector<GrainContact>;

class Grains {
 public:
  /// Throws InputError for a scene or options that make no sense, UnsuitableMethod where there is no such device.
  Grains(const GrainScene& scene, const GrainOptions& options = {});
  ~Grains();
  Grains(Grains&&) noexcept;
  Grains& operator=(Grains&&) noexcept;

  /// Reactions of the last step are kept: a state that follows on it by something else than a small change asks for
  /// forget().
  void set(const GrainState& state);
  void get(GrainState& state) const;
  void forget();
  /// Empty, or why it failed; then the state is as it was.
  std::string step(double h);
  const GrainReport& report() const;
  /// Of the last step.
  GrainContacts contacts() const;
  /// Times of kernels, where `profile` was asked for.
  std::vector<GrainKernel> kernels() const;
  /// Bytes that a sweep of the last step has to take from memory and give back; bytes per second, both counted, that
  /// memory copies.
  double sweep_bytes() const, copy_rate(double megabytes = 500) const;

 private:
  struct Work;
  std::unique_ptr<Work> work_;
};

/// Why this program or this machine has no OpenCL device; empty where there is one, whose name is then in `name`.
std::string no_opencl(std::string* name = nullptr);

}  // namespace hinge
