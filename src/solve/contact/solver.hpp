// What the solvers of contact problems share: one signature, and what they work with.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hinge/contact.hpp"
#include "solve/contact/block_gauss_seidel.hpp"
#include "solve/contact/delassus.hpp"
#include "solve/contact/judge.hpp"

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
  std::optional<Delassus> W;

  void begin(const ContactProblem& problem);
  /// W in units near 1, made at the first call.
  Delassus& delassus();
  /// Lets a solver go on from r, with so many iterations (0: its own limit).
  void run(std::string_view solver, const Eigen::VectorXd& from, int limit = 0);
};

/// Sweeps of block Gauss-Seidel from work.r, to the limit or while their rate promises the tolerance within it; over
/// the bodies of the problem without W, or with it.
void sweep(ContactWork& work, bool over_bodies, bool while_promising, int limit);
/// `auto`
void solve_automatically(ContactWork& work);

}  // namespace hinge
