// Block Gauss-Seidel (NSGS): contacts one after the other, each solved exactly for the others held fixed.
//
// Where every contact touches at most two bodies the sweep keeps the velocities current,
//   u_i = A_i v + w_i,   v += A_i^T (r_i_new - r_i),     v = v_free + A^T r,
// and W is never formed; otherwise u_i = (W r + q)_i is taken from the rows of W.
//
// Solves: contacts with exact or convexified friction in 1D, 2D and 3D, bilateral rows. Converges in practice, slowly
// where many contacts share few bodies; proven for convexified friction only. Not for polyhedral friction.
// Order: large problems are coloured, so that contacts of one colour share no body and may be solved at the same time;
// the order depends on the problem alone, so the bits do not depend on the number of threads.
// Source: Jourdan, Alart, Jean (1998); Daviet, Bertails-Descoubes, Boissieux (2011) for the exact local solve.
#include <algorithm>
#include <numeric>

#include "solve/complementarity/block_gauss_seidel.hpp"
#include "solve/complementarity/cone.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

using Pair [[gnu::vector_size(16)]] = double;  // two doubles in one SSE register

constexpr int body_size = 6;
constexpr int colour_from = 4096;  // contacts; below that natural order is faster and no thread would pay

double sum(Pair x) { return x[0] + x[1]; }

}  // namespace

BlockGaussSeidel::BlockGaussSeidel(Delassus& W, const ContactProblem& problem, int threads)
    : W_(W), problem_(problem), threads_(threads), d_(W.dimension()) {
  const int nc = W.contacts(), n = nc + W.bilateral();
  items_.resize(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    Item& item = items_[static_cast<std::size_t>(i)];
    item.index = i;
    item.bilateral = i >= nc;
    item.row = item.bilateral ? nc * d_ + (i - nc) : i * d_;
    item.rows = item.bilateral ? 1 : d_;
    item.local = item.bilateral ? LocalContact(Eigen::MatrixXd::Constant(1, 1, W.diagonal(item.row)), 0)
                                : LocalContact(W.block(i), problem.mu[i]);
  }
  by_body_ = W.factored() && (find_bodies(6) || find_bodies(3));
  if (!by_body_) W.matrix();
  if (n >= colour_from) colour();
}

// Groups of `size` velocities as bodies, when every item touches at most two of them.
bool BlockGaussSeidel::find_bodies(int size) {
  const SparseRows& A = W_.A();
  if (A.cols() % size != 0) return false;
  for (Item& item : items_) {
    item.a = item.b = -1;
    for (int k = 0; k < item.rows; ++k)
      for (SparseRows::InnerIterator entry(A, item.row + k); entry; ++entry) {
        const int body = static_cast<int>(entry.col()) / size;
        if (body == item.a || body == item.b) continue;
        if (item.a < 0)
          item.a = body;
        else if (item.b < 0)
          item.b = body;
        else
          return false;
      }
    if (item.a < 0) return false;  // an empty bilateral row
  }
  bodies_ = static_cast<int>(A.cols()) / size;
  size_ = size;
  for (Item& item : items_) {
    std::fill(std::begin(item.A), std::end(item.A), 0.0);
    const LocalContact& l = item.local;
    double rows[3][2 * body_size] = {};
    for (int k = 0; k < item.rows; ++k)
      for (SparseRows::InnerIterator entry(A, item.row + k); entry; ++entry) {
        const int body = static_cast<int>(entry.col()) / size, place = static_cast<int>(entry.col()) % size;
        rows[k][(body == item.a ? 0 : body_size) + place] = entry.value();
      }
    for (int j = 0; j < 2 * body_size; ++j) {
      double* to = item.A + (j / body_size) * 3 * body_size + j % body_size;
      to[0] = rows[0][j];
      to[body_size] = l.cosine * rows[1][j] + l.sine * rows[2][j];
      to[2 * body_size] = -l.sine * rows[1][j] + l.cosine * rows[2][j];
    }
  }
  return true;
}

// Greedy colours in natural order: two items of one colour share no body (no entry of W).
void BlockGaussSeidel::colour() {
  const std::size_t n = items_.size();
  std::vector<int> colours(n, -1);
  std::vector<std::vector<int>> taken(static_cast<std::size_t>(by_body_ ? bodies_ : W_.rows()));
  int most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    std::vector<int> used;
    const auto each_place = [&](auto&& visit) {
      if (by_body_) {
        visit(items_[i].a);
        if (items_[i].b >= 0) visit(items_[i].b);
      } else {
        for (int k = 0; k < items_[i].rows; ++k)
          for (SparseRows::InnerIterator entry(W_.matrix(), items_[i].row + k); entry; ++entry)
            visit(static_cast<int>(entry.col()));
      }
    };
    each_place([&](int place) {
      const auto& list = taken[static_cast<std::size_t>(place)];
      used.insert(used.end(), list.begin(), list.end());
    });
    int colour = 0;
    while (std::find(used.begin(), used.end(), colour) != used.end()) ++colour;
    colours[i] = colour;
    most = std::max(most, colour + 1);
    if (by_body_)
      each_place([&](int place) { taken[static_cast<std::size_t>(place)].push_back(colour); });
    else
      for (int k = 0; k < items_[i].rows; ++k) taken[static_cast<std::size_t>(items_[i].row + k)].push_back(colour);
  }
  std::vector<Item> sorted;
  sorted.reserve(n);
  first_of_colour_.clear();
  for (int colour = 0; colour < most; ++colour) {
    first_of_colour_.push_back(static_cast<int>(sorted.size()));
    for (std::size_t i = 0; i < n; ++i)
      if (colours[i] == colour) sorted.push_back(items_[i]);
  }
  first_of_colour_.push_back(static_cast<int>(n));
  items_ = std::move(sorted);
}

void BlockGaussSeidel::set(const Eigen::VectorXd& r) {
  for (Item& item : items_) {
    double x[3] = {};
    for (int k = 0; k < item.rows; ++k) x[k] = r[item.row + k];
    item.r[0] = x[0];
    item.r[1] = item.local.cosine * x[1] + item.local.sine * x[2];
    item.r[2] = -item.local.sine * x[1] + item.local.cosine * x[2];
  }
  if (!by_body_) {
    r_ = r;
    return;
  }
  Eigen::VectorXd v;
  multiply_rows(W_.At(), r, v, 1);
  v += W_.v_free();
  v_.setZero(static_cast<Eigen::Index>(bodies_ + 1) * body_size);
  for (int b = 0; b < bodies_; ++b)
    for (int k = 0; k < size_; ++k) v_[b * body_size + k] = v[b * size_ + k];
  // w in rotated tangents
  for (Item& item : items_) {
    double x[3] = {};
    for (int k = 0; k < item.rows; ++k) x[k] = W_.w()[item.row + k];
    item.w[0] = x[0];
    item.w[1] = item.local.cosine * x[1] + item.local.sine * x[2];
    item.w[2] = -item.local.sine * x[1] + item.local.cosine * x[2];
  }
}

void BlockGaussSeidel::get(Eigen::VectorXd& r) const {
  r.resize(W_.rows());
  for (const Item& item : items_) {
    const double c = item.local.cosine, s = item.local.sine;
    const double x[3] = {item.r[0], c * item.r[1] - s * item.r[2], s * item.r[1] + c * item.r[2]};
    for (int k = 0; k < item.rows; ++k) r[item.row + k] = x[k];
  }
}

template <bool convexified>
inline void BlockGaussSeidel::solve_local(Item& item, const double u[3], double r[3]) {
  if (item.bilateral) {
    if (item.local.a > 0) r[0] -= u[0] * item.local.inverse_a;
    return;
  }
  if constexpr (convexified)
    item.local.solve_convexified(u, r);
  else
    item.local.solve(u, r);
  if (relaxation_ != 1) {
    for (int k = 0; k < 3; ++k) r[k] = item.r[k] + relaxation_ * (r[k] - item.r[k]);
    if (relaxation_ > 1) project_on_cone<3>(item.local.mu, r);
  }
}

template <bool convexified>
inline void BlockGaussSeidel::update_by_body(Item& item) {
  double* va = v_.data() + item.a * body_size;
  double* vb = v_.data() + (item.b >= 0 ? item.b : bodies_) * body_size;
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
  double r[3] = {item.r[0], item.r[1], item.r[2]};
  solve_local<convexified>(item, u, r);
  const double d0 = r[0] - item.r[0], d1 = r[1] - item.r[1], d2 = r[2] - item.r[2];
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
inline void BlockGaussSeidel::update_by_row(Item& item) {
  const SparseRows& W = W_.matrix();
  const int* start = W.outerIndexPtr();
  const int* column = W.innerIndexPtr();
  const double* value = W.valuePtr();
  double x[3] = {};
  for (int k = 0; k < item.rows; ++k) {
    const int row = item.row + k;
    double total = W_.q()[row];
    for (int j = start[row]; j < start[row + 1]; ++j) total += value[j] * r_[column[j]];
    x[k] = total;
  }
  const double c = item.local.cosine, s = item.local.sine;
  const double u[3] = {x[0], c * x[1] + s * x[2], -s * x[1] + c * x[2]};
  double r[3] = {item.r[0], item.r[1], item.r[2]};
  solve_local<convexified>(item, u, r);
  for (int k = 0; k < 3; ++k) item.r[k] = r[k];
  const double back[3] = {r[0], c * r[1] - s * r[2], s * r[1] + c * r[2]};
  for (int k = 0; k < item.rows; ++k) r_[item.row + k] = back[k];
}

template <bool convexified>
void BlockGaussSeidel::sweep_range(int first, int last) {
  Item* items = items_.data();
  if (by_body_)
    for (int i = first; i < last; ++i) update_by_body<convexified>(items[i]);
  else
    for (int i = first; i < last; ++i) update_by_row<convexified>(items[i]);
}

void BlockGaussSeidel::sweep() {
  const auto range = [&](int first, int last) {
    problem_.friction == FrictionModel::convexified ? sweep_range<true>(first, last) : sweep_range<false>(first, last);
  };
  if (first_of_colour_.empty()) return range(0, static_cast<int>(items_.size()));
  for (std::size_t k = 0; k + 1 < first_of_colour_.size(); ++k) {
    const int begin = first_of_colour_[k];
    parallel_ranges(
        first_of_colour_[k + 1] - begin, threads_, [&](int first, int last) { range(begin + first, begin + last); },
        256);
  }
}

void solve_block_gauss_seidel(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  BlockGaussSeidel sweeps(W, judge.problem(), judge.options().threads);
  sweeps.relaxation(judge.options().relaxation);
  sweeps.set(r);
  const int limit = judge.limit(200000);
  if (judge.done(0, r)) return;
  int next = 5;
  double before = HUGE_VAL;
  int rounds_without_progress = 0;
  for (int k = 1; k <= limit; ++k) {
    sweeps.sweep();
    judge.contact_updates += static_cast<long>(W.contacts());
    if (k < next && k < limit) continue;
    sweeps.get(r);
    if (judge.done(k, r)) return;
    sweeps.set(r);  // velocities anew: what rounding added is dropped
    // About thirty looks per doubling keep the residual's cost small beside the sweeps.
    next = k + std::max(5, k / 40);
    rounds_without_progress = judge.best_residual() < 0.999 * before ? 0 : rounds_without_progress + 1;
    before = std::min(before, judge.best_residual());
    if (rounds_without_progress > 60)
      return judge.stop(ContactStatus::stalled,
                        "the residual no longer decreases; newton-ac or interior-point may help");
  }
}

}  // namespace hinge
