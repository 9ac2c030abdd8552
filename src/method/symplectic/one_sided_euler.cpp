#include "method/symplectic/one_sided_euler.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <Eigen/Core>

#include "body/body_table.hpp"
#include "body/shape_gaps.hpp"
#include "formulation/contact_mode.hpp"
#include "hinge/error.hpp"
#include "method/symplectic/symplectic_euler.hpp"
#include "solve/index.hpp"
#include "solve/linear/lu.hpp"
#include "solve/newton/newton.hpp"

namespace hinge {

namespace {

constexpr int few_steps = 16;

std::shared_ptr<const SymbolicSystem> suitable(std::shared_ptr<const System> system) {
  if (const BodyTable* bodies = bodies_of(*system); bodies && bodies->can_collide())
    system = with_gaps_of_shapes(*system, "symplectic-euler");
  auto symbolic = std::dynamic_pointer_cast<const SymbolicSystem>(system);
  if (!symbolic)
    throw UnsuitableMethod("symplectic-euler takes contacts that are given by expressions; use moreau-jean");
  for (const auto& gap : symbolic->equations().gaps) {
    if (gap.restitution > 0)
      throw UnsuitableMethod(
          fmt::format("symplectic-euler knows no restitution, and the contact {} has {:g}; use moreau-jean, or "
                      "restitution = 0",
                      gap.name, gap.restitution));
    if (gap.friction > 0)
      throw UnsuitableMethod(fmt::format(
          "symplectic-euler knows no friction cones, and the contact {} has friction {:g}; use moreau-jean, "
          "or give the contact a reaction of its own that contains the friction",
          gap.name, gap.friction));
  }
  return symbolic;
}

class OneSidedEuler final : public Stepper {
 public:
  OneSidedEuler(std::shared_ptr<const System> system, const SymplecticEulerOptions& which, const SolverOptions& options)
      : system_(suitable(system)), which_(which), options_(options), motion_(system_) {
    modes_.assign(at(motion_.contacts()), ContactMode::open);
    last_.assign(modes_.size(), 1.0);
    open_steps_.assign(modes_.size(), few_steps);
    statistics_.solver = "active set";
    statistics_.momentum_balance = -1;  // not measured
  }

  StepResult step(State& state, double h) override {
    ++counters_.steps;
    double size = 1e-300;
    for (const double y : state.y) size = std::max(size, std::abs(y));
    const double rounding = 1e-13 * std::max(size, 1.0);
    if (!known_) {  // closed is what is closed
      const auto& values = motion_.at(state);
      for (std::size_t k = 0; k < modes_.size(); ++k)
        modes_[k] =
            values[k].gap <= rounding && values[k].rate[0] <= rounding ? ContactMode::closed : ContactMode::open;
    }
    Modes modes = modes_;
    std::set<Modes> tried;
    State end;
    Kept* used = nullptr;
    StepResult failure{false, ""};
    while (tried.insert(modes).second) {
      const StepResult result = attempt(modes, state, h, end, used);
      if (!result) {
        failure = result;
        break;
      }
      // first what is penetrated, then what pulls
      Modes next = modes;
      const auto& values = motion_.at(end);
      for (std::size_t k = 0; k < modes.size(); ++k)
        if (modes[k] == ContactMode::open && values[k].gap < -rounding) next[k] = ContactMode::closed;
      if (next == modes) {
        int worst = -1;
        for (std::size_t k = 0; k < modes.size(); ++k) {
          if (modes[k] == ContactMode::open) continue;
          const double p0 = multiplier(*used, modes, k, 0);
          if (p0 < 0 && (worst < 0 || p0 < multiplier(*used, modes, at(worst), 0))) worst = static_cast<int>(k);
        }
        if (worst >= 0) next[at(worst)] = ContactMode::open;
      }
      if (next == modes) {
        if (!release(h, modes, end, *used)) {
          failure.reason = fmt::format(
              "the velocities of opening contacts at t = {:g} were not found; a shorter step "
              "may help",
              state.t);
          break;
        }
        accept(state, h, modes, end, *used, rounding);
        return {};
      }
      modes = next;
    }
    known_ = false;
    if (!failure.reason.empty()) return failure;
    return {false, fmt::format("no set of closed contacts fits the step at t = {:g}: each that was tried pulls at one "
                               "contact or enters another; a shorter step may help",
                               state.t)};
  }

  void reset() override {
    known_ = false;
    for (auto& [modes, kept] : kept_) kept.stepper->reset();
  }
  const ContactStatistics* contact_statistics() const override { return &statistics_; }
  void set_contact_statistics(const ContactStatistics& s) override { statistics_ = s; }

 private:
  using Modes = std::vector<ContactMode>;
  struct Kept {
    std::unique_ptr<Stepper> stepper;
    State state;
    long used = -2;  // the step in which it was
    std::unique_ptr<Evaluation> velocity_level{};
  };

  StepResult attempt(const Modes& modes, const State& from, double h, State& end, Kept*& used) {
    const auto& system = motion_.system(modes);
    auto found = kept_.find(modes);
    if (found == kept_.end())
      found = kept_.emplace(modes, Kept{make_symplectic_euler(system, which_, options_), {}}).first;
    Kept& kept = found->second;
    if (kept.used != counters_.steps - 1) kept.stepper->reset();
    kept.used = counters_.steps;
    State& s = kept.state;
    s.t = from.t;
    s.y = from.y;
    s.z = from.z;
    s.psi.assign(at(system->npsi()), 0.0);
    std::copy(from.psi.begin(), from.psi.end(), s.psi.begin());
    for (std::size_t k = 0; k < modes.size(); ++k)
      if (const int place = motion_.places(modes)[k].normal; place >= 0) s.psi[at(place)] = last_[k];
    const Counters before = kept.stepper->counters();
    StepResult result = kept.stepper->step(s, h);
    const Counters& after = kept.stepper->counters();
    counters_.iterations += after.iterations - before.iterations;
    counters_.evaluations += after.evaluations - before.evaluations;
    counters_.factorisations += after.factorisations - before.factorisations;
    counters_.solved_since(before, after);
    ++statistics_.solver_iterations;
    if (!result) return result;
    end.t = s.t;
    end.y = s.y;
    end.z = s.z;
    end.psi.assign(s.psi.begin(), s.psi.begin() + static_cast<std::ptrdiff_t>(from.psi.size()));
    used = &kept;
    return {};
  }

  // P0 or P1 of a closed contact
  double multiplier(const Kept& kept, const Modes& modes, std::size_t contact, int node) {
    const int place = motion_.places(modes)[contact].normal, count = motion_.system(modes)->npsi();
    return kept.stepper->multipliers()[at(node * count + place)];
  }

  // The velocity level: 0 <= gap' _|_ P1 >= 0 for the contacts that are closed at y1, with everything else of the step
  // as it is. z1 and P1 solve
  //   p(z1) + h a r(z1, P0) - h r(z1, P1) = the same at the solution with all of them closed,  gap' = 0 where P1 > 0
  bool release(double h, const Modes& modes, State& end, Kept& used) {
    const auto& system = motion_.system(modes);
    const int nz = system->nz(), m = system->npsi(), joints = system_->npsi();
    const std::vector<double>& all = used.stepper->multipliers();
    std::vector<double> p0(all.begin(), all.begin() + m), p1(all.begin() + m, all.begin() + 2 * m);
    std::vector<char> open(at(m), 0);
    bool any = false;
    for (int k = joints; k < m; ++k) any = any || p1[at(k)] < 0;
    if (!any) return true;
    using Q = Quantity;
    if (!used.velocity_level)
      used.velocity_level = system->evaluation({Q::momentum, Q::momentum_z, Q::reaction, Q::reaction_z, Q::reaction_psi,
                                                Q::constraint_rate, Q::constraint_rate_z});
    Evaluation& e = *used.velocity_level;
    const double t = used.state.t, *y = used.state.y.data();
    Eigen::VectorXd z = Eigen::Map<const Eigen::VectorXd>(used.state.z.data(), nz), right(nz);
    const auto vector = [&](Q q) { return Eigen::Map<const Eigen::VectorXd>(e[q], nz); };
    const auto matrix = [&](Q q, Eigen::Index rows, Eigen::Index columns) {
      Eigen::MatrixXd full = Eigen::MatrixXd::Zero(rows, columns);
      const Pattern& p = system->pattern(q);
      for (int i = 0; i < p.rows; ++i)
        for (int k = p.row_start[at(i)]; k < p.row_start[at(i) + 1]; ++k) full(i, p.column[at(k)]) = e[q][k];
      return full;
    };
    e.at(t, y, z.data(), p0.data());
    right = vector(Q::momentum) + h * which_.alpha * vector(Q::reaction);
    e.at(t, y, z.data(), p1.data());
    right -= h * vector(Q::reaction);
    for (int count = 0; count < 2 * m + 2; ++count) {
      int worst = -1;
      for (int k = joints; k < m; ++k)
        if (!open[at(k)] && p1[at(k)] < 0 && (worst < 0 || p1[at(k)] < p1[at(worst)])) worst = k;
      if (worst < 0) break;
      open[at(worst)] = 1;
      p1[at(worst)] = 0;
      std::vector<int> closed;
      for (int k = 0; k < m; ++k)
        if (!open[at(k)]) closed.push_back(k);
      const auto nc = static_cast<Eigen::Index>(closed.size());
      const bool solved = solved_by_newton(
          Booked(Settling(newton_policy::opened_contacts, options_.max_iterations), counters_), [&]() -> Increment {
            Eigen::MatrixXd J = Eigen::MatrixXd::Zero(nz + nc, nz + nc);
            Eigen::VectorXd residual = Eigen::VectorXd::Zero(nz + nc);
            e.at(t, y, z.data(), p0.data());
            residual.head(nz) = vector(Q::momentum) + h * which_.alpha * vector(Q::reaction) - right;
            J.topLeftCorner(nz, nz) = matrix(Q::momentum_z, nz, nz) + h * which_.alpha * matrix(Q::reaction_z, nz, nz);
            e.at(t, y, z.data(), p1.data());
            residual.head(nz) -= h * vector(Q::reaction);
            J.topLeftCorner(nz, nz) -= h * matrix(Q::reaction_z, nz, nz);
            const Eigen::MatrixXd by_psi = matrix(Q::reaction_psi, nz, m), rate = matrix(Q::constraint_rate_z, m, nz);
            for (Eigen::Index c = 0; c < nc; ++c) {
              const int k = closed[static_cast<std::size_t>(c)];
              J.col(nz + c).head(nz) = -h * by_psi.col(k);
              J.row(nz + c).head(nz) = rate.row(k);
              residual[nz + c] = e[Q::constraint_rate][k];
            }
            const Eigen::VectorXd change = Lu<double>(J).solve(-residual);
            if (!change.allFinite()) return no_increment;
            z += change.head(nz);
            for (Eigen::Index c = 0; c < nc; ++c) p1[at(closed[static_cast<std::size_t>(c)])] += change[nz + c];
            ++counters_.iterations;
            return {change.head(nz).lpNorm<Eigen::Infinity>(), 1e-300 + z.lpNorm<Eigen::Infinity>()};
          });
      if (!solved) return false;
    }
    std::copy_n(z.data(), nz, end.z.begin());
    std::copy_n(p1.begin(), joints, end.psi.begin());
    return true;
  }

  void accept(State& state, double h, const Modes& modes, const State& end, const Kept& used, double rounding) {
    statistics_.contacts = motion_.contacts();
    statistics_.most_contacts = statistics_.contacts;
    statistics_.loaded = 0;
    ++statistics_.solves;
    bool struck = false;
    const auto& before = motion_.at(state);
    for (std::size_t k = 0; k < modes.size(); ++k) {
      if (modes[k] == ContactMode::open) continue;
      ++statistics_.loaded;
      last_[k] = std::max(multiplier(used, modes, k, 1), 1e-3);
      // Where its multiplier passes through zero a contact opens and closes a few times, with velocities that a few
      // steps of free motion make; these are no impacts.
      if (open_steps_[k] >= few_steps && before[k].rate[0] < -rounding) {
        ++statistics_.impacts;
        struck = true;
      }
    }
    for (std::size_t k = 0; k < modes.size(); ++k)
      open_steps_[k] = modes[k] == ContactMode::open ? std::min(open_steps_[k] + 1, few_steps) : 0;
    if (struck && system_->structure().has_energy) statistics_.impact_loss += energy_at(state) - energy_at(end);
    for (const auto& value : motion_.at(end)) statistics_.penetration = std::max(statistics_.penetration, -value.gap);
    for (std::size_t k = 0; k < modes.size(); ++k)
      if (modes[k] != ContactMode::open)
        statistics_.complementarity =
            std::max(statistics_.complementarity, std::abs(motion_.at(end)[k].gap) / std::abs(h));
    modes_ = modes;
    known_ = true;
    multipliers_ = end.psi;
    std::copy(end.y.begin(), end.y.end(), state.y.begin());
    std::copy(end.z.begin(), end.z.end(), state.z.begin());
    std::copy(end.psi.begin(), end.psi.end(), state.psi.begin());
    state.t = end.t;
  }

  double energy_at(const State& s) {
    if (!energy_) energy_ = system_->evaluation({Quantity::energy});
    energy_->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    return *(*energy_)[Quantity::energy];
  }

  std::shared_ptr<const SymbolicSystem> system_;
  std::unique_ptr<Evaluation> energy_;
  SymplecticEulerOptions which_;
  SolverOptions options_;
  ContactMotion motion_;
  std::map<Modes, Kept> kept_;
  Modes modes_;
  std::vector<double> last_;     // multipliers of closed contacts, to begin with
  std::vector<int> open_steps_;  // since the contact opened
  bool known_ = false;
  ContactStatistics statistics_;
};

}  // namespace

std::unique_ptr<Stepper> make_one_sided_euler(std::shared_ptr<const System> system, const SymplecticEulerOptions& which,
                                              const SolverOptions& options) {
  if (which.natural || which.adjoint)
    throw UnsuitableMethod("contacts need the true symplectic Euler method, not its adjoint or the natural variant");
  return std::make_unique<OneSidedEuler>(std::move(system), which, options);
}

}  // namespace hinge
