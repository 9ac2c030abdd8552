// The contact problem of one step, shared by all time-stepping methods:
//
//   S v = right + H^T r + C^T s,    C v + c = 0,    u = H v + w,    laws of contact between r and u
//
// S is the mass p_z, or p_z with the derivatives of stiff forces; C are the joints, H the rows of the active contacts.
//
// Few contacts with joints: [S C^T; C 0] is factorised once, W = H X with X the solutions for the columns of H^T, so
// that joints hold to rounding whatever the contacts do, and a dense problem in r alone is left. Where S has a block
// per body and there are no joints, or many contacts, the problem is handed over by bodies, and nothing is multiplied
// out unless the last step's r is not the solution; otherwise many contacts go with the joints as bilateral rows.
//
// Joints beside many contacts are closed in the end, by the whole matrix with r held, so that they are at rounding
// whatever tolerance contacts have.
//
// Reactions that are not unique are those of least norm (solve/contact/least_norm.hpp).
//
// What `auto` may do in a step, with all its parts, is limited, in updates of contacts: one problem takes at most what
// eighty plain solutions of a hundred sweeps do, and three quarters of what is left to the step; a plain solution in
// any case. Heaps of more than a thousand contacts have so many sweeps per step, with what earlier steps left.
//
// A frictionless contact among others with friction has tangential rows that are zero. These get a velocity of their
// own, so that nobody divides by zero; their r is zero.
//
// Slip that joints prescribe is contact_step_held.cpp.
//
// Friction of a joint (body/joint_contacts.hpp) is a contact without a normal row. The velocity of its own that this
// row gets is a (r_N - n), so that r_N = n and the cone is as wide as the joint's impulses say, n(s); solves follow
// each other until n is that of the solution.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "hinge/nonsmooth.hpp"
#include "hinge/system.hpp"
#include "method/nonsmooth/body_contact_form.hpp"
#include "solve/contact/mass_root.hpp"
#include "solve/linear/saddle_kernel.hpp"
#include "solve/newton/convergence.hpp"

namespace hinge {

struct JointContact;
class JointContactFinder;

class ContactStep {
 public:
  ContactStep(std::shared_ptr<const System> system, const Pattern& matrix, const ContactSolving& options,
              LinearAlgebra choice);
  bool has_contacts() const { return finder_ != nullptr; }
  ContactFinder& finder() { return *finder_; }
  int dimension() const { return d_; }

  /// Lists the contacts near y; all are inactive then. Gaps count as penetration where y is the end of the last step.
  void find(double t, const double* y, double band, bool end_of_step = true);
  /// The same, where y may change yet: gaps count when count_gaps() is called.
  void look(double t, const double* y, double band);
  void count_gaps();
  /// The list of the last find() once more, for another step.
  void again() {
    active.clear();
    solved_ = false;
  }
  const ContactList& list() const { return impulses_.contacts; }
  /// To change rows before anything else uses them.
  ContactList& found() { return impulses_.contacts; }
  /// For walls that move: what u has besides H z at the end of the step, in the order of the list. It must live as long
  /// as the list; without it the drift is that of the list.
  void end_drift(const std::vector<double>& drift) { end_drift_ = &drift; }
  const std::vector<double>& end_drift() const { return end_drift_ ? *end_drift_ : list().drift; }
  /// Before a step: warm starts are longer or shorter by it, and `auto` may work again.
  void step_length(double h) { h_ = h; }
  /// Before a step: what solvers may do in all its parts.
  void renew_work() {
    sweeps_left_ = std::min(sweeps_left_ + sweeps_per_step, most_sweeps);
    step_work_ = 0;
  }
  /// The problems of this step have taken what they may: what goes round goes round no more, nor is it divided.
  bool worn_out() const { return !(work_left() > 0); }
  /// Numbers of contacts in the list that take part.
  std::vector<int> active;
  /// Of these only those that carried in the last step, or whose gap may close with one of two velocities, to a margin.
  void keep_candidates(double h, double margin, const double* z0, const double* z1);
  /// A step was made with some of the list: those that take no part and are crossed by more than eps do so from now on
  /// (or all). False where there are none. Gaps of contacts that shall not take part are infinite.
  bool add_crossed(const std::vector<double>& gap_at_end, double eps, bool all);
  /// Of contacts in the list that do not, and have the impulses of the last step: 1. Empty where there are none.
  std::vector<char> kept;
  void set_restitution(int a, double e) {  // of an active contact, until the next find()
    impulses_.contacts.restitution[static_cast<std::size_t>(active[static_cast<std::size_t>(a)])] = e;
  }
  int rows() const { return static_cast<int>(active.size()) * d_; }

  /// u = H z + drift of the active contacts.
  void velocities(const double* z, double* u) const;
  /// z += H^T r, with the rows of the active contacts.
  void add_reaction(const double* r, double factor, double* z) const;

  /// Is W built, so that S may be unsymmetric?
  bool few() const;
  /// S in its pattern and the rows C of the joints. False where the matrix is singular.
  bool factor(const double* S, const double* C);
  /// After factor(): false where S is seen not to be positive definite.
  bool definite() const;
  /// v and the impulses r, s for right, c (one per joint) and w (one per row of active contacts). False where there is
  /// no solution to speak of; `failure` says why then.
  bool solve(const double* right, const double* c, const double* w, double* v);
  /// The least |v|_S with H_N v + rate >= 0 (a rate per active contact) and C v = 0, without friction, to a hundredth
  /// of the rates that are missing, or as far as some sweeps come. Not counted as a problem of the step. After
  /// factor().
  bool separate(const std::vector<double>& rate, double* v);
  /// n of friction in a joint, of the last problem, by its normal row among those of active contacts; -1: it is none.
  double bearing_width(int row) const;
  /// The velocity of row a by an impulse on row b, with few contacts; zero where nothing moves.
  double compliance(int a, int b) const {
    return idle_[static_cast<std::size_t>(a)] || idle_[static_cast<std::size_t>(b)] ? 0.0 : W_(a, b);
  }
  std::string failure;
  /// Of a step that failed: `failure`, and without one the likely cause.
  StepResult explain(const State& state, double h, const char* what,
                     const Convergence& convergence = Convergence(0)) const;
  std::vector<double> contact_impulse, joint_impulse;  ///< r and s
  double residual_left = 0;                            ///< of the last problem, relative

  // For methods whose velocities follow an impulse in another way than by S^-1 H^T:

  /// S^-1 H^T with joints held, a column per row of the active contacts. After factor(), with few contacts.
  const double* response(int row) const { return X_.col(row).data(); }
  /// u - drift: H z of velocities() alone.
  void subtract_drift(double* u) const;
  /// r for u = W r + q, of `dimension` rows per active contact (1: normals only); contacts that `asleep` names get
  /// none.
  bool solve_explicit(Eigen::MatrixXd W, Eigen::VectorXd q, int dimension, const std::vector<char>& asleep,
                      Eigen::VectorXd& out);

  /// Impacts at z without other forces: changes z, and gives their impulses. Poisson's law or one contact after the
  /// other. factor() has been called.
  bool poisson(double* z, std::vector<double>& impulse);
  bool sequential(bool last_first, double* z, std::vector<double>& impulse);
  /// Impacts by rounds of all contacts that approach, at z, with the mass S and joints C: the velocities u_N that the
  /// active contacts rebound with, zero where nothing strikes. factor() has to be called afterwards.
  bool rounds(const double* S, const double* C, const double* z, std::vector<double>& rebound);
  std::vector<double> after_rounds;  ///< z behind them
  /// No: of several solutions any, with few contacts that carry; for methods that go on with these alone.
  void use_least_norm(bool yes) { least_norm_ = yes; }
  /// Always the dense form: what the impact laws above need.
  void use_dense(bool yes) { always_dense_ = yes; }

  /// After a step: energy that the impulses r took, when they act between velocities z0 and z1.
  void count_energy(const double* r, const double* z0, const double* z1);
  /// The same from the velocities u of the active contacts before and after.
  void count_work(const double* r, const double* u0, const double* u1);
  /// The same where it is known: the work of normal and of tangential reactions.
  void count_work(double normal, double tangential);
  /// The kinetic energy of a step, and what energies there compare with: a force times a length.
  void count_kinetic(double kinetic, double size) {
    statistics.kinetic = std::max(statistics.kinetic, kinetic);
    statistics.energy_size = std::max(statistics.energy_size, size);
  }
  /// u of velocities(), as it is where walls are at the end of the step.
  void add_end_drift(double* u) const;
  /// After a step: impulses for the record and the next warm start; impacts by the velocities u before.
  void finish(const double* total, const double* before, double h, double t1, const double* y1);
  /// After finish(), for the record: contact i of the list gave a body (or, with sign -1, took from it) this impulse in
  /// space; instead of what it has, or beside that.
  void record(int i, const double* impulse, double sign, bool instead);
  /// After finish() of a part of a step, and of the last one: the record then has what contacts did in the whole step.
  void keep_part();
  void join_parts(double h);
  void forget_parts() { parts_ = {}; }
  /// |M (z1 - z0) - h f - H^T r - C^T s| relative to its largest part.
  void count_balance(double defect, double scale);
  void reset();

  mutable ContactStatistics statistics;
  /// With the gaps at the end of the last step, which the next find() would have counted.
  const ContactStatistics& measured() const;
  const ContactImpulses& impulses() const { return impulses_; }
  /// What is to be said of all problems so far.
  /// Where there are no contacts, of whose statistics the report makes remarks.
  std::vector<std::string> remarks() const;

 private:
  bool solve_from_start(const double* right, const double* c, const double* w, double* v);
  bool solve_problem(const ContactProblem& problem);
  bool solve_with_joints(const ContactProblem& problem, const double* right, const double* c, double* v);
  ContactReport call_solver(const ContactProblem& problem);
  bool accept(const ContactProblem& problem, const ContactReport& report);
  double useful() const;  // the largest residual of a solution
  bool close_joints(const double* right, const double* c, double* v);
  bool rows_move_bodies() const;
  std::pair<double, double> velocity_and_parts(const double* v, const double* w) const;
  bool solve_dense(const ContactProblem& problem, Eigen::VectorXd& r);  // from r = 0
  bool solve_once(const double* right, const double* c, const double* w, double* v);
  void make_spans();
  void find_bearings();
  double width_of(const JointContact& joint) const;
  bool solve_few(const double* right, const double* c, const double* w, double* v);
  bool solve_many(const double* right, const double* c, const double* w, double* v);
  bool solve_bodies(const double* right, const double* c, const double* w, double* v);
  bool strike_members(const Eigen::VectorXd& before, double restitution, Eigen::VectorXd& z);
  bool make_delassus();
  void find_held();
  void loosen_held();
  bool acts(int row) const;
  void take_held_slip(const double* right, const double* w, Eigen::VectorXd& q);
  bool solve_beside_held(Eigen::MatrixXd& W, const Eigen::VectorXd& q);
  void warm_start();
  void remember(const double* total, double h);
  ContactProblem dense_problem(const Eigen::MatrixXd& W, const Eigen::VectorXd& q) const;
  SparseRows contact_and_joint_rows() const;
  double friction(int k) const {
    return impulses_.contacts.friction[static_cast<std::size_t>(active[static_cast<std::size_t>(k)])];
  }

  std::shared_ptr<const System> system_;
  std::unique_ptr<ContactFinder> finder_;
  ContactSolving options_;
  Pattern matrix_, joints_;
  SaddleKernel kernel_;
  int nz_, m_, d_ = 1;
  std::unique_ptr<BodyContactForm> bodies_;
  std::optional<MassRoot> root_;  // of S, with many contacts
  ContactSolver solver_;
  static constexpr int few_rows = 200;  // of contacts, solved densely
  bool always_dense_ = false, few_ = true, by_bodies_ = false, negative_ = false;
  bool least_norm_ = true;
  bool joints_factored_ = false;                 // in kernel_, beside many contacts
  static constexpr double plain_solution = 100;  // sweeps
  static constexpr double sweeps_per_step = 1500, most_sweeps = 20 * sweeps_per_step, most_at_once = 6000,
                          least_sweeps = 40;
  double sweeps_left_ = most_sweeps;  // of heaps, which may take more in one step than in the next
  bool automatic_;                    // `auto` chooses solvers
  // Of all contacts nearby. Few are solved to rounding, and in many problems where impacts follow each other.
  static constexpr double most_of_step = 120 * plain_solution, most_of_few = 1000 * plain_solution, least_contacts = 8;
  double step_work_ = 0;
  void spend(double updates) {
    step_work_ += updates;
    statistics.updates += updates;
  }
  double work_left() const {
    if (!automatic_ || !finder_) return HUGE_VAL;
    const double contacts = std::max({static_cast<double>(list().count), nz_ / 6.0, least_contacts});
    return (few_ ? most_of_few : most_of_step) * contacts - step_work_;
  }
  static constexpr double sweeps_to_separate = 400;
  double rounding_ = 0;      // of a problem, relative to its velocities: better it is not known
  bool separating_ = false;  // by sweeps alone, as far as these come
  bool solved_ = false;      // since the last find(): start_ then is that solution
  std::vector<double> S_, C_, x_, work_;
  mutable std::vector<double> gaps_;
  double end_time_ = 0;
  std::vector<double> end_position_;
  mutable bool end_is_open_ = false;  // whose gaps are not counted yet
  Eigen::MatrixXd X_, W_;             // X: nz + m rows, a column per row of H
  std::vector<int> diagonal_;         // where S_ has its diagonal
  std::vector<int> was_active_;
  std::vector<char> idle_;              // rows that no velocity moves
  std::vector<double> without_joints_;  // of W: its diagonal, about, if there were none
  struct Held {                         // a contact with friction along a direction that nothing moves
    int row;
    bool all;                      // its tangents
    std::array<double, 2> along;   // of two tangents this one
    std::array<double, 2> slip{};  // there
    double w, r;                   // W_ee for solvers, r_e
  };
  std::vector<Held> held_;
  static void stiffen(Eigen::MatrixXd& W, Held& held, double w);
  void take_slip(Held& held, double parts, Eigen::VectorXd& q) const;
  std::vector<double> reaction_;          // of the last problem
  ContactImpulses impulses_, parts_;      // parts_: of what was done of a step that is made in parts
  std::vector<std::uint64_t> last_keys_;  // of the last step, with their impulses and frames
  std::vector<double> last_impulse_, last_frame_, last_joints_;
  std::vector<char> last_struck_, struck_;
  std::vector<std::uint64_t> older_keys_;  // of the step before, while a step is finished
  std::vector<double> older_impulse_, older_frame_;
  std::vector<double> kept_friction_, rates_, no_force_;  // of separate()
  std::vector<double> start_;                             // r of the contacts, then of the joints; empty: zero
  struct Bearing {  // a joint with friction: its normal row among those of active contacts, and n
    int row;
    const JointContact* joint;
    double width;
  };
  std::vector<Bearing> bearings_;
  std::shared_ptr<JointContactFinder> spans_;  // of bearings that carry moments, where the contacts were found
  double last_h_ = 0, h_ = 0;                  // 0: nothing is known of it
  const std::vector<double>* end_drift_ = nullptr;
};

}  // namespace hinge
