// Steps of grains on the cores of the host: what grain_host.cpp has and keeps.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include <fmt/format.h>

#include "method/nonsmooth/grain_backend.hpp"
#include "method/nonsmooth/grain_lanes.hpp"
#include "solve/index.hpp"
#include "solve/parallel.hpp"

namespace hinge::grain {

// The words of OpenCL C that grain_kernels.cl is written in.
using Real4 = Wide4;
using uchar = unsigned char;
using ulong = unsigned long;
inline Wide4 wide4_of(double x, double y, double z, double w) { return {x, y, z, w}; }
inline Real4 real4_of(double x, double y, double z, double w) { return {x, y, z, w}; }
inline Int2 int2_of(int x, int y) { return {x, y}; }
inline int atomic_inc(int* x) { return __atomic_fetch_add(x, 1, __ATOMIC_RELAXED); }
inline int atomic_dec(int* x) { return __atomic_fetch_sub(x, 1, __ATOMIC_RELAXED); }
using std::floor, std::sqrt, std::fabs, std::cos, std::sin;
#define FUNCTION [[maybe_unused]] inline
#define GLOBAL
#define CONSTANT const
#define REAL double
#define WIDE double
#define TRUTH bool
inline bool none(bool x) { return !x; }
#include "method/nonsmooth/grain_contact.cl"
#include "method/nonsmooth/grain_kernels.cl"
// which calls those:
#include "method/nonsmooth/grain_coarse.cl"
#undef FUNCTION
#undef GLOBAL
#undef CONSTANT
#undef REAL
#undef WIDE
#undef TRUTH

/// Room for n, in memory that is kept; what was in it is lost.
template <class T>
void room(std::vector<T>& x, std::size_t n) {
  if (x.size() >= n) return;
  x.clear();
  x.resize(n + n / 8);
}

/// None where there is nothing to be gained.
inline Lanes widest_lanes() {
  const std::vector<Lanes> all = lanes_of_this_machine();
  return all.empty() ? Lanes{} : all.back();
}

class GrainHost final : public GrainBackend {
 public:
  GrainHost(const GrainScene& scene, int threads) : threads_(threads), n_(static_cast<int>(scene.radius.size())) {
    const std::size_t n = scene.radius.size();
    for (auto* v : {&x_, &v_, &w_, &turn_, &xs_, &free_v_, &free_w_, &vs_, &ws_}) v->resize(n);
    for (auto* v : {&cell_, &order_}) v->resize(n);
    taken_.resize(n);
    for (Kept& k : kept_) {
      k.place.resize(n);
      k.first.resize(n + 1);
    }
    for (std::size_t i = 0; i < n; ++i) {
      x_[i].w = scene.radius[i];
      v_[i].w = 1 / scene.mass[i];
      w_[i].w = 1 / scene.moment[i];
    }
    friction_ = scene.friction;
    restitution_ = scene.restitution;
    restitution_.resize(n);
    for (const GrainWall& w : scene.walls) {
      planes_.push_back(plane_of(w));
      const Eigen::Vector3d spin = w.spin * w.normal;
      for (auto* v : {&free_v_, &vs_}) v->push_back({w.velocity[0], w.velocity[1], w.velocity[2], 0});
      for (auto* v : {&free_w_, &ws_}) v->push_back({spin[0], spin[1], spin[2], 0});
    }
    walls_ = scene.walls;
  }

  std::string name() const override { return fmt::format("host, {} thread{}", threads_, threads_ == 1 ? "" : "s"); }

  double bytes() const override {
    std::size_t sum = 0;
    const auto add = [&](const auto&... v) { ((sum += v.capacity() * sizeof(v[0])), ...); };
    add(x_, v_, w_, turn_, xs_, free_v_, free_w_, vs_, ws_, moving_v_, moving_w_, cell_, order_, taken_, friction_);
    add(last_reaction_, last_v_, last_w_, stress_, block_sums_, coarse_sums_, stretch_, restitution_);
    add(count_, start_, owner_, partner_, colour_, colour_start_, colours_, pair_, normal_, data_, gaps_, sums_);
    for (const Kept& k : kept_) add(k.place, k.first, k.partner_id, k.contact_place, k.reaction);
    return static_cast<double>(sum);
  }

  void load(const GrainState& state) override {
    each(n_, [&](int i) {
      const double *x = state.position.data() + 3 * i, *v = state.velocity.data() + 3 * i,
                   *w = state.spin.data() + 3 * i, *q = state.rotation.data() + 4 * i;
      x_[at(i)] = {x[0], x[1], x[2], x_[at(i)].w};
      v_[at(i)] = {v[0], v[1], v[2], v_[at(i)].w};
      w_[at(i)] = {w[0], w[1], w[2], w_[at(i)].w};
      turn_[at(i)] = {q[0], q[1], q[2], q[3]};
    });
  }

  void save(GrainState& state) override {
    for (auto* v : {&state.position, &state.velocity, &state.spin}) v->resize(3 * at(n_));
    state.rotation.resize(4 * at(n_));
    each(n_, [&](int i) {
      const Wide4 &x = x_[at(i)], &v = v_[at(i)], &w = w_[at(i)], &q = turn_[at(i)];
      double *px = state.position.data() + 3 * i, *pv = state.velocity.data() + 3 * i, *pw = state.spin.data() + 3 * i,
             *pq = state.rotation.data() + 4 * i;
      px[0] = x.x, px[1] = x.y, px[2] = x.z;
      pv[0] = v.x, pv[1] = v.y, pv[2] = v.z;
      pw[0] = w.x, pw[1] = w.y, pw[2] = w.z;
      pq[0] = q.x, pq[1] = q.y, pq[2] = q.z, pq[3] = q.w;
    });
  }

  int search(const GrainGrid& grid, double band, const Eigen::Vector3d& fall) override;
  void assemble(double h, double speed, double longer) override;
  GrainSize size() override;
  void sweep(int count) override;
  void sweep_further(const std::vector<double>& betas) override;
  double residual() override;
  GrainStretch stretch() override;
  void stop_pushing(double deep, double h, double speed) override;
  GrainSums sums(const Eigen::Vector3d& fall) override;
  void again() override { now_ = 1 - now_; }
  void move(double h) override;
  void contacts(GrainContacts& list) override;
  double sweep_bytes(bool further) override;
  double copy_rate(double megabytes) override;

  int colours() override {
    int most = 0;
    for (int b = 0; b < blocks(); ++b) most = std::max(most, colours_[at(b)]);
    return most;
  }

 private:
  // What the next step looks up of this one.
  struct Kept {
    std::vector<int> place, first, partner_id, contact_place;
    std::vector<Real4> reaction;
  };
  static constexpr int chunk = 1024;  // of what is summed
  static constexpr int per_sum = 12;

  int blocks() const { return grid_.bx * grid_.by * grid_.bz; }
  int cells_of_block() const { return 1 << 3 * grid_.shift; }

  template <class Work>
  void each(int n, Work&& work, int grain = 512) {
    parallel_ranges(
        n, threads_,
        [&](int first, int last) {
          for (int i = first; i < last; ++i) work(i);
        },
        grain);
  }
  /// work(s, i) for i < count(s), stage after stage: those of a stage at the same time.
  template <class Count, class Work>
  void each_stage(int stages, Count&& count, Work&& work);
  /// So many times the blocks of one class after the other.
  template <class Work>
  void each_block(int times, Work&& work) {
    each_stage(
        8 * times, [&](int s) { return first_busy_[at(s % 8) + 1] - first_busy_[at(s % 8)]; },
        [&](int s, int i) { work(busy_[at(first_busy_[at(s % 8)] + i)]); });
  }
  template <class Work>
  void each_contact(int block, Work&& work) {
    const int* starts = colour_start_.data() + at(block) * (MOST_COLOURS + 1);
    for (int k = starts[0]; k < starts[colours_[at(block)]]; ++k) work(k);
  }
  /// Contacts of a block, colour after colour.
  void sweep_block(int block, const LaneSweep& sweep) const {
    const int* starts = colour_start_.data() + at(block) * (MOST_COLOURS + 1);
    const int count = colours_[at(block)], abreast = lanes_.sweep_colour ? std::min(count, MOST_COLOURS - 1) : 0;
    // the last of all colours is one after the other
    for (int c = 0; c < abreast; ++c) lanes_.sweep_colour(sweep, starts[c], starts[c + 1]);
    for (int k = starts[abreast]; k < starts[count]; ++k)
      update_contact(k, sweep.beta, sweep.pair, sweep.normal, sweep.data, sweep.reaction, sweep.to, sweep.v, sweep.w);
  }
  /// The largest of value(i), which may be infinite or no number; or of those that `part` has from first up to end.
  template <class Value>
  double largest(int n, Value&& value);
  template <class Part>
  double largest_of_parts(int n, Part&& part);
  void add_up(std::vector<int>& counts, int n);
  void list_blocks();

  int threads_, n_, contacts_ = 0;
  std::vector<GrainPlane> planes_;
  std::vector<GrainWall> walls_;
  std::vector<double> friction_, restitution_;
  std::vector<Wide4> x_, v_, w_, turn_;                 // by grain: radius, 1/mass and 1/moment in w
  std::vector<Wide4> xs_, free_v_, free_w_, vs_, ws_;   // by place; velocities of walls after those of grains
  std::vector<Wide4> moving_v_, moving_w_;              // where they are not vs_, ws_
  std::vector<Real4> last_reaction_, last_v_, last_w_;  // of sweeps that go further
  bool pushed_ = false;
  GrainGrid grid_{};
  Eigen::Vector3d fall_;
  std::vector<int> cell_, order_, count_, start_;
  std::vector<int> parts_;  // sums of parts, for add_up
  ParallelStages stages_;
  std::vector<int> busy_, first_busy_;  // blocks with contacts, by classes
  std::vector<ulong> taken_;
  std::vector<int> owner_, partner_, colour_start_, colours_;
  std::vector<uchar> colour_;
  const Lanes lanes_ = widest_lanes();
  std::vector<Int2> pair_;
  std::vector<Real4> normal_, data_;
  std::vector<double> gaps_, sums_;
  std::vector<double> stress_, block_sums_, coarse_sums_, stretch_;  // of the coarse level
  GrainCoarse coarse_;
  Kept kept_[2];
  int now_ = 0;
};

}  // namespace hinge::grain
