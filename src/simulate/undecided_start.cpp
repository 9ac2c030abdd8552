#include "simulate/undecided_start.hpp"

#include <algorithm>
#include <cmath>

#include "expression/branches.hpp"
#include "expression/derivative.hpp"
#include "formulation/acceleration.hpp"
#include "simulate/state_functions.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_operations = 4000;  // of forces that are looked at
constexpr double side = 1e-7;                  // how far a side is looked at, of a speed or position of 1
constexpr double close = 1e-13;                // a root function is zero, of its arguments

struct Roots {
  StateFunctions values, by_y, by_z, by_t;
  SparseExpressions y, z, t;
};

Roots roots_of(const SymbolicSystem& system) {
  const Equations& eq = system.equations();
  std::vector<Node> cone = cone_of(*eq.graph, eq.f);
  const auto branches = [&](Node n) { return Branches::is_branch((*eq.graph)[n].op); };
  if (cone.size() > most_operations || std::none_of(cone.begin(), cone.end(), branches)) return {};
  const Branches taken(*eq.graph, eq.f, eq.t);
  Graph graph = taken.graph();
  std::vector<Node> roots;
  for (std::size_t k = 0; k < taken.size(); ++k)
    if (taken.moves(k) && !taken.table(k)) roots.push_back(taken.roots()[k]);
  if (roots.empty()) return {};
  Roots r;
  r.y = jacobian(graph, roots, eq.y);
  r.z = jacobian(graph, roots, eq.z);
  r.t = jacobian(graph, roots, std::vector<Node>{eq.t});
  r.values = StateFunctions(system, graph, roots);
  r.by_y = StateFunctions(system, graph, r.y.entries);
  r.by_z = StateFunctions(system, graph, r.z.entries);
  r.by_t = StateFunctions(system, graph, r.t.entries);
  return r;
}

std::vector<double> row(const SparseExpressions& pattern, const std::vector<double>& values, std::size_t k) {
  std::vector<double> out(at(pattern.columns), 0.0);
  for (auto e = at(pattern.row_start[k]); e < at(pattern.row_start[k + 1]); ++e) out[at(pattern.column[e])] = values[e];
  return out;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) sum += a[i] * b[i];
  return sum;
}

/// Does anything that root k depends on, by its form, move?
bool moves(const SparseExpressions& y, const std::vector<double>& v, std::size_t k) {
  for (auto e = at(y.row_start[k]); e < at(y.row_start[k + 1]); ++e)
    if (v[at(y.column[e])] != 0) return true;
  return false;
}

double largest(const std::vector<double>& a) {
  double most = 0;
  for (const double x : a) most = std::max(most, std::abs(x));
  return most;
}

}  // namespace

std::optional<Doubt> doubt_undecided(const System& system, const State& state) {
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  const Structure& has = system.structure();
  if (!symbolic || has.is_dae || has.has_contacts || has.gaps > 0 || has.pairs > 0 || has.has_noise) return {};
  Roots roots = roots_of(*symbolic);
  if (roots.values.size() == 0) return {};
  Acceleration acceleration(std::shared_ptr<const System>(std::shared_ptr<void>(), &system));
  std::vector<double> v(state.y.size()), a(state.z.size()), psi = state.psi;
  const auto rates = [&](const State& s) {
    psi = state.psi;
    return acceleration.compute(s.t, s.y.data(), s.z.data(), psi.data(), v.data(), a.data());
  };
  const std::vector<double> values = roots.values.at(state), by_y = roots.by_y.at(state), by_z = roots.by_z.at(state),
                            by_t = roots.by_t.at(state);
  for (std::size_t k = 0; k < values.size(); ++k) {
    const std::vector<double> gy = row(roots.y, by_y, k), gz = row(roots.z, by_z, k);
    const double size = product(gy, gy) * product(state.y, state.y) + product(gz, gz) * product(state.z, state.z);
    if (!(std::abs(values[k]) <= close * std::sqrt(size))) continue;
    const bool by_speed = largest(gz) > 0, by_time = roots.t.row_start[k + 1] > roots.t.row_start[k];
    if (!by_speed && (!has.velocity_is_z || by_time)) continue;
    const double r_t = by_time ? by_t[at(roots.t.row_start[k])] : 0;
    const std::vector<double>& g = by_speed ? gz : gy;
    if (!(largest(g) > 0) || !std::isfinite(largest(g))) continue;
    // on both sides, at two distances: what jumps is the same at both
    double rate[2][2];
    bool known = true;
    for (int far = 0; far < 2 && known; ++far)
      for (int up = 0; up < 2 && known; ++up) {
        State s = state;
        std::vector<double>& moved = by_speed ? s.z : s.y;
        const double step = (up ? 1 : -1) * side * (far ? 1 : 1e-3) / std::sqrt(product(g, g));
        for (std::size_t i = 0; i < moved.size(); ++i) moved[i] += step * g[i] / std::sqrt(product(g, g));
        known = rates(s);
        if (known && !by_speed && moves(roots.y, v, k)) known = false;
        rate[far][up] = by_speed ? r_t + product(gy, v) + product(gz, a) : product(gy, a);
      }
    if (!known) continue;
    const double jump = rate[0][1] - rate[0][0];
    const bool parts = rate[0][1] > 0.01 * jump && rate[0][0] < -0.01 * jump && jump > 0;
    if (!parts || !(std::abs(rate[1][1] - rate[1][0] - jump) < 1e-3 * jump)) continue;
    return Doubt{
        "the motion starts on a jump of a force that drives it away on both sides (as k*sign(speed) does at "
        "rest), and rounding or the method decides which; accelerations there differ by",
        jump, "start a little off it, or give the force one value there"};
  }
  return {};
}

}  // namespace hinge
