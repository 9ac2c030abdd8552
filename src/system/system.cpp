// The System interface for users' own compiled equations: what they do not give is filled in here, derivatives by
// differences of sixth order,  f'(x) = (45 (f1 - f-1) - 9 (f2 - f-2) + (f3 - f-3)) / (60 d),  d ~ eps^(1/7).
#include "hinge/system.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "hinge/error.hpp"

namespace hinge {

int Block::size() const {
  int n = 1;
  for (const int extent : shape) n *= extent;
  return n;
}

std::string Block::entry_name(int k) const {
  if (shape.empty()) return name;
  if (shape.size() == 1) return fmt::format("{}[{}]", name, k);
  return fmt::format("{}[{}][{}]", name, k / shape[1], k % shape[1]);
}

namespace {

std::string name_in(const std::vector<Block>& blocks, int k) {
  for (const Block& b : blocks)
    if (k >= b.first && k < b.first + b.size()) return b.entry_name(k - b.first);
  return fmt::format("[{}]", k);
}

}  // namespace

std::string Layout::y_name(int k) const { return name_in(y, k); }
std::string Layout::z_name(int k) const { return name_in(z, k); }

System::System(Layout layout) : layout_(std::move(layout)) {}

void System::move(const double* y, const double* z, double h, double* out) const {
  for (int i = 0; i < ny(); ++i) out[i] = y[i] + h * z[i];
}

void System::velocity(double, const double*, const double* z, double* out) const { std::copy_n(z, ny(), out); }
void System::momentum(double, const double*, const double* z, double* out) const { std::copy_n(z, nz(), out); }
void System::force(double, const double*, const double*, double* out) const { std::fill_n(out, nz(), 0.0); }
void System::constraint(double, const double*, double* out) const { std::fill_n(out, ng(), 0.0); }
double System::energy(double, const double*, const double*) const { return 0; }
bool System::derivative(Quantity, double, const double*, const double*, const double*, double*) const { return false; }

void System::reaction(double t, const double* y, const double* z, const double* psi, double* out) const {
  const auto g = evaluation({Quantity::constraint_y});
  g->at(t, y, z, psi);
  const double* value = (*g)[Quantity::constraint_y];
  const Pattern& p = pattern(Quantity::constraint_y);
  std::fill_n(out, nz(), 0.0);
  for (int i = 0; i < p.rows; ++i)
    for (int k = p.row_start[static_cast<std::size_t>(i)]; k < p.row_start[static_cast<std::size_t>(i) + 1]; ++k)
      out[p.column[static_cast<std::size_t>(k)]] -= value[k] * psi[i];
}

const Pattern& System::pattern(Quantity q) const {
  const std::lock_guard lock(mutex_);
  auto& slot = dense_patterns_[static_cast<std::size_t>(q)];
  if (slot) return *slot;
  const auto dense = [](int rows, int columns) { return std::make_unique<Pattern>(Pattern::dense(rows, columns)); };
  switch (q) {
    case Quantity::velocity: slot = dense(ny(), 1); break;
    case Quantity::momentum:
    case Quantity::force:
    case Quantity::reaction:
    case Quantity::acceleration_force:
    case Quantity::momentum_t: slot = dense(nz(), 1); break;
    case Quantity::constraint:
    case Quantity::constraint_rate:
    case Quantity::constraint_curvature:
    case Quantity::constraint_rate_t: slot = dense(ng(), 1); break;
    case Quantity::energy: slot = dense(1, 1); break;
    case Quantity::velocity_y: slot = dense(ny(), ny()); break;
    case Quantity::velocity_z: slot = dense(ny(), nz()); break;
    case Quantity::momentum_y:
    case Quantity::force_y:
    case Quantity::reaction_y: slot = dense(nz(), ny()); break;
    case Quantity::momentum_z:
    case Quantity::force_z: slot = dense(nz(), nz()); break;
    case Quantity::reaction_z:  // ideal constraints: the reaction does not depend on z unless its author says so
      slot =
          std::make_unique<Pattern>(Pattern{nz(), nz(), std::vector<int>(static_cast<std::size_t>(nz()) + 1, 0), {}});
      break;
    case Quantity::reaction_psi: slot = dense(nz(), npsi()); break;
    case Quantity::constraint_y:
    case Quantity::constraint_rate_y: slot = dense(ng(), ny()); break;
    case Quantity::constraint_rate_z: slot = dense(ng(), nz()); break;
  }
  return *slot;
}

/// Calls a user's functions, and differentiates them where no derivative is given.
class FunctionEvaluation final : public Evaluation {
 public:
  FunctionEvaluation(const System& system, Quantities wanted) : system_(system) {
    for (int k = 0; k < quantity_count; ++k) {
      const auto q = static_cast<Quantity>(k);
      if (!wanted.contains(q)) continue;
      wanted_.push_back(q);
      values_[static_cast<std::size_t>(k)].resize(system.pattern(q).entries() + 1);
      value_[static_cast<std::size_t>(k)] = values_[static_cast<std::size_t>(k)].data();
    }
    const std::size_t n = static_cast<std::size_t>(std::max({system.ny(), system.nz(), system.npsi(), 1}));
    point_.resize(n);
    for (auto& sample : samples_) sample.resize(n);
    difference_.resize(n);
    velocity_.resize(n);
    gradient_.resize(system.pattern(Quantity::constraint_y).entries() + 1);
  }

  void at(double t, const double* y, const double* z, const double* psi) override {
    const Point x{t, y, z, psi};
    for (const Quantity q : wanted_) fill(q, x, values_[static_cast<std::size_t>(q)].data());
  }

 private:
  struct Point {
    double t;
    const double *y, *z, *psi;
  };
  enum class Argument { t, y, z, psi };

  void fill(Quantity q, const Point& x, double* out) {
    switch (q) {
      case Quantity::velocity: system_.velocity(x.t, x.y, x.z, out); return;
      case Quantity::momentum: system_.momentum(x.t, x.y, x.z, out); return;
      case Quantity::force: system_.force(x.t, x.y, x.z, out); return;
      case Quantity::reaction: system_.reaction(x.t, x.y, x.z, x.psi, out); return;
      case Quantity::constraint: system_.constraint(x.t, x.y, out); return;
      case Quantity::energy: *out = system_.energy(x.t, x.y, x.z); return;
      case Quantity::constraint_rate: constraint_rate(x, out); return;
      case Quantity::acceleration_force:
        along_flow(Quantity::momentum_y, Quantity::momentum_t, -1, x, out);
        system_.force(x.t, x.y, x.z, sum_.data());
        for (std::size_t i = 0; i < static_cast<std::size_t>(system_.nz()); ++i) out[i] += sum_[i];
        return;
      case Quantity::constraint_curvature:
        along_flow(Quantity::constraint_rate_y, Quantity::constraint_rate_t, 1, x, out);
        return;
      default: break;
    }
    if (system_.derivative(q, x.t, x.y, x.z, x.psi, out)) return;
    const auto [function, argument] = parts(q);
    differentiate(function, argument, x, system_.pattern(q), out);
  }

  static std::pair<Quantity, Argument> parts(Quantity q) {
    switch (q) {
      case Quantity::velocity_y: return {Quantity::velocity, Argument::y};
      case Quantity::velocity_z: return {Quantity::velocity, Argument::z};
      case Quantity::momentum_y: return {Quantity::momentum, Argument::y};
      case Quantity::momentum_z: return {Quantity::momentum, Argument::z};
      case Quantity::momentum_t: return {Quantity::momentum, Argument::t};
      case Quantity::force_y: return {Quantity::force, Argument::y};
      case Quantity::force_z: return {Quantity::force, Argument::z};
      case Quantity::reaction_y: return {Quantity::reaction, Argument::y};
      case Quantity::reaction_z: return {Quantity::reaction, Argument::z};
      case Quantity::reaction_psi: return {Quantity::reaction, Argument::psi};
      case Quantity::constraint_y: return {Quantity::constraint, Argument::y};
      case Quantity::constraint_rate_y: return {Quantity::constraint_rate, Argument::y};
      case Quantity::constraint_rate_z: return {Quantity::constraint_rate, Argument::z};
      default: return {Quantity::constraint_rate, Argument::t};
    }
  }

  // out = sign (e_y v + e_t), from the two derivatives of e
  void along_flow(Quantity by_y, Quantity by_t, double sign, const Point& x, double* out) {
    const Pattern& p = system_.pattern(by_y);
    const auto rows = static_cast<std::size_t>(p.rows);
    matrix_.resize(std::max(matrix_.size(), p.entries()));
    sum_.resize(std::max(sum_.size(), rows));
    fill(by_y, x, matrix_.data());
    fill(by_t, x, sum_.data());
    system_.velocity(x.t, x.y, x.z, velocity_.data());
    for (std::size_t i = 0; i < rows; ++i) {
      out[i] = sum_[i];
      for (auto k = static_cast<std::size_t>(p.row_start[i]); k < static_cast<std::size_t>(p.row_start[i + 1]); ++k)
        out[i] += matrix_[k] * velocity_[static_cast<std::size_t>(p.column[k])];
      out[i] *= sign;
    }
  }

  // g_t + G v
  void constraint_rate(const Point& x, double* out) {
    std::vector<double>& v = velocity_;
    system_.velocity(x.t, x.y, x.z, v.data());
    const Pattern& p = system_.pattern(Quantity::constraint_y);
    if (!system_.derivative(Quantity::constraint_y, x.t, x.y, x.z, x.psi, gradient_.data()))
      differentiate(Quantity::constraint, Argument::y, x, p, gradient_.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows); ++i) {
      out[i] = 0;
      for (auto k = static_cast<std::size_t>(p.row_start[i]); k < static_cast<std::size_t>(p.row_start[i + 1]); ++k)
        out[i] += gradient_[k] * v[static_cast<std::size_t>(p.column[k])];
    }
    derivative_column(Quantity::constraint, Argument::t, 0, x, static_cast<std::size_t>(p.rows));
    for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows); ++i) out[i] += difference_[i];
  }

  void differentiate(Quantity function, Argument argument, const Point& x, const Pattern& p, double* out) {
    const auto rows = static_cast<std::size_t>(p.rows);
    for (std::size_t j = 0; j < static_cast<std::size_t>(p.columns); ++j) {
      derivative_column(function, argument, j, x, rows);
      for (std::size_t i = 0; i < rows; ++i)
        for (int k = p.row_start[i]; k < p.row_start[i + 1]; ++k)
          if (p.column[static_cast<std::size_t>(k)] == static_cast<int>(j)) out[k] = difference_[i];
    }
  }

  // difference_ = d function / d argument[j]
  void derivative_column(Quantity function, Argument argument, std::size_t j, const Point& x, std::size_t rows) {
    const double* base = argument == Argument::y ? x.y : argument == Argument::z ? x.z : x.psi;
    const double centre = argument == Argument::t ? x.t : base[j];
    // Functions are taken to vary on the scale 1 (angles, times); only very large arguments need more for rounding.
    const double d = 5e-3 * std::max(1.0, 1e-3 * std::abs(centre));
    const auto size = static_cast<std::size_t>(argument == Argument::y   ? system_.ny()
                                               : argument == Argument::z ? system_.nz()
                                                                         : system_.npsi());
    std::vector<double>& point = function == Quantity::constraint_rate ? outer_point_ : point_;
    auto& samples = function == Quantity::constraint_rate ? outer_samples_ : samples_;
    point.resize(std::max(point.size(), size));
    for (auto& s : samples) s.resize(std::max(s.size(), rows));
    for (int k = -3; k <= 3; ++k) {
      if (k == 0) continue;
      Point moved = x;
      if (argument == Argument::t) {
        moved.t = centre + k * d;
      } else {
        std::copy_n(base, size, point.begin());
        point[j] = centre + k * d;
        (argument == Argument::y ? moved.y : argument == Argument::z ? moved.z : moved.psi) = point.data();
      }
      fill(function, moved, samples[static_cast<std::size_t>(k + 3)].data());
    }
    difference_.resize(std::max(difference_.size(), rows));
    for (std::size_t i = 0; i < rows; ++i)
      difference_[i] = (45 * (samples[4][i] - samples[2][i]) - 9 * (samples[5][i] - samples[1][i]) +
                        (samples[6][i] - samples[0][i])) /
                       (60 * d);
  }

  const System& system_;
  std::vector<Quantity> wanted_;
  std::array<std::vector<double>, quantity_count> values_;
  std::vector<double> point_, outer_point_, difference_, velocity_, gradient_, matrix_, sum_;
  std::array<std::vector<double>, 7> samples_, outer_samples_;
};

std::unique_ptr<Evaluation> System::evaluation(Quantities wanted) const {
  return std::make_unique<FunctionEvaluation>(*this, wanted);
}

}  // namespace hinge
