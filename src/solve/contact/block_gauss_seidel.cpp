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
// Step after step sweeps over more than a few contacts go on from r + beta (r - r_last), Nesterov's sequence: in heaps
// a few times fewer are needed. Source: Jourdan, Alart, Jean (1998); Daviet, Bertails-Descoubes, Boissieux (2011) for
// the exact local solve.
#include <algorithm>
#include <cmath>
#include <utility>

#include "solve/contact/solver.hpp"
#include "solve/contact/solvers.hpp"
#include "solve/index.hpp"
#include "solve/parallel.hpp"

namespace hinge {

namespace {

constexpr int colour_from = 4096;  // contacts; below that natural order is faster and no thread would pay

}  // namespace

void BlockGaussSeidel::begin(const BodyRows& rows, const ContactProblem& problem, int threads) {
  W_ = nullptr;
  problem_ = &problem;
  threads_ = threads;
  by_body_ = true;
  cost_ = 1;
  bodies_ = problem.bodies.count();
  const int n = static_cast<int>(rows.blocks().size()), nc = problem.contacts();
  sweeps_.begin(bodies_, n);
  for (int i = 0; i < n; ++i) sweeps_.join(i, rows.blocks()[at(i)].a, rows.blocks()[at(i)].b);
  sweeps_.order(n >= colour_from);
  parallel_ranges(n, threads, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const BodyRows::Block& block = rows.blocks()[at(i)];
      // velocities are counted from v_free
      sweeps_.fill(i, block.row, i >= nc, block.rows, block.A, i < nc ? problem.mu_of(i) : 0,
                   rows.q().data() + block.row);
    }
  });
}

void BlockGaussSeidel::begin(Delassus& W, const ContactProblem& problem, int threads) {
  W_ = &W;
  problem_ = &problem;
  threads_ = threads;
  const int nc = W.contacts(), n = nc + W.bilateral(), d = W.dimension();
  by_body_ = W.factored() && (find_bodies(6) || find_bodies(3));
  cost_ = 1;
  if (by_body_) return;
  constexpr double entries_of_an_update = 72;  // products with rows of two bodies, and back
  cost_ = std::max(1.0, static_cast<double>(W.matrix().nonZeros()) / (entries_of_an_update * std::max(n, 1)));
  items_.assign(at(n), {});
  first_of_colour_.clear();
  for (int i = 0; i < n; ++i) {
    Item& item = items_[at(i)];
    item.bilateral = i >= nc;
    item.rows = item.bilateral ? 1 : d;
    item.row = item.bilateral ? nc * d + i - nc : i * d;
    item.local = item.bilateral ? LocalContact(LocalContact::Block::Constant(1, 1, W.diagonal(item.row)), 0)
                                : LocalContact(W.block(i), problem.mu_of(i));
  }
  if (n >= colour_from) colour_rows();
}

// Groups of `size` velocities as bodies, when every item touches at most two of them.
bool BlockGaussSeidel::find_bodies(int size) {
  const SparseRows& A = W_->A();
  if (A.cols() % size != 0) return false;
  const int nc = W_->contacts(), n = nc + W_->bilateral(), d = W_->dimension();
  const auto first_row = [&](int i) { return i < nc ? i * d : nc * d + i - nc; };
  std::vector<int> bodies(at(2 * n), -1);
  for (int i = 0; i < n; ++i) {
    int* pair = &bodies[at(2 * i)];
    for (int k = 0; k < (i < nc ? d : 1); ++k)
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
  for (int i = 0; i < n; ++i) sweeps_.join(i, bodies[at(2 * i)], bodies[at(2 * i + 1)]);
  sweeps_.order(n >= colour_from);
  for (int i = 0; i < n; ++i) {
    const int* pair = &bodies[at(2 * i)];
    double rows[3][2 * BodySweeps::body_size] = {};
    const int count = i < nc ? d : 1;
    for (int k = 0; k < count; ++k)
      for (SparseRows::InnerIterator entry(A, first_row(i) + k); entry; ++entry) {
        const int body = static_cast<int>(entry.col()) / size, place = static_cast<int>(entry.col()) % size;
        rows[k][(body == pair[0] ? 0 : BodySweeps::body_size) + place] = entry.value();
      }
    sweeps_.fill(i, first_row(i), i >= nc, count, rows, i < nc ? problem_->mu_of(i) : 0, W_->w().data() + first_row(i));
  }
  return true;
}

// Greedy colours in natural order: two items of one colour share no entry of W.
void BlockGaussSeidel::colour_rows() {
  const std::size_t n = items_.size();
  std::vector<int> colours(n, -1), used;
  std::vector<std::vector<int>> taken(at(W_->rows()));
  int most = 0;
  for (std::size_t i = 0; i < n; ++i) {
    used.clear();
    for (int k = 0; k < items_[i].rows; ++k)
      for (SparseRows::InnerIterator entry(W_->matrix(), items_[i].row + k); entry; ++entry) {
        const auto& list = taken[static_cast<std::size_t>(entry.col())];
        used.insert(used.end(), list.begin(), list.end());
      }
    int colour = 0;
    while (std::find(used.begin(), used.end(), colour) != used.end()) ++colour;
    colours[i] = colour;
    most = std::max(most, colour + 1);
    for (int k = 0; k < items_[i].rows; ++k) taken[at(items_[i].row + k)].push_back(colour);
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

void BlockGaussSeidel::set(const Eigen::Ref<const Eigen::VectorXd>& r) {
  if (!by_body_) {
    for (Item& item : items_) BodySweeps::turn(item, r.data() + item.row, item.r);
    r_ = r;
    has_last_ = false;
    return;
  }
  parallel_ranges(sweeps_.size(), threads_, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      Item& item = sweeps_.item(i);
      BodySweeps::turn(item, r.data() + item.row, item.r);
    }
  });
  if (!W_) {
    std::fill(sweeps_.velocity().begin(), sweeps_.velocity().end(), 0.0);
    sweeps_.add_reactions(threads_);
    return;
  }
  multiply_rows(W_->At(), r, v_, 1);
  v_ += W_->v_free();
  for (int b = 0; b < bodies_; ++b)
    for (int k = 0; k < size_; ++k) sweeps_.velocity()[at(b * BodySweeps::body_size + k)] = v_[b * size_ + k];
}

void BlockGaussSeidel::get(Eigen::Ref<Eigen::VectorXd> r) {
  const int n = by_body_ ? sweeps_.size() : static_cast<int>(items_.size());
  parallel_ranges(n, threads_, [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      const Item& item = by_body_ ? sweeps_.item(i) : items_[at(i)];
      double x[3];
      BodySweeps::turn_back(item, item.r, x);
      for (int k = 0; k < item.rows; ++k) r[item.row + k] = x[k];
    }
  });
}

template <bool convexified>
inline void BlockGaussSeidel::update_by_row(Item& item) {
  const SparseRows& W = W_->matrix();
  const int* start = W.outerIndexPtr();
  const int* column = W.innerIndexPtr();
  const double* value = W.valuePtr();
  double x[3] = {};
  const int first = item.row;
  for (int k = 0; k < item.rows; ++k) {
    const int line = first + k;
    double total = W_->q()[line];
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

// By rows of W. False where there is nothing to go further from.
bool BlockGaussSeidel::go_further(double beta) {
  const bool goes = beta != 0 && has_last_;
  if (goes) from_ = r_ + beta * (r_ - last_);
  last_ = r_;
  has_last_ = true;
  if (!goes) return false;
  r_ = from_;
  for (Item& item : items_) BodySweeps::turn(item, r_.data() + item.row, item.r);
  return true;
}

long BlockGaussSeidel::sweep(double beta) {
  const bool convexified = problem_->friction == FrictionModel::convexified;
  if (by_body_) return sweeps_.sweep(convexified, threads_, beta);
  const auto range = [&](int first, int last) {
    for (int i = first; i < last; ++i) {
      Item& item = items_[at(i)];
      convexified ? update_by_row<true>(item) : update_by_row<false>(item);
    }
  };
  const int n = static_cast<int>(items_.size());
  const bool goes_further = go_further(beta);
  if (first_of_colour_.empty()) range(0, n);
  for (std::size_t k = 0; k + 1 < first_of_colour_.size(); ++k) {
    const int begin = first_of_colour_[k];
    parallel_ranges(
        first_of_colour_[k + 1] - begin, threads_, [&](int first, int last) { range(begin + first, begin + last); },
        256);
  }
  double product = 0;  // as BodySweeps does, with the diagonal of W
  if (goes_further)
    for (const Item& item : items_)
      for (int k = 0; k < item.rows; ++k)
        product += item.local.a * (from_[item.row + k] - r_[item.row + k]) * (r_[item.row + k] - last_[item.row + k]);
  led_back_ = product > 0;
  return n;
}

namespace {

struct SweepPlan {
  int limit, look, share;        // looks at r: after so many sweeps, or that share of those so far
  bool while_promising = false;  // ends where the rate since the look before the last does not promise the tolerance
  bool velocities_anew = false;  // after every look: what rounding added is dropped
  bool accelerate = false;
};

// Nesterov's sequence, but no further on than so much, where sweeps in a fixed order and friction would not stand it;
// and anew where a sweep has led back (O'Donoghue, Candes 2015).
class Further {
 public:
  explicit Further(bool used) : used_(used) {}
  double beta() {
    if (!used_) return 0;
    const double next = (1 + std::sqrt(1 + 4 * t_ * t_)) / 2, beta = std::min(furthest_, (t_ - 1) / next);
    t_ = next;
    return beta;
  }
  void again() { t_ = 1; }
  void less() { furthest_ *= 0.7; }
  bool used() const { return used_; }

 private:
  bool used_;
  double t_ = 1, furthest_ = 0.9;
};

void sweep_by_plan(BlockGaussSeidel& sweeps, Judge& judge, Eigen::Ref<Eigen::VectorXd> r, const SweepPlan& plan) {
  struct Look {
    int sweep = 0;
    double residual = HUGE_VAL;
  } before, last, mark;  // mark: where the best was last a tenth better than at the mark before
  Look older, newer;     // bests, at sweeps that grow by half: what promises, where the residual goes up and down
  Further further(plan.accelerate);
  constexpr int patience = 1000, most_looks = 60, most_restarts = 3;  // the last without progress
  int next = plan.look, without_progress = 0, restarts = 0;
  double best = HUGE_VAL;
  sweeps.set(r);
  for (int k = 1; k <= plan.limit; ++k) {
    judge.swept(sweeps.sweep(further.beta()), sweeps.cost());
    if (sweeps.led_back()) further.again();
    if (k < next && k < plan.limit) continue;
    sweeps.get(r);
    if (judge.done(k, r)) return;
    const double now = judge.last();
    const double rate = plan.accelerate ? std::log(older.residual / judge.best_residual()) / (k - older.sweep)
                                        : std::log(before.residual / now) / (k - before.sweep);
    if (2 * k >= 3 * newer.sweep) {
      constexpr int at_first = 100;
      if (k > at_first && judge.best_residual() > 0.8 * newer.residual) further.less();  // friction does not stand it
      older = std::exchange(newer, {k, judge.best_residual()});
    }
    if (plan.while_promising && k >= 100 && (!(rate > 0) || k + std::log(now / judge.tolerance()) / rate > plan.limit))
      return;
    if (judge.best_residual() < 0.9 * mark.residual) mark = {k, judge.best_residual()}, restarts = 0;
    without_progress = judge.best_residual() < 0.999 * best ? 0 : without_progress + 1;
    best = std::min(best, judge.best_residual());
    const bool rests =
        plan.velocities_anew ? without_progress > most_looks : k - mark.sweep > std::max(patience, mark.sweep / 2);
    if (rests && further.used() &&
        restarts++ < most_restarts) {  // anew from the best, as far on as at first: so it goes down to where work ends
      further = Further(true);
      r = judge.best();
      sweeps.set(r);
      mark.sweep = k;
    } else if (rests) {
      return judge.stop(ContactStatus::stalled,
                        "the residual no longer decreases; newton-ac or interior-point may help");
    }
    if (plan.velocities_anew) sweeps.set(r);
    before = last;
    last = {k, now};
    next = k + std::max(plan.look, k / plan.share);
  }
}

}  // namespace

void solve_block_gauss_seidel(Delassus& W, Judge& judge, Eigen::VectorXd r) {
  if (judge.done(0, r)) return;
  BlockGaussSeidel sweeps(W, judge.problem(), judge.options().threads);
  sweeps.relaxation(judge.options().relaxation);
  // About thirty looks per doubling keep the residual's cost small beside the sweeps.
  sweep_by_plan(sweeps, judge, r, {.limit = judge.limit(200000), .look = 5, .share = 40, .velocities_anew = true});
}

void sweep(ContactWork& work, bool over_bodies, bool while_promising, int limit) {
  Judge& judge = work.judge;
  const ContactProblem& p = judge.problem();
  BlockGaussSeidel& sweeps = work.sweeps;
  const int allowed = judge.limit(limit);
  const bool accelerate = work.options.stepping && work.options.relaxation == 1 && !work.few();
  if (over_bodies) {
    sweeps.begin(judge.residual().body_rows(), p, work.options.threads);
    sweeps.relaxation(work.options.relaxation);
    sweep_by_plan(
        sweeps, judge, Eigen::Map<Eigen::VectorXd>(work.r.data(), p.rows()),
        {.limit = allowed, .look = 5, .share = 20, .while_promising = while_promising, .accelerate = accelerate});
    return;
  }
  Delassus& W = work.delassus();
  sweeps.begin(W, p, work.options.threads);
  sweeps.relaxation(1);
  Eigen::VectorXd r = Eigen::Map<const Eigen::VectorXd>(work.r.data(), p.rows()) / W.reaction_unit();
  constexpr int look = 20;
  sweep_by_plan(sweeps, judge, r,
                {.limit = std::min(limit, allowed),
                 .look = look,
                 .share = limit,
                 .while_promising = while_promising,
                 .accelerate = accelerate});
}

}  // namespace hinge
