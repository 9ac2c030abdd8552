// Steps of grains on an OpenCL device: what comes back to the host, sums, contacts and how fast it was.
#include <algorithm>
#include <chrono>
#include <cmath>

#include "method/nonsmooth/grain_device.hpp"

namespace hinge::grain_device {

namespace {
constexpr int per_grain_sum = 11;  // numbers of a chunk, as in k_grain_sums
}

int GrainOnDevice::colours() {
  std::vector<int> all(at(blocks()));
  device_.read(colours_, all.data(), all.size() * sizeof(int));
  return all.empty() ? 0 : *std::max_element(all.begin(), all.end());
}

const std::vector<double>& GrainOnDevice::partial(int count, int each) {
  partial_.resize(at(count) * at(each));
  device_.read(out_, partial_.data(), partial_.size() * sizeof(double));
  return partial_;
}

GrainSize GrainOnDevice::size() {
  device_.room(out_, (std::max(at(contacts_), at(n_)) / chunk + 1) * per_grain_sum * sizeof(double));
  const int count = chunks(k_.size, contacts_, pair_, normal_, data_, free_v_, free_w_, gaps_, out_);
  GrainSize size;
  const std::vector<double>& parts = partial(count, 2);
  for (int c = 0; c < count; ++c) {
    size.q = std::max(size.q, parts[at(2 * c)]);
    size.penetration = std::max(size.penetration, parts[at(2 * c + 1)]);
  }
  return size;
}

GrainSums GrainOnDevice::sums(const Eigen::Vector3d& fall) {
  using Eigen::Vector3d;
  device_.room(out_, (std::max(at(contacts_), at(n_)) / chunk + 1) * per_grain_sum * sizeof(double));
  GrainSums total;
  total.low.setConstant(HUGE_VAL);
  total.high.setConstant(-HUGE_VAL);
  int count = chunks(k_.grain_sums, n_, xs_, free_v_, vs_, out_);
  const double* from = partial(count, per_grain_sum).data();
  for (int c = 0; c < count; ++c, from += per_grain_sum) {
    total.fastest = std::max(total.fastest, from[0]);
    total.low = total.low.cwiseMin(-Vector3d(from + 1));
    total.high = total.high.cwiseMax(Vector3d(from + 4));
    total.gained += Vector3d(from + 7);
    total.moving += from[10];
  }
  count = chunks(k_.contact_sums, contacts_, n_, pair_, normal_, data_, kept_[now_].reaction, free_v_, free_w_, vs_,
                 ws_, fall[0], fall[1], fall[2], out_);
  from = partial(count, 6).data();
  for (int c = 0; c < count; ++c, from += 6) {
    total.normal_work += from[0];
    total.friction_work += from[1];
    total.loaded += static_cast<long>(from[2]);
    total.walls += Vector3d(from + 3);
  }
  return total;
}

std::vector<Wide4> GrainOnDevice::read_reals(const Buffer& from, int n) {
  std::vector<Wide4> all(at(n));
  if (!mixed_) {
    device_.read(from, all.data(), at(n) * sizeof(Wide4));
    return all;
  }
  std::vector<float> single(4 * at(n));
  device_.read(from, single.data(), single.size() * sizeof(float));
  for (std::size_t k = 0; k < at(n); ++k)
    all[k] = {single[4 * k], single[4 * k + 1], single[4 * k + 2], single[4 * k + 3]};
  return all;
}

void GrainOnDevice::contacts(GrainContacts& list) {
  std::vector<int> pair(2 * at(contacts_)), order(at(n_));
  device_.read(pair_, pair.data(), pair.size() * sizeof(int));
  device_.read(order_, order.data(), order.size() * sizeof(int));
  const std::vector<Wide4> normal = read_reals(normal_, contacts_), data = read_reals(data_, contacts_),
                           reaction = read_reals(kept_[1 - now_].reaction, contacts_);
  list.resize(at(contacts_));
  for (std::size_t k = 0; k < at(contacts_); ++k) {
    const Wide4 &n = normal[k], &q = data[k], &r = reaction[k];
    list[k] = {order[at(pair[2 * k])],
               pair[2 * k + 1] < n_ ? order[at(pair[2 * k + 1])] : n_ - 1 - pair[2 * k + 1],
               {n.x, n.y, n.z},
               n.w,
               q.x,
               q.y,
               q.z,
               r.x,
               {r.y, r.z, r.w}};
  }
}

// A tile takes its grains once and gives them back, and every contact once. Where a block is no tile, its contacts
// alone are counted. Sweeps that go further take the reactions of the last two, and all grains before.
double GrainOnDevice::sweep_bytes(bool further) {
  const double real4 = mixed_ ? 16 : 32;
  std::vector<int> tile(4 * at(blocks())), colours(at(blocks()));
  device_.read(tile_, tile.data(), tile.size() * sizeof(int));
  device_.read(colours_, colours.data(), colours.size() * sizeof(int));
  double bytes = contacts_ * ((further ? 5 : 4) * real4 + 4) + (further ? 8 * real4 * n_ : 0);
  for (std::size_t b = 0; b < at(blocks()); ++b) {
    const int own = tile[4 * b + 1], others = tile[4 * b + 3] & 0xffff;
    if (colours[b] > 0 && tile[4 * b + 3] >= 0) bytes += 4 * real4 * (own + others) + 4 * others;
  }
  return bytes;
}

double GrainOnDevice::copy_rate(double megabytes) {
  const int n = static_cast<int>(megabytes * 1e6 / sizeof(Wide4));
  Buffer from, to;
  device_.room(from, at(n) * sizeof(Wide4));
  device_.room(to, at(n) * sizeof(Wide4));
  double least = HUGE_VAL;
  for (int k = 0; k < 6; ++k) {
    device_.wait();
    const auto start = std::chrono::steady_clock::now();
    each(k_.copy, n, from, to);
    device_.wait();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return 2.0 * n * sizeof(Wide4) / least;
}

}  // namespace hinge::grain_device
