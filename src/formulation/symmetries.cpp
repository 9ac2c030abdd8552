#include "formulation/symmetries.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "expression/derivative.hpp"
#include "expression/polynomial.hpp"
#include "formulation/discrete_gradient.hpp"
#include "formulation/quadratic_function.hpp"
#include "system/symbolic.hpp"

namespace hinge {

namespace {

Motion linear_part(Motion motion) {
  std::erase_if(motion.terms, [](const Motion::Term& t) { return t.column < 0; });
  return motion;
}

// What the discrete gradients of U and all g are built on: the quadratic terms of each function in one, and the parts
// of each of its other terms.
struct Build {
  struct Item {
    std::size_t function;
    Node term;  // factor included
    std::size_t first_part, parts;
    const InvariantForm::Composed* composed;  // null for quadratic terms
  };
  std::vector<InvariantForm> forms{};
  std::vector<Item> items{};
  std::vector<Node> part_nodes{};
  std::vector<QuadraticFunction> parts{};
};

Build built_on(const ConstantMassForm& form, const std::vector<Node>& functions, std::span<const Node> chosen) {
  const Equations& eq = form.system->equations();
  Graph& graph = *form.graph;
  Build build;
  build.forms = invariant_forms(graph, functions, eq.y, chosen);
  const std::vector<InvariantForm>& forms = build.forms;
  for (std::size_t f = 0; f < forms.size(); ++f) {
    Node sum = graph.constant(0);
    for (const Node n : forms[f].quadratic) sum = graph.add(sum, n);
    build.items.push_back({f, sum, build.part_nodes.size(), 1, nullptr});
    build.part_nodes.push_back(sum);
    for (const InvariantForm::Composed& c : forms[f].composed) {
      build.items.push_back(
          {f, graph.multiply(graph.constant(c.factor), c.function), build.part_nodes.size(), c.parts.size(), &c});
      build.part_nodes.insert(build.part_nodes.end(), c.parts.begin(), c.parts.end());
    }
  }
  build.parts = quadratics(form, build.part_nodes);
  return build;
}

// Is a term a polynomial in its parts?
bool polynomial_in_parts(const Graph& graph, const InvariantForm::Composed& term) {
  std::set<Node> seen(term.parts.begin(), term.parts.end());
  std::vector<Node> stack = {term.function};
  while (!stack.empty()) {
    const Node n = stack.back();
    stack.pop_back();
    if (!seen.insert(n).second) continue;
    const Graph::Entry& e = graph[n];
    const bool sum = e.op == Op::add || e.op == Op::subtract || e.op == Op::multiply;
    const bool single = e.op == Op::negate || (e.op == Op::divide && graph.is_constant(e.b));
    if (e.op != Op::constant && !sum && !single) return false;
    if (sum || single) stack.push_back(e.a);
    if (sum) stack.push_back(e.b);
  }
  return true;
}

// Irregular numbers of many sizes, always the same, and the sizes of a sum and of its terms there.
constexpr double sizes[] = {1.0, 0.1, 10.0, 1e-2, 1e2, 1e-4, 1e4, 1e-6, 1e6, 1e-8, 1e8};
constexpr int samples = 4;  // of each size
class Numbers {
 public:
  double next() { return x_ = 3.9 * x_ * (1 - x_); }  // the logistic map
  // Positive ones in every other sample, where roots and logarithms may want them.
  void point(double size, int sample, std::vector<double>& q) {
    for (double& value : q) value = size * (sample % 2 == 0 ? 0.2 + next() : 3 * next() - 1.5);
  }

 private:
  double x_ = 0.37;
};

// Terms of one function that are not invariant by themselves may be together: is dd f.xi(mid) zero for steps of many
// sizes? Where all are polynomials in their parts, so is this, and then it is zero always.
enum class Together { kept, perhaps, lost };
Together taken_together(const ConstantMassForm& form, std::span<const Build::Item> items, const Motion& motion) {
  const Equations& eq = form.system->equations();
  InvariantForm together;
  bool polynomial = true;
  for (const Build::Item& item : items) {
    polynomial = polynomial && (!item.composed || polynomial_in_parts(*form.graph, *item.composed));
    if (item.composed)
      together.composed.push_back(*item.composed);
    else
      together.quadratic.push_back(item.term);
  }
  if (together.composed.empty()) return Together::lost;
  Graph graph;
  std::vector<Node> q0, u;
  for (int k = 0; k < form.n; ++k) q0.push_back(graph.variable("q0")), u.push_back(graph.variable("u"));
  StateIncrement step(graph, q0, u);
  const SparseExpressions dd = discrete_gradients(*form.graph, std::span(&together, 1), eq.y, step);
  const std::vector<Node> inputs[] = {q0, u};
  const auto tape = make_tape(graph, inputs, dd.entries);
  std::vector<double> scratch = tape->make_scratch(), values(dd.entries.size()), from(q0.size()), by(q0.size()),
                      xi(q0.size());
  Numbers numbers;
  for (const double size : sizes)
    for (int sample = 0; sample < samples; ++sample) {
      numbers.point(size, sample, from);
      std::vector<double> middle = from;
      for (std::size_t k = 0; k < by.size(); ++k) {
        by[k] = 0.6 * size * (numbers.next() - 0.5);
        middle[k] += by[k] / 2;
      }
      const double* const at[] = {from.data(), by.data()};
      tape->evaluate(at, scratch.data(), values.data());
      motion.at(middle.data(), xi);
      double sum = 0, terms = 0;
      for (std::size_t k = 0; k < values.size(); ++k) {
        const double term = values[k] * xi[static_cast<std::size_t>(dd.column[k])];
        sum += term;
        terms += std::abs(term);
      }
      if (!polynomial && (!std::isfinite(terms) || terms < 1e-250)) continue;
      if (!(std::abs(sum) <= (polynomial ? 10 * coefficient_rounding : 1e-9) * terms)) return Together::lost;
    }
  return polynomial ? Together::kept : Together::perhaps;
}

std::vector<Build::Item> not_invariant(const Build& build, const AffineMotion& motion) {
  std::vector<Build::Item> list;
  for (const Build::Item& item : build.items)
    for (std::size_t k = item.first_part; k < item.first_part + item.parts; ++k)
      if (!build.parts[k].invariant_under(motion)) {
        list.push_back(item);
        break;
      }
  return list;
}

// Is xi.Df = 0 for a function that is not written in invariants? Tested with numbers of many sizes. No where the
// function is flat, or not defined, at all of them: then nothing is known.
bool seems_symmetric(const ConstantMassForm& form, Node function, const Motion& motion) {
  const Equations& eq = form.system->equations();
  const std::vector<Node> slopes = gradient(*form.graph, function, eq.y);
  const std::vector<Node> inputs[] = {eq.y};
  const auto tape = make_tape(*form.graph, inputs, slopes);
  std::vector<double> scratch = tape->make_scratch(), values(slopes.size()), q(slopes.size()), xi(slopes.size());
  Numbers numbers;
  bool seen = false;
  for (const double size : sizes)
    for (int sample = 0; sample < samples; ++sample) {
      numbers.point(size, sample, q);
      const double* const at[] = {q.data()};
      tape->evaluate(at, scratch.data(), values.data());
      motion.at(q.data(), xi);
      double sum = 0, terms = 0;
      for (std::size_t k = 0; k < xi.size(); ++k) {
        sum += values[k] * xi[k];
        terms += std::abs(values[k] * xi[k]);
      }
      if (!std::isfinite(terms) || terms < 1e-250) continue;
      if (std::abs(sum) > 1e-7 * terms) return false;
      seen = true;
    }
  return seen;
}

// Do forces that no potential has leave the momentum of a motion as it is, Q.xi = 0?
bool forces_leave(const ConstantMassForm& form, const Motion& motion) {
  if (!form.has_forces) return true;
  const Equations& eq = form.system->equations();
  const std::vector<Node> inputs[] = {{eq.t}, eq.y, eq.z};
  const auto tape = make_tape(*form.graph, inputs, eq.applied);
  const std::size_t n = eq.y.size();
  std::vector<double> scratch = tape->make_scratch(), force(n), q(n), z(n), xi(n);
  Numbers numbers;
  for (const double size : sizes)
    for (int sample = 0; sample < samples; ++sample) {
      const double t = 0.37 * (sample + 1);
      numbers.point(size, sample, q);
      numbers.point(size, sample, z);
      const double* const at[] = {&t, q.data(), z.data()};
      tape->evaluate(at, scratch.data(), force.data());
      motion.at(q.data(), xi);
      double sum = 0, terms = 0;
      for (std::size_t k = 0; k < n; ++k) {
        sum += force[k] * xi[k];
        terms += std::abs(force[k] * xi[k]);
      }
      if (std::isfinite(terms) && std::abs(sum) > 1e-7 * terms) return false;
    }
  return true;
}

struct NamedMotion {
  std::string momentum, written_in;
  Motion motion;
};

std::vector<NamedMotion> motions_of(const Layout& layout) {
  const std::vector<PointPlace> points = points_of(layout);
  if (points.empty()) return {};
  const bool plane = std::none_of(points.begin(), points.end(), [](const PointPlace& p) { return p.width == 3; });
  std::vector<NamedMotion> list;
  for (int k = plane ? 2 : 0; k < 3; ++k) {
    std::vector<double> axis(3, 0.0);
    axis[static_cast<std::size_t>(k)] = 1;
    list.push_back({plane ? std::string("angular momentum") : fmt::format("angular momentum about e{}", k + 1),
                    "inner products", rotation(points, axis, {0, 0, 0})});
  }
  for (int k = 0; k < (plane ? 2 : 3); ++k) {
    std::vector<double> direction(3, 0.0);
    direction[static_cast<std::size_t>(k)] = 1;
    Motion shift = translation(points, direction);
    if (!shift.terms.empty())
      list.push_back({fmt::format("linear momentum along e{}", k + 1), "differences of positions", std::move(shift)});
  }
  return list;
}

std::vector<Node> functions_of(const ConstantMassForm& form) {
  const Equations& eq = form.system->equations();
  std::vector<Node> functions = {form.potential};
  functions.insert(functions.end(), eq.g.begin(), eq.g.end());
  return functions;
}

std::string owner_of(const ConstantMassForm& form, std::size_t function) {
  return function == 0 ? "the potential" : "constraint " + form.system->layout().constraints[function - 1];
}

}  // namespace

ConservedMomenta conserved_momenta(const ConstantMassForm& form, bool only_quadratic) {
  const std::vector<NamedMotion> motions = motions_of(form.system->layout());
  ConservedMomenta result;
  if (motions.empty()) return result;
  const Equations& eq = form.system->equations();
  Graph& graph = *form.graph;
  const std::vector<Node> functions = functions_of(form);
  const Build build = built_on(form, functions, eq.invariants);
  const QuadraticFunction kinetic = kinetic_energy(form);
  const bool all_quadratic = build.items.size() == functions.size();
  std::optional<Build> recognised;  // without the invariants that the user has chosen
  for (const NamedMotion& m : motions) {
    if (!kinetic.invariant_under(AffineMotion(linear_part(m.motion), form.n))) continue;
    if (!forces_leave(form, m.motion)) continue;
    const AffineMotion motion(m.motion, form.n);
    const std::vector<Build::Item> unsuitable = not_invariant(build, motion);
    if (unsuitable.empty()) {
      if (!only_quadratic || all_quadratic)
        result.kept.push_back(m.momentum);
      else
        result.lost.push_back({m.momentum, "the general derivative is not built on invariants"});
      continue;
    }
    // The system may be symmetric all the same, and even the scheme: where what remains of each function is.
    bool symmetric = true;
    Together together = only_quadratic ? Together::lost : Together::kept;
    for (std::size_t k = 0; symmetric && k < unsuitable.size();) {
      const std::size_t first = k, f = unsuitable[k].function;
      Node rest = graph.constant(0);
      for (; k < unsuitable.size() && unsuitable[k].function == f; ++k) rest = graph.add(rest, unsuitable[k].term);
      symmetric = seems_symmetric(form, rest, m.motion);
      if (symmetric && together != Together::lost)
        together = std::max(together, taken_together(form, std::span(unsuitable).subspan(first, k - first), m.motion));
    }
    if (!symmetric) continue;
    if (together == Together::kept) result.kept.push_back(m.momentum);
    if (together != Together::lost) continue;
    if (!eq.invariants.empty()) {
      if (!recognised) recognised = built_on(form, functions, {});
      if (not_invariant(*recognised, motion).empty()) {
        result.lost.push_back({m.momentum,
                               "the invariants that are given do not share this symmetry; without them it "
                               "would be kept"});
        continue;
      }
    }
    const auto composed = std::find_if(unsuitable.begin(), unsuitable.end(),
                                       [](const Build::Item& item) { return item.composed != nullptr; });
    const Build::Item& culprit = composed == unsuitable.end() ? unsuitable.front() : *composed;
    result.lost.push_back(
        {m.momentum, fmt::format("the term {} of {} is not a function of {}", to_text(graph, culprit.term, 60),
                                 owner_of(form, culprit.function), m.written_in)});
  }
  return result;
}

std::vector<std::string> invariants_text(const ConstantMassForm& form) {
  const Equations& eq = form.system->equations();
  const std::vector<InvariantForm> forms = invariant_forms(*form.graph, functions_of(form), eq.y, eq.invariants);
  std::vector<std::string> lines;
  std::size_t plain = 0;
  for (std::size_t f = 0; f < forms.size(); ++f) {
    std::string list;
    std::set<Node> seen;
    for (const InvariantForm::Composed& term : forms[f].composed)
      for (const Node part : term.parts)
        if (seen.insert(part).second) list += (list.empty() ? "" : ", ") + to_text(*form.graph, part, 60);
    if (list.empty())
      ++plain;
    else
      lines.push_back(fmt::format("{} is built on {}", owner_of(form, f), list));
  }
  if (plain == forms.size())
    lines.emplace_back("the potential and the constraints are at most quadratic");
  else if (plain > 0)
    lines.emplace_back("the rest is at most quadratic");
  return lines;
}

std::vector<std::string> unused_invariants(const ConstantMassForm& form) {
  const Equations& eq = form.system->equations();
  std::vector<std::string> unused;
  for (const Node n : eq.invariants) {
    const std::vector<char> contains = dependence(*form.graph, std::span(&n, 1));
    bool used = contains[static_cast<std::size_t>(form.potential)] != 0;
    for (const Node g : eq.g) used = used || contains[static_cast<std::size_t>(g)];
    if (!used) unused.push_back(to_text(*form.graph, n, 60));
  }
  return unused;
}

}  // namespace hinge
