#include "formulation/implicit/moving_problem.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "formulation/implicit/body_courses.hpp"
#include "solve/index.hpp"
#include "solve/linear/sparse.hpp"

namespace hinge {

namespace {

using Eigen::Vector3d;
using Eigen::Vector4d;

class MovingProblem final : public ImplicitProblem {
 public:
  MovingProblem(std::unique_ptr<ImplicitProblem> inner, std::shared_ptr<const System> system, const BodyTable& table);

  void residual(double t, const double* x, const double* rate, double* out) override { residuals(1, &t, x, rate, out); }
  void residuals(int count, const double* t, const double* x, const double* rate, double* out) override;
  void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) override;
  bool rate_matrix_is_constant() const override { return !moving_ && inner_->rate_matrix_is_constant(); }
  void add_rounding(double t, const double* x, const double* rate, double* out) override {
    if (!moving_) inner_->add_rounding(t, x, rate, out);
  }
  Shape projected_invariants() const override { return inner_->projected_invariants(); }
  bool from_state(const State& state, double* x, double* rate) override;
  void to_state(double t, const double* x, const double* rate, State& state) const override;
  void set_motion(double t, const State& state, double* x) const override;
  void sizes(const double* x, double* out) const override;

  bool moves() const override { return moving_; }
  void stand_still(double t) override;
  bool aim(double t, const double* x, const double* rate) override;
  void carry(double t, double* x, double* rate) override;
  void go() override;

 private:
  using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, 0, 4, 4>;
  enum class Kind { position, rotation, velocity, spin, vector };
  struct Group {  // unknowns or rows that turn together
    Kind kind;
    int first, size, body;
  };
  struct Entry {
    int row, column, place;  // within the block; among the entries of a pattern
  };
  struct Block {
    int row = -1, column = -1;  // groups; -1: a single row or column that stays as it is
    int rows = 1, columns = 1;
    std::vector<Entry> inner, outer;  // entries of the inner pattern, and of ours
  };
  void find_groups(const std::vector<std::pair<int, int>>& vectors, const BodyTable& table);
  void find_blocks();
  static Small turn_of(const Group& g, const CoursePlace& p);
  Small rate_of(const Group& g, const CoursePlace& p) const;
  void to_inner(const BodyCourses& courses, const CoursePlace* where, const double* x, const double* rate,
                double* x_out, double* rate_out) const;
  void to_outer(const BodyCourses& courses, const CoursePlace* where, const double* x, const double* rate,
                double* x_out, double* rate_out) const;

  std::unique_ptr<ImplicitProblem> inner_;
  std::shared_ptr<const System> system_;
  CourseChoice choice_;
  BodyCourses now_, next_;
  bool moving_ = false, will_move_ = false;  // while they rest, the problem is as if it were alone
  Pattern of_moving_;
  std::vector<Group> columns_, rows_;
  std::vector<Block> blocks_;
  std::vector<std::pair<std::size_t, std::size_t>> plain_;  // entries that stay as they are: inner, outer
  mutable std::vector<CoursePlace> at_;                     // of all points at which F is asked for
  mutable std::vector<double> point_, slope_;
  std::vector<double> x_, rate_, inner_x_, inner_rate_;
};

MovingProblem::MovingProblem(std::unique_ptr<ImplicitProblem> inner, std::shared_ptr<const System> system,
                             const BodyTable& table)
    : inner_(std::move(inner)), system_(std::move(system)), choice_(*system_, table) {
  unknowns_ = inner_->unknowns();
  row_scale_ = inner_->row_scale();
  now_.of.resize(table.places.size());
  next_ = now_;
  at_.resize(table.places.size());
  for (auto* v : {&point_, &slope_, &x_, &rate_}) v->assign(unknowns_.size(), 0.0);
  find_groups(constraints_that_are_vectors(*system_, table), table);
  find_blocks();
  for (auto* v : {&inner_x_, &inner_rate_}) v->assign(inner_->pattern().entries(), 0.0);
}

void MovingProblem::find_groups(const std::vector<std::pair<int, int>>& vectors, const BodyTable& table) {
  const int ny = system_->ny(), moving = ny + system_->nz(), rates = system_->nrates(), ng = system_->ng();
  for (int b = 0; b < static_cast<int>(table.places.size()); ++b) {
    const BodyPlace& p = table.places[at(b)];
    for (auto* list : {&columns_, &rows_}) {
      list->push_back({Kind::position, p.x, 3, b});
      list->push_back({Kind::rotation, p.rotation, 4, b});
      list->push_back({Kind::velocity, ny + p.v, 3, b});
      list->push_back({Kind::spin, ny + p.spin, 3, b});
    }
  }
  for (const auto& [row, b] : vectors) {
    for (const int first : {0, rates, rates + ng})  // psi, mu, tau
      columns_.push_back({Kind::vector, moving + first + row, 3, b});
    for (const int first : {0, rates, 2 * rates})  // A, V, C
      rows_.push_back({Kind::vector, moving + first + row, 3, b});
  }
}

// Where a block of F_x or F_x' has an entry, ours are full.
void MovingProblem::find_blocks() {
  const Pattern& p = inner_->pattern();
  const auto group_of = [&](const std::vector<Group>& groups) {
    std::vector<int> of(at(p.rows), -1);
    for (std::size_t k = 0; k < groups.size(); ++k)
      std::fill_n(of.begin() + groups[k].first, groups[k].size, static_cast<int>(k));
    return of;
  };
  const std::vector<int> row_group = group_of(rows_), column_group = group_of(columns_);
  PatternBuilder builder(p.rows, p.columns);
  std::map<std::pair<int, int>, Block> found;  // by their first row and column
  for (int i = 0; i < p.rows; ++i)
    for (int e = p.row_start[at(i)]; e < p.row_start[at(i + 1)]; ++e) {
      const int j = p.column[at(e)], r = row_group[at(i)], c = column_group[at(j)];
      if (r < 0 && c < 0) {
        plain_.emplace_back(at(e), at(builder.add(i, j)));
        continue;
      }
      const int first_row = r < 0 ? i : rows_[at(r)].first, first_column = c < 0 ? j : columns_[at(c)].first;
      Block& block = found[{first_row, first_column}];
      block.row = r;
      block.column = c;
      block.rows = r < 0 ? 1 : rows_[at(r)].size;
      block.columns = c < 0 ? 1 : columns_[at(c)].size;
      block.inner.push_back({i - first_row, j - first_column, e});
    }
  for (auto& [first, block] : found) {
    for (int i = 0; i < block.rows; ++i)
      for (int j = 0; j < block.columns; ++j)
        block.outer.push_back({i, j, builder.add(first.first + i, first.second + j)});
    blocks_.push_back(std::move(block));
  }
  std::vector<int> place;
  of_moving_ = builder.build(place);
  pattern_ = p;
  for (auto& [from, to] : plain_) to = at(place[to]);
  for (Block& block : blocks_)
    for (Entry& entry : block.outer) entry.place = place[at(entry.place)];
}

MovingProblem::Small MovingProblem::turn_of(const Group& g, const CoursePlace& p) {
  if (g.kind == Kind::rotation) return p.q;
  return g.kind == Kind::spin ? p.spin : p.turn;
}

// T' T^-1
MovingProblem::Small MovingProblem::rate_of(const Group& g, const CoursePlace& p) const {
  const BodyCourse& c = now_.of[at(g.body)];
  switch (g.kind) {
    case Kind::position:
    case Kind::velocity: return p.along_speed * cross_matrix(c.along);
    case Kind::spin: return -cross_matrix(c.right);
    case Kind::rotation: return 0.5 * (p.left_speed * left_product(c.left) + right_product(c.right));
    case Kind::vector: break;
  }
  return Small::Zero(g.size, g.size);  // their slopes are not in F
}

void MovingProblem::to_inner(const BodyCourses& courses, const CoursePlace* where, const double* x, const double* rate,
                             double* x_out, double* rate_out) const {
  std::copy_n(x, size(), x_out);
  if (rate) std::copy_n(rate, size(), rate_out);
  for (const Group& g : columns_) {
    const CoursePlace& p = where[g.body];
    const BodyCourse& c = courses.of[at(g.body)];
    if (g.kind == Kind::rotation) {
      const Vector4d out = p.q * Eigen::Map<const Vector4d>(x + g.first);
      Eigen::Map<Vector4d>(x_out + g.first) = out;
      if (rate)
        Eigen::Map<Vector4d>(rate_out + g.first) =
            p.q * Eigen::Map<const Vector4d>(rate + g.first) +
            0.5 * (p.left_speed * (left_product(c.left) * out) + right_product(c.right) * out);
      continue;
    }
    const Eigen::Matrix3d& turn = g.kind == Kind::spin ? p.spin : p.turn;
    Vector3d out = turn * Eigen::Map<const Vector3d>(x + g.first);
    if (g.kind == Kind::position) out += p.shift;
    Eigen::Map<Vector3d>(x_out + g.first) = out;
    if (!rate) continue;
    Vector3d slope = turn * Eigen::Map<const Vector3d>(rate + g.first);
    if (g.kind == Kind::position) slope += p.along_speed * (c.along.cross(out) - c.rest);
    if (g.kind == Kind::velocity) slope += p.along_speed * c.along.cross(out);
    if (g.kind == Kind::spin) slope -= c.right.cross(out);
    Eigen::Map<Vector3d>(rate_out + g.first) = slope;
  }
}

void MovingProblem::to_outer(const BodyCourses& courses, const CoursePlace* where, const double* x, const double* rate,
                             double* x_out, double* rate_out) const {
  std::copy_n(x, size(), x_out);
  if (rate) std::copy_n(rate, size(), rate_out);
  for (const Group& g : columns_) {
    const CoursePlace& p = where[g.body];
    const BodyCourse& c = courses.of[at(g.body)];
    if (g.kind == Kind::rotation) {
      const Vector4d own = Eigen::Map<const Vector4d>(x + g.first);
      Eigen::Map<Vector4d>(x_out + g.first) = p.q.transpose() * own;
      if (!rate) continue;
      const Vector4d turning = 0.5 * (p.left_speed * (left_product(c.left) * own) + right_product(c.right) * own);
      const Vector4d slope = Eigen::Map<const Vector4d>(rate + g.first) - turning;
      Eigen::Map<Vector4d>(rate_out + g.first) = p.q.transpose() * slope;
      continue;
    }
    const Eigen::Matrix3d& turn = g.kind == Kind::spin ? p.spin : p.turn;
    const Vector3d own = Eigen::Map<const Vector3d>(x + g.first);
    const Vector3d from = g.kind == Kind::position ? Vector3d(own - p.shift) : own;
    Eigen::Map<Vector3d>(x_out + g.first) = turn.transpose() * from;
    if (!rate) continue;
    Vector3d slope = Eigen::Map<const Vector3d>(rate + g.first);
    if (g.kind == Kind::position) slope -= p.along_speed * (c.along.cross(own) - c.rest);
    if (g.kind == Kind::velocity) slope -= p.along_speed * c.along.cross(own);
    if (g.kind == Kind::spin) slope += c.right.cross(own);
    Eigen::Map<Vector3d>(rate_out + g.first) = turn.transpose() * slope;
  }
}

void MovingProblem::residuals(int count, const double* t, const double* x, const double* rate, double* out) {
  if (!moving_) return inner_->residuals(count, t, x, rate, out);
  const std::size_t n = unknowns_.size(), points = static_cast<std::size_t>(count), bodies = now_.of.size();
  if (x_.size() < points * n) {
    x_.resize(points * n);
    rate_.resize(points * n);
    at_.resize(points * bodies);
  }
  for (std::size_t i = 0; i < points; ++i) {
    now_.places(t[i], at_.data() + i * bodies);
    to_inner(now_, at_.data() + i * bodies, x + i * n, rate + i * n, x_.data() + i * n, rate_.data() + i * n);
  }
  inner_->residuals(count, t, x_.data(), rate_.data(), out);
  for (std::size_t i = 0; i < points; ++i)
    for (const Group& g : rows_) {
      const CoursePlace& p = at_[i * bodies + at(g.body)];
      double* f = out + i * n + g.first;
      if (g.kind == Kind::rotation) {
        const Vector4d own = Eigen::Map<const Vector4d>(f);
        Eigen::Map<Vector4d>{f} = p.q.transpose() * own;
      } else {
        const Vector3d own = Eigen::Map<const Vector3d>(f);
        Eigen::Map<Vector3d>{f} = (g.kind == Kind::spin ? p.spin : p.turn).transpose() * own;
      }
    }
}

void MovingProblem::jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) {
  if (!moving_) return inner_->jacobian(t, x, rate, f_x, f_rate);
  now_.places(t, at_.data());
  to_inner(now_, at_.data(), x, rate, x_.data(), rate_.data());
  inner_->jacobian(t, x_.data(), rate_.data(), inner_x_.data(), inner_rate_.data());
  for (const auto& [from, to] : plain_) {
    f_x[to] = inner_x_[from];
    f_rate[to] = inner_rate_[from];
  }
  for (const Block& block : blocks_) {
    Small by_x = Small::Zero(block.rows, block.columns), by_rate = by_x;
    for (const Entry& e : block.inner) {
      by_x(e.row, e.column) = inner_x_[at(e.place)];
      by_rate(e.row, e.column) = inner_rate_[at(e.place)];
    }
    if (block.column >= 0) {
      const Group& g = columns_[at(block.column)];
      const CoursePlace& p = at_[at(g.body)];
      const Small turn = turn_of(g, p), moved = by_x + by_rate.lazyProduct(rate_of(g, p));
      by_x = moved.lazyProduct(turn).eval();
      by_rate = by_rate.lazyProduct(turn).eval();
    }
    if (block.row >= 0) {
      const Group& g = rows_[at(block.row)];
      const Small back = turn_of(g, at_[at(g.body)]).transpose();
      by_x = back.lazyProduct(by_x).eval();
      by_rate = back.lazyProduct(by_rate).eval();
    }
    for (const Entry& e : block.outer) {
      f_x[e.place] = by_x(e.row, e.column);
      f_rate[e.place] = by_rate(e.row, e.column);
    }
  }
}

bool MovingProblem::from_state(const State& state, double* x, double* rate) {
  if (!moving_) return inner_->from_state(state, x, rate);
  if (!inner_->from_state(state, point_.data(), slope_.data())) return false;
  now_.places(state.t, at_.data());
  to_outer(now_, at_.data(), point_.data(), slope_.data(), x, rate);
  return true;
}

void MovingProblem::to_state(double t, const double* x, const double* rate, State& state) const {
  if (!moving_) return inner_->to_state(t, x, rate, state);
  now_.places(t, at_.data());
  to_inner(now_, at_.data(), x, nullptr, point_.data(), nullptr);
  inner_->to_state(t, point_.data(), nullptr, state);
}

void MovingProblem::set_motion(double t, const State& state, double* x) const {
  if (!moving_) return inner_->set_motion(t, state, x);
  now_.places(t, at_.data());
  to_inner(now_, at_.data(), x, nullptr, point_.data(), nullptr);
  inner_->set_motion(t, state, point_.data());
  to_outer(now_, at_.data(), point_.data(), nullptr, x, nullptr);
}

// Of vectors that turn, what a component is on the mean of all directions: none is small for long.
void MovingProblem::sizes(const double* x, double* out) const {
  ImplicitProblem::sizes(x, out);
  if (!moving_) return;
  for (const Group& g : columns_) {
    const BodyCourse& c = now_.of[at(g.body)];
    const bool in_space = g.kind == Kind::position || g.kind == Kind::velocity || g.kind == Kind::vector;
    if (!c.turns() || (in_space && !c.goes_round())) continue;
    const Eigen::Map<const Eigen::VectorXd> own(x + g.first, g.size);
    std::fill_n(out + g.first, g.size, own.norm() / std::sqrt(3));
  }
}

void MovingProblem::stand_still(double t) {
  for (BodyCourse& c : next_.of) c = {};
  next_.t0 = t;
  will_move_ = false;
  go();
  choice_.forget();
}

bool MovingProblem::aim(double t, const double* x, const double* rate) {
  const double *y = x, *slope = rate;
  if (moving_) {
    now_.places(t, at_.data());
    to_inner(now_, at_.data(), x, rate, point_.data(), slope_.data());
    y = point_.data();
    slope = slope_.data();
  }
  will_move_ = choice_.choose(t, y, y + system_->ny(), slope + system_->ny(), now_, next_);
  return moving_ || will_move_;
}

void MovingProblem::go() {
  std::swap(now_, next_);
  if (moving_ == will_move_) return;
  moving_ = will_move_;
  pattern_ = moving_ ? of_moving_ : inner_->pattern();
}

void MovingProblem::carry(double t, double* x, double* rate) {
  now_.places(t, at_.data());
  to_inner(now_, at_.data(), x, rate, point_.data(), slope_.data());
  next_.places(t, at_.data());
  to_outer(next_, at_.data(), point_.data(), rate ? slope_.data() : nullptr, x, rate);
}

}  // namespace

std::unique_ptr<ImplicitProblem> moving_along(std::unique_ptr<ImplicitProblem> problem,
                                              const std::shared_ptr<const System>& system) {
  const BodyTable* table = bodies_of(*system);
  if (!table || table->dimension != 3 || table->places.empty() || system->npsi() != system->nrates()) return problem;
  return std::make_unique<MovingProblem>(std::move(problem), system, *table);
}

}  // namespace hinge
