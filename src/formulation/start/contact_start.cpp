#include "formulation/start/contact_start.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "formulation/start/start_refusals.hpp"
#include "formulation/typed_precision.hpp"
#include "hinge/contact.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"
#include "solve/linear/cholesky.hpp"
#include "solve/linear/vectors.hpp"

namespace hinge {

namespace {

using Q = Quantity;

// Rounding of typed values, relative to the lengths of the system.
constexpr double round_off = 1e-14;
constexpr int most_moves = 100;

double deepest(const ContactList& list) {
  double depth = 0;
  for (const double gap : list.gap) depth = std::isnan(gap) ? HUGE_VAL : std::max(depth, -gap);
  return depth;
}

// One step out; the contacts of the list are those nearby.
bool move_out(const System& system, Evaluation& e, const ContactList& list, State& state) {
  e.at(state.t, state.y.data(), state.z.data(), state.psi.data());
  const int d = list.dimension, m = system.ng(), nc = list.count;
  const Pattern& joints = system.pattern(Q::constraint_rate_z);
  ContactProblem p;
  p.dimension = 1;
  p.bilateral = m;
  p.mu.assign(at(nc), 0.0);
  p.M = sparse_matrix(system.pattern(Q::momentum_z), e[Q::momentum_z]);
  p.H.resize(nc + m, system.nz());
  for (int i = 0; i < nc; ++i) {
    p.H.startVec(i);
    for (int k = list.first[at(i)]; k < list.first[at(i) + 1]; ++k)
      p.H.insertBack(i, list.column[at(k)]) = list.H[at(k * d)];
  }
  for (int j = 0; j < m; ++j) {
    p.H.startVec(nc + j);
    for (int k = joints.row_start[at(j)]; k < joints.row_start[at(j) + 1]; ++k)
      p.H.insertBack(nc + j, joints.column[at(k)]) = e[Q::constraint_rate_z][k];
  }
  p.H.finalize();
  p.f = Eigen::VectorXd::Zero(system.nz());
  p.w.resize(nc + m);
  for (int i = 0; i < nc; ++i) p.w[i] = list.gap[at(i)];
  for (int j = 0; j < m; ++j) p.w[nc + j] = e[Q::constraint][j];
  ContactOptions options;
  options.tolerance = 1e-10;
  const ContactResult result = solve_contact(p, "auto", options);
  if (!(result.residual.ours < 1e-3)) return false;
  const Eigen::VectorXd w = body_velocity(p, result.r);
  system.move(state.y.data(), w.data(), 1.0, state.y.data());
  return true;
}

std::string list_of(const ContactFinder& finder, const ContactList& list, double allowed) {
  std::vector<int> order(at(list.count));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return list.gap[at(a)] < list.gap[at(b)]; });
  std::string text;
  int shown = 0, more = 0;
  for (const int i : order) {
    if (list.gap[at(i)] >= -allowed) continue;
    if (++shown <= 6)
      text += fmt::format("\n  contact {} has the gap {:.6g}", finder.name(list.key[at(i)]), list.gap[at(i)]);
    else
      ++more;
  }
  return more > 0 ? text + fmt::format("\n  and {} more", more) : text;
}

[[noreturn]] void refuse(const ContactFinder& finder, const ContactList& list, double allowed, bool bodies) {
  if (!bodies)
    throw InconsistentStart("the initial position penetrates:" + list_of(finder, list, allowed) +
                            "\n  Gaps begin at 0 or more: move the parts away from each other, or set consistent = "
                            "\"project\" in [initial] to have them moved out.");
  const auto deepest = std::min_element(list.gap.begin(), list.gap.end());
  const auto count = std::count_if(list.gap.begin(), list.gap.end(), [&](double gap) { return gap < -allowed; });
  throw InconsistentStart(fmt::format(
      "two bodies overlap at the start: {}, by {:.4g}{}; move them apart, connect them by a joint, let one of them "
      "pass "
      "through the others with collide = false, allow it with overlap in [contact], or set consistent = \"project\" in "
      "[initial] to have them moved out",
      finder.name(list.key[static_cast<std::size_t>(deepest - list.gap.begin())]), -*deepest,
      count > 1 ? fmt::format(" ({} contact points overlap in all)", count) : ""));
}

}  // namespace

State start_without_penetration(const System& system, Consistency mode, State state) {
  const auto finder = system.contact_finder();
  if (!finder) return state;
  ContactList list;
  finder->find(state.t, state.y.data(), 0.0, list);
  double size = finder->length_scale();
  if (!system.structure().has_bodies)
    for (const double y : state.y) size = std::max(size, std::abs(y));
  const BodyTable* bodies = bodies_of(system);
  const double depth = deepest(list), small = (bodies ? small_overlap : typed_precision) * size;
  if (depth <= round_off * size) return state;
  if (mode == Consistency::check && bodies && depth <= bodies->overlap) return state;  // as asked for
  if (mode == Consistency::check && depth > small) refuse(*finder, list, small, bodies != nullptr);
  const auto e = system.evaluation({Q::momentum_z, Q::constraint, Q::constraint_rate_z});
  int polished = 0;
  for (int k = 0; k < most_moves; ++k) {
    // moving out leaves joints open by what is not linear in them
    e->at(state.t, state.y.data(), state.z.data(), state.psi.data());
    const double open = biggest((*e)[Q::constraint], system.ng());
    const bool out = deepest(list) <= round_off * size && position_holds(system, state.t, state.y);
    if (out && (open <= round_off * size || ++polished > 2)) return state;
    finder->find(state.t, state.y.data(), 2 * std::max(deepest(list), open), list);  // what might be in the way
    if (!move_out(system, *e, list, state)) break;
    finder->find(state.t, state.y.data(), 0.0, list);
  }
  if (deepest(list) <= typed_precision * size) return state;
  throw InconsistentStart("the initial position penetrates, and no way out was found:" +
                          list_of(*finder, list, typed_precision * size) + "\n  Start with gaps of 0 or more.");
}

}  // namespace hinge
