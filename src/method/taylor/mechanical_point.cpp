// Series of  y' = v(t, y, z),  d/dt p(t, y, z) = f + r(t, y, z, psi),  g(t, y) = 0,  w(t, y, z) = 0.
//
// Offsets: z is known up to order k + 1, psi up to k; y up to k + 2, by its rate. Rows: motion c = 0, velocity
// constraints c = 1, constraints c = 2. The system Jacobian is the matrix of the acceleration level,
//   [ p_z  -r_psi ]
//   [ C       0   ]
// The foot: y and z projected onto their constraints, z' and psi of the acceleration level.
#include <algorithm>
#include <cmath>
#include <span>

#include "formulation/acceleration.hpp"
#include "formulation/implicit/auxiliary.hpp"
#include "method/consistent_row.hpp"
#include "method/taylor/series_point.hpp"
#include "solve/index.hpp"

namespace hinge {

namespace {

// What rounding makes of them, at most; multipliers cancel in accelerations.
constexpr double rounding_of_positions = 1e-13, rounding_of_accelerations = 1e-11;

class MechanicalPoint final : public SeriesPoint {
 public:
  MechanicalPoint(std::shared_ptr<const SymbolicSystem> system, Projection projection, LinearAlgebra choice, int order)
      : system_(std::move(system)),
        which_(projection),
        choice_(choice),
        ny_(system_->ny()),
        nz_(system_->nz()),
        npsi_(system_->npsi()),
        acceleration_(system_, choice),
        projection_(system_, projection, choice) {
    write_equations(order - 1);
    for (int i = 0; i < ny_; ++i) controlled_.push_back({tape_->integral(at(i)), order + 1});
    for (int i = 0; i < nz_; ++i) controlled_.push_back({tape_->unknown(at(i)), order});
    for (Foot* foot : {&now_, &next_}) {
      foot->x.resize(at(ny_ + nz_));
      foot->psi.resize(at(npsi_));
      foot->rate.resize(at(ny_ + nz_));
    }
    const Structure& has = system_->structure();
    if (!has.velocity_is_z && !has.has_bodies) predicted_velocity_.resize(at(ny_));
    predicted_.resize(at(nz_));
    powers_.resize(order + 1);
    moved_.resize(at(ny_ + nz_));
  }

  bool begin(const State& state) override {
    t0_ = state.t;
    h_ = 0;
    std::copy(state.y.begin(), state.y.end(), now_.x.begin());
    std::copy(state.z.begin(), state.z.end(), now_.x.begin() + ny_);
    std::copy(state.psi.begin(), state.psi.end(), now_.psi.begin());
    if (!accelerate(t0_, now_)) return false;
    next_ = now_;
    return true;
  }
  bool continues(const State& state) const override {
    return state.t == t0_ + h_ && std::equal(state.y.begin(), state.y.end(), next_.x.begin()) &&
           std::equal(state.z.begin(), state.z.end(), next_.x.begin() + ny_);
  }
  void move_on() override {
    t0_ += h_;
    h_ = 0;
    std::swap(now_, next_);
    next_.x = now_.x;
    next_.psi = now_.psi;
  }

  bool reach(double h) override {
    predict(h);
    moved_ = next_.x;
    const double t1 = t0_ + h;
    if (projection_.active() && !projection_.project(t1, next_.x.data(), next_.x.data() + ny_, next_.psi.data(),
                                                     projection_.by_code() ? &acceleration_ : nullptr))
      return false;
    if (!accelerate(t1, next_)) return false;
    h_ = h;
    return true;
  }

  double mismatch_at(double h, const Tolerance& tolerance) override {
    predict(h);
    return accelerate(t0_ + h, next_) ? accelerations_off(h, tolerance) : INFINITY;
  }
  double mismatch(const Tolerance& tolerance) const override {
    double most = accelerations_off(h_, tolerance);
    if (projection_.active())
      for (std::size_t i = 0; i < moved_.size(); ++i) {
        const double size = std::abs(moved_[i]);
        most = std::max(most, std::abs(next_.x[i] - moved_[i]) /
                                  (tolerance.absolute + (tolerance.relative + rounding_of_positions) * size + 1e-300));
      }
    return most;
  }

  void end_state(State& state) const override {
    state.t = t0_ + h_;
    std::copy_n(next_.x.data(), ny_, state.y.data());
    std::copy_n(next_.x.data() + ny_, nz_, state.z.data());
    std::copy(next_.psi.begin(), next_.psi.end(), state.psi.begin());
  }

  void interpolate(double t, State& state, bool exactly) const override {
    state.t = t;
    if (h_ == 0) return end_state(state);
    const int last = tape_->last_stage();
    powers_.set((t - t0_) / tape_->scale());
    for (int i = 0; i < ny_; ++i) state.y[at(i)] = powers_.value(tape_->integral(at(i)), last + 2);
    for (int i = 0; i < nz_; ++i) state.z[at(i)] = powers_.value(tape_->unknown(at(i)), last + 1);
    for (int i = 0; i < npsi_; ++i) state.psi[at(i)] = powers_.value(tape_->unknown(at(nz_ + i)), last);
    if (!exactly || (npsi_ == 0 && !projection_.active())) return;
    // multipliers as at the ends of steps: their own series has an error that the length of steps does not watch
    if (!row_)
      row_ = std::make_unique<ConsistentRow>(system_, which_, FormulationOptions{Formulation::index_1}, choice_);
    row_->settle(t, state);
  }

  double pace() const override {
    double pace = 0;
    for (std::size_t i = 0; i < now_.x.size(); ++i)
      pace = std::max(pace, std::abs(now_.rate[i]) / (std::abs(now_.x[i]) + 1e-3));
    return pace > 0 ? 1 / pace : 1;
  }

 private:
  struct Foot {
    std::vector<double> x, psi, rate;  // (y, z), psi, (y', z')
  };

  void write_equations(int last_stage) {
    const Equations& eq = system_->equations();
    Graph graph = *eq.graph;
    AuxiliaryVariables variable(graph);
    SeriesFunctions f{.t = eq.t};
    const auto rate_of = [&](Node of, const char* what, std::size_t i) {
      f.derived.push_back({variable(what + std::to_string(i)), of});
      return f.derived.back().node;
    };
    for (const Node z : eq.z) f.unknowns.push_back({z, 1});
    for (const Node psi : eq.psi) f.unknowns.push_back({psi, 0});
    for (std::size_t i = 0; i < eq.y.size(); ++i) f.integrals.push_back({eq.y[i], eq.v[i], 2});
    std::vector<Node> motion;
    if (eq.acceleration_force.empty()) {
      for (std::size_t i = 0; i < eq.p.size(); ++i)
        motion.push_back(graph.subtract(rate_of(eq.p[i], "p' ", i), eq.f[i]));
    } else {  // p_z z' = b + r
      const SparseExpressions mass = jacobian(graph, eq.p, eq.z);
      std::vector<Node> rates;
      for (std::size_t i = 0; i < eq.z.size(); ++i) rates.push_back(rate_of(eq.z[i], "z' ", i));
      for (std::size_t i = 0; i < eq.p.size(); ++i) {
        Node sum = graph.negate(eq.acceleration_force[i]);
        for (auto k = at(mass.row_start[i]); k < at(mass.row_start[i + 1]); ++k)
          sum = graph.add(sum, graph.multiply(mass.entries[k], rates[at(mass.column[k])]));
        motion.push_back(sum);
      }
    }
    for (std::size_t i = 0; i < motion.size(); ++i)
      f.equations.push_back({eq.r.empty() ? motion[i] : graph.subtract(motion[i], eq.r[i]), 0});
    for (const Node g : eq.g) f.equations.push_back({g, 2});
    for (const Node w : eq.w) f.equations.push_back({w, 1});
    make_tape(graph, f, last_stage);
  }

  // (y, z), psi and z' at t0 + h
  void predict(double h) {
    const int last = tape_->last_stage();
    powers_.set(h / tape_->scale());
    for (int i = 0; i < ny_; ++i) next_.x[at(i)] = powers_.value(tape_->integral(at(i)), last + 2);
    for (int i = 0; i < nz_; ++i) {
      const double* z = tape_->unknown(at(i));
      next_.x[at(ny_ + i)] = powers_.value(z, last + 1);
      predicted_[at(i)] = powers_.rate(z, last + 1) / tape_->scale();
    }
    for (std::size_t i = 0; i < predicted_velocity_.size(); ++i)
      predicted_velocity_[i] = powers_.rate(tape_->integral(i), last + 2) / tape_->scale();
    for (int i = 0; i < npsi_; ++i) next_.psi[at(i)] = powers_.value(tape_->unknown(at(nz_ + i)), last);
  }

  // z' at t0 + h, and y' where it is a function of its own, beside their predictions
  double accelerations_off(double h, const Tolerance& tolerance) const {
    const int order = tape_->last_stage() + 2;  // an error of z' is that of z times order / h
    const std::size_t ny = at(ny_);
    return std::max(off(std::abs(h) / order, std::span(next_.x).subspan(ny), std::span(next_.rate).subspan(ny),
                        predicted_, tolerance),
                    off(std::abs(h) / (order + 1), next_.x, next_.rate, predicted_velocity_, tolerance));
  }
  static double off(double part, std::span<const double> x, std::span<const double> rate,
                    std::span<const double> predicted, const Tolerance& tolerance) {
    double fastest = 0, most = 0;
    for (std::size_t i = 0; i < predicted.size(); ++i) fastest = std::max(fastest, std::abs(rate[i]));
    const double rounding = rounding_of_accelerations * part * fastest;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
      const double scale = tolerance.absolute + tolerance.relative * std::abs(x[i]) + rounding;
      most = std::max(most, part * std::abs(rate[i] - predicted[i]) / (scale + 1e-300));
    }
    return most;
  }

  bool accelerate(double t, Foot& foot) {
    ++evaluations_;
    return acceleration_.compute(t, foot.x.data(), foot.x.data() + ny_, foot.psi.data(), foot.rate.data(),
                                 foot.rate.data() + ny_);
  }
  bool load() override {
    for (int i = 0; i < ny_; ++i) tape_->set_integral(at(i), now_.x[at(i)]);
    for (int i = 0; i < nz_; ++i) {
      tape_->set_unknown(at(i), 0, now_.x[at(ny_ + i)]);
      tape_->set_unknown(at(i), 1, now_.rate[at(ny_ + i)] * tape_->scale());
    }
    for (int i = 0; i < npsi_; ++i) tape_->set_unknown(at(nz_ + i), 0, now_.psi[at(i)]);
    return acceleration_.matrix().factored();
  }
  void solve(double* x) override { acceleration_.matrix().solve(x); }

  std::shared_ptr<const SymbolicSystem> system_;
  Projection which_;
  LinearAlgebra choice_;
  int ny_, nz_, npsi_;
  Acceleration acceleration_;
  ConstraintProjection projection_;
  Foot now_, next_;
  std::vector<double> predicted_, predicted_velocity_, moved_;
  mutable SeriesPowers powers_;
  mutable std::unique_ptr<ConsistentRow> row_;
};

}  // namespace

std::unique_ptr<SeriesPoint> mechanical_point(std::shared_ptr<const SymbolicSystem> system, Projection projection,
                                              LinearAlgebra choice, int order) {
  return std::make_unique<MechanicalPoint>(std::move(system), projection, choice, order);
}

}  // namespace hinge
