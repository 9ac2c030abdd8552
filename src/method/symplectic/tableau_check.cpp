#include "method/symplectic/tableau_check.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <ostream>

#include <fmt/format.h>

#include "expression/suggest.hpp"
#include "method/symplectic/spark_tableau.hpp"

namespace hinge {

namespace {

// Coefficients of decimal digits or of closed formulas are right to 1e-16; those copied from a paper, to its digits.
constexpr double tolerance = 1e-12;

constexpr std::array waivable = {"(3.3c)", "(4.1a)", "(4.1b)", "(4.1c)"};

bool is_waivable(const std::string& name) {
  return std::find(waivable.begin(), waivable.end(), name) != waivable.end();
}

bool all_hold(const std::vector<TableauCondition>& conditions) {
  return std::all_of(conditions.begin(), conditions.end(), [](const auto& c) { return c.holds(); });
}

void require_shape(const char* field, const Eigen::MatrixXd& m, Eigen::Index rows, Eigen::Index columns,
                   const char* why) {
  if (m.rows() != rows || m.cols() != columns)
    throw TableauError(fmt::format("{} has {} row{} of {}; it needs {} row{} of {}, {}", field, m.rows(),
                                   m.rows() == 1 ? "" : "s", m.cols(), rows, rows == 1 ? "" : "s", columns, why),
                       field);
  if (!m.allFinite()) throw TableauError(fmt::format("{} has an entry that is not a finite number", field), field);
}

void require_length(const char* field, const Eigen::VectorXd& v, Eigen::Index length, const char* why) {
  if (v.size() != length)
    throw TableauError(
        fmt::format("{} has {} entr{}; it needs {}, {}", field, v.size(), v.size() == 1 ? "y" : "ies", length, why),
        field);
  if (!v.allFinite()) throw TableauError(fmt::format("{} has an entry that is not a finite number", field), field);
}

void require_given(const SparkTableau& t) {
  const auto missing = [](const char* field, const char* meaning) {
    throw TableauError(fmt::format("'{0}' is missing; it is {1}, as in {0} = {2}", field, meaning,
                                   field[0] == 'b' ? "[...]" : "[[...], ...]"),
                       field);
  };
  if (t.b.size() == 0) missing("b", "the list of the s weights of the stages");
  if (t.a.size() == 0) missing("a", "the matrix (s x s) of the stages");
  if (t.btilde.size() == 0) missing("btilde", "the list of the st + 1 weights of the multipliers");
  if (t.abar.size() == 0) missing("abar", "the matrix (st + 1 rows of s) of the constraint nodes");
}

// partner_ij = w_j (1 - m_ji / b_i): what (4.1b) asks of ahat and (4.1c) of atilde
Eigen::MatrixXd symplectic_partner(const char* field, const char* equation, const Eigen::MatrixXd& m,
                                   const Eigen::VectorXd& w, const Eigen::VectorXd& b) {
  for (Eigen::Index i = 0; i < b.size(); ++i)
    if (b(i) == 0)
      throw TableauError(fmt::format("'{}' is missing, and {} does not determine it because b_{} = 0; give it", field,
                                     equation, i + 1),
                         field);
  Eigen::MatrixXd partner(b.size(), w.size());
  for (Eigen::Index i = 0; i < b.size(); ++i)
    for (Eigen::Index j = 0; j < w.size(); ++j) partner(i, j) = w(j) * (1 - m(j, i) / b(i));
  return partner;
}

void require_row_sums(const char* field, const Eigen::VectorXd& c, const Eigen::MatrixXd& m, const char* of) {
  Eigen::Index i = 0;
  const double defect = (m.rowwise().sum() - c).cwiseAbs().maxCoeff(&i);
  if (defect > tolerance)
    throw TableauError(fmt::format("entry {} of {} differs by {:.1e} from the row sum of {}; leave {} out, it is "
                                   "computed",
                                   i, field, defect, of, field),
                       field);
}

// Largest p with sum_i w_i x_i^(k-1) = 1/k for k = 1..p. No rule of n nodes has more than 2n.
int quadrature_order(const Eigen::VectorXd& w, const Eigen::VectorXd& x) {
  Eigen::ArrayXd power = Eigen::ArrayXd::Ones(x.size());
  int order = 0;
  while (order < 2 * x.size() && std::abs(w.dot(power.matrix()) - 1.0 / (order + 1)) <= tolerance) {
    ++order;
    power *= x.array();
  }
  return order;
}

// Largest q with sum_j m_ij x_j^(k-1) = y_i^k / k for k = 1..q. With distinct x no matrix has more than one per column.
int stage_order(const Eigen::MatrixXd& m, const Eigen::VectorXd& x, const Eigen::VectorXd& y) {
  Eigen::ArrayXd left = Eigen::ArrayXd::Ones(x.size()), right = y.array();
  int order = 0;
  while (order < x.size() && (m * left.matrix() - right.matrix() / (order + 1.0)).cwiseAbs().maxCoeff() <= tolerance) {
    ++order;
    left *= x.array();
    right *= y.array();
  }
  return order;
}

std::string summary(const std::vector<TableauCondition>& conditions) {
  std::string kept, broken;
  int count = 0;
  for (const TableauCondition& c : conditions) {
    if (c.holds())
      kept += (kept.empty() ? "" : ", ") + c.name, ++count;
    else if (std::isinf(c.defect))
      broken += fmt::format("; {} violated", c.name);
    else
      broken += fmt::format("; {} violated by {:.2g}", c.name, c.defect);
  }
  if (kept.empty()) return broken.substr(2);
  return fmt::format("{} {}{}", kept, count == 1 ? "holds" : "hold", broken);
}

void require_known_names(const std::vector<std::string>& names, const TableauReport& report) {
  std::vector<std::string> known;
  for (const auto* list : {&report.consistency, &report.symplecticity})
    for (const TableauCondition& c : *list) known.push_back(c.name);
  const char* remedy = "only (3.3c), (4.1a), (4.1b) and (4.1c) can stand in 'violates'";
  for (const std::string& name : names) {
    if (is_waivable(name)) continue;
    const bool exists = std::find(known.begin(), known.end(), name) != known.end();
    const std::string in_parentheses = "(" + name + ")";
    const std::string near = exists                        ? ""
                             : is_waivable(in_parentheses) ? in_parentheses
                                                           : nearest_name(name, {waivable.begin(), waivable.end()});
    throw TableauError(exists ? fmt::format("{} is always needed, or not asked for; {}", name, remedy)
                              : fmt::format("there is no condition \"{}\"{} {}", name,
                                            near.empty() ? ";" : fmt::format(", did you mean \"{}\"?", near), remedy),
                       "violates");
  }
}

void require_possible_order(const SparkTableau& t, const TableauReport& report) {
  const int most = std::min(report.order_b, report.order_bhat);
  if (t.order < 0) throw TableauError(fmt::format("order = {}; give a positive number or none", t.order), "order");
  if (t.order > most)
    throw TableauError(fmt::format("order = {} cannot be: the quadrature of b (bhat) and c has order {}; correct the "
                                   "coefficients or the order",
                                   t.order, most),
                       "order");
}

}  // namespace

bool TableauCondition::holds() const { return defect <= tolerance; }
bool TableauReport::symplectic() const { return all_hold(symplecticity); }
bool TableauReport::symmetric() const { return all_hold(symmetry); }

SparkTableau complete_tableau(SparkTableau t) {
  require_given(t);
  const Eigen::Index s = t.b.size(), nodes = t.btilde.size();
  require_length("b", t.b, s, "");
  if (nodes < 2)
    throw TableauError("btilde has 1 entry; it needs at least 2, for the beginning and the end of a step", "btilde");
  require_length("btilde", t.btilde, nodes, "");
  require_shape("a", t.a, s, s, "a row and a column for each entry of b");
  require_shape("abar", t.abar, nodes, s, "a row for each entry of btilde and a column for each entry of b");
  if (t.bhat.size() == 0) t.bhat = t.b;
  require_length("bhat", t.bhat, s, "as many as b");
  if (t.ahat.size() == 0) t.ahat = symplectic_partner("ahat", "(4.1b)", t.a, t.bhat, t.b);
  require_shape("ahat", t.ahat, s, s, "a row and a column for each entry of b");
  if (t.atilde.size() == 0) t.atilde = symplectic_partner("atilde", "(4.1c)", t.abar, t.btilde, t.b);
  require_shape("atilde", t.atilde, s, nodes, "a row for each entry of b and a column for each entry of btilde");
  if (t.c.size() == 0) t.c = t.a.rowwise().sum();
  require_length("c", t.c, s, "as many as b");
  require_row_sums("c", t.c, t.a, "a");
  if (t.ctilde.size() == 0) t.ctilde = t.abar.rowwise().sum();
  require_length("ctilde", t.ctilde, nodes, "as many as btilde");
  require_row_sums("ctilde", t.ctilde, t.abar, "abar");
  return t;
}

TableauReport check_tableau(const SparkTableau& tableau) {
  const SparkTableau t = complete_tableau(tableau);
  TableauReport r;
  r.consistency = consistency_conditions(t);
  r.symplecticity = symplecticity_conditions(t);
  r.symmetry = symmetry_conditions(t);
  r.order_b = quadrature_order(t.b, t.c);
  r.order_bhat = quadrature_order(t.bhat, t.c);
  r.order_btilde = quadrature_order(t.btilde, t.ctilde);
  r.stage_order_a = stage_order(t.a, t.c, t.c);
  r.stage_order_ahat = stage_order(t.ahat, t.c, t.c);
  r.stage_order_atilde = stage_order(t.atilde, t.ctilde, t.c);
  r.stage_order_abar = stage_order(t.abar, t.c, t.ctilde);
  return r;
}

const TableauCondition& condition_of(const TableauReport& report, const std::string& name) {
  for (const auto* list : {&report.consistency, &report.symplecticity, &report.symmetry})
    for (const TableauCondition& c : *list)
      if (c.name == name) return c;
  throw InputError(fmt::format("there is no condition '{}'", name));
}

void require_conditions(const SparkTableau& t, const TableauReport& report) {
  require_known_names(t.violates, report);
  std::string list, names;
  bool waivable_only = true;
  for (const auto* conditions : {&report.consistency, &report.symplecticity})
    for (const TableauCondition& c : *conditions) {
      if (c.holds() || c.name == "(4.2)") continue;  // (4.2) is for the adjoint only
      if (std::find(t.violates.begin(), t.violates.end(), c.name) != t.violates.end()) continue;
      waivable_only = waivable_only && is_waivable(c.name);
      names += fmt::format("{}\"{}\"", names.empty() ? "" : ", ", c.name);
      list += fmt::format("\n  {} {}{}{}", c.name, c.formula,
                          std::isinf(c.defect) ? ": they are not" : fmt::format(": violated by {:.3g}", c.defect),
                          c.worst.empty() ? "" : fmt::format(", worst for {}", c.worst));
    }
  if (list.empty()) return require_possible_order(t, report);
  const std::string remedy =
      waivable_only ? fmt::format(
                          "or, if it is meant, add violates = [{}] to the tableau. Without (3.3c) the method is for "
                          "reactions affine in psi only; without (4.1) it is not symplectic",
                          names)
                    : "since 'weights', (3.3a), (3.3b), (3.3d) and (4.3) are needed to solve a step and to stay on the "
                      "constraints";
  throw TableauError(fmt::format("the coefficients do not satisfy{}\n  Correct them (stages count from 1, constraint "
                                 "nodes from 0), {}.",
                                 list, remedy),
                     "");
}

SparkTableau adjoint_tableau(const SparkTableau& given) {
  const SparkTableau t = complete_tableau(given);
  const TableauReport report = check_tableau(t);
  if (const TableauCondition& c = condition_of(report, "(4.2)"); !c.holds())
    throw InputError(
        fmt::format("{} has no adjoint that can be solved in two blocks: that needs (4.2), {}, which is "
                    "violated by {:.3g}",
                    t.name, c.formula, c.defect));
  // m*_ij = w_j - m_ij with both indices reversed
  const auto reversed = [](const Eigen::MatrixXd& m, const Eigen::VectorXd& w) -> Eigen::MatrixXd {
    return ((-m).rowwise() + w.transpose()).reverse();
  };
  SparkTableau x;
  x.name = t.name + ", adjoint";
  x.order = t.order;
  x.b = t.b.reverse();
  x.bhat = t.bhat.reverse();
  x.btilde = t.btilde.reverse();
  x.a = reversed(t.a, t.b);
  x.ahat = reversed(t.ahat, t.bhat);
  x.atilde = reversed(t.atilde, t.btilde);
  x.abar = reversed(t.abar, t.b);
  x.violates.assign(waivable.begin(), waivable.end());
  return complete_tableau(x);
}

std::vector<std::string> TableauReport::facts() const {
  double reversal = 0;
  std::string worst;
  for (const TableauCondition& c : symmetry)
    if (!c.holds() && c.defect > reversal) reversal = c.defect, worst = c.formula;
  return {
      "consistency: " + summary(consistency),
      "symplecticity: " + summary(symplecticity),
      reversal > 0 ? fmt::format("symmetry: violated by {:.2g}, most in {}", reversal, worst) : "symmetry: holds",
      fmt::format("order of the quadrature: {} of (b, c), {} of (bhat, c), {} of (btilde, ctilde)", order_b, order_bhat,
                  order_btilde),
      fmt::format("stage order: {} of a, {} of ahat, {} of atilde, {} of abar", stage_order_a, stage_order_ahat,
                  stage_order_atilde, stage_order_abar),
  };
}

std::ostream& operator<<(std::ostream& out, const TableauReport& report) {
  for (const std::string& fact : report.facts()) out << fact << '\n';
  return out;
}

}  // namespace hinge
