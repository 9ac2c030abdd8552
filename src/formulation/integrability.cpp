#include "formulation/integrability.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "expression/branches.hpp"
#include "expression/integral.hpp"
#include "expression/substitute.hpp"
#include "solve/index.hpp"
#include "solve/linear/rank.hpp"
#include "system/difference.hpp"

namespace hinge {

namespace {

using Eigen::MatrixXd;

constexpr double zero = 1e-6;           // of numbers of the order of 1, with derivatives of derivatives in them
constexpr int points = 3;               // drawn at random
constexpr double most_work = 30000;     // evaluations for the last level
constexpr std::size_t most_forms = 40;  // and as many coordinates

// All forms as functions of x = (t, q): rows of g, then of w; columns dt, dq.
class Forms {
 public:
  explicit Forms(const SymbolicSystem& system) : eq_(system.equations()), graph_(*eq_.graph) {
    std::vector<Node> none(eq_.z.size(), graph_.constant(0));
    const auto add = [&](Node by_t, const std::vector<Node>& by_q) {
      rows.push_back({by_t});
      rows.back().insert(rows.back().end(), by_q.begin(), by_q.end());
    };
    for (const Node g : eq_.g) add(gradient(graph_, g, std::span(&eq_.t, 1))[0], gradient(graph_, g, eq_.y));
    for (const Node w : eq_.w)
      add(substitute(graph_, std::span(&w, 1), eq_.z, none, graph_)[0], gradient(graph_, w, eq_.z));
    for (const auto& row : rows) outputs_.insert(outputs_.end(), row.begin(), row.end());
    tape_ = eq_.tape(graph_, outputs_);
    scratch_ = tape_->make_scratch();
    psi_.resize(eq_.psi.size() + 1);
  }

  bool linear() const {
    const std::vector<char> moves = dependence(graph_, eq_.z);
    return std::none_of(outputs_.begin(), outputs_.end(),
                        [&](Node n) { return moves[static_cast<std::size_t>(n)] != 0; });
  }

  // x = (t, q)
  MatrixXd at_point(const std::vector<double>& x) {
    const double* const inputs[] = {x.data(), x.data() + 1, x.data() + 1, psi_.data()};
    tape_->evaluate(inputs, scratch_.data());
    const double* value = scratch_.data() + tape_->first_output();
    const auto n = static_cast<Eigen::Index>(x.size());
    MatrixXd all(static_cast<Eigen::Index>(rows.size()), n);
    for (Eigen::Index i = 0; i < all.rows(); ++i)
      for (Eigen::Index j = 0; j < n; ++j) all(i, j) = *value++;
    return all;
  }

  std::vector<std::vector<Node>> rows;
  const Equations& eq_;
  Graph graph_;

 private:
  std::vector<Node> outputs_;
  std::unique_ptr<Evaluator> tape_;
  std::vector<double> scratch_, psi_;
};

// The forms of one level of the derived flag at a point. A level has those combinations of the forms of the level
// before whose derivatives vanish on what that level allows; which of its forms have the factor 1 is settled where the
// flag begins, so that coefficients are smooth functions.
class DerivedFlag {
 public:
  DerivedFlag(Forms& forms, std::vector<double> x) : forms_(forms), x_(std::move(x)) {}

  // The forms that are left where no level is smaller than the one before; none where it gets too much work to know.
  std::optional<MatrixXd> last() {
    double work = 1;
    for (std::size_t level = 0;; ++level) {
      const MatrixXd now = forms_at(level, x_);
      if (!now.allFinite()) return {};
      if (now.rows() == 0) return now;
      work *= 6 * static_cast<double>(x_.size());
      if (work > most_work) return {};
      const MatrixXd bend = curvature(level, x_);
      if (!bend.allFinite()) return {};
      if (bend.norm() <= zero) return now;
      // the forms with the largest pivots carry what does not vanish; the others are expressed by them
      const PivotedQr qr(bend.transpose(), zero);
      std::vector<Eigen::Index> carried(at(qr.rank())), others;
      for (std::size_t k = 0; k < carried.size(); ++k) carried[k] = qr.order()[static_cast<Eigen::Index>(k)];
      for (Eigen::Index i = 0; i < now.rows(); ++i)
        if (std::find(carried.begin(), carried.end(), i) == carried.end()) others.push_back(i);
      carried_.push_back(carried);
      others_.push_back(others);
    }
  }

 private:
  MatrixXd forms_at(std::size_t level, const std::vector<double>& x) {
    if (level == 0) return forms_.at_point(x);
    const MatrixXd before = forms_at(level - 1, x), bend = curvature(level - 1, x);
    const auto &carried = carried_[level - 1], &others = others_[level - 1];
    MatrixXd next(static_cast<Eigen::Index>(others.size()), before.cols());
    if (others.empty()) return next;
    MatrixXd base(bend.cols(), static_cast<Eigen::Index>(carried.size()));
    for (std::size_t k = 0; k < carried.size(); ++k)
      base.col(static_cast<Eigen::Index>(k)) = bend.row(carried[k]).transpose();
    const ShortestSolution solution(base);
    for (std::size_t k = 0; k < others.size(); ++k) {
      const Eigen::VectorXd by = solution.of(bend.row(others[k]).transpose());
      Eigen::RowVectorXd form = before.row(others[k]);
      for (std::size_t c = 0; c < carried.size(); ++c)
        form -= by[static_cast<Eigen::Index>(c)] * before.row(carried[c]);
      next.row(static_cast<Eigen::Index>(k)) = form;
    }
    return next;
  }

  // d omega_i (X_a, X_b) for all pairs of allowed motions: one row for each form
  MatrixXd curvature(std::size_t level, const std::vector<double>& x) {
    const MatrixXd forms = forms_at(level, x), motions = kernel(forms, 1e-10);
    const Eigen::Index m = forms.rows(), n = forms.cols(), free = motions.cols();
    std::vector<MatrixXd> slope(at(n), MatrixXd(m, n));  // by x_j
    std::vector<double> moved = x;
    Difference difference;
    for (Eigen::Index j = 0; j < n; ++j) {
      const auto sample = [&](double value, double* out) {
        moved[at(j)] = value;
        Eigen::Map<MatrixXd>(out, m, n) = forms_at(level, moved);
      };
      difference(x[at(j)], at(m * n), sample, slope[at(j)].data());
      moved[at(j)] = x[at(j)];
    }
    MatrixXd all(m, free * (free - 1) / 2);
    for (Eigen::Index i = 0; i < m; ++i) {
      MatrixXd twist(n, n);  // d_j omega_l - d_l omega_j
      for (Eigen::Index j = 0; j < n; ++j)
        for (Eigen::Index l = 0; l < n; ++l) twist(j, l) = slope[at(j)](i, l) - slope[at(l)](i, j);
      const MatrixXd on_motions = motions.transpose() * twist * motions;
      Eigen::Index column = 0;
      for (Eigen::Index a = 0; a < free; ++a)
        for (Eigen::Index b = a + 1; b < free; ++b) all(i, column++) = on_motions(a, b);
    }
    return all;
  }

  Forms& forms_;
  std::vector<double> x_;
  std::vector<std::vector<Eigen::Index>> carried_, others_;  // of each level
};

// U with dU = the form, by one variable after the other; none where no closed form is known, or the form has no
// integral without a factor.
std::optional<std::string> integral_of(Forms& forms, std::size_t row, double t, const std::vector<double>& q) {
  Graph& graph = forms.graph_;
  for (const Node n : cone_of(graph, forms.rows[row]))
    if (Branches::is_branch(graph[n].op)) return {};  // one formula for every side
  std::vector<Node> variables{forms.eq_.t};
  variables.insert(variables.end(), forms.eq_.y.begin(), forms.eq_.y.end());
  Node sum = graph.constant(0);
  for (std::size_t j = 0; j < variables.size(); ++j) {
    const Node rest = graph.subtract(forms.rows[row][j], gradient(graph, sum, std::span(&variables[j], 1))[0]);
    if (graph.is_constant(rest, 0)) continue;
    const auto part = integral(graph, rest, variables[j]);
    if (!part) return {};
    sum = graph.add(sum, *part);
  }
  std::vector<Node> outputs = gradient(graph, sum, variables);
  outputs.insert(outputs.end(), forms.rows[row].begin(), forms.rows[row].end());
  outputs.push_back(sum);
  const auto tape = forms.eq_.tape(graph, outputs);
  std::vector<double> scratch = tape->make_scratch();
  const std::vector<double> other(std::max(forms.eq_.z.size(), forms.eq_.psi.size()) + 1, 0.0);
  const double* value = scratch.data() + tape->first_output();
  double start = 0;
  for (const double shift : {0.37, 0.11, 0.0}) {
    std::vector<double> moved = q;
    for (std::size_t k = 0; k < moved.size(); ++k) moved[k] += shift * static_cast<double>(k + 1);
    const double* const inputs[] = {&t, moved.data(), other.data(), other.data()};
    tape->evaluate(inputs, scratch.data());
    for (std::size_t j = 0; j < variables.size(); ++j)
      if (!(std::abs(value[j] - value[variables.size() + j]) <= 1e-9 * (1 + std::abs(value[j])))) return {};
    start = value[2 * variables.size()];
  }
  const std::string text = to_text(graph, sum, 200);
  return start == 0 ? text : fmt::format("{} {} {:.15g}", text, start > 0 ? "-" : "+", std::abs(start));
}

}  // namespace

IntegrableRates integrable_rates(const System& system, double t, const std::vector<double>& q) {
  IntegrableRates result;
  const SymbolicSystem* symbolic = symbolic_part(system);
  const auto total = static_cast<std::size_t>(system.nrates());
  if (system.nw() == 0 || !symbolic || !system.structure().velocity_is_z || total > most_forms || q.size() > most_forms)
    return result;
  Forms forms(*symbolic);
  if (!forms.linear()) return result;
  const auto positions = static_cast<Eigen::Index>(system.ng());
  std::vector<char> own(static_cast<std::size_t>(system.nw()), 1);
  int least = system.nw();
  std::mt19937 draw(7);
  for (int k = 0; k < points; ++k) {
    std::vector<double> x{t};
    x.insert(x.end(), q.begin(), q.end());
    for (double& value : x) value += 0.6 * (static_cast<double>(draw()) / 4294967296.0 - 0.5) * (1 + std::abs(value));
    const MatrixXd all = forms.at_point(x);
    if (!all.allFinite() || PivotedQr(all.transpose(), 1e-9).rank() < all.rows()) continue;  // another point will do
    const auto left = DerivedFlag(forms, x).last();
    if (!left) return result;
    result.tested = true;
    // g are integrable, and so in what is left
    least = std::min(least, static_cast<int>(left->rows() - positions));
    for (std::size_t i = 0; i < own.size(); ++i) {
      const Eigen::VectorXd form = all.row(positions + static_cast<Eigen::Index>(i)).transpose().normalized();
      Eigen::VectorXd off = form;
      if (left->rows() > 0) off -= left->transpose() * ShortestSolution(left->transpose()).of(form);
      if (off.norm() > 1e-5) own[i] = 0;
    }
  }
  result.count = result.tested ? std::max(least, 0) : 0;
  for (std::size_t i = 0; i < own.size() && result.count > 0; ++i)
    if (own[i]) {
      result.rows.push_back(static_cast<int>(i));
      result.positions.push_back(integral_of(forms, static_cast<std::size_t>(positions) + i, t, q).value_or(""));
    }
  return result;
}

std::string IntegrableRates::text(const Layout& layout) const {
  if (count == 0) return "";
  const bool bodies = layout.kind == SystemKind::multibody;
  // motors by speed are such rows: whoever writes one means the speed
  if (bodies && std::all_of(positions.begin(), positions.end(), [](const auto& text) { return text.empty(); }))
    return "";
  std::string list;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    list += fmt::format("{}velocity constraint {}", k == 0 ? "" : ", ",
                        layout.velocity_constraints[static_cast<std::size_t>(rows[k])]);
    if (!positions[k].empty())
      list += fmt::format(", as in {}\"{}\"{}", bodies ? "a [[constraint]] with equation = " : "constraints = [",
                          positions[k], bodies ? "" : "]");
  }
  if (rows.empty())
    return fmt::format(
        "integrable in {} combination{}, so that they say where things are and not only how they move; written as "
        "constraints, positions are kept as well, by all methods",
        count, count == 1 ? "" : "s");
  return fmt::format(
      "integrable, so that they say where things are and not only how they move: {}; written as "
      "constraints, positions are kept as well, by all methods",
      list);
}

}  // namespace hinge
