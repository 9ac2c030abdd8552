#include "method/nonsmooth/grain_coarse.hpp"

#include <algorithm>
#include <cmath>

#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr int most_steps = 100;
constexpr double enough = 1e-2;  // of the residual at the beginning

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

}  // namespace

void GrainCoarse::multiply(const std::vector<double>& x, std::vector<double>& y) const {
  std::fill(y.begin(), y.end(), 0.0);
  for (std::size_t c = 0; c < cells_.size(); ++c) {
    const int* corner = corners_.data() + 8 * c;
    const double* a = matrices_.data() + 36 * c;
    double at_corner[8], out[8] = {};
    for (int k = 0; k < 8; ++k) at_corner[k] = x[at(corner[k])];
    for (int k = 0; k < 8; ++k) {
      out[k] += *a++ * at_corner[k];
      for (int l = k + 1; l < 8; ++l, ++a) out[k] += *a * at_corner[l], out[l] += *a * at_corner[k];
    }
    for (int k = 0; k < 8; ++k) y[at(corner[k])] += out[k];
  }
}

const std::vector<double>& GrainCoarse::solve(const GrainGrid& g, const double* sums) {
  nx_ = g.bx / COARSE_EDGE, ny_ = g.by / COARSE_EDGE, nz_ = g.bz / COARSE_EDGE;
  const std::size_t n = at(cells(g));
  cells_.clear(), matrices_.clear(), corners_.clear();
  for (auto* v : {&x_, &r_, &z_, &p_, &q_, &diagonal_}) v->assign(n, 0.0);
  for (int z = 0; z < nz_; ++z)
    for (int y = 0; y < ny_; ++y)
      for (int x = 0; x < nx_; ++x) {
        const double* all = sums + at((z * ny_ + y) * nx_ + x) * COARSE_SUMS;
        if (all[0] == 0 && all[35] == 0) continue;  // no grains
        cells_.push_back((z * ny_ + y) * nx_ + x);
        matrices_.insert(matrices_.end(), all, all + 36);
        for (int k = 0, diagonal = 0; k < 8; diagonal += 8 - k++) {
          const int node = (((z + k / 4) % nz_) * ny_ + (y + k / 2 % 2) % ny_) * nx_ + (x + k % 2) % nx_;
          corners_.push_back(node);
          r_[at(node)] -= all[36 + k];
          diagonal_[at(node)] += all[diagonal];
        }
      }
  change_ = {};
  const double floor = 1e-6 * *std::max_element(diagonal_.begin(), diagonal_.end());
  if (!(floor > 0)) return x_;
  for (std::size_t i = 0; i < n; ++i) diagonal_[i] = std::max(diagonal_[i], floor);
  double before = 0, first = 0;
  for (int step = 0; step < most_steps; ++step) {
    for (std::size_t i = 0; i < n; ++i) z_[i] = r_[i] / diagonal_[i];
    const double now = dot(r_, z_);
    if (step == 0) first = now;
    if (!(now > enough * enough * first)) break;
    for (std::size_t i = 0; i < n; ++i) p_[i] = z_[i] + (step > 0 ? now / before : 0) * p_[i];
    multiply(p_, q_);
    const double curved = dot(p_, q_);
    if (!(curved > 0)) break;
    for (std::size_t i = 0; i < n; ++i) x_[i] += now / curved * p_[i], r_[i] -= now / curved * q_[i];
    change_.energy += now / curved * now;
    before = now;
  }
  for (double& x : x_) {
    x = std::isfinite(x) ? std::clamp(x, -0.5, 1.0) : 0.0;
    change_.largest = std::max(change_.largest, std::abs(x));
  }
  return x_;
}

}  // namespace hinge
