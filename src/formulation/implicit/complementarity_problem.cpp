#include "formulation/implicit/complementarity_problem.hpp"

#include <algorithm>
#include <cmath>

#include "hinge/contact.hpp"
#include "solve/index.hpp"
#include "solve/linear/sparse.hpp"
#include "solve/machine_numbers.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

// Outputs of a tape: the functions, then their derivatives by x and x', entry by entry.
ComplementarityProblem::ComplementarityProblem(const SymbolicSystem& system, LinearAlgebra choice) : system_(&system) {
  const Equations& eq = system_->equations();
  Graph graph = *eq.graph;
  n_ = static_cast<int>(eq.y.size());
  p_ = static_cast<int>(eq.pairs.size());
  m_ = static_cast<int>(eq.residual.size());
  differential_.assign(at(n_), 0);
  std::vector<Node> functions;
  for (const auto& pair : eq.pairs) functions.insert(functions.end(), {pair.a, pair.b});

  PatternBuilder builder(n_, n_);
  const auto add = [&](const std::vector<Node>& list, bool pairs, std::vector<Node>& outputs) {
    outputs = list;
    for (const bool rate : {false, true}) {
      const SparseExpressions j = jacobian(graph, list, rate ? eq.z : eq.y);
      for (int i = 0; i < j.rows; ++i)
        for (int k = j.row_start[at(i)]; k < j.row_start[at(i) + 1]; ++k) {
          const int column = j.column[at(k)];
          if (rate) differential_[at(column)] = 1;
          terms_.push_back({0, column, rate, static_cast<int>(outputs.size()), pairs ? i / 2 : -1, i % 2});
          outputs.push_back(j.entries[at(k)]);
          builder.add(pairs ? m_ + i / 2 : i, column);
        }
    }
  };
  std::vector<Node> equation_outputs, pair_outputs;
  add(eq.residual, false, equation_outputs);
  add(functions, true, pair_outputs);
  std::vector<int> place;
  pattern_ = builder.build(place);
  for (std::size_t k = 0; k < terms_.size(); ++k) terms_[k].place = place[k];
  solver_ = make_linear_solver(pattern_, choice);
  tape_equations_ = eq.tape(graph, equation_outputs);
  tape_pairs_ = eq.tape(graph, pair_outputs);
  scratch_equations_ = tape_equations_->make_scratch();
  scratch_pairs_ = tape_pairs_->make_scratch();
  out_equations_.resize(equation_outputs.size());
  out_pairs_.resize(pair_outputs.size());
  for (auto* v : {&rows_e_, &rows_a_, &rows_b_, &matrix_}) v->resize(pattern_.entries());
  for (auto* v : {&x_, &d_, &right_, &guess_}) v->resize(at(n_));
  for (auto* v : {&size_a_, &size_b_}) v->resize(at(p_));
  peak_.assign(at(2 * p_), 0.0);
  active_.assign(at(p_), 1);
  trial_.assign(at(p_), 1);
}

void ComplementarityProblem::evaluate(double t_equations, const Substitution& equations, double t_pairs,
                                      const Substitution& pairs, const double* X) {
  const auto at_point = [&](const Substitution& s, double t, const Evaluator& tape, std::vector<double>& scratch,
                            std::vector<double>& out) {
    for (std::size_t i = 0; i < x_.size(); ++i) {
      x_[i] = s.x0[i] + s.x1[i] * X[i];
      d_[i] = s.d0[i] + s.d1[i] * X[i];
    }
    const double* const inputs[] = {&t, x_.data(), d_.data(), nullptr};
    tape.evaluate(inputs, scratch.data(), out.data());
  };
  ++evaluations;
  at_point(equations, t_equations, *tape_equations_, scratch_equations_, out_equations_);
  at_point(pairs, t_pairs, *tape_pairs_, scratch_pairs_, out_pairs_);
  for (auto* v : {&rows_e_, &rows_a_, &rows_b_}) std::fill(v->begin(), v->end(), 0.0);
  std::fill(size_a_.begin(), size_a_.end(), 0.0);
  std::fill(size_b_.begin(), size_b_.end(), 0.0);
  for (const Term& term : terms_) {
    const auto i = at(term.column);
    if (term.pair < 0) {
      rows_e_[at(term.place)] += (term.rate ? equations.d1[i] : equations.x1[i]) * out_equations_[at(term.output)];
      continue;
    }
    const double slope = (term.rate ? pairs.d1[i] : pairs.x1[i]) * out_pairs_[at(term.output)];
    (term.which == 0 ? rows_a_ : rows_b_)[at(term.place)] += slope;
    (term.which == 0 ? size_a_ : size_b_)[at(term.pair)] += std::abs(slope * X[i]);
  }
}

// What rounding may make of a function that vanishes: of its own terms, and of what they were computed from, for which
// the largest value that the function ever had is a measure (a current i = C dv/dt has the rounding of v C/h).
double ComplementarityProblem::noise(int k, int which) const {
  return 64 * epsilon * (which == 0 ? size_a_ : size_b_)[at(k)] + 1e-13 * peak_[at(2 * k + which)] + 1e-300;
}

// rows[k] = 0: a stands in the row of pair k, 1: b
bool ComplementarityProblem::factor(const std::vector<char>& rows) {
  matrix_ = rows_e_;
  for (int i = m_; i < n_; ++i)
    for (int k = pattern_.row_start[at(i)]; k < pattern_.row_start[at(i) + 1]; ++k)
      matrix_[at(k)] = (rows[at(i - m_)] == 0 ? rows_a_ : rows_b_)[at(k)];
  ++factorisations;
  return solver_->factor(matrix_.data());
}

double ComplementarityProblem::step_size(const double* dX, const double* X) const {
  double scale = 0, size = 0;
  for (int i = 0; i < n_; ++i) scale = std::max(scale, std::abs(X[i]));
  for (int i = 0; i < n_; ++i)
    size = std::max(size, std::abs(dX[i]) / (4 * epsilon * (std::abs(X[i]) + 1e-3 * scale) + 1e-300));
  return size;
}

ComplementarityProblem::Outcome ComplementarityProblem::iterate_active(double te, const Substitution& e, double tp,
                                                                       const Substitution& p, double* X, int limit) {
  trial_ = active_;
  Settling rule(newton_policy::pairs, limit);
  const auto improve = [&]() -> Increment {
    ++iterations;
    evaluate(te, e, tp, p, X);
    if (rule.count() > 0)  // after the first: by the smaller one, with a bias to what was active
      for (int k = 0; k < p_; ++k) {
        const double a = out_pairs_[at(2 * k)], b = out_pairs_[at(2 * k + 1)];
        const bool a_off = a > noise(k, 0), b_off = b > noise(k, 1);
        const bool a_bad = a < -noise(k, 0), b_bad = b < -noise(k, 1);
        if (trial_[at(k)] == 0 ? b_bad && !a_bad : a_bad && !b_bad)
          trial_[at(k)] = static_cast<char>(1 - trial_[at(k)]);
        else if (a_off != b_off && !a_bad && !b_bad)
          trial_[at(k)] = a_off ? 1 : 0;
      }
    if (trial_ != active_) rule.forget();
    active_ = trial_;
    if (!factor(active_)) return no_increment;
    for (int i = 0; i < m_; ++i) right_[at(i)] = -out_equations_[at(i)];
    for (int k = 0; k < p_; ++k) right_[at(m_ + k)] = -out_pairs_[at(2 * k + active_[at(k)])];
    solver_->solve(right_.data());
    for (int i = 0; i < n_; ++i) {
      if (!std::isfinite(right_[at(i)])) return right_[at(i)];
      X[i] += right_[at(i)];
    }
    return step_size(right_.data(), X);
  };
  const auto pairs_hold = [&] {
    evaluate(te, e, tp, p, X);
    bool good = true;
    residual_ = 0;
    for (int k = 0; k < p_; ++k) {
      const double a = out_pairs_[at(2 * k)], b = out_pairs_[at(2 * k + 1)];
      good = good && a >= -noise(k, 0) && b >= -noise(k, 1);
      residual_ = std::max(residual_, std::abs(std::min(a, b)));
    }
    return good;
  };
  const NewtonTrouble trouble = newton(Booked(rule, *this), improve, pairs_hold);
  if (trouble == NewtonTrouble::singular) return Outcome::singular;
  if (trouble != NewtonTrouble::none) return Outcome::not_converged;
  for (std::size_t k = 0; k < peak_.size(); ++k) peak_[k] = std::max(peak_[k], std::abs(out_pairs_[k]));
  return Outcome::solved;
}

// The linearised problem as an LCP; dX by its solution.
bool ComplementarityProblem::linearised(Eigen::VectorXd& dX, bool& solvable) {
  solvable = true;
  const auto other = [&](int k, const Eigen::VectorXd& d) {  // change of the function that does not stand in the row
    double sum = 0;
    const std::vector<double>& rows = trial_[at(k)] == 0 ? rows_b_ : rows_a_;
    for (int j = pattern_.row_start[at(m_ + k)]; j < pattern_.row_start[at(m_ + k) + 1]; ++j)
      sum += rows[at(j)] * d[pattern_.column[at(j)]];
    return sum;
  };
  Eigen::VectorXd base(n_);
  for (int i = 0; i < m_; ++i) base[i] = -out_equations_[at(i)];
  for (int k = 0; k < p_; ++k) base[m_ + k] = -out_pairs_[at(2 * k + trial_[at(k)])];
  solver_->solve(base.data());
  Eigen::MatrixXd columns = Eigen::MatrixXd::Zero(n_, p_), M(p_, p_);
  Eigen::VectorXd q(p_);
  for (int j = 0; j < p_; ++j) {
    columns(m_ + j, j) = 1;
    Eigen::VectorXd column = columns.col(j);
    solver_->solve(column.data());
    columns.col(j) = column;
  }
  for (int k = 0; k < p_; ++k) {
    q[k] = out_pairs_[at(2 * k + 1 - trial_[at(k)])] + other(k, base);
    for (int j = 0; j < p_; ++j) M(k, j) = other(k, columns.col(j));
  }
  if (!base.allFinite() || !M.allFinite() || !q.allFinite()) return false;
  // unknowns of very different size (amperes, volts): w_k / s_k and z_k s_k make the diagonal one where it is not zero
  Eigen::VectorXd s(p_);
  for (int k = 0; k < p_; ++k) {
    const double biggest = std::max(M.row(k).cwiseAbs().maxCoeff(), M.col(k).cwiseAbs().maxCoeff());
    s[k] = M(k, k) > 1e-12 * biggest ? std::sqrt(M(k, k)) : biggest > 0 ? std::sqrt(biggest) : 1.0;
  }
  const Eigen::MatrixXd scaled = s.cwiseInverse().asDiagonal() * M * s.cwiseInverse().asDiagonal();
  const Eigen::VectorXd scaled_q = s.cwiseInverse().cwiseProduct(q);
  ++pivoting_solves;
  ContactOptions options;
  options.tolerance = 1e-9;
  const ContactResult result = solve_contact(linear_complementarity(scaled, scaled_q), "lemke", options);
  if (result.r.size() != p_ || !result.r.allFinite() || !result.converged()) {
    solvable = false;
    return true;
  }
  const Eigen::VectorXd z = s.cwiseInverse().cwiseProduct(result.r);
  dX = base + columns * z;
  // which of the two vanishes now
  for (int k = 0; k < p_; ++k)
    if (result.r[k] > result.u[k]) trial_[at(k)] = static_cast<char>(1 - trial_[at(k)]);
  return true;
}

ComplementarityProblem::Outcome ComplementarityProblem::iterate_pivoting(double te, const Substitution& e, double tp,
                                                                         const Substitution& p, double* X, int limit) {
  const std::vector<char> start = active_;
  for (int count = 0; count < limit; ++count) {
    evaluate(te, e, tp, p, X);
    // b is a multiplier in most models; else a; else what was active
    trial_.assign(at(p_), 1);
    if (!factor(trial_)) {
      trial_.assign(at(p_), 0);
      if (!factor(trial_)) {
        trial_ = start;
        if (!factor(trial_)) return Outcome::singular;
      }
    }
    Eigen::VectorXd dX;
    bool solvable = false;
    if (!linearised(dX, solvable)) return Outcome::not_converged;
    if (!solvable) return Outcome::no_solution;
    for (int i = 0; i < n_; ++i) X[i] += dX[i];
    active_ = trial_;
    std::copy_n(X, n_, guess_.begin());
    // From here Newton's iteration on the active set found, which ends at round-off or says that it was wrong.
    const Outcome outcome = iterate_active(te, e, tp, p, X, 8);
    if (outcome == Outcome::solved) return outcome;
    std::copy(guess_.begin(), guess_.end(), X);
  }
  return Outcome::not_converged;
}

ComplementarityProblem::Outcome ComplementarityProblem::solve(double t_equations, const Substitution& equations,
                                                              double t_pairs, const Substitution& pairs, double* X,
                                                              int max_iterations) {
  std::vector<double>& start = guess_;
  std::copy_n(X, n_, start.begin());
  const int tries = p_ == 0 ? max_iterations : std::min(max_iterations, 12);
  const Outcome quick = iterate_active(t_equations, equations, t_pairs, pairs, X, tries);
  if (quick == Outcome::solved || p_ == 0) return quick;
  std::copy(start.begin(), start.end(), X);
  return iterate_pivoting(t_equations, equations, t_pairs, pairs, X, max_iterations);
}

}  // namespace hinge
