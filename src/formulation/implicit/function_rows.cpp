#include "formulation/implicit/function_rows.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "formulation/implicit/mechanical_forms.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_unknowns = 1000;  // the matrix is dense, and each column is six evaluations

}  // namespace

NumberForm::NumberForm(std::shared_ptr<const System> system) : system_(std::move(system)) {}

void NumberForm::at(double t, const double* x, const double* rate, double* out) {
  complete_ = evaluation_ != nullptr;
  evaluated_ = false;
  t_ = t;
  x_ = x;
  rate_ = rate;
  out_ = out;
  place_ = used_ = 0;
}

NumberForm::Values NumberForm::further(const char*, std::size_t count, ImplicitProblem::Unknown kind) {
  if (!complete_) unknowns.insert(unknowns.end(), count, kind);
  const Values part(x_ + place_, count);
  place_ += count;
  return part;
}
void NumberForm::y(ImplicitProblem::Unknown kind) { further("y", static_cast<std::size_t>(system_->ny()), kind); }
void NumberForm::z(ImplicitProblem::Unknown kind) { further("z", velocities(), kind); }
void NumberForm::psi(ImplicitProblem::Unknown kind) {
  psi_ = further("psi", static_cast<std::size_t>(system_->npsi()), kind).data();
}

void NumberForm::row(Values values, int scale) {
  if (!complete_) row_scale.insert(row_scale.end(), values.size(), scale);
  out_ = std::copy(values.begin(), values.end(), out_);
}

std::span<double> NumberForm::fresh(std::size_t size) {
  if (used_ == memory_.size()) memory_.emplace_back();
  std::vector<double>& part = memory_[used_++];
  part.assign(size, 0.0);
  return part;
}

// The first time the equations are only written, to see what they contain; they are evaluated from the second time on.
NumberForm::Values NumberForm::value(Quantity q) {
  const std::size_t size = system_->pattern(q).entries();
  if (!complete_) {
    wanted_.insert(q);
    return fresh(size);
  }
  if (!evaluated_) evaluate();
  return {(*evaluation_)[q], size};
}

// Where only rates or further unknowns have changed, the values are still right.
void NumberForm::evaluate() {
  evaluated_ = true;
  const auto motion = static_cast<std::size_t>(system_->ny() + system_->nz());
  const auto m = static_cast<std::size_t>(system_->npsi());
  if (point_.size() == 1 + motion + m && point_[0] == t_ && std::equal(x_, x_ + motion, point_.begin() + 1) &&
      std::equal(psi_, psi_ + m, point_.begin() + 1 + static_cast<std::ptrdiff_t>(motion)))
    return;
  point_.assign(1, t_);
  point_.insert(point_.end(), x_, x_ + motion);
  point_.insert(point_.end(), psi_, psi_ + m);
  evaluation_->at(t_, x_, x_ + system_->ny(), psi_);
}

NumberForm::Values NumberForm::times(Quantity q, Values x) {
  const Values values = value(q);
  const Pattern& p = system_->pattern(q);
  const std::span<double> product = fresh(static_cast<std::size_t>(p.rows));
  for (std::size_t i = 0; i < product.size(); ++i)
    for (auto k = static_cast<std::size_t>(p.row_start[i]); k < static_cast<std::size_t>(p.row_start[i + 1]); ++k)
      product[i] += values[k] * x[static_cast<std::size_t>(p.column[k])];
  return product;
}

NumberForm::Values NumberForm::transposed_times(Quantity q, Values w) {
  const Values values = value(q);
  const Pattern& p = system_->pattern(q);
  const std::span<double> product = fresh(static_cast<std::size_t>(p.columns));
  for (std::size_t i = 0; i < w.size(); ++i)
    for (auto k = static_cast<std::size_t>(p.row_start[i]); k < static_cast<std::size_t>(p.row_start[i + 1]); ++k)
      product[static_cast<std::size_t>(p.column[k])] += values[k] * w[i];
  return product;
}

NumberForm::Values NumberForm::sum(Values x, Values y) {
  const std::span<double> result = fresh(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = x[i] + y[i];
  return result;
}
NumberForm::Values NumberForm::difference(Values x, Values y) {
  const std::span<double> result = fresh(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = x[i] - y[i];
  return result;
}
NumberForm::Values NumberForm::scaled(double factor, Values x) {
  const std::span<double> result = fresh(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) result[i] = factor * x[i];
  return result;
}

NumberForm::Values NumberForm::with_zeros(Values x, std::size_t size) {
  const std::span<double> result = fresh(size);
  std::copy(x.begin(), x.end(), result.begin());
  return result;
}

void NumberForm::finish() { evaluation_ = system_->evaluation(wanted_); }

FunctionRows::FunctionRows(std::shared_ptr<const System> system, const FormulationOptions& options,
                           Correction correction)
    : options_(options), correction_(correction), form_(system) {
  const auto most = static_cast<std::size_t>(system->ny() + 2 * system->nz() + system->npsi() + 2 * system->nrates());
  if (most > most_unknowns)
    throw UnsuitableMethod(
        fmt::format("this system is made of functions, and its formulation would be a dense matrix with up to {} rows; "
                    "write it with expressions, or use a method that takes it as it is (gauss-lobatto, explicit)",
                    most));
  for (auto* v : {&x_, &rate_, &column_}) v->assign(most, 0.0);
  form_.at(0, x_.data(), rate_.data(), column_.data());
  write_form(form_, options_, correction_);
  form_.finish();
  unknowns_ = form_.unknowns;
  row_scale_ = form_.row_scale;
  pattern_ = Pattern::dense(static_cast<int>(row_scale_.size()), static_cast<int>(unknowns_.size()));
}

void FunctionRows::residual(double t, const double* x, const double* rate, double* out) {
  form_.at(t, x, rate, out);
  write_form(form_, options_, correction_);
}

void FunctionRows::residuals(int count, const double* t, const double* x, const double* rate, double* out) {
  const std::size_t n = unknowns_.size(), rows = row_scale_.size();
  for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
    residual(t[i], x + i * n, rate + i * n, out + i * rows);
}

void FunctionRows::jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) {
  const std::size_t n = unknowns_.size(), rows = row_scale_.size();  // charts have more rows than unknowns
  std::copy_n(x, n, x_.begin());
  std::copy_n(rate, n, rate_.begin());
  for (auto [moving, out] : {std::pair{&x_, f_x}, std::pair{&rate_, f_rate}})
    for (std::size_t j = 0; j < n; ++j) {
      const double centre = (*moving)[j];
      const auto sample = [&, moving = moving](double value, double* f) {
        (*moving)[j] = value;
        residual(t, x_.data(), rate_.data(), f);
      };
      difference_(centre, rows, sample, column_.data());
      (*moving)[j] = centre;
      for (std::size_t i = 0; i < rows; ++i) out[i * n + j] = column_[i];
    }
}

}  // namespace hinge
