#include "formulation/start/closing.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "formulation/start/scaled_rows.hpp"
#include "formulation/start/start_refusals.hpp"
#include "solve/index.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

using Values = std::vector<double>;

// Relative to |y| and the gradient of a constraint: closed.
constexpr double closed_within = 1e-11, closed_rounding = 1e-15;
constexpr double least_damping = 1e-15, first_damping = 1e-3, most_damping = 1e10;
constexpr int stages = 32;  // of the continuation

class LeastSquares {
 public:
  LeastSquares(const System& system, double t, const Values& z, const std::vector<char>& fixed)
      : t_(t), z_(z), fixed_(fixed), rows_(system), trial_(system), gram_(rows_.pattern(), all(rows_.rows())) {
    r_.resize(at(rows_.rows()));
    wanted_.assign(r_.size(), 0.0);
    u_.resize(at(rows_.columns()));
  }

  // y <- where |g - wanted| is least, from y.
  void improve(Values& y) {
    double damping = first_damping;
    solved_by_newton(Settling(newton_policy::start_position), [&]() -> Increment {
      if (!linearise(y)) return no_increment;
      const double scale = size_of(y), cost = length(r_);
      for (; damping < most_damping; damping *= 10) {
        if (!step(damping * std::min(1.0, cost / scale) + least_damping)) continue;
        const double moved = biggest(u_);
        rows_.move(y.data(), u_, next_);
        const double after = cost_at(next_);
        const bool tiny = moved < 1e-13 * scale;
        if (!tiny && !(after < (1 - 1e-6) * cost)) continue;
        if (after <= cost) y = next_;
        damping = std::max(damping / 10, 1e-12);
        return {tiny ? 0.0 : moved, scale};
      }
      return no_increment;
    });
  }

  void want(const Values& g) { wanted_ = g; }

  Closing result(Values y) {
    Closing c;
    c.closed = linearise(y);
    c.g.assign(rows_.g(), rows_.g() + rows_.rows());
    c.combination.resize(c.g.size());
    const double size = biggest(y);
    const Pattern& p = rows_.pattern();
    double largest = 0;
    for (int i = 0; i < rows_.rows(); ++i) {
      double gradient = 0;
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
        gradient += std::abs(rows_.values()[at(k)]) * rows_.length()[at(i)] / rows_.column_scale()[at(p.column[at(k)])];
      c.closed =
          c.closed && std::abs(c.g[at(i)]) <= gradient * (closed_within * size + closed_rounding) + closed_rounding;
      const double length = rows_.length()[at(i)];
      c.combination[at(i)] = c.g[at(i)] / (length > 0 ? length * length : 1.0);
      largest = std::max(largest, std::abs(c.combination[at(i)]));
    }
    for (double& w : c.combination) w = largest > 0 ? w / largest : 0.0;
    c.y = std::move(y);
    return c;
  }

 private:
  static std::vector<int> all(int n) {
    std::vector<int> list(at(n));
    std::iota(list.begin(), list.end(), 0);
    return list;
  }
  static double length(const Values& x) {
    double sum = 0;
    for (const double a : x) sum += a * a;
    return std::sqrt(sum);
  }

  bool linearise(const Values& y) {
    if (!rows_.at(t_, y.data(), z_.data())) return false;
    values_ = rows_.values();
    if (!fixed_.empty())
      for (std::size_t k = 0; k < values_.size(); ++k)
        if (fixed_[at(rows_.pattern().column[k])]) values_[k] = 0;
    residual(rows_, r_);
    return true;
  }

  // In units of the gradients at the last linearisation.
  void residual(const ScaledRows& of, Values& out) const {
    for (std::size_t i = 0; i < out.size(); ++i) {
      const double l = rows_.length()[i];
      out[i] = (of.g()[i] - wanted_[i]) / (l > 0 ? l : 1.0);
    }
  }

  double cost_at(const Values& y) {
    if (!trial_.at(t_, y.data(), z_.data())) return INFINITY;
    other_.resize(r_.size());
    residual(trial_, other_);
    return length(other_);
  }

  // u = -A^T (A A^T + mu)^-1 r
  bool step(double mu) {
    if (!gram_.factor(values_, mu)) return false;
    other_ = r_;
    gram_.solve(other_.data());
    std::fill(u_.begin(), u_.end(), 0.0);
    const Pattern& p = rows_.pattern();
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
        u_[at(p.column[at(k)])] -= values_[at(k)] * other_[at(i)];
    return all_finite(u_);
  }

  // What a position measures in the same units.
  double size_of(const Values& y) const {
    double scale = 0, heaviest = 0;
    for (const double c : rows_.column_scale()) heaviest = std::max(heaviest, 1 / c);
    scale = heaviest * biggest(y);
    return scale > 0 ? scale : std::max(heaviest, 1e-300);
  }

  double t_;
  const Values& z_;
  const std::vector<char>& fixed_;
  ScaledRows rows_, trial_;
  RowGram gram_;
  Values r_, wanted_, u_, values_, next_, other_;
};

}  // namespace

Closing close_constraints(const System& system, double t, const Values& y, const Values& z,
                          const std::vector<char>& fixed) {
  LeastSquares problem(system, t, z, fixed);
  Values found = y;
  problem.improve(found);
  Closing best = problem.result(std::move(found));
  if (best.closed) return best;
  const Values g = problem.result(y).g;
  found = y;
  for (int k = stages - 1; k >= 0; --k) {
    Values part = g;
    for (double& x : part) x *= static_cast<double>(k) / stages;
    problem.want(part);
    problem.improve(found);
  }
  Closing other = problem.result(std::move(found));
  return other.closed ? other : best;
}

Closing assemble(const System& system, double t, const Values& y, const Values& z, const std::vector<char>& given,
                 const std::vector<char>& fixed) {
  constexpr int guesses = 20;
  Closing best = close_constraints(system, t, y, z, fixed);
  const bool all = std::find(given.begin(), given.end(), 0) == given.end();
  const double size = biggest(y);
  std::mt19937 random(1);
  std::normal_distribution<double> normal(0, size > 0 ? size : 1.0);
  for (int k = 0; !best.closed && !all && k < guesses; ++k) {
    Values guess = y;
    for (std::size_t i = 0; i < guess.size(); ++i)
      if (!given[i]) guess[i] += normal(random);
    Closing other = close_constraints(system, t, guess, z, fixed);
    if (other.closed) best = std::move(other);
  }
  return best;
}

bool close_velocities(const System& system, double t, const Values& y, Values& z, const std::vector<char>& fixed) {
  ScaledRows rows(system, system.nw() > 0 ? ConstraintLevel::velocity : ConstraintLevel::position);
  if (!rows.at(t, y.data(), z.data()) || rows.columns() != system.nz()) return false;
  std::vector<int> all(at(rows.rows()));
  std::iota(all.begin(), all.end(), 0);
  RowGram gram(rows.pattern(), all);
  Values values = rows.values(), r(at(rows.rows()));
  const Pattern& p = rows.pattern();
  if (!fixed.empty())
    for (std::size_t k = 0; k < values.size(); ++k)
      if (fixed[at(p.column[k])]) values[k] = 0;
  // states in velocity constraints are not moved: no reaction acts on them
  if (system.nw() > 0) {
    const Pattern& reactions = system.pattern(Quantity::reaction_psi);
    for (std::size_t k = 0; k < values.size(); ++k)
      if (const int j = p.column[k]; reactions.row_start[at(j)] == reactions.row_start[at(j) + 1]) values[k] = 0;
  }
  constexpr double damping = 1e-11;
  if (!gram.factor(values, damping)) return false;
  const auto e = system.evaluation({Quantity::constraint_rate});
  const Values psi(at(std::max(system.npsi(), 1)), 0.0);
  double largest = 0;
  const bool settled = solved_by_newton(Settling(newton_policy::start_velocity), [&]() -> Increment {
    e->at(t, y.data(), z.data(), psi.data());
    for (std::size_t i = 0; i < r.size(); ++i)
      r[i] = rows.length()[i] > 0 ? (*e)[Quantity::constraint_rate][i] / rows.length()[i] : 0.0;
    gram.solve(r.data());
    Values change(z.size(), 0.0);
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
        change[at(p.column[at(k)])] -= values[at(k)] * r[at(i)] * rows.column_scale()[at(p.column[at(k)])];
    for (std::size_t j = 0; j < z.size(); ++j) z[j] += change[j];
    largest = std::max(largest, biggest(z));
    return {biggest(change), std::max(largest, 1e-300)};
  });
  return settled && velocity_holds(system, t, y, z);
}

std::vector<char> columns_of(const System& system, const std::vector<char>& coordinates) {
  const BodyTable* bodies = bodies_of(system);
  if (!bodies || !system.structure().has_bodies) return coordinates;
  std::vector<char> columns(at(system.nz()), 0);
  for (const BodyPlace& b : bodies->places) {
    const int turns = bodies->dimension == 2 ? 1 : 3, angles = bodies->dimension == 2 ? 1 : 4;
    for (int k = 0; k < bodies->dimension; ++k) columns[at(b.v + k)] = coordinates[at(b.x + k)];
    for (int k = 0; k < angles; ++k)
      if (coordinates[at(b.rotation + k)]) std::fill_n(columns.begin() + b.spin, turns, 1);
  }
  return columns;
}

std::string Closing::describe(const Layout& layout) const {
  std::vector<int> order(g.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return std::abs(combination[at(a)]) > std::abs(combination[at(b)]); });
  constexpr std::size_t most = 6;
  std::string text;
  std::size_t count = 0;
  for (const int i : order) {
    if (std::abs(combination[at(i)]) < 1e-3) break;
    if (count++ < most)
      text += fmt::format("{}constraint {} is off by {:.6g}", text.empty() ? "" : ", ", layout.constraints[at(i)],
                          g[at(i)]);
  }
  if (count > most) text += fmt::format(", and {} more", count - most);
  return text;
}

}  // namespace hinge
