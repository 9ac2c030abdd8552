#include "formulation/start/redundancy.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "formulation/start/closing.hpp"
#include "formulation/start/constraint_rank.hpp"
#include "formulation/start/start_refusals.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"
#include "solve/linear/rank.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

using Q = Quantity;
using Values = std::vector<double>;

// A smallest pivot above this, where the constraints hold, is no matter of redundancy.
constexpr double clearly_independent = 1e-5;
// How far, as a part of the position, and in how many directions constraints are looked at besides.
constexpr double nearby = 1e-2;
constexpr int directions = 2;
// Compatible on the velocity level, as a part of what the rows do to the velocity.
constexpr double compatible = 1e-8;
// Rates below this part of the largest are none: rounding leaves 1e-80 where angles have been turned to and fro.
constexpr double rounded = 1e-6;

Eigen::MatrixXd full(const Pattern& p, const double* values) {
  Eigen::MatrixXd a = Eigen::MatrixXd::Zero(p.rows, p.columns);
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) a(i, p.column[at(k)]) += values[k];
  return a;
}

// A random vector along which the rows do not change, of length one.
Values tangent(const ScaledRows& rows, const ConstraintRank& rank, std::mt19937& random) {
  Values u(at(rows.columns()));
  std::normal_distribution<double> normal;
  for (double& x : u) x = normal(random);
  const Pattern& p = rows.pattern();
  RowGram gram(p, rank.kept);
  if (!gram.factor(rows.values())) return {};
  for (int again = 0; again < 2; ++again) {
    Values all(at(rows.rows()), 0.0), b;
    multiply_add(p, rows.values().data(), u.data(), 1.0, all.data());
    pick(all, rank.kept, b);
    gram.solve(b.data());
    for (std::size_t i = 0; i < rank.kept.size(); ++i) {
      const int row = rank.kept[i];
      for (int k = p.row_start[at(row)]; k < p.row_start[at(row) + 1]; ++k)
        u[at(p.column[at(k)])] -= rows.values()[at(k)] * b[i];
    }
  }
  double length = 0;
  for (const double x : u) length = std::hypot(length, x);
  if (!(length > 1e-6)) return {};
  for (double& x : u) x /= length;
  return u;
}

double distance(const Values& a, const Values& b) {
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

// Do the rows stay dependent at other positions nearby where the constraints hold? Along every tangent there are such,
// close by: else the constraints touch each other, as a circle and its tangent do.
bool persists(const System& system, double t, const Values& y, const Values& z, const ConstraintRank& rank) {
  ScaledRows rows(system);
  if (!rows.at(t, y.data(), z.data())) return false;
  if (rows.columns() == rank.rank) return true;  // nothing moves
  std::mt19937 random(1);
  for (int k = 0; k < directions; ++k) {
    const Values u = tangent(rows, rank, random);
    if (u.empty()) return true;
    const auto stays_along = [&](double part) {
      Values step = u, there;
      rows.move(y.data(), step, there);
      const double wanted = part * std::max(biggest(y), 1e-300) / distance(y, there);
      for (double& x : step) x *= wanted;
      rows.move(y.data(), step, there);
      const Closing closing = close_constraints(system, t, there, z);
      return closing.closed && distance(closing.y, there) < 0.3 * distance(y, there) &&
             constraint_rank(system, t, closing.y.data()).rank == rank.rank;
    };
    if (!stays_along(nearby) && !stays_along(nearby / 10)) return false;
  }
  return true;
}

// Which multipliers belong to the kept rows: the same numbers where r_psi = -C^T, else columns of r_psi that are
// independent. Empty where r is not linear in psi.
RowChoice with_multipliers(const System& system, double t, const Values& y, const Values& z, RowChoice choice) {
  const auto e = system.evaluation({Q::reaction, Q::reaction_psi, Q::constraint_y, Q::constraint_rate_z});
  const std::size_t n = at(system.npsi());
  const auto r_psi = [&](double psi) {
    const Values all(std::max<std::size_t>(n, 1), psi);
    e->at(t, y.data(), z.data(), all.data());
    return full(system.pattern(Q::reaction_psi), (*e)[Q::reaction_psi]);
  };
  const Eigen::MatrixXd one = r_psi(1), other = r_psi(-2.5), none = r_psi(0);
  const double size = one.cwiseAbs().maxCoeff();
  const bool linear = (one - other).cwiseAbs().maxCoeff() <= 1e-12 * size &&
                      all_finite((*e)[Q::reaction], system.nz()) &&
                      biggest((*e)[Q::reaction], system.nz()) <= 1e-12 * size;
  if (!linear) return {};
  for (const Q q : {Q::constraint_y, Q::constraint_rate_z}) {
    const Eigen::MatrixXd c = full(system.pattern(q), (*e)[q]);
    if (c.rows() == one.cols() && c.cols() == one.rows() && (one + c.transpose()).cwiseAbs().maxCoeff() <= 1e-10 * size)
      return choice;
  }
  choice.paired = false;
  Eigen::MatrixXd columns = one;
  for (Eigen::Index j = 0; j < columns.cols(); ++j)
    if (const double length = columns.col(j).norm(); length > 0) columns.col(j) /= length;
  const PivotedQr qr(columns, 1e-10);
  if (qr.rank() != static_cast<Eigen::Index>(choice.rows.size())) return {};
  choice.multipliers.assign(qr.order().data(), qr.order().data() + qr.rank());
  std::sort(choice.multipliers.begin(), choice.multipliers.end());
  return choice;
}

std::string named(const Layout& layout, int row) { return "constraint " + layout.constraints[at(row)]; }

// g_t + G v = 0 has to have a solution: a combination of rows that vanishes has no g_t either.
void refuse_rates(const System& system, double t, const Values& y, const Values& z, const RowChoice& choice,
                  const MultiplierSpread& spread) {
  const auto e = system.evaluation({Q::constraint_rate, Q::constraint_rate_z});
  const Values psi(at(std::max(system.npsi(), 1)), 0.0), still(z.size(), 0.0);
  e->at(t, y.data(), system.structure().velocity_is_z || system.structure().has_bodies ? still.data() : z.data(),
        psi.data());
  const double largest = biggest((*e)[Q::constraint_rate], system.ng());
  for (std::size_t d = 0; d < choice.left_out.size(); ++d) {
    // rate_D - X rate_I, found as what the other multipliers would be
    double sum = (*e)[Q::constraint_rate][choice.left_out[d]], size = std::max(std::abs(sum), rounded * largest);
    const Values x = spread.combination(d);
    for (std::size_t i = 0; i < choice.rows.size(); ++i) {
      const double part = x[i] * (*e)[Q::constraint_rate][choice.rows[i]];
      sum -= part;
      size = std::max(size, std::abs(part));
    }
    if (!(std::abs(sum) > compatible * size)) continue;
    std::string text;
    for (std::size_t i = 0; i < choice.rows.size(); ++i)
      if (std::abs(x[i]) > 1e-6)
        text += fmt::format(" {} {:.6g} ({})", x[i] > 0 ? "-" : "+", std::abs(x[i]),
                            named(system.layout(), choice.rows[i]));
    throw RedundantConstraints(fmt::format(
        "the constraints contradict each other: the combination ({}){} does not depend on the coordinates, but changes "
        "with time, at the rate {:.6g} at t = {:g}. remove the wrong one",
        named(system.layout(), choice.left_out[d]), text, sum, t));
  }
}

[[noreturn]] void refuse_contradiction(const System& system, const ConstraintRank& rank, const Closing& closing) {
  throw RedundantConstraints(fmt::format(
      "the constraints contradict each other: they are dependent (rank {} of {}), and no position was found "
      "where all of them hold. Where they come nearest to it, {}; remove the wrong one, or start from a "
      "position that fits better",
      rank.rank, rank.constraints, closing.describe(system.layout())));
}

}  // namespace

RowChoice independent_rows(const System& system, double t, const Values& y, const Values& z, Values* closed) {
  RowChoice all;
  for (int i = 0; i < system.ng(); ++i) all.rows.push_back(i);
  for (int i = 0; i < system.npsi(); ++i) all.multipliers.push_back(i);
  if (closed) closed->clear();
  if (system.nw() > 0) {  // dependent ones are refused
    refuse_redundant(system, t, y, z);
    return all;
  }
  if (system.ng() == 0 || system.structure().is_dae) return all;
  const ConstraintRank here = constraint_rank(system, t, y.data());
  const bool holds = position_holds(system, t, y);
  if (here.full() && here.smallest > clearly_independent && holds) return all;
  const Closing closing = close_constraints(system, t, y, z);
  const ConstraintRank rank = constraint_rank(system, t, closing.y.data());
  if (rank.full()) {
    if (!here.full() && holds) refuse_redundant(system, t, y, z);
    if (closed && closing.closed) *closed = closing.y;
    return all;
  }
  if (!closing.closed) {
    if (!here.full()) refuse_contradiction(system, rank, closing);
    return all;  // the usual way says what is wrong
  }
  RowChoice choice = choice_of(rank.kept, system.ng());
  MultiplierSpread spread(system, choice);
  if (!spread.at(t, closing.y.data(), z.data())) refuse_redundant(system, t, closing.y, z);
  refuse_rates(system, t, closing.y, z, choice, spread);
  if (!persists(system, t, closing.y, z, rank)) refuse_redundant(system, t, closing.y, z);
  choice = with_multipliers(system, t, closing.y, z, std::move(choice));
  if (choice.rows.empty()) refuse_redundant(system, t, closing.y, z);
  if (closed) *closed = closing.y;
  return choice;
}

std::string describe_redundancy(const System& system, const RowChoice& choice, double t, const double* y) {
  if (!choice.redundant()) return "";
  const ConstraintRank rank = constraint_rank(system, t, y);
  std::set<int> shared;
  for (const auto& d : rank.dependent) {
    shared.insert(d.constraint);
    shared.insert(d.on.begin(), d.on.end());
  }
  std::string list;
  std::size_t count = 0;
  for (const int i : shared)
    if (++count <= 8) list += fmt::format("{}{}", list.empty() ? "" : "; ", system.layout().constraints[at(i)]);
  if (count > 8) list += fmt::format("; and {} more", count - 8);
  const BodyTable* bodies = bodies_of(system);
  if (bodies && bodies->has_joint_friction())
    list +=
        ". Friction of joints is that of the rows kept: where forces of such joints are among these, it depends on "
        "which";
  return fmt::format(
      "{} of {} constraints follow from the others (rank {}): the motion and the resultant forces are unique, the "
      "multipliers of these {} rows are not and are {}: {}",
      choice.left_out.size(), system.ng(), choice.rows.size(), shared.size(),
      choice.paired ? "those of least norm, each weighted by its row in the metric of the inverse masses"
                    : "zero for those left out",
      list);
}

// ---- Multipliers of all rows ----------------------------------------------------------------------------------------

MultiplierSpread::MultiplierSpread(const System& system, const RowChoice& choice)
    : choice_(choice), rows_(system), gram_(rows_.pattern(), choice.rows) {
  const std::size_t d = choice.left_out.size(), r = choice.rows.size();
  x_.resize(d * r);
  row_.resize(hinge::at(rows_.columns()));
  a_.resize(d);
  matrix_.resize(d * d);
  small_ = make_linear_solver(Pattern::dense(static_cast<int>(d), static_cast<int>(d)), LinearAlgebra::dense);
}

bool MultiplierSpread::at(double t, const double* y, const double* z) {
  using hinge::at;
  known_ = rows_.at(t, y, z) && gram_.factor(rows_.values());
  if (!known_) return false;
  const Pattern& p = rows_.pattern();
  const Values& values = rows_.values();
  const std::size_t r = choice_.rows.size();
  largest_ = apart_ = 0;
  row_apart_ = -1;
  for (std::size_t d = 0; d < choice_.left_out.size(); ++d) {
    double* x = x_.data() + d * r;
    std::fill(row_.begin(), row_.end(), 0.0);
    const int row = choice_.left_out[d];
    for (int k = p.row_start[at(row)]; k < p.row_start[at(row) + 1]; ++k) row_[at(p.column[at(k)])] = values[at(k)];
    for (std::size_t i = 0; i < r; ++i) {
      x[i] = 0;
      const int kept = choice_.rows[i];
      for (int k = p.row_start[at(kept)]; k < p.row_start[at(kept) + 1]; ++k)
        x[i] += values[at(k)] * row_[at(p.column[at(k)])];
    }
    gram_.solve(x);
    for (std::size_t i = 0; i < r; ++i) {
      const int kept = choice_.rows[i];
      for (int k = p.row_start[at(kept)]; k < p.row_start[at(kept) + 1]; ++k)
        row_[at(p.column[at(k)])] -= x[i] * values[at(k)];
      if (std::abs(x[i]) > largest_) {
        largest_ = std::abs(x[i]);
        worst_kept_ = kept;
        worst_left_out_ = row;
      }
    }
    double rest = 0;
    for (const double a : row_) rest = std::hypot(rest, a);
    if (rest > apart_) apart_ = rest, row_apart_ = row;
  }
  return std::isfinite(largest_);
}

double MultiplierSpread::in_units_of_position(int row, double g) const {
  const Pattern& p = rows_.pattern();
  double gradient = 0;
  for (int k = p.row_start[hinge::at(row)]; k < p.row_start[hinge::at(row) + 1]; ++k)
    gradient += std::abs(rows_.values()[hinge::at(k)]) * rows_.length()[hinge::at(row)] /
                rows_.column_scale()[hinge::at(p.column[hinge::at(k)])];
  return gradient > 0 ? std::abs(g) / gradient : 0.0;
}

// Row d as a sum of the kept ones, as they are written.
std::vector<double> MultiplierSpread::combination(std::size_t d) const {
  const std::size_t r = choice_.rows.size();
  Values x(x_.begin() + static_cast<std::ptrdiff_t>(d * r), x_.begin() + static_cast<std::ptrdiff_t>((d + 1) * r));
  const double own = rows_.length()[hinge::at(choice_.left_out[d])];
  for (std::size_t i = 0; i < r; ++i) x[i] *= own / rows_.length()[hinge::at(choice_.rows[i])];
  return x;
}

void MultiplierSpread::expand(const std::vector<double>& kept, std::vector<double>& all) const {
  using hinge::at;
  if (!choice_.paired || !known_) {
    std::fill(all.begin(), all.end(), 0.0);
    for (std::size_t k = 0; k < kept.size(); ++k) all[at(choice_.multipliers[k])] = kept[k];
    return;
  }
  const std::size_t d = choice_.left_out.size(), r = choice_.rows.size();
  const Values& length = rows_.length();
  // (1 + X X^T) a = X mu
  for (std::size_t i = 0; i < d; ++i) {
    const double* x = x_.data() + i * r;
    a_[i] = 0;
    for (std::size_t k = 0; k < r; ++k) a_[i] += x[k] * kept[k] * length[at(choice_.rows[k])];
    for (std::size_t j = 0; j < d; ++j) {
      double sum = i == j ? 1.0 : 0.0;
      for (std::size_t k = 0; k < r; ++k) sum += x[k] * x_[j * r + k];
      matrix_[i * d + j] = sum;
    }
  }
  if (!small_->factor(matrix_.data()))
    std::fill(a_.begin(), a_.end(), 0.0);
  else
    small_->solve(a_.data());
  for (std::size_t i = 0; i < d; ++i) {
    const double own = length[at(choice_.left_out[i])];
    all[at(choice_.left_out[i])] = own > 0 ? a_[i] / own : 0.0;
  }
  for (std::size_t k = 0; k < r; ++k) {
    double shared = 0;
    for (std::size_t i = 0; i < d; ++i) shared += x_[i * r + k] * a_[i];
    all[at(choice_.rows[k])] = kept[k] - shared / length[at(choice_.rows[k])];
  }
}

void MultiplierSpread::collect(const std::vector<double>& all, std::vector<double>& kept) const {
  using hinge::at;
  pick(all, choice_.multipliers, kept);
  if (!choice_.paired || !known_) return;
  const std::size_t r = choice_.rows.size();
  const Values& length = rows_.length();
  for (std::size_t i = 0; i < choice_.left_out.size(); ++i) {
    const double s = all[at(choice_.left_out[i])] * length[at(choice_.left_out[i])];
    for (std::size_t k = 0; k < r; ++k) kept[k] += x_[i * r + k] * s / length[at(choice_.rows[k])];
  }
}

// ---- The last digits --------------------------------------------------------------------------------------------

namespace {

constexpr double polish_damping = 1e-10;  // directions weaker than its root are those that depend on others

std::vector<int> all_of(int count) {
  std::vector<int> list(at(count));
  std::iota(list.begin(), list.end(), 0);
  return list;
}

}  // namespace

RowPolish::RowPolish(const System& system)
    : able_(system.structure().velocity_is_z || system.structure().has_bodies),
      rows_(system),
      gram_(rows_.pattern(), all_of(rows_.rows())),
      rate_(system.evaluation({Q::constraint_rate})),
      r_(at(rows_.rows())),
      u_(at(rows_.columns())),
      psi_(at(std::max(system.npsi(), 1)), 0.0) {}

// u = -A^T (A A^T + mu)^-1 r
void RowPolish::correct(const double* residual) {
  const Pattern& p = rows_.pattern();
  for (std::size_t i = 0; i < r_.size(); ++i) r_[i] = rows_.length()[i] > 0 ? residual[i] / rows_.length()[i] : 0.0;
  gram_.solve(r_.data());
  std::fill(u_.begin(), u_.end(), 0.0);
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
      u_[at(p.column[at(k)])] -= rows_.values()[at(k)] * r_[at(i)];
}

void RowPolish::polish(double t, Values& y, Values& z) {
  if (!able_ || !rows_.at(t, y.data(), z.data()) || !gram_.factor(rows_.values(), polish_damping)) return;
  correct(rows_.g());
  if (!all_finite(u_)) return;
  rows_.move(y.data(), u_, next_);
  std::swap(y, next_);
  rate_->at(t, y.data(), z.data(), psi_.data());
  correct((*rate_)[Q::constraint_rate]);
  if (!all_finite(u_)) return;
  for (std::size_t j = 0; j < u_.size(); ++j) z[j] += rows_.column_scale()[j] * u_[j];
}

}  // namespace hinge
