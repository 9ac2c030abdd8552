#include "solve/contact/body_sweeps.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <utility>

#include "solve/contact/cone.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

using Pair [[gnu::vector_size(16)]] = double;  // two doubles in one SSE register

constexpr int rest_after = 10, look_again = 10;  // sweeps
constexpr int worth_sharing = 48, portion = 24;  // contacts of a colour
constexpr int worth_pieces = 4;                  // of velocities

double sum(Pair x) { return x[0] + x[1]; }

}  // namespace

void BodySweeps::begin(int bodies, int items) {
  bodies_ = bodies;
  items_.resize(at(items));
  pair_.resize(at(items));
  z_.assign(at((bodies + 1) * body_size), 0.0);  // the last is the ground's and stays zero
  has_last_ = false;
  sweeps_ = 0;
}

void BodySweeps::order(bool coloured) {
  place_.clear();
  runs_.clear();
  if (coloured) colour();
}

void BodySweeps::fill(int i, int row, bool bilateral, int rows, const double (*A)[2 * body_size], double mu,
                      const double* w) {
  Item& item = items_[place_.empty() ? at(i) : at(place_[at(i)])];
  item.row = row;
  item.rows = rows;
  item.a = pair_[at(i)][0];
  item.b = pair_[at(i)][1];
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
  turn(item, w, item.w);
}

// Greedy colours in natural order.
void BodySweeps::colour() {
  const std::size_t n = items_.size();
  colour_of_.resize(n);
  place_.resize(n);
  taken_.assign(at(bodies_) + 1, 0);
  int count[most_colours + 1] = {};
  for (std::size_t i = 0; i < n; ++i) {
    const auto [a, b] = pair_[i];
    unsigned long long none = 0;
    auto &at_a = taken_[at(a)], &at_b = b >= 0 ? taken_[at(b)] : none;
    const unsigned long long used = at_a | at_b;
    const int colour = std::min(std::countr_one(used), most_colours - 1);
    colour_of_[i] = colour;
    ++count[colour + 1];
    at_a |= 1ull << colour;
    at_b |= 1ull << colour;
  }
  for (int c = 0; c < most_colours; ++c) count[c + 1] += count[c];
  for (int c = 0; c < most_colours; ++c) {
    const int first = count[c], last = count[c + 1];
    if (first == last) continue;
    const bool alone = c + 1 == most_colours || last - first < worth_sharing;
    if (alone && !runs_.empty() && runs_.back().alone)
      runs_.back().last = last;
    else
      runs_.push_back({first, last, alone});
  }
  for (std::size_t i = 0; i < n; ++i) place_[i] = count[colour_of_[i]]++;
}

// work(first, last) on parts of the runs, one run after the other.
template <class Work>
void BodySweeps::each_run(int threads, Work&& work) {
  if (runs_.empty() || threads <= 1) return work(0, size());
  stages_.run(
      threads, static_cast<int>(runs_.size()), portion,
      [&](int s) { return runs_[at(s)].alone ? 1 : runs_[at(s)].last - runs_[at(s)].first; },
      [&](int s, int first, int last) {
        const Run& run = runs_[at(s)];
        run.alone ? work(run.first, run.last) : work(run.first + first, run.first + last);
      });
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

void BodySweeps::add_reactions(int threads) {
  each_run(threads, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const Item& item = items_[at(i)];
      for (int j = 0; j < body_size; ++j) {
        const double* A = item.A + j;
        z_[at(item.a * body_size + j)] += A[0] * item.r[0] + A[6] * item.r[1] + A[12] * item.r[2];
        if (item.b >= 0) z_[at(item.b * body_size + j)] += A[18] * item.r[0] + A[24] * item.r[1] + A[30] * item.r[2];
      }
    }
  });
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

// Velocities first to last of a sweep's start.
void BodySweeps::go_further(int first, int last) {
  for (std::size_t k = at(first); k < at(last); ++k) {
    const double z = z_[k];
    if (beta_ != 0) from_z_[k] = z_[k] += beta_ * (z - last_z_[k]);
    last_z_[k] = z;
  }
}

// (y - r) W (r - last) > 0, from the sweep's start y; by sums of pieces where these are sure of the sign that the sum
// from first to last has.
bool BodySweeps::leads_back() const {
  double sum = 0, size = 0;
  for (const auto& [part, sizes] : products_) sum += part, size += sizes;
  if (std::abs(sum) > 1e-15 * static_cast<double>(z_.size()) * size) return sum > 0;
  sum = 0;
  for (std::size_t k = 0; k < z_.size(); ++k) sum += (from_z_[k] - z_[k]) * (z_[k] - last_z_[k]);
  return sum > 0;
}

long BodySweeps::sweep(bool convexified, int threads, double beta) {
  const bool all = sweeps_++ % look_again == 0;
  beta_ = std::exchange(has_last_, true) ? beta : 0;
  last_z_.resize(z_.size());
  if (beta_ != 0) from_z_.resize(z_.size());
  const int velocities = static_cast<int>(z_.size()), pieces = (velocities + piece - 1) / piece,
            runs = std::max(1, static_cast<int>(runs_.size()));
  products_.resize(at(pieces));
  std::atomic<long> looked_at = 0;
  const auto range = [&](int first, int last) {
    looked_at += convexified ? sweep_range<true>(first, last, all) : sweep_range<false>(first, last, all);
  };
  const auto multiply = [&](int p) {
    double sum = 0, sizes = 0;
    for (std::size_t k = at(p * piece); k < at(std::min(velocities, (p + 1) * piece)); ++k) {
      const double product = (from_z_[k] - z_[k]) * (z_[k] - last_z_[k]);
      sum += product;
      sizes += std::abs(product);
    }
    products_[at(p)] = {sum, sizes};
  };
  if (threads <= 1 || (runs_.empty() && pieces < worth_pieces)) {
    go_further(0, velocities);
    range(0, size());
    for (int p = 0; p < pieces && beta_ != 0; ++p) multiply(p);
  } else {
    stages_.run(
        threads, runs + 2, 1,
        [&](int s) {
          if (s == 0 || s > runs) return s == 0 || beta_ != 0 ? pieces : 0;
          const Run run = run_of(s - 1);
          return run.alone ? 1 : (run.last - run.first + portion - 1) / portion;
        },
        [&](int s, int first, int last) {
          if (s == 0) return go_further(first * piece, std::min(velocities, last * piece));
          if (s > runs) {
            for (int p = first; p < last; ++p) multiply(p);
            return;
          }
          const Run run = run_of(s - 1);
          if (run.alone) return range(run.first, run.last);
          range(run.first + first * portion, std::min(run.last, run.first + last * portion));
        });
  }
  led_back_ = beta_ != 0 && leads_back();
  return looked_at;
}

}  // namespace hinge
