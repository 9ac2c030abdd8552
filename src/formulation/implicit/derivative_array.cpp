#include "formulation/implicit/derivative_array.hpp"

#include <algorithm>
#include <cmath>

#include "expression/substitute.hpp"
#include "formulation/typed_precision.hpp"
#include "solve/index.hpp"
#include "solve/linear/least_squares.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

using Values = std::vector<double>;
constexpr double rounding = 1e-14;
constexpr double cancels_below = 1e-13;  // of the largest in a row
// Increments that would make the residual twice as large are halved; of these short ones it may grow more.
constexpr int most_halvings = 60;
constexpr double at_last = 1.0 / 256, growth_at_last = 1e6;
constexpr int few_iterations = 4;     // from nearby,
constexpr double nearly_last = 1e-9;  // where after an increment of this size there is nothing but rounding

// Nearby there are many to solve.
int dense_limit(bool nearby) { return nearby ? 40 : 800; }

}  // namespace

DerivativeArray::DerivativeArray(DaeStructure& s) {
  first_.push_back(0);
  for (int j = 0; j < s.size(); ++j) {
    for (int k = 0; k <= s.d[at(j)]; ++k) places_.push_back({j, k});
    first_.push_back(static_cast<int>(places_.size()));
  }
  std::vector<Node> f = s.equations, x, level = f;
  std::vector<int> differentiated;
  for (int i = 0; i < s.size(); ++i) {
    rows_.push_back({i, 0});
    differentiated.push_back(i);
  }
  for (int order = 1; !differentiated.empty(); ++order) {
    std::vector<int> next;
    std::vector<Node> functions;
    for (std::size_t k = 0; k < differentiated.size(); ++k)
      if (s.c[at(differentiated[k])] >= order) {
        next.push_back(differentiated[k]);
        functions.push_back(level[k]);
      }
    level = s.jet.total_derivatives(functions);
    for (std::size_t k = 0; k < next.size(); ++k) {
      rows_.push_back({next[k], order});
      f.push_back(level[k]);
    }
    differentiated = std::move(next);
  }
  for (const Place& p : places_) x.push_back(s.jet.at(p.unknown, p.order));
  Graph& graph = s.jet.graph();
  SparseExpressions f_x = hinge::jacobian(graph, f, x);
  const Node t = s.jet.t();
  // Combined equations may contain variables beyond X whose derivatives cancel; their value does not matter.
  std::vector<Node> beyond;
  for (std::size_t k = 0; k < s.jet.variables().size(); ++k)
    if (const Jet::Place p = s.jet.places()[k]; p.order > s.d[at(p.unknown)]) beyond.push_back(s.jet.variables()[k]);
  if (!beyond.empty()) {
    const std::vector<Node> zero(beyond.size(), graph.constant(0));
    f = substitute(graph, f, beyond, zero, graph);
    f_x = hinge::jacobian(graph, f, x);
  }
  const SparseExpressions by_time = hinge::jacobian(graph, f, std::span(&t, 1));
  std::vector<Node> f_t(f.size(), graph.constant(0));
  for (std::size_t i = 0; i < f.size(); ++i)
    if (by_time.row_start[i + 1] > by_time.row_start[i]) f_t[i] = by_time.entries[at(by_time.row_start[i])];
  const std::vector<Node> blocks[] = {{t}, x};
  function_ = make_tape(graph, blocks, f);
  derivative_ = make_tape(graph, blocks, f_x.entries);
  by_time_ = make_tape(graph, blocks, f_t);
  function_scratch_ = function_->make_scratch();
  derivative_scratch_ = derivative_->make_scratch();
  time_scratch_ = by_time_->make_scratch();
  pattern_ = {f_x.rows, f_x.columns, std::move(f_x.row_start), std::move(f_x.column)};
  f_.resize(rows_.size());
  f_x_.resize(pattern_.entries());
}

void DerivativeArray::residual(double t, const double* x, double* out) {
  const double* const inputs[] = {&t, x};
  function_->evaluate(inputs, function_scratch_.data(), out);
}
void DerivativeArray::jacobian(double t, const double* x, double* out) {
  const double* const inputs[] = {&t, x};
  derivative_->evaluate(inputs, derivative_scratch_.data(), out);
}

double DerivativeArray::largest_of(const double* x) const {
  double largest = 1;
  for (std::size_t k = 0; k < places_.size(); ++k) largest = std::max(largest, std::abs(x[k]));
  return largest;
}

// What rounding of typed numbers makes of row i.
double DerivativeArray::row_size(int i, const double* values, const double* x, double largest) const {
  // where a number vanishes, rounding of the largest one shows in it
  double size = 0;
  for (int k = pattern_.row_start[at(i)]; k < pattern_.row_start[at(i) + 1]; ++k)
    size += std::abs(values[k]) * (typed_precision * std::abs(x[pattern_.column[at(k)]]) + rounding * largest);
  return size;
}

std::vector<DerivativeArray::Violation> DerivativeArray::violations(double t, const double* x) {
  residual(t, x, f_.data());
  jacobian(t, x, f_x_.data());
  std::vector<Violation> found;
  const double largest = largest_of(x);
  for (int i = 0; i < pattern_.rows; ++i)
    if (!(std::abs(f_[at(i)]) <= row_size(i, f_x_.data(), x, largest))) found.push_back({i, std::abs(f_[at(i)])});
  return found;
}

bool DerivativeArray::solve(double t, Values& x, const std::vector<char>& keep, const Values& scale, bool nearby) {
  std::vector<int> column(places_.size(), -1);
  int free = 0;
  for (std::size_t k = 0; k < places_.size(); ++k)
    if (!keep[k]) column[k] = free++;
  Pattern part{pattern_.rows, free, {0}, {}};
  std::vector<std::size_t> source;
  for (int i = 0; i < pattern_.rows; ++i) {
    for (auto k = at(pattern_.row_start[at(i)]); k < at(pattern_.row_start[at(i) + 1]); ++k)
      if (const int j = column[at(pattern_.column[k])]; j >= 0) part.column.push_back(j), source.push_back(k);
    part.row_start.push_back(static_cast<int>(part.column.size()));
  }
  const Values start = x;
  Values values(source.size()), right(rows_.size()), step(at(free)), trial = x;
  const auto size_of = [&](const Values& point) {  // of the residual, in units of what each row is made of
    residual(t, point.data(), f_.data());
    double sum = 0;
    for (std::size_t i = 0; i < f_.size(); ++i) {
      double row = 0;
      for (auto k = at(pattern_.row_start[i]); k < at(pattern_.row_start[i + 1]); ++k)
        row = std::max(row, std::abs(f_x_[k]));
      sum = std::max(sum, std::abs(f_[i]) / (row > 0 ? row : 1.0));
      if (!std::isfinite(f_[i])) return static_cast<double>(INFINITY);
    }
    return sum;
  };
  Settling::Policy policy = newton_policy::derivative_array;
  if (nearby) policy.limit = few_iterations, policy.floor = nearly_last;
  const NewtonTrouble trouble = newton(Settling(policy), [&]() -> Increment {
    jacobian(t, x.data(), f_x_.data());
    const double before = size_of(x);
    if (!std::isfinite(before) || !std::all_of(f_x_.begin(), f_x_.end(), [](double v) { return std::isfinite(v); }))
      return no_increment;
    // A (X_new - X) = -F with X_new - X0 = S y of least |y|:   A S y = -F + A (X - X0)
    for (std::size_t i = 0; i < rows_.size(); ++i) right[i] = -f_[i];
    for (int i = 0; i < pattern_.rows; ++i)
      for (auto k = at(pattern_.row_start[at(i)]); k < at(pattern_.row_start[at(i) + 1]); ++k)
        if (const auto j = at(pattern_.column[k]); column[j] >= 0) right[at(i)] += f_x_[k] * (x[j] - start[j]);
    for (std::size_t k = 0; k < source.size(); ++k) values[k] = f_x_[source[k]] * scale[at(pattern_.column[source[k]])];
    if (!least_squares(part, values.data(), right.data(), step.data(), dense_limit(nearby))) return no_increment;
    double change = 0;
    damping(most_halvings, [&](double factor) {
      change = 0;
      for (std::size_t k = 0; k < x.size(); ++k)
        if (column[k] >= 0) {
          const double target = start[k] + scale[k] * step[at(column[k])];
          trial[k] = x[k] + factor * (target - x[k]);
          change = std::max(change, std::abs(trial[k] - x[k]) / (std::abs(x[k]) + std::min(scale[k], 1.0)));
        }
      const double after = size_of(trial);
      return after <= 2 * before || (factor < at_last && after <= growth_at_last * before);
    });
    x = trial;
    return change;
  });
  return trouble != NewtonTrouble::singular &&
         std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); }) && violations(t, x.data()).empty();
}

// d/dt of the array:  A X' + A_t = 0, where X' of all but the highest derivatives stands in X itself.
bool DerivativeArray::rates(double t, const double* x, double* out, bool nearby) {
  const double* const inputs[] = {&t, x};
  Values right(rows_.size()), highest(at(unknowns()));
  by_time_->evaluate(inputs, time_scratch_.data(), right.data());
  jacobian(t, x, f_x_.data());
  Pattern part{pattern_.rows, unknowns(), {0}, {}};
  Values values;
  for (int i = 0; i < pattern_.rows; ++i) {
    right[at(i)] = -right[at(i)];
    const auto begin = at(pattern_.row_start[at(i)]), end = at(pattern_.row_start[at(i) + 1]);
    double coefficient = 0, term = 0;
    for (auto k = begin; k < end; ++k) {
      coefficient = std::max(coefficient, std::abs(f_x_[k]));
      term = std::max(term, std::abs(f_x_[k] * x[pattern_.column[k]]));
    }
    for (auto k = begin; k < end; ++k) {
      const int place = pattern_.column[k];
      const auto [j, order] = places_[at(place)];
      // What cancels in a combined equation leaves rounding, which would be an equation of its own.
      const bool cancels =
          std::abs(f_x_[k]) <= cancels_below * coefficient && std::abs(f_x_[k] * x[place]) <= cancels_below * term;
      if (order == this->highest(j) && !cancels)
        part.column.push_back(j), values.push_back(f_x_[k]);
      else if (order == this->highest(j))
        continue;
      else
        right[at(i)] -= f_x_[k] * x[place + 1];
    }
    part.row_start.push_back(static_cast<int>(part.column.size()));
  }
  if (!least_squares(part, values.data(), right.data(), highest.data(), dense_limit(nearby))) return false;
  for (int k = 0; k < size(); ++k) {
    const auto [j, order] = places_[at(k)];
    out[k] = order == this->highest(j) ? highest[at(j)] : x[k + 1];
    if (!std::isfinite(out[k])) return false;
  }
  return true;
}

bool DerivativeArray::complete(double t, const double* y, const double* z, Values& x, Values& rate) {
  x.assign(at(size()), 0.0);
  rate.assign(at(size()), 0.0);
  std::vector<char> keep(at(size()), 0);
  for (int k = 0; k < size(); ++k) {
    const auto [j, order] = places_[at(k)];
    keep[at(k)] = order == 0;
    x[at(k)] = order == 0 ? y[j] : order == 1 ? z[j] : 0.0;
  }
  return solve(t, x, keep, Values(at(size()), 1.0)) && rates(t, x.data(), rate.data());
}

}  // namespace hinge
