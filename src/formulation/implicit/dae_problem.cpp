#include "formulation/implicit/dae_problem.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "formulation/implicit/array_problem.hpp"
#include "formulation/implicit/dae_structure.hpp"
#include "formulation/implicit/derivative_array.hpp"
#include "formulation/implicit/symbolic_problem.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

constexpr int highest_direct_index = 2;

class DaeProblem final : public ImplicitProblem {
 public:
  DaeProblem(std::shared_ptr<const SymbolicSystem> system, DaeStructure& structure)
      : system_(std::move(system)), array_(structure) {
    const Equations& eq = system_->equations();
    SymbolicRows rows(std::make_shared<Graph>(structure.jet.graph()), eq.t);
    rows.add_unknowns(eq.y, eq.z, {});
    rows.add_rows(structure.direct, 0);
    compiled_ = CompiledRows(rows);
    pattern_ = compiled_.pattern();
    row_scale_ = structure.row_order;
    const int lowest = *std::min_element(structure.nu.begin(), structure.nu.end());
    for (const int nu : structure.nu) unknowns_.push_back({nu, nu == lowest, nu - 1});
    for (const auto [j, order] : array_.places())
      known_.push_back(order == 0 && structure.differential[static_cast<std::size_t>(j)] &&
                       unknowns_[static_cast<std::size_t>(j)].tested);
    free_.assign(known_.size(), 0);
    for (const auto [j, order] : array_.places()) low_.push_back(order <= 1);
  }

  void residual(double t, const double* x, const double* rate, double* out) override {
    compiled_.residual(t, x, rate, out);
  }
  void residuals(int count, const double* t, const double* x, const double* rate, double* out) override {
    compiled_.residuals(count, t, x, rate, out);
  }
  void jacobian(double t, const double* x, const double* rate, double* f_x, double* f_rate) override {
    compiled_.jacobian(t, x, rate, f_x, f_rate);
  }
  void add_rounding(double t, const double* x, const double* rate, double* out) override {
    compiled_.add_rounding(t, x, rate, out);
  }
  bool rate_matrix_is_constant() const override { return compiled_.rate_matrix_is_constant(); }

  bool from_state(const State& state, double* x, double* rate) override {
    std::copy(state.y.begin(), state.y.end(), x);
    std::copy(state.z.begin(), state.z.end(), rate);
    // x' that belongs to x, also where the state has come out of a jump
    if (array_.complete(state.t, state.y.data(), state.z.data(), full_, full_rate_))
      for (int j = 0; j < size(); ++j) rate[j] = full_rate_[static_cast<std::size_t>(array_.first(j))];
    return true;
  }
  void to_state(double t, const double* x, const double* rate, State& state) const override {
    state.t = t;
    std::copy_n(x, state.y.size(), state.y.begin());
    std::copy_n(rate, state.z.size(), state.z.begin());
  }
  void show(double t, const double* x, const double* rate, State& state) override {
    to_state(t, x, rate, state);
    full_.assign(known_.size(), 0.0);
    scale_.resize(known_.size());
    full_rate_.assign(known_.size(), 0.0);
    for (std::size_t k = 0; k < known_.size(); ++k) {
      const auto [j, order] = array_.places()[k];
      full_[k] = order == 0 ? x[j] : order == 1 ? rate[j] : 0.0;
      scale_[k] = 1;
    }
    // higher derivatives, of which the method knows nothing, must not pull at x when it is moved
    if (std::find(low_.begin(), low_.end(), char{0}) != low_.end()) array_.solve(t, full_, low_, scale_, true);
    for (std::size_t k = 0; k < known_.size(); ++k) scale_[k] = DerivativeArray::shown_scale(full_[k], known_[k]);
    if (!array_.solve(t, full_, free_, scale_, true) || !array_.rates(t, full_.data(), full_rate_.data(), true)) return;
    for (int j = 0; j < size(); ++j) {
      state.y[static_cast<std::size_t>(j)] = full_[static_cast<std::size_t>(array_.first(j))];
      state.z[static_cast<std::size_t>(j)] = full_rate_[static_cast<std::size_t>(array_.first(j))];
    }
  }

 private:
  std::shared_ptr<const SymbolicSystem> system_;
  DerivativeArray array_;
  CompiledRows compiled_;
  std::vector<char> known_, low_, free_;  // of the array's unknowns: integrated; x and x'; none of them
  std::vector<double> full_, full_rate_, scale_;
};

}  // namespace

std::unique_ptr<ImplicitProblem> make_dae_problem(std::shared_ptr<const SymbolicSystem> system,
                                                  const FormulationOptions& options) {
  if (!system->equations().noise.empty())
    throw UnsuitableMethod("the model has noise, which these equations leave out; use a method for noise");
  const Formulation choice = options.formulation;
  if (choice != Formulation::automatic && choice != Formulation::direct && choice != Formulation::derivative_array)
    throw UnsuitableMethod(
        fmt::format("the formulation \"{}\" is for mechanical systems; a [dae] is solved \"direct\", as it stands, or "
                    "through its \"derivative-array\"",
                    formulation_name(choice)));
  DaeStructure structure = analyse_dae(*system);
  // Where equations have to be combined to show a higher index, the matrix F_x + c F_x' cannot be scaled row by row.
  const bool hidden = structure.index() > 1 && !structure.combinations.empty();
  const bool array = choice == Formulation::derivative_array ||
                     (choice == Formulation::automatic && (hidden || structure.index() > highest_direct_index));
  if (!array) return std::make_unique<DaeProblem>(std::move(system), structure);
  if (!structure.regular && !structure.singular.empty())
    throw UnsuitableMethod(fmt::format(
        "the derivative array of this DAE does not determine its unknowns: {}; use formulation = \"direct\", or write "
        "the equations differently",
        structure.singular));
  return std::make_unique<ArrayProblem>(structure);
}

}  // namespace hinge
