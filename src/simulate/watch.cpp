#include "simulate/watch.hpp"

#include <algorithm>
#include <cmath>

namespace hinge {

namespace {

using Q = Quantity;

bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

// NaN where one of the numbers is.
double biggest(const double* x, int n) {
  double m = 0;
  for (int i = 0; i < n; ++i) m = !(std::abs(x[i]) <= m) ? std::abs(x[i]) : m;
  return m;
}

}  // namespace

void Watch::Gaps::begin(const System& system) {
  finder.reset();
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  if (!symbolic || symbolic->equations().gaps.empty()) return;
  finder = system.contact_finder();
  list.clear(finder->dimension());
  for (std::size_t k = 0; k < symbolic->equations().gaps.size(); ++k) list.key.push_back(k);
  list.count = static_cast<int>(list.key.size());
  values.resize(list.key.size());
}

int Watch::Gaps::undefined(const State& s) {
  if (!finder) return -1;
  finder->gaps(s.t, s.y.data(), list, values.data());
  const auto bad = std::find_if(values.begin(), values.end(), [](double gap) { return !std::isfinite(gap); });
  return bad == values.end() ? -1 : static_cast<int>(bad - values.begin());
}

void Watch::begin(const System& system) {
  system_ = &system;
  Quantities wanted{Q::constraint, Q::constraint_rate};
  if (system.structure().has_energy) wanted.insert(Q::energy);
  if (!momenta_.empty()) wanted.insert(Q::momentum);
  evaluation_ = system.evaluation(wanted);
  gaps_.begin(system);
  const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
  if (system.structure().is_dae && symbolic && !levels_) levels_ = std::make_unique<DaeLevels>(*symbolic);
  for (Values* values : {&looked_, &seen_, &shown_}) values->momenta.resize(momenta_.size());
  constraint_ = hidden_ = energy_error_ = discrete_energy_error_ = 0;
  first_ = true;
}

void Watch::evaluate(const State& s, Values& values) {
  evaluation_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
  if (system_->structure().has_energy) values.energy = *(*evaluation_)[Q::energy];
  for (std::size_t k = 0; k < momenta_.size(); ++k)
    values.momenta[k] = momenta_[k].motion.momentum(s.y.data(), (*evaluation_)[Q::momentum]);
}

const Watch::Values& Watch::at(const State& state) {
  evaluate(state, shown_);
  return shown_;
}

const char* Watch::see(const State& state, const Stepper* stepper) {
  if (!all_finite(state.y) || !all_finite(state.z) || !all_finite(state.psi)) return "state";
  evaluate(state, looked_);
  if (levels_) levels_->at(state);
  const double* g = (*evaluation_)[Q::constraint];
  const double residual = levels_ ? levels_->algebraic : biggest(g, system_->ng());
  const double rate = levels_ ? levels_->hidden : biggest((*evaluation_)[Q::constraint_rate], system_->ng());
  if (!std::isfinite(residual) || !std::isfinite(rate)) return "residual of the constraints";
  if (!std::isfinite(looked_.energy)) return "energy";
  if (const int gap = gaps_.undefined(state); gap >= 0) {
    undefined_gap_ = "gap " + gaps_.finder->name(static_cast<std::uint64_t>(gap));
    return undefined_gap_.c_str();
  }
  if (!all_finite(looked_.momenta)) return "momentum";
  std::swap(looked_, seen_);
  constraint_ = std::max(constraint_, residual);
  hidden_ = std::max(hidden_, rate);
  if (system_->structure().has_energy) {
    const double discrete = stepper ? stepper->discrete_energy(seen_.energy, g) : seen_.energy;
    if (first_) energy0_ = seen_.energy, discrete_energy0_ = discrete;
    energy_error_ = std::max(energy_error_, std::abs(seen_.energy - energy0_));
    discrete_energy_error_ = std::max(discrete_energy_error_, std::abs(discrete - discrete_energy0_));
  }
  for (std::size_t k = 0; k < momenta_.size(); ++k) momenta_[k].see(seen_.momenta[k], first_);
  first_ = false;
  return nullptr;
}

void Watch::report(Report& r, const Stepper* stepper) const {
  r.constraint = constraint_;
  r.hidden_constraint = hidden_;
  if (system_ && system_->structure().has_energy) {
    r.energy = seen_.energy;
    r.energy_error = energy_error_;
    if (const char* name = stepper ? stepper->discrete_energy_name() : nullptr) {
      r.discrete_energy = name;
      r.discrete_energy_error = discrete_energy_error_;
    }
  }
  for (const WatchedMomentum& m : momenta_) r.momentum_maps.push_back({m.name, m.value, m.error});
}

}  // namespace hinge
