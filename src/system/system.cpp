// The System interface for users' own compiled equations: what they do not give is filled in here, derivatives by
// differences of sixth order (difference.hpp).
#include "hinge/system.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "system/difference.hpp"
#include "system/quantity.hpp"

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
std::string Layout::rate_name(int row) const {
  return row < ng() ? "constraint " + constraints[static_cast<std::size_t>(row)]
                    : "velocity constraint " + velocity_constraints[static_cast<std::size_t>(row - ng())];
}

System::System(Layout layout, Structure structure) : layout_(std::move(layout)), structure_(structure) {}

void System::move(const double* y, const double* z, double h, double* out) const {
  for (int i = 0; i < ny(); ++i) out[i] = y[i] + h * z[i];
}

void System::velocity(double, const double*, const double* z, double* out) const { std::copy_n(z, ny(), out); }
void System::momentum(double, const double*, const double* z, double* out) const { std::copy_n(z, nz(), out); }
void System::force(double, const double*, const double*, double* out) const { std::fill_n(out, nz(), 0.0); }
void System::constraint(double, const double*, double* out) const { std::fill_n(out, ng(), 0.0); }
double System::energy(double, const double*, const double*) const { return 0; }
bool System::derivative(Quantity, double, const double*, const double*, const double*, double*) const { return false; }
bool System::is_constant(Quantity q) const { return q == Quantity::momentum_z && structure_.mass_is_constant; }

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
  const auto [function, by] = parts_of(q);
  const int rows = rows_of(layout_, function), columns = size_of(layout_, by);
  // ideal constraints: the reaction does not depend on z unless its author says so
  slot = std::make_unique<Pattern>(
      q == Quantity::reaction_z ? Pattern{rows, columns, std::vector<int>(static_cast<std::size_t>(rows) + 1, 0), {}}
                                : Pattern::dense(rows, columns));
  return *slot;
}

/// Calls a user's functions, and differentiates them where no derivative is given.
class FunctionEvaluation final : public Evaluation {
 public:
  FunctionEvaluation(const System& system, Quantities wanted) : system_(system) {
    if (system.nw() > 0)
      throw InputError("velocity constraints are given by expressions; a system made of functions has none");
    for (int k = 0; k < quantity_count; ++k) {
      const auto q = static_cast<Quantity>(k);
      if (!wanted.contains(q)) continue;
      wanted_.push_back(q);
      values_[static_cast<std::size_t>(k)].resize(system.pattern(q).entries() + 1);
      value_[static_cast<std::size_t>(k)] = values_[static_cast<std::size_t>(k)].data();
    }
    const Layout& l = system.layout();
    const auto n = static_cast<std::size_t>(std::max({l.ny, l.nz, l.npsi, l.ng(), 1}));
    for (auto* v : {&inner_.point, &outer_.point, &inner_.column, &outer_.column, &velocity_, &sum_}) v->resize(n);
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
  // Work space of one level: derivatives of the constraint's rate contain derivatives of the constraint.
  struct Level {
    Difference difference;
    std::vector<double> point, column;
  };

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
    differentiate(parts_of(q), x, system_.pattern(q), out);
  }

  // out = sign (e_y v + e_t), from the two derivatives of e
  void along_flow(Quantity by_y, Quantity by_t, double sign, const Point& x, double* out) {
    const Pattern& p = system_.pattern(by_y);
    matrix_.resize(std::max(matrix_.size(), p.entries()));
    fill(by_y, x, matrix_.data());
    fill(by_t, x, sum_.data());
    system_.velocity(x.t, x.y, x.z, velocity_.data());
    for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows); ++i)
      out[i] = sign * product(p, i, matrix_.data(), velocity_.data(), sum_[i]);
  }

  // g_t + G v
  void constraint_rate(const Point& x, double* out) {
    system_.velocity(x.t, x.y, x.z, velocity_.data());
    const Pattern& p = system_.pattern(Quantity::constraint_y);
    if (!system_.derivative(Quantity::constraint_y, x.t, x.y, x.z, x.psi, gradient_.data()))
      differentiate({Quantity::constraint, Argument::y}, x, p, gradient_.data());
    derivative_column({Quantity::constraint, Argument::t}, 0, x, inner_);
    for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows); ++i)
      out[i] = product(p, i, gradient_.data(), velocity_.data(), 0) + inner_.column[i];
  }

  static double product(const Pattern& p, std::size_t row, const double* values, const double* x, double sum) {
    for (auto k = static_cast<std::size_t>(p.row_start[row]); k < static_cast<std::size_t>(p.row_start[row + 1]); ++k)
      sum += values[k] * x[static_cast<std::size_t>(p.column[k])];
    return sum;
  }

  void differentiate(QuantityParts parts, const Point& x, const Pattern& p, double* out) {
    Level& level = parts.function == Quantity::constraint_rate ? outer_ : inner_;
    for (int j = 0; j < p.columns; ++j) {
      derivative_column(parts, static_cast<std::size_t>(j), x, level);
      for (std::size_t i = 0; i < static_cast<std::size_t>(p.rows); ++i)
        for (int k = p.row_start[i]; k < p.row_start[i + 1]; ++k)
          if (p.column[static_cast<std::size_t>(k)] == j) out[k] = level.column[i];
    }
  }

  // level.column = d function / d argument[j]
  void derivative_column(QuantityParts parts, std::size_t j, const Point& x, Level& level) {
    const Layout& layout = system_.layout();
    Point moved = x;
    double* changing = &moved.t;
    if (parts.by != Argument::t) {
      const double*& base = parts.by == Argument::y ? moved.y : parts.by == Argument::z ? moved.z : moved.psi;
      std::copy_n(base, size_of(layout, parts.by), level.point.begin());
      base = level.point.data();
      changing = &level.point[j];
    }
    const auto sample = [&](double value, double* out) {
      *changing = value;
      fill(parts.function, moved, out);
    };
    level.difference(*changing, static_cast<std::size_t>(rows_of(layout, parts.function)), sample, level.column.data());
  }

  const System& system_;
  std::vector<Quantity> wanted_;
  std::array<std::vector<double>, quantity_count> values_;
  Level inner_, outer_;
  std::vector<double> velocity_, gradient_, matrix_, sum_;
};

std::unique_ptr<Evaluation> System::evaluation(Quantities wanted) const {
  return std::make_unique<FunctionEvaluation>(*this, wanted);
}

}  // namespace hinge
