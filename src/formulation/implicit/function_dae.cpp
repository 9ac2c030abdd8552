#include "formulation/implicit/function_dae.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "hinge/error.hpp"

namespace hinge {

namespace {

Layout layout_of(const std::vector<std::string>& unknowns) {
  Layout l;
  l.kind = SystemKind::dae;
  for (const std::string& name : unknowns) {
    l.y.push_back({name, {}, l.ny++});
    l.z.push_back({name + "'", {}, l.nz++});
  }
  return l;
}

Structure structure_of_dae() {
  Structure s;
  s.is_dae = true;
  return s;
}

class FunctionDaeProblem final : public ImplicitProblem {
 public:
  explicit FunctionDaeProblem(std::shared_ptr<const FunctionDae> system) : system_(std::move(system)) {
    const int n = system_->ny();
    const int lowest = *std::min_element(system_->index().begin(), system_->index().end());
    for (const int nu : system_->index()) unknowns_.push_back({nu, nu == lowest, nu - 1});
    row_scale_.assign(static_cast<std::size_t>(n), 0);
    pattern_ = Pattern{n, n, {0}, {}};
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) pattern_.column.push_back(j);
      pattern_.row_start.push_back((i + 1) * n);
    }
    for (auto* v : {&x_, &rate_, &at_, &moved_}) v->resize(static_cast<std::size_t>(n));
  }

  void residual(double t, const double* x, const double* rate, double* out) override {
    system_->residual()(t, x, rate, out);
  }

  void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) override {
    if (system_->jacobian()) return system_->jacobian()(t, x, rate, f_x, f_rate);
    std::copy_n(x, size(), x_.data());
    std::copy_n(rate, size(), rate_.data());
    residual(t, x_.data(), rate_.data(), at_.data());
    columns(t, x_, f_x);
    columns(t, rate_, f_rate);
  }

  bool from_state(const State& state, double* x, double* rate) override {
    std::copy(state.y.begin(), state.y.end(), x);
    std::copy(state.z.begin(), state.z.end(), rate);
    return true;
  }
  void to_state(double t, const double* x, const double* rate, State& state) const override {
    state.t = t;
    std::copy_n(x, state.y.size(), state.y.begin());
    std::copy_n(rate, state.z.size(), state.z.begin());
  }

 private:
  // (F(.., x_j + d, ..) - F) / d for every j
  void columns(double t, std::vector<double>& changed, double* out) {
    const auto n = static_cast<std::size_t>(size());
    const double root = std::sqrt(std::numeric_limits<double>::epsilon());
    for (std::size_t j = 0; j < n; ++j) {
      const double kept = changed[j];
      changed[j] = kept + root * std::max(1e-5, std::abs(kept));
      const double d = changed[j] - kept;
      residual(t, x_.data(), rate_.data(), moved_.data());
      changed[j] = kept;
      for (std::size_t i = 0; i < n; ++i) out[i * n + j] = (moved_[i] - at_[i]) / d;
    }
  }

  std::shared_ptr<const FunctionDae> system_;
  std::vector<double> x_, rate_, at_, moved_;
};

}  // namespace

FunctionDae::FunctionDae(std::vector<std::string> unknowns, Residual residual, std::vector<int> index,
                         Jacobian jacobian)
    : System(layout_of(unknowns), structure_of_dae()),
      residual_(std::move(residual)),
      jacobian_(std::move(jacobian)),
      index_(std::move(index)) {
  if (index_.size() != unknowns.size() || unknowns.empty())
    throw InputError("a DAE has at least one unknown, and each of them an index");
  for (const int nu : index_)
    if (nu < 1 || nu > 3)
      throw InputError(
          "an index of an unknown is 1, 2 or 3; DAEs of higher index are differentiated: write them with expressions");
}

std::unique_ptr<ImplicitProblem> make_function_dae_problem(std::shared_ptr<const FunctionDae> system) {
  return std::make_unique<FunctionDaeProblem>(std::move(system));
}

}  // namespace hinge
