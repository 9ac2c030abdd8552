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

#include "solve/contact/block_gauss_seidel.hpp"
#include "solve/contact/parallel.hpp"

namespace hinge {

namespace {

constexpr int colour_from = 4096;  // contacts; below that natural order is faster and no thread would pay

}  // namespace

BlockGaussSeidel::BlockGaussSeidel(Delassus& W, const ContactProblem& problem, int threads)
    : W_(W), problem_(problem), threads_(threads), d_(W.dimension()) {
  const int nc = W.contacts(), n = nc + W.bilateral();
  by_body_ = W.factored() && (find_bodies(6) || find_bodies(3));
  if (by_body_) {
    if (n >= colour_from) sweeps_.colour();
    return;
  }
  W.matrix();
  items_.resize(static_cast<std::size_t>(n));
  for (int i = 0; i < n; ++i) {
    Item& item = items_[static_cast<std::size_t>(i)];
    item.index = i;
    item.bilateral = i >= nc;
    item.rows = item.bilateral ? 1 : d_;
    item.local = item.bilateral ? LocalContact(LocalContact::Block::Constant(1, 1, W.diagonal(row(item))), 0)
                                : LocalContact(W.block(i), problem.mu[i]);
  }
  if (n >= colour_from) colour_rows();
}

// Groups of `size` velocities as bodies, when every item touches at most two of them.
bool BlockGaussSeidel::find_bodies(int size) {
  const SparseRows& A = W_.A();
  if (A.cols() % size != 0) return false;
  const int nc = W_.contacts(), n = nc + W_.bilateral();
  const auto first_row = [&](int i) { return i < nc ? i * d_ : nc * d_ + i - nc; };
  std::vector<int> bodies(static_cast<std::size_t>(2 * n), -1);
  for (int i = 0; i < n; ++i) {
    int* pair = &bodies[static_cast<std::size_t>(2 * i)];
    for (int k = 0; k < (i < nc ? d_ : 1); ++k)
      for (SparseRows::InnerIterator entry(A, first_row(i) + k); entry; ++entry) {
        const int body = static_cast<int>(entry.col()) / size;
        if (body == pair[0] || body == pair[1]) continue;
        if (pair[0] >= 0 && pair[1] >= 0) return false;
        pair[pair[0] >= 0 ? 1 : 0] = body;
      }
    if (pair[0] < 0) return false;  // an empty bilateral row
  }
  bodies_ = static_cast<int>(A.cols()) / size;
  size_ = size;
  sweeps_.begin(bodies_, n);
  for (int i = 0; i < n; ++i) {
    const int* pair = &bodies[static_cast<std::size_t>(2 * i)];
    double rows[3][2 * BodySweeps::body_size] = {};
    const int count = i < nc ? d_ : 1;
    for (int k = 0; k < count; ++k)
      for (SparseRows::InnerIterator entry(A, first_row(i) + k); entry; ++entry) {
        const int body = static_cast<int>(entry.col()) / size, place = static_cast<int>(entry.col()) % size;
        rows[k][(body == pair[0] ? 0 : BodySweeps::body_size) + place] = entry.value();
      }
    sweeps_.fill(i, i >= nc, count, pair[0], pair[1], rows, i < nc ? problem_.mu[i] : 0);
    Item& item = sweeps_.item(i);
    BodySweeps::turn(item, W_.w().data() + first_row(i), item.w);
  }
  return true;
}

// Greedy colours in natural order: two items of one colour share no entry of W.
void BlockGaussSeidel::colour_rows() {
  const std::size_t n = items_.size();
  std::vector<int> colours(n, -1), used;
  std::vector<std::vector<int>> taken(static_cast<std::size_t>(W_.rows()));
  int most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    used.clear();
    for (int k = 0; k < items_[i].rows; ++k)
      for (SparseRows::InnerIterator entry(W_.matrix(), row(items_[i]) + k); entry; ++entry) {
        const auto& list = taken[static_cast<std::size_t>(entry.col())];
        used.insert(used.end(), list.begin(), list.end());
      }
    int colour = 0;
    while (std::find(used.begin(), used.end(), colour) != used.end()) ++colour;
    colours[i] = colour;
    most = std::max(most, colour + 1);
    for (int k = 0; k < items_[i].rows; ++k) taken[static_cast<std::size_t>(row(items_[i]) + k)].push_back(colour);
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
  if (!by_body_) {
    for (Item& item : items_) BodySweeps::turn(item, r.data() + row(item), item.r);
    r_ = r;
    return;
  }
  for (int i = 0; i < sweeps_.size(); ++i) {
    Item& item = sweeps_.item(i);
    BodySweeps::turn(item, r.data() + row(item), item.r);
  }
  multiply_rows(W_.At(), r, v_, 1);
  v_ += W_.v_free();
  for (int b = 0; b < bodies_; ++b)
    for (int k = 0; k < size_; ++k)
      sweeps_.velocity()[static_cast<std::size_t>(b * BodySweeps::body_size + k)] = v_[b * size_ + k];
}

void BlockGaussSeidel::get(Eigen::VectorXd& r) {
  r.resize(W_.rows());
  const int n = by_body_ ? sweeps_.size() : static_cast<int>(items_.size());
  for (int i = 0; i < n; ++i) {
    const Item& item = by_body_ ? sweeps_.item(i) : items_[static_cast<std::size_t>(i)];
    double x[3];
    BodySweeps::turn_back(item, item.r, x);
    for (int k = 0; k < item.rows; ++k) r[row(item) + k] = x[k];
  }
}

template <bool convexified>
inline void BlockGaussSeidel::update_by_row(Item& item) {
  const SparseRows& W = W_.matrix();
  const int* start = W.outerIndexPtr();
  const int* column = W.innerIndexPtr();
  const double* value = W.valuePtr();
  double x[3] = {};
  const int first = row(item);
  for (int k = 0; k < item.rows; ++k) {
    const int line = first + k;
    double total = W_.q()[line];
    for (int j = start[line]; j < start[line + 1]; ++j) total += value[j] * r_[column[j]];
    x[k] = total;
  }
  const double c = item.local.cosine, s = item.local.sine;
  const double u[3] = {x[0], c * x[1] + s * x[2], -s * x[1] + c * x[2]};
  double r[3] = {item.r[0], item.r[1], item.r[2]};
  BodySweeps::solve_local<convexified>(item, relaxation_, u, r);
  for (int k = 0; k < 3; ++k) item.r[k] = r[k];
  const double back[3] = {r[0], c * r[1] - s * r[2], s * r[1] + c * r[2]};
  for (int k = 0; k < item.rows; ++k) r_[first + k] = back[k];
}

long BlockGaussSeidel::sweep() {
  const bool convexified = problem_.friction == FrictionModel::convexified;
  if (by_body_) return sweeps_.sweep(convexified, threads_);
  const auto range = [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      Item& item = items_[static_cast<std::size_t>(i)];
      convexified ? update_by_row<true>(item) : update_by_row<false>(item);
    }
  };
  const int n = static_cast<int>(items_.size());
  if (first_of_colour_.empty()) range(0, n);
  for (std::size_t k = 0; k + 1 < first_of_colour_.size(); ++k) {
    const int begin = first_of_colour_[k];
    parallel_ranges(
        first_of_colour_[k + 1] - begin, threads_, [&](int first, int last) { range(begin + first, begin + last); },
        256);
  }
  return n;
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
    judge.contact_updates += sweeps.sweep();
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
