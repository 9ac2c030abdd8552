#include "formulation/implicit/dae_structure.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include <fmt/format.h>
#include <Eigen/Dense>

#include "formulation/implicit/system_jacobian.hpp"

namespace hinge {

namespace {

std::size_t at(int i) { return static_cast<std::size_t>(i); }

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

void combine(DaeStructure& s, const std::vector<double>& u) {
  int chosen = -1;
  for (int i = 0; i < s.size(); ++i)
    if (u[at(i)] != 0 && (chosen < 0 || s.c[at(i)] < s.c[at(chosen)])) chosen = i;
  Graph& graph = s.jet.graph();
  Node sum = graph.constant(0);
  std::string text;
  for (int i = 0; i < s.size(); ++i) {
    if (u[at(i)] == 0) continue;
    Node f = s.equations[at(i)];
    for (int k = s.c[at(chosen)]; k < s.c[at(i)]; ++k) f = s.jet.total_derivatives(std::span(&f, 1))[0];
    sum = graph.add(sum, graph.multiply(graph.constant(u[at(i)]), f));
    text += fmt::format("{}{:g} * ({}{})", text.empty() ? "" : " + ", u[at(i)], s.names[at(i)],
                        std::string(at(s.c[at(i)] - s.c[at(chosen)]), '\''));
  }
  s.combinations.push_back(text);
  s.equations[at(chosen)] = sum;
  s.names[at(chosen)] = fmt::format("[{}]", text.size() > 100 ? text.substr(0, 97) + "..." : text);
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

DaeStructure analyse_dae(const SymbolicSystem& system, const State* point) {
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
    s.regular = j.is_regular(point, values);
    s.singular.clear();
    if (s.regular || values.empty()) break;
    if (const std::vector<double> u = constant_dependence(values); !u.empty() && round < 4 * n) {
      combine(s, u);
      continue;
    }
    s.singular = describe_kernel(s, values[0]);
    break;
  }
  find_differential(s, system);
  find_direct_rows(s, system, point);
  return s;
}

}  // namespace hinge
