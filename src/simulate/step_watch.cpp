#include "simulate/step_watch.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "formulation/start/constraint_rank.hpp"
#include "solve/copy_few.hpp"
#include "solve/linear/dense_lu.hpp"

namespace hinge {

namespace {

using Q = Quantity;

constexpr int most_constraints = 32, most_masses = 64;  // whose determinants are watched: a cube of operations each
constexpr double large_part = 0.3;  // of all that was passed before: a change in one step that is looked at
constexpr double slow_part = 0.05;  // of the largest p . v: turns of slower motion are no matter
constexpr double much_strayed = 0.3;
constexpr double shrunk = 1e-4;  // of the longest step: constraints are looked at closely

void assign(std::vector<double>& to, const double* from, int n) {
  if (static_cast<int>(to.size()) == n)
    copy_few(from, n, to.data());
  else
    to.assign(from, from + n);
}

// All a_ik b_jk of matrices with one pattern: the place of (i, j) in the product, and of the two factors in the values.
std::vector<std::array<int, 3>> products_of_rows(const Pattern& pattern) {
  std::vector<std::array<int, 3>> all;
  const auto begin = [&](int i) { return pattern.row_start[static_cast<std::size_t>(i)]; };
  for (int i = 0; i < pattern.rows; ++i)
    for (int j = 0; j < pattern.rows; ++j)
      for (int k = begin(i); k < begin(i + 1); ++k)
        for (int l = begin(j); l < begin(j + 1); ++l)
          if (pattern.column[static_cast<std::size_t>(k)] == pattern.column[static_cast<std::size_t>(l)])
            all.push_back({i * pattern.rows + j, k, l});
  return all;
}

}  // namespace

void StepWatch::begin(const System& system, bool resolved, bool keeps_energy, Quantities& wanted) {
  *this = StepWatch();
  system_ = &system;
  known_.emplace(system);
  resolved_ = resolved;
  keeps_energy_ = keeps_energy;
  const Structure& has = system.structure();
  active_ = !has.has_contacts && has.gaps == 0 && has.pairs == 0 && !has.has_noise && !has.is_dae;
  if (!active_) return;
  wanted.insert(Q::velocity);
  wanted.insert(Q::momentum);
  const int m = system.ng(), n = system.nz();
  if (m > 0 && m <= most_constraints) {
    rows_ = system.evaluation({Q::constraint_y});
    product_.resize(static_cast<std::size_t>(m * m));
    exchange_.resize(static_cast<std::size_t>(m));
    entries_ = static_cast<int>(system.pattern(Q::constraint_y).entries());
    products_ = products_of_rows(system.pattern(Q::constraint_y));
    drift_.begin(system, products_);
  }
  if (!has.mass_is_constant && !system.is_constant(Q::momentum_z)) {
    wanted.insert(Q::momentum_z);
    watches_mass_ = true;
    const Pattern& pattern = system.pattern(Q::momentum_z);
    for (int i = 0; i < n; ++i)
      for (int k = pattern.row_start[static_cast<std::size_t>(i)];
           k < pattern.row_start[static_cast<std::size_t>(i) + 1]; ++k)
        if (pattern.column[static_cast<std::size_t>(k)] == i) diagonal_.push_back(k);
    masses_.resize(diagonal_.size());
    if (n <= most_masses) mass_solver_ = make_linear_solver(pattern, LinearAlgebra::automatic);
  }
  bodies_ = bodies_of(system);
  if (bodies_ && bodies_->dimension != 3) bodies_ = nullptr;
  ends_ = system.evaluation({Q::velocity, Q::momentum});
  rate_ = system.evaluation({Q::force, Q::reaction});
  y_range_.resize(static_cast<std::size_t>(system.ny()));
  growth_.resize(y_range_.size());
  elsewhere_.resize(y_range_.size());
  p_range_.resize(static_cast<std::size_t>(n));
}

void StepWatch::take(const State& s, const Evaluation& at, Point& out) const {
  out.state.t = s.t;
  copy_few(s.y, out.state.y);
  copy_few(s.z, out.state.z);
  copy_few(s.psi, out.state.psi);
  assign(out.v, at[Q::velocity], system_->ny());
  assign(out.p, at[Q::momentum], system_->nz());
  out.rate.clear();
}

// p' = f + r
void StepWatch::find_rate(Point& at) {
  if (!at.rate.empty()) return;
  const State& s = at.state;
  rate_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  assign(at.rate, (*rate_)[Q::force], system_->nz());
  const double* reaction = (*rate_)[Q::reaction];
  for (std::size_t i = 0; i < at.rate.size(); ++i) at.rate[i] += reaction[i];
}

void StepWatch::see(const State& state, const Evaluation& at, double h) {
  if (!active_) return;
  now_.exchange(before_);
  take(state, at, now_);
  for (const double y : state.y) size_ = std::max(size_, std::abs(y));
  suspect_ = turned_ = swings_ = false;
  if (watches_mass_) watch_mass(at[Q::momentum_z]);
  if (!first_ && h > 0) {
    ++steps_;
    if (!product_.empty()) {
      const bool due = branch_due(), short_step = resolved_ && h < shrunk * longest_;
      if (due) watch_branch();
      const BranchDrift::Rows rows{due ? checked_.G.data() : nullptr, checked_.volume.value_or(0)};
      drift_.see(state, at[Q::constraint], size_, checked_.kept, due || short_step, rows);
      longest_ = std::max(longest_, h);
    }
    if (!resolved_) watch_growth(h);
    turn_ = turned_ ? HUGE_VAL : 0;
    turned_ = velocity_turns() || bodies_turn(h) || turned_;
    const bool blow = struck();
    suspect_ = points_against(before_, now_) || (!resolved_ && (turned_ || blow || leaps(h)));
    swings_ = keeps_energy_ && !resolved_ && energy_swings(h);
  }
  if (!product_.empty() && first_)
    redundant_ = system_->nw() == 0 && !constraint_rank(*system_, state.t, state.y.data()).full();
  if (!product_.empty() && !(h > 0 && !first_)) look_at_rows();
  first_ = false;
  for (std::size_t i = 0; i < y_range_.size(); ++i) y_range_[i].take(state.y[i]);
  for (std::size_t i = 0; i < p_range_.size(); ++i) p_range_[i].take(now_.p[i]);
}

// ---- Against its own velocity -------------------------------------------------------------------------------------

bool StepWatch::points_against(Point& a, Point& b) {
  const auto contradicts = [](double change, double rate0, double rate1) {
    return rate0 * rate1 > 0 && change * rate0 < 0;
  };
  for (std::size_t i = 0; i < y_range_.size(); ++i) {
    const double change = b.state.y[i] - a.state.y[i];
    if (std::abs(change) > std::max(large_part * y_range_[i].width(), rounding * size_) &&
        contradicts(change, a.v[i], b.v[i]))
      return true;
  }
  if (system_->npsi() > 0) return false;  // multipliers of low order do not tell p' well
  double largest = 0;
  for (std::size_t i = 0; i < p_range_.size(); ++i) largest = std::max({largest, std::abs(a.p[i]), std::abs(b.p[i])});
  for (std::size_t i = 0; i < p_range_.size(); ++i) {
    const double change = b.p[i] - a.p[i];
    if (!(std::abs(change) > std::max(large_part * p_range_[i].width(), rounding * largest))) continue;
    find_rate(a);
    find_rate(b);
    if (contradicts(change, a.rate[i], b.rate[i])) return true;
  }
  return false;
}

bool StepWatch::against(const State& from, const State& to) {
  for (auto [state, point] : {std::pair(&from, &from_), std::pair(&to, &to_)}) {
    ends_->at(state->t, state->y.data(), state->z.data(), state->psi.data());
    take(*state, *ends_, *point);
  }
  return points_against(from_, to_);
}

// More than all that was passed before, and not what the velocities say.
bool StepWatch::leaps(double h) const {
  for (std::size_t i = 0; i < y_range_.size(); ++i) {
    const double change = std::abs(now_.state.y[i] - before_.state.y[i]), width = y_range_[i].width();
    if (!(change > std::max(width, rounding * size_))) continue;
    if (defect(i, h) > unresolved || (steps_ > 3 && change > 2 * width)) return true;
  }
  return false;
}

// The angle between the velocities before and after, in the metric of the masses, where both are large.
bool StepWatch::velocity_turns() {
  if (now_.v.size() != now_.p.size()) return false;
  double before = 0, now = 0, both = 0;
  for (std::size_t i = 0; i < now_.v.size(); ++i) {
    before += before_.p[i] * before_.v[i];
    now += now_.p[i] * now_.v[i];
    both += (before_.p[i] * now_.v[i] + now_.p[i] * before_.v[i]) / 2;
  }
  largest_ = std::max({largest_, before, now});
  turn_ = std::max(turn_, std::min(before, now));
  return std::min(before, now) > slow_part * largest_ && both < 0.5 * std::sqrt(before * now);
}

// Positions of bodies that spin may stay where they are.
bool StepWatch::bodies_turn(double h) {
  constexpr double far = std::numbers::pi / 3;
  if (!bodies_ || resolved_) return false;
  double turn = 0, all = 0;
  for (std::size_t k = 0; k < now_.p.size(); ++k) all += now_.p[k] * now_.state.z[k];
  for (const BodyPlace& place : bodies_->places) {
    const auto spin = static_cast<std::size_t>(place.spin);
    double square = 0, energy = 0;
    for (std::size_t k = spin; k < spin + 3; ++k) {
      square += now_.state.z[k] * now_.state.z[k];
      energy += now_.p[k] * now_.state.z[k];
    }
    if (h * h * square > far * far) turn = std::max(turn, energy);
  }
  largest_ = std::max(largest_, all);
  turn_ = std::max(turn_, turn);
  return turn > slow_part * largest_;
}

bool StepWatch::struck() {
  double largest = 0;
  for (std::size_t i = 0; i < now_.p.size(); ++i) largest = std::max(largest, std::abs(now_.p[i] - before_.p[i]));
  const bool blow = steps_ > 3 && largest > 2 * hardest_;
  hardest_ = std::max(hardest_, largest);
  return blow;
}

// h (p1' - p0') . v against p . v, and p . v itself. Those that swing most are compared, and some others.
bool StepWatch::energy_swings(double h) {
  constexpr double part = 0.3;
  constexpr int some = 100;
  find_rate(before_);
  find_rate(now_);
  double before = 0, now = 0, work = 0;
  if (now_.v.size() != now_.p.size()) return false;
  for (std::size_t i = 0; i < now_.p.size(); ++i) {
    before += before_.p[i] * before_.v[i];
    now += now_.p[i] * now_.v[i];
    work += h * (now_.rate[i] - before_.rate[i]) * (before_.v[i] + now_.v[i]) / 2;
  }
  const double most = std::max(before, now);
  if (!(most > slow_part * largest_)) return false;
  swing_ = std::max({std::abs(work), std::abs(now - before), turned_ ? most : 0.0}) / most;
  if (!(swing_ > part) || (compared_ >= some && !(swing_ > 1.5 * widest_))) return false;
  ++compared_;
  widest_ = std::max(widest_, swing_);
  return true;
}

// Positions against the way of the step, to and fro; velocities against themselves, in the metric of the masses.
void StepWatch::compare_solution(const State& end) {
  double off = 0, moved = 0, part = 0, all = 0, before = 0;
  const double half = (now_.state.t - before_.state.t) / 2;
  for (std::size_t i = 0; i < elsewhere_.size(); ++i) {
    off = std::max(off, std::abs(end.y[i] - now_.state.y[i]));
    moved = std::max({moved, std::abs(now_.state.y[i] - before_.state.y[i]), half * std::abs(before_.v[i]),
                      half * std::abs(now_.v[i])});
  }
  ends_->at(end.t, end.y.data(), end.z.data(), end.psi.data());
  for (std::size_t i = 0; i < now_.p.size(); ++i) {
    part += (now_.p[i] - (*ends_)[Q::momentum][i]) * (now_.v[i] - (*ends_)[Q::velocity][i]);
    all += now_.p[i] * now_.v[i];
    before += before_.p[i] * before_.v[i];
  }
  const double stray = std::max(off > rounding * size_ ? off / moved : 0.0, std::sqrt(std::max(part, 0.0) / all));
  Stray& most = strayed_[before == 0 ? 1 : 0];
  if (stray > std::max(much_strayed, most.part)) most = {stray, now_.state.t, all};
}

void StepWatch::compare(const State* halves) {
  double off = 0, moved = 0;
  for (std::size_t i = 0; i < elsewhere_.size(); ++i) {
    const double change = std::abs(now_.state.y[i] - before_.state.y[i]);
    const double part = halves ? std::abs(halves->y[i] - now_.state.y[i]) : change;
    if (part > elsewhere_[i]) elsewhere_[i] = part;
    off = std::max(off, part);
    moved = std::max(moved, change);
  }
  if (bodies_ && halves && turned_)  // by more than five degrees
    for (const BodyPlace& place : bodies_->places)
      for (int k = place.rotation; k < place.rotation + 4; ++k)
        if (std::abs(halves->y[static_cast<std::size_t>(k)] - now_.state.y[static_cast<std::size_t>(k)]) > 0.04)
          off = moved;
  if (!turned_ || !(off > 0.2 * moved) || (unresolved_ && !(turn_ > unresolved_turn_))) return;
  unresolved_ = now_.state.t;
  unresolved_turn_ = turn_;
}

// ---- How far a step is resolved -----------------------------------------------------------------------------------

// |y1 - y0 - h (y0' + y1')/2|, as a part of the way.
double StepWatch::defect(std::size_t i, double h) const {
  const double change = now_.state.y[i] - before_.state.y[i], v0 = before_.v[i], v1 = now_.v[i];
  const double way = std::max({h * std::abs(v0), h * std::abs(v1), std::abs(change)});
  return way > 0 ? std::abs(change - h * (v0 + v1) / 2) / way : 0;
}

// ---- Masses -------------------------------------------------------------------------------------------------------

void StepWatch::watch_mass(const double* values) {
  const bool begun = mass_sign_ != 0;
  bool changed = false;
  for (std::size_t k = 0; k < diagonal_.size(); ++k) {
    const double mass = values[diagonal_[k]];
    changed = changed || (begun && mass * masses_[k] < 0);
    masses_[k] = mass;
  }
  const int sign = mass_solver_ ? (mass_solver_->factor(values) ? mass_solver_->determinant_sign() : 0) : 1;
  changed = changed || sign * mass_sign_ < 0;
  if (changed && saddle_sign(now_.state) * saddle_sign(before_.state) <= 0)
    impossible_ = fmt::format(
        "between t = {:.9g} and t = {:.9g} a mass passes through zero (the matrix of the kinetic energy, dp/dz, "
        "changes "
        "its sign), where the equations say nothing of the motion; end the run before, or keep the mass away from zero",
        mass_time_, now_.state.t);
  if (sign != 0) mass_sign_ = sign;
  mass_time_ = now_.state.t;
}

// The sign of det [p_z H^T; H 0]: where it stays, constraints determine what the masses do not.
int StepWatch::saddle_sign(const State& s) const {
  const int n = system_->nz(), m = system_->nrates();
  if (m == 0 || n + m > most_masses) return 0;
  const auto parts = system_->evaluation({Q::momentum_z, Q::constraint_rate_z});
  parts->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  std::vector<double> matrix(static_cast<std::size_t>((n + m) * (n + m)));
  const auto entry = [&](int i, int j) -> double& { return matrix[static_cast<std::size_t>(i * (n + m) + j)]; };
  const auto fill = [&](Q q, int first, bool mirrored) {
    const Pattern& pattern = system_->pattern(q);
    for (int i = 0; i < pattern.rows; ++i)
      for (int k = pattern.row_start[static_cast<std::size_t>(i)];
           k < pattern.row_start[static_cast<std::size_t>(i) + 1]; ++k) {
        const int j = pattern.column[static_cast<std::size_t>(k)];
        entry(first + i, j) = (*parts)[q][k];
        if (mirrored) entry(j, first + i) = (*parts)[q][k];
      }
  };
  fill(Q::momentum_z, 0, false);
  fill(Q::constraint_rate_z, n, true);
  const auto solver = make_linear_solver(Pattern::dense(n + m, n + m), LinearAlgebra::dense);
  return solver->factor(matrix.data()) ? solver->determinant_sign() : 0;
}

// ---- What is said ---------------------------------------------------------------------------------------------------

void StepWatch::doubts(std::vector<Doubt>& doubts) const {
  double worst = 0;  // what is lost in the size of the whole motion is no matter
  for (std::size_t i = 0; i < elsewhere_.size(); ++i)
    if (elsewhere_[i] > rounding * size_) worst = std::max(worst, elsewhere_[i] / y_range_[i].width());
  if (worst > 0.1)
    doubts.push_back(
        {"single steps do not follow the motion (a pole was jumped over, or the step is far too long): halves "
         "of one lead elsewhere, by this part of the whole way",
         worst, "end the run before, or give a tolerance in the place of the step"});
  else if (unresolved_ && unresolved_turn_ > slow_part * largest_)
    doubts.push_back(
        {"the velocity, the constraints or a body turn by more than 60 degrees in a step, and halves of it lead "
         "elsewhere, at t",
         *unresolved_, "take a shorter step, or give a tolerance"});
  // A step from rest may go next to nowhere.
  const auto& [any, from_rest] = strayed_;
  const Stray* most = from_rest.energy > slow_part * largest_ && from_rest.part > any.part ? &from_rest : &any;
  if (most->part > 0)
    doubts.push_back({fmt::format("single steps do not follow the motion, as the one to t = {:.6g}: a solution with a "
                                  "tolerance leads elsewhere, by this part of the way or of the velocity",
                                  most->t),
                      most->part, "take a shorter step, or a method with a tolerance"});
  if (branch_)
    doubts.push_back(
        {fmt::format("the constraints were dependent within {} step{}, and the motion went on along one of "
                     "several branches, first at t",
                     branches_, branches_ == 1 ? "" : "s"),
         *branch_, "take a much shorter step, or keep away from the singular position"});
  if (!branch_) drift_.doubts(doubts);
  doubt_growth(doubts);
}

}  // namespace hinge
