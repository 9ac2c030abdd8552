// Steps of grains on an OpenCL device: what grain_device.cpp and grain_device_sums.cpp have and keep.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>

#include "method/nonsmooth/grain_backend.hpp"
#include "method/nonsmooth/opencl.hpp"
#include "solve/index.hpp"

namespace hinge::grain_device {

using opencl::Buffer;

constexpr std::size_t group = 128, lanes = 64, chunk = 1024;  // as in grain_device.cl
constexpr std::size_t tile_grains = 256;                      // of a block that is swept in local memory

struct Wide4 {
  double x, y, z, w;
};

class GrainOnDevice final : public GrainBackend {
 public:
  GrainOnDevice(const GrainScene& scene, GrainPrecision precision, bool profile);

  std::string name() const override {
    return fmt::format(
        "{} (OpenCL{})", device_.name(),
        device_.rounds_correctly() || !mixed_ ? "" : ", whose single precision does not round correctly");
  }
  double bytes() const override { return device_.bytes(); }
  void load(const GrainState& state) override;
  void save(GrainState& state) override;
  int search(const GrainGrid& grid, double band, const Eigen::Vector3d& fall) override;
  void assemble(double h, double speed, double longer) override;
  int colours() override;
  GrainSize size() override;
  void sweep(int count) override;
  void sweep_further(const std::vector<double>& betas) override;
  double residual() override;
  GrainStretch stretch() override;
  void stop_pushing(double deep, double h, double speed) override;
  GrainSums sums(const Eigen::Vector3d& fall) override;
  void again() override { now_ = 1 - now_; }
  void move(double h) override;
  void wait() override { device_.wait(); }
  void contacts(GrainContacts& list) override;
  double sweep_bytes(bool further) override;
  double copy_rate(double megabytes) override;
  std::vector<GrainKernel> kernels() override { return device_.times(); }

 private:
  // What the next step looks up of this one.
  struct Kept {
    Buffer place, first, partner_id, contact_place, reaction;
  };
  using Argument = opencl::Device::Argument;
  template <class T>
  static Argument value(const T& x) {
    return {sizeof(T), &x};
  }
  static Argument value(const Buffer& buffer) { return buffer.argument(); }

  template <class... T>
  void each(int kernel, int n, const T&... arguments) {
    if (n > 0) device_.run(kernel, at(n), group, {value(n), value(arguments)...});
  }
  /// One group for every `chunk` items.
  template <class... T>
  int chunks(int kernel, int n, const T&... arguments) {
    const int count = static_cast<int>((at(n) + chunk - 1) / chunk);
    if (count > 0) device_.run(kernel, at(count) * group, group, {value(n), value(arguments)...});
    return count;
  }
  int blocks() const { return grid_.bx * grid_.by * grid_.bz; }
  int cells_of_block() const { return 1 << 3 * grid_.shift; }
  void add_up(const Buffer& counts, int n, Buffer& sums);
  void add_reactions();
  /// Velocities anew in double from the reactions.
  void add_all_reactions();
  void sweep_blocks(double beta, const Buffer& to);
  const Buffer& swept_v() const { return mixed_ ? rv_ : vs_; }
  const Buffer& swept_w() const { return mixed_ ? rw_ : ws_; }
  const std::vector<double>& partial(int count, int each);
  /// Four numbers each, in the precision of the sweeps.
  std::vector<Wide4> read_reals(const Buffer& from, int n);

  bool mixed_;
  opencl::Device device_;
  int n_, contacts_ = 0, plane_count_;
  std::vector<GrainWall> walls_;
  std::vector<GrainPlane> wall_places_;
  bool walls_move_ = false;
  GrainGrid grid_{};
  Eigen::Vector3d fall_;
  std::vector<Wide4> x0_, v0_, w0_;  // radius, 1/mass and 1/moment in w
  std::vector<Wide4> turn0_;
  std::vector<double> partial_;
  Buffer friction_, restitution_, planes_, x_, v_, w_, turn_, xs_, free_v_, free_w_, vs_, ws_, rv_, rw_, moving_v_,
      moving_w_;
  Buffer cell_, count_, start_, parts_, order_, taken_, owner_, partner_, colour_, colour_start_, colours_;
  Buffer pair_, normal_, data_, gaps_, out_, tile_, others_, ends_, rounds_;
  Buffer last_reaction_, last_v_, last_w_;                      // of sweeps that go further
  Buffer stress_, block_sums_, coarse_sums_, field_, stretch_;  // of the coarse level
  std::vector<double> sums_of_cells_;
  GrainCoarse coarse_;
  Kept kept_[2];
  int now_ = 0;
  bool pushed_ = false;
  struct Kernels {
    int fill, count_in_cell, part_sums, add_parts, add_up, put_into_cell, sort_cell, gather, count_contacts,
        list_contacts, colour_tile, colour_block, make_contact, sweep, add_reactions, round, copy, stop_pushing, size,
        residual, grain_sums, contact_sums, move, go_further, clear, add_stress, sum_of_block, sum_of_cell, stretch_at,
        stretch;
  } k_{};
};

}  // namespace hinge::grain_device
