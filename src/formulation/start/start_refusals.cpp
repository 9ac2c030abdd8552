#include "formulation/start/start_refusals.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/start/constraint_rank.hpp"
#include "formulation/typed_precision.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"
#include "solve/linear/saddle_point.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/linear/spectrum.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

using Q = Quantity;
using Values = std::vector<double>;

// Violations below this, relative to |y| (or |z|) and the size of the constraint's gradient, are rounding of typed
// values and are polished away silently.
// And below this absolutely: where y or z vanish, what is left of a cancellation.
constexpr double rounding = 1e-15;

}  // namespace

std::string list_values(const std::vector<Block>& blocks, const std::vector<double>& x, std::size_t longest) {
  std::string text = "{ ";
  for (const Block& b : blocks) {
    text += fmt::format("{}{} = {}", &b == &blocks.front() ? "" : ", ", b.name, b.shape.size() == 2 ? "[" : "");
    const int width = b.shape.empty() ? 1 : b.shape.back();
    for (int k = 0; k < b.size() && text.size() < longest; ++k) {
      text += k == 0 ? "" : ", ";
      if (!b.shape.empty() && k % width == 0) text += "[";
      text += fmt::format("{}", x[at(b.first + k)] + 0.0);  // never -0
      if (!b.shape.empty() && (k + 1) % width == 0) text += "]";
    }
    if (text.size() >= longest) return text + ", ... }";
    if (b.shape.size() == 2) text += "]";
  }
  return text + " }";
}

std::string moved_values(const Layout& layout, const State& given, const State& used) {
  constexpr int most = 60;
  std::string text, furthest;
  double distance = 0;
  int count = 0;
  const auto look = [&](const Values& from, const Values& to, auto&& name) {
    const double typed = typed_precision * biggest(from) + rounding;
    for (std::size_t i = 0; i < from.size(); ++i) {
      const double change = std::abs(to[i] - from[i]);
      if (change <= typed) continue;
      const std::string one = fmt::format("{} {:.10g} -> {:.10g}", name(static_cast<int>(i)), from[i], to[i]);
      if (++count <= most) text += (text.empty() ? "" : ", ") + one;
      if (change > distance) distance = change, furthest = one;
    }
  };
  look(given.y, used.y, [&](int i) { return layout.y_name(i); });
  look(given.z, used.z, [&](int i) { return layout.z_name(i); });
  if (count > most) text += fmt::format(" and {} more, the furthest {}", count - most, furthest);
  return text;
}

namespace {

// The nearest values as lines of [initial], in the words that were used for the given ones.
std::string initial_lines(const System& system, const Start& given, const State& nearest) {
  const Layout& layout = system.layout();
  if (layout.kind == SystemKind::multibody)
    return fmt::format("\n    {}\n    {}", list_values(layout.y, nearest.y), list_values(layout.z, nearest.z));
  const bool own_words = layout.kind == SystemKind::odae || layout.kind == SystemKind::own;
  if (own_words)
    return fmt::format("\n    y = {}\n    z = {}", list_values(layout.y, nearest.y), list_values(layout.z, nearest.z));
  const bool hamiltonian = layout.kind == SystemKind::hamiltonian;
  const bool momentum = hamiltonian ? given.velocity.empty() : !given.momentum.empty();
  const auto e = system.evaluation({Q::velocity, Q::momentum});
  e->at(nearest.t, nearest.y.data(), nearest.z.data(), nearest.psi.data());
  const double* rate = (*e)[momentum ? Q::momentum : Q::velocity];
  return fmt::format("\n    position = {}\n    {} = {}", list_values(layout.y, nearest.y),
                     momentum ? "momentum" : "velocity",
                     list_values(momentum && hamiltonian ? layout.z : layout.y, {rate, rate + system.nz()}));
}

}  // namespace

bool position_holds(const System& system, double t, const Values& y) {
  // the set of ScaledRows, so that its functions are translated once
  const auto e = system.evaluation({Q::constraint, Q::constraint_y, Q::velocity_z, Q::momentum_z});
  const Values zero(at(std::max({system.nz(), system.npsi(), 1})), 0.0);
  e->at(t, y.data(), zero.data(), zero.data());
  const Pattern& p = system.pattern(Q::constraint_y);
  for (int i = 0; i < system.ng(); ++i) {
    double sum = 0, size = 0;  // of what the row is a function of
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) {
      sum += std::abs((*e)[Q::constraint_y][k]);
      size = std::max(size, std::abs(y[at(p.column[at(k)])]));
    }
    if (!(std::abs((*e)[Q::constraint][i]) <= sum * (typed_precision * size + rounding))) return false;
  }
  return true;
}

std::vector<StartCheck::Violation> violations(const System& system, double t, const Values& y, const Values& z) {
  const auto e = system.evaluation(
      {Q::constraint, Q::constraint_y, Q::constraint_rate, Q::constraint_rate_z, Q::constraint_rate_y});
  const Values psi(at(std::max(system.npsi(), 1)), 0.0);
  e->at(t, y.data(), z.data(), psi.data());
  const double y_size = biggest(y), z_size = biggest(z);
  const auto row_size = [&](Quantity q, int i, double x) {
    const Pattern& p = system.pattern(q);
    double sum = 0;
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) sum += std::abs((*e)[q][k]);
    return sum * x;
  };
  std::vector<StartCheck::Violation> found;
  for (int i = 0; i < system.ng(); ++i) {
    const double g = std::abs((*e)[Q::constraint][i]);
    if (!(g <= row_size(Q::constraint_y, i, typed_precision * y_size + rounding))) found.push_back({i, false, g});
  }
  for (int i = 0; i < system.nrates(); ++i) {
    const double g = std::abs((*e)[Q::constraint_rate][i]);
    const double tolerated = row_size(Q::constraint_rate_z, i, typed_precision * z_size + rounding) +
                             row_size(Q::constraint_rate_y, i, typed_precision * y_size);
    if (!(g <= tolerated)) found.push_back({i, true, g});
  }
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
    return a.velocity_level != b.velocity_level ? b.velocity_level : a.amount > b.amount;
  });
  return found;
}

bool velocity_holds(const System& system, double t, const Values& y, const Values& z) {
  for (const StartCheck::Violation& v : violations(system, t, y, z))
    if (v.velocity_level) return false;
  return true;
}

void refuse_assembly(const System& system, const Closing& closing, bool fixed) {
  throw InconsistentStart(
      fmt::format("no position was found where all constraints hold{}. What comes nearest: {}; {}",
                  fixed ? " with these coordinates fixed" : "", closing.describe(system.layout()),
                  fixed ? "fix fewer of them, give a better guess, or see whether the lengths allow it"
                        : "give a better guess, or see whether the lengths allow it"));
}

void refuse_unclosed(const System& system, double t, const State& state) {
  std::string text;
  int count = 0;
  for (const StartCheck::Violation& v : violations(system, t, state.y, state.z))
    if (!v.velocity_level && ++count <= 6)
      text +=
          fmt::format("\n  constraint {} is off by {:.6g}", system.layout().constraints[at(v.constraint)], v.amount);
  if (count > 6) text += fmt::format("\n  and {} more", count - 6);
  throw InconsistentStart(
      "the joints cannot be closed without penetration, or within the limits of the joints; where they come nearest to "
      "it:" +
      text + "\n  Give other positions or lengths, or wider limits.");
}

// Equations that are no numbers at the start: a root of a negative number, a division by zero.
void refuse_undefined(const System& system, double t, const Values& y, const Values& z, const Values& psi) {
  const bool energy = system.structure().has_energy;
  const auto e = energy ? system.evaluation({Q::constraint, Q::constraint_y, Q::constraint_rate, Q::constraint_rate_z,
                                             Q::velocity, Q::momentum, Q::momentum_z, Q::force, Q::energy})
                        : system.evaluation({Q::constraint, Q::constraint_y, Q::constraint_rate, Q::constraint_rate_z,
                                             Q::velocity, Q::momentum, Q::momentum_z, Q::force});
  e->at(t, y.data(), z.data(), psi.data());
  const Layout& layout = system.layout();
  const auto fail = [](const std::string& what, double x) {
    throw InputError(
        fmt::format("{} is {} at the initial values; start elsewhere, or change the expressions so that they "
                    "are defined there",
                    what, std::isnan(x) ? "not a number" : "infinite"));
  };
  const auto look = [&](Quantity q, const auto& name) {
    const Pattern& p = system.pattern(q);
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
        if (!std::isfinite((*e)[q][k])) fail(name(i), (*e)[q][k]);
  };
  const auto constraint = [&](int i) { return "constraint " + layout.constraints[at(i)]; };
  for (int i = 0; i < system.ng(); ++i)
    if (const double g = (*e)[Q::constraint][i]; !std::isfinite(g)) fail(constraint(i), g);
  look(Q::constraint_y, [&](int i) { return "the gradient of " + constraint(i); });
  for (int i = system.ng(); i < system.nrates(); ++i)
    if (const double w = (*e)[Q::constraint_rate][i]; !std::isfinite(w)) fail(layout.rate_name(i), w);
  look(Q::constraint_rate_z, [&](int i) { return "the gradient of " + layout.rate_name(i); });
  look(Q::velocity, [&](int i) { return "the velocity of " + layout.y_name(i); });
  look(Q::momentum, [&](int i) { return "the momentum that belongs to " + layout.z_name(i); });
  look(Q::momentum_z, [&](int i) { return "the mass that belongs to " + layout.z_name(i); });
  look(Q::force, [&](int i) { return "the force that changes " + layout.z_name(i); });
  if (energy && !std::isfinite(*(*e)[Q::energy])) fail("the energy", *(*e)[Q::energy]);
}

void refuse_singular_mass(const System& system, double t, const Values& y, const Values& z, const Values& psi) {
  // the set that project_velocity() asks for, so that its functions are translated once
  const auto e = system.evaluation({Q::constraint_rate, Q::momentum_z, Q::reaction_psi, Q::constraint_rate_z});
  e->at(t, y.data(), z.data(), psi.data());
  SaddlePoint saddle(system.pattern(Q::momentum_z), system.pattern(Q::reaction_psi),
                     system.pattern(Q::constraint_rate_z), LinearAlgebra::automatic);
  if (saddle.factor((*e)[Q::momentum_z], (*e)[Q::reaction_psi], 1.0, (*e)[Q::constraint_rate_z])) return;
  const auto mass = make_linear_solver(system.pattern(Q::momentum_z), LinearAlgebra::automatic);
  if (!system.structure().has_mass_metric && mass->factor((*e)[Q::momentum_z]))
    throw InputError(
        "the reaction cannot keep the constraints: G v_z p_z^-1 r_psi is singular at the initial values; every "
        "constraint "
        "needs a multiplier in r that changes its velocity g_y v");
  // a coordinate whose row of the mass matrix is empty is the likely culprit; else name the smallest pivot's
  std::string culprit;
  const Pattern& p = system.pattern(Q::momentum_z);
  for (int i = 0; i < p.rows && culprit.empty(); ++i) {
    double row = 0;
    for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) row += std::abs((*e)[Q::momentum_z][k]);
    if (row == 0) culprit = system.layout().z_name(i);
  }
  if (culprit.empty() && system.nz() <= 200) {
    Eigen::MatrixXd full = Eigen::MatrixXd::Zero(p.rows, p.rows);
    for (int i = 0; i < p.rows; ++i)
      for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k)
        full(i, p.column[at(k)]) = (*e)[Q::momentum_z][k];
    Eigen::Index where = 0;
    weakest_direction(full).cwiseAbs().maxCoeff(&where);
    culprit = system.layout().z_name(static_cast<int>(where));
  }
  throw SingularMass(fmt::format(
      "the mass matrix is singular on the motions that the constraints leave free{}; give that motion inertia (a mass "
      "in the kinetic energy), or a constraint",
      culprit.empty() ? "" : fmt::format(": nothing resists a change of {}", culprit)));
}

void refuse_redundant(const System& system, double t, const Values& y, const Values& z) {
  const ConstraintRank rank = constraint_rank(system, t, y.data(), z.data());
  if (rank.full()) return;
  const auto e = system.evaluation({Q::constraint});
  const Values zero(at(std::max({system.nz(), system.npsi(), 1})), 0.0);
  e->at(t, y.data(), zero.data(), zero.data());
  bool contradiction = false;
  for (const auto& d : rank.dependent)
    contradiction = contradiction || (d.constraint < system.ng() && std::abs((*e)[Q::constraint][d.constraint]) > 1e-8);
  throw RedundantConstraints(fmt::format(
      "the constraints are dependent at the initial position (rank {} of {}): {}. {}", rank.rank, rank.constraints,
      rank.describe(system.layout()),
      contradiction
          ? "They may contradict each other, since not all of them hold there: remove the wrong one, or start "
            "from another position"
      : system.structure().has_bodies
          ? "Give one of these joints fewer rows: in a closed chain in space whose axes are all parallel keep two "
            "joints "
            "(revolute, prismatic) on the ground, and make one end of the link between them \"universal\" (axis2 "
            "perpendicular to axis and to the link) and the other \"spherical\"; or use a model in the plane"
          : "Remove the redundant one, or start from another position if they are dependent only here"));
}

void refuse_inconsistent(const System& system, const Start& start, const StartCheck& check) {
  const Layout& layout = system.layout();
  const bool found = check.position_found && check.velocity_found;
  std::string text = "the initial values are inconsistent:";
  for (std::size_t k = 0; k < std::min<std::size_t>(check.violations.size(), 6); ++k) {
    const auto& v = check.violations[k];
    text += v.constraint < system.ng()
                ? fmt::format("\n  {} is violated on the {} level by {:.6g}", layout.rate_name(v.constraint),
                              v.velocity_level ? "velocity" : "position", v.amount)
                : fmt::format("\n  {} is violated by {:.6g}", layout.rate_name(v.constraint), v.amount);
  }
  if (check.violations.size() > 6) text += fmt::format("\n  and {} more", check.violations.size() - 6);
  if (!found) {
    text += fmt::format(
        "\n  and no consistent {} was found near the given one: give values that fit better, or see whether the "
        "constraints "
        "contradict each other",
        check.position_found ? "velocity" : "position");
    if (!check.position_found && start.position.size() == at(system.ny())) {
      const Values z(at(std::max(system.nz(), 1)), 0.0);
      text +=
          "\n  What comes nearest: " + close_constraints(system, check.nearest.t, start.position, z).describe(layout);
    }
  } else {
    text += "\n  The nearest consistent values are" + initial_lines(system, start, check.nearest);
    text +=
        layout.kind == SystemKind::multibody
            ? "\n  Change the bodies accordingly (spins are angular velocities along the axes of the body), or write "
              "[initial] consistent = \"project\" to use these values."
            : "\n  Put these into [initial], or set consistent = \"project\" there to use them.";
  }
  throw InconsistentStart(text);
}

}  // namespace hinge
