#include "formulation/implicit/dae_structure.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "expression/substitute.hpp"
#include "formulation/implicit/dependent_row.hpp"
#include "formulation/implicit/system_jacobian.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

// "a, b, c and 4 more"
template <class Name>
std::string list(const std::vector<int>& which, std::size_t limit, Name&& name) {
  std::string text;
  for (std::size_t k = 0; k < std::min(which.size(), limit); ++k) text += (k > 0 ? ", " : "") + name(which[k]);
  if (which.size() > limit) text += fmt::format(" and {} more", which.size() - limit);
  return text;
}

[[noreturn]] void refuse_structure(const DaeStructure& s, const Pattern& pattern, const Matching& matching) {
  const SingularParts parts = singular_parts(pattern, matching);
  throw SingularDae(fmt::format(
      "the DAE is structurally singular: whatever the numbers in them, {} equation{} {} {} unknown{} only ({}: "
      "overdetermined), and {} unknown{} {} left to {} equation{} ({}: underdetermined). Equations: {}. Remove or "
      "change one of these, and give an equation that determines one of the unknowns {}",
      parts.over_rows.size(), parts.over_rows.size() == 1 ? "" : "s",
      parts.over_rows.size() == 1 ? "contains" : "contain", parts.over_columns.size(),
      parts.over_columns.size() == 1 ? "" : "s",
      parts.over_columns.empty() ? "none" : s.unknown_list(parts.over_columns), parts.under_columns.size(),
      parts.under_columns.size() == 1 ? "" : "s", parts.under_columns.size() == 1 ? "is" : "are",
      parts.under_rows.size(), parts.under_rows.size() == 1 ? "" : "s", s.unknown_list(parts.under_columns),
      s.equation_list(parts.over_rows), s.unknown_list(parts.under_columns)));
}

// Where J has entries: sigma_ij = d_j - c_i.
Pattern tight_entries(const DaeStructure& s, const Signature& signature) {
  const Pattern& p = signature.pattern;
  Pattern tight{p.rows, p.columns, {0}, {}};
  for (int i = 0; i < p.rows; ++i) {
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
      if (const int j = p.column[at(k)]; signature.order[at(k)] == s.d[at(j)] - s.c[at(i)]) tight.column.push_back(j);
    tight.row_start.push_back(static_cast<int>(tight.column.size()));
  }
  return tight;
}

// nu_j: what reaches x_j^(d_j) through equation i, differentiated c_i times, came from x_l^(sigma_il + c_i). Within a
// block the equation that is differentiated most decides. Every way around through several blocks loses a derivative,
// so that this ends.
void find_indices(DaeStructure& s, const Signature& signature, const Matching& matching) {
  s.nu.assign(at(s.size()), 1);
  std::vector<std::size_t> block_of(at(s.size()), 0);
  for (std::size_t b = 0; b < s.blocks.size(); ++b)
    for (const int j : s.blocks[b]) block_of[at(j)] = b;
  const Pattern& p = signature.pattern;
  for (bool changed = true; changed;) {
    changed = false;
    for (std::size_t b = 0; b < s.blocks.size(); ++b) {
      int reach = 0;  // of nu_j + d_j - 1
      for (const int j : s.blocks[b]) {
        const int i = matching.row_of_column[at(j)];
        reach = std::max(reach, s.c[at(i)]);
        for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
          if (const int l = p.column[at(k)]; block_of[at(l)] != b)
            reach = std::max(reach, s.nu[at(l)] - 1 + signature.order[at(k)] + s.c[at(i)]);
      }
      for (const int j : s.blocks[b]) {
        const int nu = std::max(s.nu[at(j)], 1 + reach - s.d[at(j)]);
        changed = changed || nu != s.nu[at(j)];
        s.nu[at(j)] = nu;
      }
    }
  }
}

void find_differential(DaeStructure& s, const SymbolicSystem& system) {
  const Equations& eq = system.equations();
  s.differential.assign(at(s.size()), 0);
  for (const int j : jacobian(s.jet.graph(), eq.residual, eq.z).column) s.differential[at(j)] = 1;
}

// F as it is solved directly: with combinations in the place of equations, where these contain x and x' only. Then rows
// are known by their own order; in F itself the rows that depend on each other would have to be scaled together.
void find_direct_rows(DaeStructure& s, const SymbolicSystem& system, const State* point) {
  const Equations& eq = system.equations();
  std::vector<Node> higher;
  for (std::size_t k = 0; k < s.jet.variables().size(); ++k)
    if (s.jet.places()[k].order > 1) higher.push_back(s.jet.variables()[k]);
  const std::vector<char> depends = dependence(s.jet.graph(), higher);
  const bool usable = std::none_of(s.equations.begin(), s.equations.end(), [&](Node n) { return depends[at(n)] != 0; });
  s.direct = usable ? s.equations : eq.residual;
  const Signature signature = signature_of(s.jet, s.direct, point, usable && !s.combinations.empty());
  s.row_order.assign(at(s.size()), 0);
  for (std::size_t i = 0; i < at(s.size()); ++i)
    for (auto k = at(signature.pattern.row_start[i]); k < at(signature.pattern.row_start[i + 1]); ++k)
      s.row_order[i] = std::max(s.row_order[i], signature.order[k] + s.nu[at(signature.pattern.column[k])] - 1);
}

// The nearest fraction with a small denominator, where there is one at round-off distance.
double rounded(double x) {
  for (int q = 1; q <= 12; ++q)
    if (const double p = std::round(x * q); std::abs(x * q - p) < 1e-10 * q) return p / q;
  return x;
}

// u^T J = 0 at all points with the same u: the coefficients, or nothing.
std::vector<double> constant_dependence(const std::vector<Eigen::MatrixXd>& j) {
  for (const Eigen::VectorXd& u : left_kernel(j[0])) {
    Eigen::VectorXd v = u;
    for (auto& x : v) x = std::abs(x) < 1e-9 ? 0.0 : rounded(x);
    const auto vanishes = [&](const Eigen::MatrixXd& m) {
      const Eigen::RowVectorXd sum = v.transpose() * m, size = v.cwiseAbs().transpose() * m.cwiseAbs();
      return (sum.array().abs() <= 1e-9 * size.array()).all();
    };
    if (std::all_of(j.begin(), j.end(), vanishes)) return {v.begin(), v.end()};
  }
  return {};
}

// sum_i u_i F_i^(c_i - c_chosen) in the place of the chosen equation.
void combine(DaeStructure& s, int chosen, const std::vector<std::pair<int, Node>>& u) {
  Graph& graph = s.jet.graph();
  Node sum = graph.constant(0);
  std::string text;
  for (const auto& [i, factor] : u) {
    Node f = s.equations[at(i)];
    for (int k = s.c[at(chosen)]; k < s.c[at(i)]; ++k) f = s.jet.total_derivatives(std::span(&f, 1))[0];
    sum = graph.add(sum, graph.multiply(factor, f));
    const std::string number = graph.is_constant(factor) ? fmt::format("{:g}", graph.value(factor))
                                                         : fmt::format("({})", to_text(graph, factor, 40));
    text += fmt::format("{}{} * ({}{})", text.empty() ? "" : " + ", number, s.names[at(i)],
                        std::string(at(s.c[at(i)] - s.c[at(chosen)]), '\''));
  }
  s.combinations.push_back(text);
  s.equations[at(chosen)] = sum;
  s.names[at(chosen)] = fmt::format("[{}]", text.size() > 100 ? text.substr(0, 97) + "..." : text);
}

void combine(DaeStructure& s, const std::vector<double>& u) {
  int chosen = -1;
  for (int i = 0; i < s.size(); ++i)
    if (u[at(i)] != 0 && (chosen < 0 || s.c[at(i)] < s.c[at(chosen)])) chosen = i;
  std::vector<std::pair<int, Node>> factors;
  for (int i = 0; i < s.size(); ++i)
    if (u[at(i)] != 0) factors.emplace_back(i, s.jet.graph().constant(u[at(i)]));
  combine(s, chosen, factors);
}

// Combinations whose coefficients depend on t and the unknowns. They must not contain the x_j^(d_j - c) that are to
// cancel, c being that of the equation which is replaced; numbers are put in the place of these then.
class CombinedRows {
 public:
  CombinedRows(DaeStructure& s, const std::vector<std::vector<double>>& points)
      : s_(s), graph_(s.jet.graph()), points_(points), places_(s.jet.places()), variables_(s.jet.variables()) {}

  bool combine(const SystemJacobian& j, std::vector<Eigen::MatrixXd> values, const Signature& signature) {
    for (Eigen::MatrixXd& m : values) m = m.cwiseProduct(entries_of(signature));
    std::vector<std::vector<Node>> cancels;
    for (int i = 0; i < s_.size(); ++i) cancels.push_back(highest(i));
    const DependentRow found =
        find_dependent_row(graph_, {j.pattern(), j.entries(), values}, s_.c, cancels,
                           [&](DependentRow& row) { return make_free_of(cancels[at(row.row)], row); });
    if (found.row < 0) return false;
    std::vector<std::pair<int, Node>> u{{found.row, graph_.constant(1)}};
    u.insert(u.end(), found.others.begin(), found.others.end());
    hinge::combine(s_, found.row, u);
    Node& sum = s_.equations[at(found.row)];
    sum = with_numbers({sum}, cancels[at(found.row)])[0];
    return true;
  }

 private:
  // 1 where the signature has an entry of J: what has cancelled in an earlier combination is rounding.
  Eigen::MatrixXd entries_of(const Signature& signature) const {
    Eigen::MatrixXd m = Eigen::MatrixXd::Zero(s_.size(), s_.size());
    for (int i = 0; i < s_.size(); ++i)
      for (auto k = at(signature.pattern.row_start[at(i)]); k < at(signature.pattern.row_start[at(i) + 1]); ++k)
        if (const int j = signature.pattern.column[k]; signature.order[k] == s_.d[at(j)] - s_.c[at(i)]) m(i, j) = 1;
    return m;
  }
  std::vector<Node> highest(int row) const {
    std::vector<Node> list;
    for (std::size_t k = 0; k < places_.size(); ++k)
      if (places_[k].order >= s_.d[at(places_[k].unknown)] - s_.c[at(row)]) list.push_back(variables_[k]);
    return list;
  }
  std::vector<Node> with_numbers(const std::vector<Node>& functions, const std::vector<Node>& replaced) {
    std::vector<Node> numbers;
    for (std::size_t k = 0, next = 0; k < variables_.size() && next < replaced.size(); ++k)
      if (variables_[k] == replaced[next]) numbers.push_back(graph_.constant(points_[0][k])), ++next;
    return substitute(graph_, functions, replaced, numbers, graph_);
  }
  bool make_free_of(const std::vector<Node>& variables, DependentRow& row) {
    std::vector<Node> u;
    for (const auto& [i, factor] : row.others) u.push_back(factor);
    const SparseExpressions by = jacobian(graph_, u, variables);
    std::vector<Node> functions = u;
    functions.insert(functions.end(), by.entries.begin(), by.entries.end());
    const std::vector<Node> blocks[] = {{s_.jet.t()}, variables_};
    const auto tape = make_tape(graph_, blocks, functions);
    std::vector<double> scratch = tape->make_scratch(), out(functions.size());
    for (const std::vector<double>& x : points_) {
      constexpr double t = 0.3;  // as good as any
      const double* const inputs[] = {&t, x.data()};
      tape->evaluate(inputs, scratch.data(), out.data());
      for (std::size_t i = 0; i < u.size(); ++i)
        for (auto k = u.size() + at(by.row_start[i]); k < u.size() + at(by.row_start[i + 1]); ++k)
          if (!(std::abs(out[k]) <= 1e-9 * std::abs(out[i]))) return false;
    }
    u = with_numbers(u, variables);
    for (std::size_t k = 0; k < u.size(); ++k) row.others[k].second = u[k];
    return true;
  }

  DaeStructure& s_;
  Graph& graph_;
  const std::vector<std::vector<double>>& points_;
  const std::vector<Jet::Place> places_;  // as they are at the points: combining makes more
  const std::vector<Node> variables_;
};

// Equations as they stand, not differentiated, in which the highest derivatives of all unknowns cancel: the constraints
// among them, in the end, with simple coefficients. One equation fewer contains them each time, so that this ends, too.
bool combine_derivatives(DaeStructure& s, const Signature& signature, const State* point) {
  constexpr int nowhere = 1000;  // unknowns without derivatives have no column
  s.c.assign(at(s.size()), 0);
  s.d.assign(at(s.size()), 0);
  for (std::size_t k = 0; k < signature.order.size(); ++k) {
    int& d = s.d[at(signature.pattern.column[k])];
    d = std::max(d, signature.order[k]);
  }
  for (int& d : s.d)
    if (d == 0) d = nowhere;
  const SystemJacobian j(s.jet, s.equations, s.c, s.d);
  std::vector<Eigen::MatrixXd> values;
  std::vector<std::vector<double>> points;
  return !j.is_regular(point, values, points) && !points.empty() &&
         CombinedRows(s, points).combine(j, values, signature);
}

// Which equations and unknowns a singular J is about.
std::string describe_kernel(const DaeStructure& s, const Eigen::MatrixXd& j) {
  const auto members = [](const std::vector<Eigen::VectorXd>& kernel) {
    std::vector<int> list;
    if (!kernel.empty())
      for (Eigen::Index i = 0; i < kernel[0].size(); ++i)
        if (std::abs(kernel[0][i]) > 1e-6) list.push_back(static_cast<int>(i));
    return list;
  };
  return fmt::format(
      "the highest derivatives of the equations {} depend on each other, and the unknowns {} are not "
      "determined by them",
      s.equation_list(members(left_kernel(j))), s.unknown_list(members(left_kernel(j.transpose()))));
}

}  // namespace

int DaeStructure::index() const {
  const bool algebraic = std::any_of(d.begin(), d.end(), [](int order) { return order == 0; });
  return *std::max_element(c.begin(), c.end()) + (algebraic ? 1 : 0);
}

int DaeStructure::degrees_of_freedom() const {
  int sum = 0;
  for (const int order : d) sum += order;
  for (const int order : c) sum -= order;
  return sum;
}

std::string DaeStructure::unknown_list(const std::vector<int>& unknowns, std::size_t limit) const {
  return list(unknowns, limit, [&](int j) { return jet.name(j, 0); });
}
std::string DaeStructure::equation_list(const std::vector<int>& which, std::size_t limit) const {
  return list(which, limit, [&](int i) { return names[at(i)]; });
}

namespace {

DaeStructure analyse(const SymbolicSystem& system, const State* point) {
  DaeStructure s(system);
  const Equations& eq = system.equations();
  s.equations = eq.residual;
  s.names = eq.residual_names;
  const int n = static_cast<int>(s.equations.size());
  for (int round = 0;; ++round) {
    const Signature signature = signature_of(s.jet, s.equations, point, round > 0);
    const Matching matching = maximum_matching(signature.pattern);
    if (matching.size < n) {
      if (round == 0) refuse_structure(s, signature.pattern, matching);
      throw SingularDae(
          fmt::format("the DAE is singular: the equations depend on each other, {}; remove or change one of them",
                      fmt::join(s.combinations, "; ")));
    }
    Transversal best = best_transversal(signature.pattern, signature.order);
    s.c = std::move(best.c);
    s.d = std::move(best.d);
    const SystemJacobian j(s.jet, s.equations, s.c, s.d);
    s.blocks = triangular_blocks(tight_entries(s, signature), best.matching);
    find_indices(s, signature, best.matching);
    std::vector<Eigen::MatrixXd> values;
    std::vector<std::vector<double>> points;
    s.regular = j.is_regular(point, values, points);
    s.singular.clear();
    if (s.regular || values.empty()) break;
    if (round < 4 * n) {
      if (const std::vector<double> u = constant_dependence(values); !u.empty()) {
        combine(s, u);
        continue;
      }
      const std::vector<int> c = s.c, d = s.d;
      if (combine_derivatives(s, signature, point)) continue;
      s.c = c;
      s.d = d;
      if (!points.empty() && CombinedRows(s, points).combine(j, values, signature)) continue;
    }
    s.singular = describe_kernel(s, values[0]);
    break;
  }
  find_differential(s, system);
  find_direct_rows(s, system, point);
  return s;
}

// The last analyses without a point: methods, their parts and what watches a run ask for the same one in turn.
DaeStructure analyse_once(const SymbolicSystem& system) {
  struct Known {
    const SymbolicSystem* system = nullptr;
    std::weak_ptr<const Graph> graph{};  // an address may be used again
    std::shared_ptr<const DaeStructure> found{};
  };
  static std::mutex mutex;
  static std::array<Known, 8> last;
  static std::size_t next = 0;
  std::shared_ptr<const DaeStructure> found;
  {
    const std::lock_guard hold(mutex);
    for (const Known& known : last)
      if (known.system == &system && known.graph.lock() == system.equations().graph) found = known.found;
  }
  if (!found) {
    found = std::make_shared<const DaeStructure>(analyse(system, nullptr));
    const std::lock_guard hold(mutex);
    last[next++ % last.size()] = {&system, system.equations().graph, found};
  }
  DaeStructure own = *found;
  own.jet.take_own_graph();
  return own;
}

}  // namespace

DaeStructure analyse_dae(const SymbolicSystem& system, const State* point) {
  return point ? analyse(system, point) : analyse_once(system);
}

}  // namespace hinge
