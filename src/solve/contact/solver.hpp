// What the solvers of contact problems share: one signature, and what they work with.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hinge/contact.hpp"
#include "solve/contact/block_gauss_seidel.hpp"
#include "solve/contact/compliant.hpp"
#include "solve/contact/delassus.hpp"
#include "solve/contact/judge.hpp"
#include "solve/contact/least_norm.hpp"

namespace hinge {

/// Goes on from r, until the judge is content or it knows no further; r in the units of W.
using ContactSolve = void (*)(Delassus& W, Judge& judge, Eigen::VectorXd r);

struct SolverEntry {
  ContactSolverInfo info;
  /// Why it cannot treat such problems; empty where it can.
  std::string (*refuses)(const ContactProblem& problem);
  ContactSolve solve;  ///< null for `auto`
};

/// Every solver, in the order in which they are listed.
const std::vector<SolverEntry>& registered_contact_solvers();
/// Throws InputError where there is none of that name.
const SolverEntry& contact_solver(std::string_view name);

/// What a solution works with, kept from problem to problem.
struct ContactWork {
  ContactOptions options;
  Judge judge;
  std::vector<double> r;  ///< where to begin
  BlockGaussSeidel sweeps;
  ContactRows rows;
  LeastNorm least_norm;
  CompliantContacts compliant;
  /// What the velocities of the last choices left to each contact: a step has several problems, which take turns.
  std::array<std::vector<LeastNorm::Kind>, 4> chosen;
  std::size_t oldest_choice = 0;
  bool has_chosen = false;  ///< in this problem
  std::optional<Delassus> W;

  void begin(const ContactProblem& problem);
  /// Few enough, step after step, to be solved to what rounding leaves.
  bool few() const;
  /// W in units near 1, made at the first call.
  Delassus& delassus();
  /// Puts the solution of least norm in the place of the best, where that is found.
  bool take_least_norm();
  /// The last problem left its motion open: so does this one, as a rule, and the choice comes first.
  bool goes_on_choosing();
  /// Where exact friction may have several solutions: the compliant one, for the best. False where it is not found.
  bool choose_velocities(bool motion_is_open);
  /// Is that cheap, as it is between few bodies however many contacts they have?
  bool can_choose() const;
  /// Lets a solver go on from r, with so many iterations (0: its own limit).
  void run(std::string_view solver, const Eigen::VectorXd& from, int limit = 0);
};

/// Sweeps of block Gauss-Seidel from work.r, to the limit or while their rate promises the tolerance within it; over
/// the bodies of the problem without W, or with it.
void sweep(ContactWork& work, bool over_bodies, bool while_promising, int limit);
/// `auto`
void solve_automatically(ContactWork& work);

}  // namespace hinge
