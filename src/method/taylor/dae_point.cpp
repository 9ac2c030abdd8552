// Series of F(t, x, x') = 0 of any index, by the offsets c and d of its structure (formulation/implicit/dae_structure).
//
// The foot: x_j, ..., x_j^(d_j). Stage k = -D, ..., 0 solves F_i^(k + c_i) = 0, for those i with k + c_i >= 0, by
// Newton's iteration for the x_j^(k + d_j), the earlier ones being known; where k < 0 leaves freedom, by the least
// change, in units of the numbers themselves. These are all the hidden constraints. The matrix is made of rows of the
// system Jacobian J, all of it at k = 0.
#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "expression/substitute.hpp"
#include "formulation/implicit/derivative_array.hpp"
#include "formulation/implicit/system_jacobian.hpp"
#include "hinge/error.hpp"
#include "method/taylor/series_point.hpp"
#include "solve/index.hpp"
#include "solve/linear/linear.hpp"
#include "solve/linear/vectors.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

constexpr double rounding = 1e-11;   // of higher derivatives, relative, at most
constexpr double least_size = 1e-3;  // below this a number is as free to move as if it were so large

// Rows of J with k + c_i >= 0; where they leave freedom, bordered: [U J^T; J 0].
struct LowStage {
  int stage = 0;
  std::vector<int> rows, columns;
  std::vector<std::size_t> entries;  // of J, row by row
  std::vector<std::size_t> place;    // of these in the values; bordered: then those of their mirror images
  std::unique_ptr<LinearSolver> solver;
  std::vector<double> values, right;
  bool bordered = false;
};

class DaePoint final : public SeriesPoint {
 public:
  DaePoint(std::shared_ptr<const SymbolicSystem> system, LinearAlgebra choice, int order)
      : system_(std::move(system)), n_(system_->ny()), structure_(analyse_dae(*system_)) {
    if (!structure_.regular)
      throw UnsuitableMethod(fmt::format(
          "the structure of the DAE hides its index, which taylor needs to know: {}; use radau or bdf with formulation "
          "= \"derivative-array\"",
          structure_.singular.empty() ? "its system Jacobian is singular" : structure_.singular));
    array_.emplace(structure_);
    write_equations(order - 1);
    make_stages(choice);
    first_.push_back(0);
    for (int j = 0; j < n_; ++j) first_.push_back(first_.back() + std::max(structure_.d[at(j)], 1) + 1);
    for (auto* x : {&now_, &next_, &predicted_}) x->resize(at(first_.back()));
    shown_ = next_;
    for (int j = 0; j < n_; ++j) controlled_.push_back({tape_->unknown(at(j)), order - 1 + structure_.d[at(j)]});
    residual_.resize(at(n_));
    jacobian_values_.resize(pattern_.entries());
  }

  bool begin(const State& state) override {
    t0_ = state.t;
    h_ = 0;
    std::vector<double> x, rate;
    if (!array_->complete(t0_, state.y.data(), state.z.data(), x, rate)) return false;
    for (int j = 0; j < n_; ++j) {
      for (int l = 0; l <= structure_.d[at(j)]; ++l) now_[place(j, l)] = x[at(array_->first(j) + l)];
      if (structure_.d[at(j)] == 0) now_[place(j, 1)] = state.z[at(j)];
    }
    if (!settle(t0_, now_) || !(factored_ = factor(t0_, now_))) return false;
    sign_ = jacobian_->determinant_sign();
    next_ = now_;
    // the state as it was given: it differs by rounding, and is compared later
    std::copy(state.y.begin(), state.y.end(), given_y_.begin());
    return true;
  }
  bool continues(const State& state) const override {
    if (state.t != t0_ + h_) return false;
    bool given = h_ == 0, reached = true;
    for (int j = 0; j < n_; ++j) {
      given = given && state.y[at(j)] == given_y_[at(j)];
      reached = reached && state.y[at(j)] == next_[place(j, 0)];
    }
    return given || reached;
  }
  void move_on() override {
    t0_ += h_;
    h_ = 0;
    now_ = next_;
    for (int j = 0; j < n_; ++j) given_y_[at(j)] = now_[place(j, 0)];
  }

  bool reach(double h) override {
    predict(h, next_);
    predicted_ = next_;
    if (!settle(t0_ + h, next_)) return false;
    factored_ = false;
    h_ = h;
    return true;
  }

  double mismatch(const Tolerance& tolerance) const override { return off(h_, next_, tolerance); }
  double mismatch_at(double h, const Tolerance& tolerance) override {
    predict(h, shown_);
    predicted_ = shown_;
    return settle(t0_ + h, shown_) ? off(h, shown_, tolerance) : INFINITY;
  }

  // J is factorised anew, for the next series too.
  bool passed_singularity() override {
    factored_ = factor(t0_ + h_, next_);
    return !factored_ || jacobian_->determinant_sign() != sign_;
  }

  void end_state(State& state) const override {
    state.t = t0_ + h_;
    show(next_, state);
  }
  void interpolate(double t, State& state, bool exactly) const override {
    state.t = t;
    if (h_ == 0) return end_state(state);
    predict(t - t0_, shown_);
    show(shown_, state);
    if (exactly && settle(t, shown_)) show(shown_, state);
  }
  double pace() const override {
    double pace = 0;
    for (int j = 0; j < n_; ++j)
      if (structure_.d[at(j)] > 0)
        pace = std::max(pace, std::abs(now_[place(j, 1)]) / (std::abs(now_[place(j, 0)]) + least_size));
    return pace > 0 ? 1 / pace : 1;
  }

 private:
  using Values = std::vector<double>;
  std::size_t place(int j, int order) const { return at(first_[at(j)] + order); }

  void write_equations(int last_stage) {
    Jet& jet = structure_.jet;
    const Graph& graph = jet.graph();
    const std::vector<Node> equations = without_what_cancels(jet);
    SeriesFunctions f{.t = jet.t()};
    for (int j = 0; j < n_; ++j) {
      f.unknowns.push_back({jet.at(j, 0), structure_.d[at(j)]});
      for (int l = 1; l <= structure_.d[at(j)]; ++l) f.derived.push_back({jet.at(j, l), jet.at(j, l - 1)});
    }
    for (int i = 0; i < n_; ++i) f.equations.push_back({equations[at(i)], structure_.c[at(i)]});
    make_tape(graph, f, last_stage);
    low_ = std::make_unique<SeriesTape>(graph, f, 0);
    const SystemJacobian j(jet, equations, structure_.c, structure_.d);
    pattern_ = j.pattern();
    const std::vector<Node> blocks[] = {{jet.t()}, jet.variables()};
    entries_ = hinge::make_tape(graph, blocks, j.entries());
    scratch_ = entries_->make_scratch();
    places_ = jet.places();
    arguments_.resize(places_.size());
    given_y_.resize(at(n_));
  }

  // Equation i depends on no x_j^(l) with l > d_j - c_i. Where it contains one nevertheless, it cancels: any value is
  // good.
  std::vector<Node> without_what_cancels(Jet& jet) const {
    Graph& graph = jet.graph();
    std::vector<Node> equations = structure_.equations;
    std::vector<int> number(at(graph.size()), -1);
    for (std::size_t k = 0; k < jet.variables().size(); ++k) number[at(jet.variables()[k])] = static_cast<int>(k);
    for (int i = 0; i < n_; ++i) {
      std::vector<Node> beyond;
      for (const Node x : cone_of(graph, std::span(&equations[at(i)], 1)))
        if (const int k = number[at(x)]; k >= 0)
          if (const auto [j, order] = jet.places()[at(k)]; order > structure_.d[at(j)] - structure_.c[at(i)])
            beyond.push_back(x);
      if (beyond.empty()) continue;
      const std::vector<Node> zero(beyond.size(), graph.constant(0));
      equations[at(i)] = substitute(graph, std::span(&equations[at(i)], 1), beyond, zero, graph)[0];
    }
    return equations;
  }

  void make_stages(LinearAlgebra choice) {
    const int most = *std::max_element(structure_.d.begin(), structure_.d.end());
    for (int k = -most; k <= 0; ++k) {
      LowStage s;
      s.stage = k;
      std::vector<int> column_of(at(n_), -1);
      for (int j = 0; j < n_; ++j)
        if (k + structure_.d[at(j)] >= 0) {
          column_of[at(j)] = static_cast<int>(s.columns.size());
          s.columns.push_back(j);
        }
      for (int i = 0; i < n_; ++i)
        if (k + structure_.c[at(i)] >= 0) s.rows.push_back(i);
      if (s.rows.empty()) continue;
      s.bordered = s.rows.size() < s.columns.size();
      write_pattern(s, column_of, choice);
      stages_.push_back(std::move(s));
    }
    jacobian_ = make_linear_solver(pattern_, choice);
  }
  void write_pattern(LowStage& s, const std::vector<int>& column_of, LinearAlgebra choice) const {
    const int n = static_cast<int>(s.columns.size()), m = static_cast<int>(s.rows.size());
    std::vector<std::vector<std::pair<int, std::size_t>>> rows(at(s.bordered ? n + m : m));
    constexpr std::size_t unit = static_cast<std::size_t>(-1);
    if (s.bordered)
      for (int j = 0; j < n; ++j) rows[at(j)].emplace_back(j, unit);
    for (int i = 0; i < m; ++i)
      for (auto k = at(pattern_.row_start[at(s.rows[at(i)])]); k < at(pattern_.row_start[at(s.rows[at(i)]) + 1]); ++k) {
        const int j = column_of[at(pattern_.column[k])];
        rows[at(s.bordered ? n + i : i)].emplace_back(j, s.entries.size());
        if (s.bordered) rows[at(j)].emplace_back(n + i, s.entries.size());
        s.entries.push_back(k);
      }
    Pattern p{static_cast<int>(rows.size()), static_cast<int>(rows.size()), {0}, {}};
    for (auto& row : rows) {
      std::sort(row.begin(), row.end());
      for (const auto& [j, entry] : row) {
        p.column.push_back(j);
        s.place.push_back(entry);
      }
      p.row_start.push_back(static_cast<int>(p.column.size()));
    }
    s.values.resize(p.entries());
    s.right.resize(at(p.rows));
    s.solver = make_linear_solver(p, choice);
  }

  // A foot at t0 + h beside its prediction
  double off(double h, const Values& foot, const Tolerance& tolerance) const {
    double most = 0;
    for (int j = 0; j < n_; ++j) {
      double part = 1;  // an error of a derivative is that of x times order / h
      for (int l = 0; l <= structure_.d[at(j)]; ++l) {
        const double scale = tolerance.absolute + tolerance.relative * std::abs(foot[place(j, 0)]) +
                             rounding * part * std::abs(foot[place(j, l)]) + 1e-300;
        most = std::max(most, part * std::abs(foot[place(j, l)] - predicted_[place(j, l)]) / scale);
        part *= std::abs(h) / (tape_->last_stage() + 1 + structure_.d[at(j)] - l);
      }
    }
    return most;
  }

  void predict(double h, Values& foot) const {
    const double tau = h / tape_->scale();
    for (int j = 0; j < n_; ++j) {
      const double* c = tape_->unknown(at(j));
      const int d = structure_.d[at(j)], last = tape_->last_stage() + d;
      double power = 1;
      for (int l = 0; l <= std::max(d, 1); ++l) {  // the l-th derivative
        double sum = 0;
        for (int m = last; m >= l; --m) {
          double factor = 1;
          for (int q = 0; q < l; ++q) factor *= m - q;
          sum = sum * tau + factor * c[m];
        }
        foot[place(j, l)] = sum / power;
        power *= tape_->scale();
      }
    }
  }

  bool evaluate_jacobian(double t, const Values& foot) const {
    for (std::size_t k = 0; k < places_.size(); ++k) {
      const auto [j, order] = places_[k];
      arguments_[k] = order <= structure_.d[at(j)] ? foot[place(j, order)] : 0.0;
    }
    const double* const inputs[] = {&t, arguments_.data()};
    entries_->evaluate(inputs, scratch_.data(), jacobian_values_.data());
    return all_finite(jacobian_values_);
  }
  bool factor(double t, const Values& foot) {
    return evaluate_jacobian(t, foot) && jacobian_->factor(jacobian_values_.data());
  }

  // Stages -D, ..., 0, each by Newton's iteration from what the foot is.
  bool settle(double t, Values& foot) const {
    low_->begin(t, 1);
    for (int j = 0; j < n_; ++j) {
      double factorial = 1;
      for (int l = 0; l <= structure_.d[at(j)]; ++l) {
        if (l > 0) factorial *= l;
        low_->set_unknown(at(j), l, foot[place(j, l)] / factorial);
      }
    }
    auto next = stages_.begin();
    for (int k = -low_->most(); k <= 0; ++k) {
      if (next != stages_.end() && next->stage == k) {
        if (!settle_stage(t, *next, foot)) return false;
        ++next;
      }
      low_->evaluate(k);
    }
    return true;
  }

  bool settle_stage(double t, LowStage& s, Values& foot) const {
    return solved_by_newton(Settling(newton_policy::projection), [&]() -> Increment {
      low_->evaluate(s.stage);
      std::copy_n(low_->right(), residual_.size(), residual_.data());
      if (!evaluate_jacobian(t, foot) || !all_finite(residual_)) return no_increment;
      const std::size_t n = s.columns.size(), m = s.rows.size(), above = s.bordered ? n : 0;
      const auto size_of = [&](std::size_t k) {
        const int j = s.columns[k];
        return least_size + std::abs(foot[place(j, s.stage + structure_.d[at(j)])]);
      };
      std::size_t unit = 0;
      for (std::size_t k = 0; k < s.place.size(); ++k) {
        if (s.place[k] == static_cast<std::size_t>(-1)) {
          const double size = size_of(unit++);
          s.values[k] = 1 / (size * size);
        } else {
          s.values[k] = jacobian_values_[s.entries[s.place[k]]];
        }
      }
      if (!s.solver->factor(s.values.data())) return no_increment;
      std::fill(s.right.begin(), s.right.end(), 0.0);
      for (std::size_t i = 0; i < m; ++i) s.right[above + i] = residual_[at(s.rows[i])];
      s.solver->solve(s.right.data());
      double change = 0;
      for (std::size_t k = 0; k < n; ++k) {
        const int j = s.columns[k], order = s.stage + structure_.d[at(j)];
        double factorial = 1;
        for (int l = 2; l <= order; ++l) factorial *= l;
        change = std::max(change, std::abs(s.right[k]) / size_of(k));
        foot[place(j, order)] += s.right[k];
        low_->set_unknown(at(j), order, foot[place(j, order)] / factorial);
      }
      return change;
    });
  }

  void show(const Values& foot, State& state) const {
    for (int j = 0; j < n_; ++j) {
      state.y[at(j)] = foot[place(j, 0)];
      state.z[at(j)] = foot[place(j, 1)];
    }
  }

  bool load() override {
    for (int j = 0; j < n_; ++j) {
      double factor = 1;
      for (int l = 0; l <= structure_.d[at(j)]; ++l) {
        if (l > 0) factor *= tape_->scale() / l;
        tape_->set_unknown(at(j), l, now_[place(j, l)] * factor);
      }
    }
    return factored_ || (factored_ = factor(t0_, now_));
  }
  void solve(double* x) override { jacobian_->solve(x); }

  std::shared_ptr<const SymbolicSystem> system_;
  int n_;
  DaeStructure structure_;
  std::optional<DerivativeArray> array_;
  std::unique_ptr<SeriesTape> low_;  // of the stages <= 0 alone: the other one keeps the last step
  Pattern pattern_;                  // of J
  std::unique_ptr<Evaluator> entries_;
  std::vector<Jet::Place> places_;
  std::unique_ptr<LinearSolver> jacobian_;
  mutable std::vector<LowStage> stages_;
  std::vector<int> first_;
  Values now_, next_, predicted_, given_y_;
  mutable Values shown_, scratch_, arguments_, jacobian_values_, residual_;
  int sign_ = 1;
  bool factored_ = false;  // J, at the point that the next series is about
};

}  // namespace

std::unique_ptr<SeriesPoint> dae_point(std::shared_ptr<const SymbolicSystem> system, LinearAlgebra choice, int order) {
  return std::make_unique<DaePoint>(std::move(system), choice, order);
}

}  // namespace hinge
