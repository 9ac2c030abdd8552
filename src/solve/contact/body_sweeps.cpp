#include "solve/contact/body_sweeps.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "solve/contact/cone.hpp"
#include "solve/contact/parallel.hpp"

namespace hinge {

namespace {

using Pair [[gnu::vector_size(16)]] = double;  // two doubles in one SSE register

constexpr int rest_after = 10, look_again = 10;  // sweeps
constexpr int most_colours = 64;                 // the last one takes what fits nowhere, and is no thread's but one's

double sum(Pair x) { return x[0] + x[1]; }

}  // namespace

void BodySweeps::begin(int bodies, int items) {
  bodies_ = bodies;
  items_.resize(static_cast<std::size_t>(items));
  first_of_colour_.clear();
  z_.assign(static_cast<std::size_t>(bodies + 1) * body_size, 0.0);  // the last is the ground's and stays zero
  last_z_.clear();
  sweeps_ = 0;
}

void BodySweeps::fill(int i, int row, bool bilateral, int rows, int a, int b, const double (*A)[2 * body_size],
                      double mu) {
  Item& item = items_[static_cast<std::size_t>(i)];
  item.row = row;
  item.rows = rows;
  item.a = a;
  item.b = b;
  item.bilateral = bilateral;
  item.still = 0;
  LocalContact::Block W(rows, rows);
  for (int k = 0; k < rows; ++k)
    for (int l = 0; l <= k; ++l) {
      double product = 0;
      for (int j = 0; j < 2 * body_size; ++j) product += A[k][j] * A[l][j];
      W(k, l) = W(l, k) = product;
    }
  item.local = LocalContact(W, mu);
  const LocalContact& local = item.local;
  for (int j = 0; j < 2 * body_size; ++j) {
    double* to = item.A + (j / body_size) * 3 * body_size + j % body_size;
    const double n = A[0][j], t1 = rows > 1 ? A[1][j] : 0, t2 = rows > 2 ? A[2][j] : 0;
    to[0] = n;
    to[body_size] = local.cosine * t1 + local.sine * t2;
    to[2 * body_size] = -local.sine * t1 + local.cosine * t2;
  }
  std::fill(std::begin(item.r), std::end(item.r), 0.0);
  std::fill(std::begin(item.w), std::end(item.w), 0.0);
}

// Greedy colours in natural order.
void BodySweeps::colour() {
  const std::size_t n = items_.size();
  colour_of_.resize(n);
  taken_.assign(static_cast<std::size_t>(bodies_) + 1, 0);
  int count[most_colours + 1] = {};
  for (std::size_t i = 0; i < n; ++i) {
    auto& at_a = taken_[static_cast<std::size_t>(items_[i].a)];
    unsigned long long none = 0;
    auto& at_b = items_[i].b >= 0 ? taken_[static_cast<std::size_t>(items_[i].b)] : none;
    const unsigned long long used = at_a | at_b;
    int colour = 0;
    while (colour < most_colours - 1 && (used >> colour & 1) != 0) ++colour;
    colour_of_[i] = colour;
    ++count[colour + 1];
    at_a |= 1ull << colour;
    at_b |= 1ull << colour;
  }
  for (int c = 0; c < most_colours; ++c) count[c + 1] += count[c];
  first_of_colour_.assign(count, count + most_colours + 1);
  sorted_.resize(n);
  for (std::size_t i = 0; i < n; ++i) sorted_[static_cast<std::size_t>(count[colour_of_[i]]++)] = items_[i];
  items_.swap(sorted_);
}

void BodySweeps::turn(const Item& item, const double* x, double* turned) {
  const double t1 = item.rows > 1 ? x[1] : 0, t2 = item.rows > 2 ? x[2] : 0;
  turned[0] = x[0];
  turned[1] = item.local.cosine * t1 + item.local.sine * t2;
  turned[2] = -item.local.sine * t1 + item.local.cosine * t2;
}

void BodySweeps::turn_back(const Item& item, const double* x, double* back) {
  back[0] = x[0];
  back[1] = item.local.cosine * x[1] - item.local.sine * x[2];
  back[2] = item.local.sine * x[1] + item.local.cosine * x[2];
}

void BodySweeps::add_reactions() {
  for (const Item& item : items_)
    for (int j = 0; j < body_size; ++j) {
      const double* A = item.A + j;
      z_[static_cast<std::size_t>(item.a * body_size + j)] += A[0] * item.r[0] + A[6] * item.r[1] + A[12] * item.r[2];
      if (item.b >= 0)
        z_[static_cast<std::size_t>(item.b * body_size + j)] +=
            A[18] * item.r[0] + A[24] * item.r[1] + A[30] * item.r[2];
    }
}

template <bool convexified>
inline void BodySweeps::solve_local(Item& item, double relaxation, const double u[3], double r[3]) {
  if (item.bilateral) return item.local.solve_bilateral(u, r);
  if constexpr (convexified)
    item.local.solve_convexified(u, r);
  else
    item.local.solve(u, r);
  if (relaxation != 1) {
    for (int k = 0; k < 3; ++k) r[k] = item.r[k] + relaxation * (r[k] - item.r[k]);
    if (relaxation > 1) project_on_cone<3>(item.local.mu, r);
  }
}

template void BodySweeps::solve_local<true>(Item&, double, const double[3], double[3]);
template void BodySweeps::solve_local<false>(Item&, double, const double[3], double[3]);

template <bool convexified>
inline void BodySweeps::update(Item& item) {
  double* va = z_.data() + item.a * body_size;
  double* vb = z_.data() + (item.b >= 0 ? item.b : bodies_) * body_size;
  const double* A = item.A;
  const auto load = [](const double* x, int k) {
    Pair p;
    __builtin_memcpy(&p, x + 2 * k, sizeof p);
    return p;
  };
  const Pair a0 = load(va, 0), a1 = load(va, 1), a2 = load(va, 2);
  Pair n = load(A, 0) * a0 + load(A, 1) * a1 + load(A, 2) * a2;
  Pair t = load(A, 3) * a0 + load(A, 4) * a1 + load(A, 5) * a2;
  Pair s = load(A, 6) * a0 + load(A, 7) * a1 + load(A, 8) * a2;
  const Pair b0 = load(vb, 0), b1 = load(vb, 1), b2 = load(vb, 2);
  if (item.b >= 0) {
    const double* B = A + 3 * body_size;
    n += load(B, 0) * b0 + load(B, 1) * b1 + load(B, 2) * b2;
    t += load(B, 3) * b0 + load(B, 4) * b1 + load(B, 5) * b2;
    s += load(B, 6) * b0 + load(B, 7) * b1 + load(B, 8) * b2;
  }
  const double u[3] = {sum(n) + item.w[0], sum(t) + item.w[1], sum(s) + item.w[2]};
  bool moved = false;
  if (beta_ != 0)
    for (int k = 0; k < 3; ++k) {
      const double way = item.r[k] - item.last[k];
      moved = moved || way != 0;
      item.last[k] = item.r[k];
      item.r[k] += beta_ * way;
    }
  else
    std::copy_n(item.r, 3, item.last);
  double r[3] = {item.r[0], item.r[1], item.r[2]};
  solve_local<convexified>(item, relaxation_, u, r);
  const double d0 = r[0] - item.r[0], d1 = r[1] - item.r[1], d2 = r[2] - item.r[2];
  moved = moved || std::abs(d0) + std::abs(d1) + std::abs(d2) > 0;
  item.still = moved ? 0 : item.still + 1;
  if (d0 == 0 && d1 == 0 && d2 == 0) return;
  item.r[0] = r[0], item.r[1] = r[1], item.r[2] = r[2];
  const Pair e0{d0, d0}, e1{d1, d1}, e2{d2, d2};
  const auto store = [](double* x, int k, Pair p) { __builtin_memcpy(x + 2 * k, &p, sizeof p); };
  store(va, 0, a0 + (e0 * load(A, 0) + e1 * load(A, 3) + e2 * load(A, 6)));
  store(va, 1, a1 + (e0 * load(A, 1) + e1 * load(A, 4) + e2 * load(A, 7)));
  store(va, 2, a2 + (e0 * load(A, 2) + e1 * load(A, 5) + e2 * load(A, 8)));
  if (item.b >= 0) {
    const double* B = A + 3 * body_size;
    store(vb, 0, b0 + (e0 * load(B, 0) + e1 * load(B, 3) + e2 * load(B, 6)));
    store(vb, 1, b1 + (e0 * load(B, 1) + e1 * load(B, 4) + e2 * load(B, 7)));
    store(vb, 2, b2 + (e0 * load(B, 2) + e1 * load(B, 5) + e2 * load(B, 8)));
  }
}

template <bool convexified>
long BodySweeps::sweep_range(int first, int last, bool all) {
  Item* items = items_.data();
  long looked_at = 0;
  for (int i = first; i < last; ++i) {
    if (items[i].still >= rest_after && !all) continue;
    update<convexified>(items[i]);
    ++looked_at;
  }
  return looked_at;
}

void BodySweeps::go_further(double beta) {
  beta_ = last_z_.size() == z_.size() ? beta : 0;
  led_back_ = false;
  last_z_.resize(z_.size());
  for (std::size_t k = 0; k < z_.size(); ++k) {
    const double z = z_[k];
    if (beta_ != 0) z_[k] += beta_ * (z - last_z_[k]);
    last_z_[k] = z;
  }
  if (beta_ != 0) from_z_ = z_;
}

long BodySweeps::sweep(bool convexified, int threads, double beta) {
  const bool all = sweeps_++ % look_again == 0;
  go_further(beta);
  const auto range = [&](int first, int last) {
    return convexified ? sweep_range<true>(first, last, all) : sweep_range<false>(first, last, all);
  };
  std::atomic<long> looked_at = 0;
  if (first_of_colour_.empty()) looked_at = range(0, size());
  for (int c = 0; c < most_colours && !first_of_colour_.empty(); ++c) {
    const int begin = first_of_colour_[static_cast<std::size_t>(c)];
    const int end = first_of_colour_[static_cast<std::size_t>(c) + 1];
    parallel_ranges(
        end - begin, c + 1 < most_colours ? threads : 1,
        [&](int first, int last) { looked_at += range(begin + first, begin + last); }, 256);
  }
  if (beta_ != 0) {  // (y - r) W (r - last) > 0, from the sweep's start y
    double product = 0;
    for (std::size_t k = 0; k < z_.size(); ++k) product += (from_z_[k] - z_[k]) * (z_[k] - last_z_[k]);
    led_back_ = product > 0;
  }
  return looked_at;
}

}  // namespace hinge
