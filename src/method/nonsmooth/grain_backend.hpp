// What does the work of a step of grains (grains.cpp says in which order): the cores of the host, or a device.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hinge/grains.hpp"
#include "method/nonsmooth/grain_coarse.hpp"
#include "method/nonsmooth/grain_types.cl"

namespace hinge {

/// What is summed up over all grains and contacts after the sweeps of a step.
struct GrainSums {
  double fastest = 0;                                ///< speed of a grain
  double moving = 0;                                 ///< sum of the squares of speeds
  Eigen::Vector3d low, high;                         ///< of the centres, where the step began
  Eigen::Vector3d gained = Eigen::Vector3d::Zero();  ///< sum of m (v1 - v_free)
  Eigen::Vector3d walls = Eigen::Vector3d::Zero();   ///< impulses of planes
  double normal_work = 0, friction_work = 0;
  long loaded = 0;
};

struct GrainSize {
  double q = 0;            ///< the largest of H v_free + w
  double penetration = 0;  ///< the largest
};

inline GrainPlane plane_of(const GrainWall& w) {
  const int kind = w.kind == GrainWall::Kind::plane     ? WALL_PLANE
                   : w.kind == GrainWall::Kind::orifice ? WALL_ORIFICE
                                                        : WALL_DRUM;
  return {w.normal[0], w.normal[1], w.normal[2], w.offset, w.friction, w.restitution,
          w.centre[0], w.centre[1], w.centre[2], w.radius, kind,       0};
}

class GrainBackend {
 public:
  virtual ~GrainBackend() = default;
  virtual std::string name() const = 0;
  virtual double bytes() const = 0;
  virtual void load(const GrainState& state) = 0;
  virtual void save(GrainState& state) = 0;

  /// Cells, grains in their order with the velocity that gravity gives (`fall` = h g), pairs nearer than the band.
  /// Returns how many.
  virtual int search(const GrainGrid& grid, double band, const Eigen::Vector3d& fall) = 0;
  /// Colours, contacts, and velocities with the reactions of the last step (longer: by how much this step is; 0: none).
  virtual void assemble(double h, double speed, double longer) = 0;
  virtual int colours() = 0;
  virtual GrainSize size() = 0;
  virtual void sweep(int count) = 0;
  /// As many, each from where the last two lead on to by its beta; 0: from where the last one ended.
  virtual void sweep_further(const std::vector<double>& betas) = 0;
  /// Largest |F_i| / rho_i.
  virtual double residual() = 0;
  /// Reactions are stretched by the field of the coarse level (grain_coarse.cl).
  virtual GrainStretch stretch() = 0;
  /// Positions will move with the velocities of now; contacts deeper than this are not pushed out any more
  /// (in a step of h, at this speed).
  virtual void stop_pushing(double deep, double h, double speed) = 0;
  virtual GrainSums sums(const Eigen::Vector3d& fall) = 0;
  /// The step is not over: it is searched again, and its reactions are where that begins.
  virtual void again() = 0;
  /// To the end of the step, whose reactions are then those of the last one.
  virtual void move(double h) = 0;
  /// Waits until everything that was asked for is done.
  virtual void wait() {}

  /// Those of the last step, with its reactions.
  virtual void contacts(GrainContacts& list) = 0;
  /// What a sweep has to take from memory and to give back to it.
  virtual double sweep_bytes(bool further) = 0;
  virtual double copy_rate(double megabytes) = 0;
  virtual std::vector<GrainKernel> kernels() { return {}; }
};

std::unique_ptr<GrainBackend> grains_on_host(const GrainScene& scene, int threads);
/// Throws UnsuitableMethod where there is no device.
std::unique_ptr<GrainBackend> grains_on_device(const GrainScene& scene, GrainPrecision precision, bool profile);

}  // namespace hinge
