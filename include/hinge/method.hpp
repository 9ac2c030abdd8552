// Methods: advance the state by one step. Longer than other files: the options of all methods stand side by side.
//
//   hinge::gauss_lobatto(2)      a choice of method, to hand to a Simulation
//   hinge::methods()             every method with what it preserves
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "hinge/doubt.hpp"
#include "hinge/formulation.hpp"
#include "hinge/option.hpp"
#include "hinge/solve.hpp"
#include "hinge/system.hpp"
#include "hinge/tableau.hpp"

namespace hinge {

/// How the nonlinear equations of a step are solved.
struct SolverOptions {
  /// `automatic` keeps the factorised small matrix while it converges well and falls back to full Newton when not.
  enum class Newton { automatic, simplified, full };
  Newton newton = Newton::automatic;
  LinearAlgebra linear_algebra = LinearAlgebra::automatic;
  int max_iterations = 50;
  void validate() const;
};

/// What the work so far has cost.
struct Counters {
  long steps = 0;
  long iterations = 0;      ///< Newton iterations, simplified and full, of both blocks
  long evaluations = 0;     ///< passes over the system's functions
  long factorisations = 0;  ///< of the small matrix and of full ones
  long full_newton = 0;     ///< steps that needed full Newton
  long augmentations = 0;   ///< solutions with given multipliers, in augmented Lagrangian methods
  long rejected = 0;        ///< steps that an error test refused
  long failed = 0;          ///< steps that Newton's iteration gave up, tried again with a shorter one
  long solved = 0;          ///< systems of equations that Newton's iteration has solved
  double increments = 0;    ///< sum of the increments these ended with, in units of what ends an iteration at once
  /// How many were solved since `before`, and with what; the other numbers stay.
  void solved_since(const Counters& before, const Counters& now);
  Counters& operator+=(const Counters& more);
};

struct StepResult {
  bool ok = true;
  std::string reason;  ///< why a step failed: filled only then
  explicit operator bool() const { return ok; }
};

/// Work along a run: its sum, the least and the most that the sum has been, and how far it rose from its least.
struct WorkDone {
  double sum = 0, least = 0, most = 0, rise = 0;
  void add(double work);
  /// What was done after it.
  WorkDone& operator+=(const WorkDone& next);
};

/// What contacts did in a run.
struct ContactStatistics {
  int contacts = 0, most_contacts = 0;  ///< listed in the last step; in any
  int loaded = 0;                       ///< with a reaction, in the last step
  double penetration = 0;               ///< largest -gap at the end of a step
  double complementarity = 0;           ///< largest residual of a solved contact problem, relative, in velocities
  double cone = 0;                      ///< largest |r_T| - mu r_N, relative to the largest |r| of the step
  double impact_loss = 0;               ///< energy taken by normal reactions, so far
  double friction_loss = 0;             ///< energy taken by tangential reactions, so far
  double momentum_balance = 0;  ///< largest |M (z1 - z0) - h f - H^T r - G^T s| of a step, relative; -1: not measured
  long impacts = 0;             ///< contacts that closed with a velocity
  long solves = 0, solver_iterations = 0, unconverged = 0;
  double search_seconds = 0, assembly_seconds = 0, solver_seconds = 0;
  std::string solver;  ///< that solved the last problem
  /// Of problems not solved to their tolerance: what their velocities are wrong by, each as a part of its own largest
  /// one, summed.
  double velocity_left = 0;
  double updates = 0;   ///< of contacts, that solvers took, or as much other work
  long not_unique = 0;  ///< problems whose reactions are not
  long six_digits = 0;  ///< problems solved to these and no further
  double six_digits_worst = 0;
  long unsettled = 0;  ///< steps in which forces and contacts were not solved together to rounding
  double unsettled_to = 0;
  long limited = 0, limited_rounds = 0;  ///< impacts, and rounds of these, that would have created energy
  WorkDone work;                         ///< of all reactions on bodies
  double sliding_work = 0;               ///< of friction, in steps where that does more than normal reactions
  double kinetic = 0, energy_size = 0;   ///< largest kinetic energy; what energies compare with: a force times a length
  /// Of impulses of impacts larger than sweeps over turning normals are made for: times the angles that their normals
  /// turned by, and themselves; the longest step.
  double turning = 0, pushed = 0, longest = 0;
  struct Event {
    double t;
    std::string what;  ///< "impact of floor", "floor opens", "floor sticks"
  };
  std::vector<Event> events;  ///< of event-driven methods, the first ten thousand
  /// With what a later part of the run did.
  ContactStatistics& operator+=(const ContactStatistics& more);
};

/// The contacts of the last step and their impulses, for records and pictures.
struct ContactImpulses {
  ContactList contacts;
  std::vector<double> impulse;  ///< `dimension` per contact
  double step = 0;              ///< impulse / step is a force, where nothing struck
};

/// The accuracy that steps are chosen for: local errors of a number x stay below absolute + relative |x|.
struct Tolerance {
  double relative = 0, absolute = 0;
  bool given() const { return relative > 0 || absolute > 0; }
  void validate() const;
};

/// How long the steps are: of given length, or chosen by the method where there is a tolerance.
struct StepOptions {
  Tolerance tolerance{};
  double first_step = 0;  ///< of chosen steps; 0: chosen by the method
  double max_step = 0;    ///< 0: no limit
  bool chosen() const { return tolerance.given(); }
};

class StepAhead;

/// A method bound to a system, with its work space. A method with steps of given length implements step() and, where it
/// remembers something, reset(); one that chooses its steps implements start(), advance() and interpolate(). The rest
/// follows from these.
class Stepper {
 public:
  virtual ~Stepper() = default;
  bool chooses_steps() const { return chooses_steps_; }

  /// Begins at a consistent state; also after a jump. Forgets earlier steps, keeps the counters.
  virtual StepResult start(const State& state);
  /// Advances `state` by h, which may be negative where the length is given. Where steps are chosen: by as many as it
  /// takes. When it fails, the state is as it was.
  virtual StepResult step(State& state, double h);
  /// One step of the method's own length, not beyond `limit`, which is hit exactly when it is reached; a step to
  /// `limit` where the length is given. When it fails, the state is as it was.
  virtual StepResult advance(State& state, double limit);
  /// The step that advance() with this limit would make next, for who computes several together; null where there is
  /// none to offer (method/step_ahead.hpp). Of chosen steps.
  virtual StepAhead* ahead(const State& /*state*/, double /*limit*/) { return nullptr; }
  /// Goes on from a state that is the end of the last step but for a small correction, such as a projection. Methods
  /// that can, keep their step length and what they remember; the others start anew.
  virtual StepResult continue_from(const State& state) { return start(state); }
  /// Chosen steps: the solution at a time within the last one. `state` has the right sizes; nothing is allocated.
  virtual void interpolate(double /*t*/, State& /*state*/) const {}
  /// The same where it need not meet the tolerance, at less cost: to see where something may happen.
  virtual void sketch(double t, State& state) const { interpolate(t, state); }
  /// The same for all methods: where the length is given, by a shorter step from `before`, where the last one began.
  /// Then start() has to come before the next step. False where that step fails.
  bool look_within(const State& before, double t, State& state);
  /// Forgets what was remembered of earlier steps: to be called when the state has been changed from outside.
  virtual void reset() {}

  const Counters& counters() const { return counters_; }
  /// The multipliers of all nodes of the last step, node after node: more than one per constraint where a method has
  /// several. The state holds the last, which approximates psi(t). Empty where steps are chosen.
  const std::vector<double>& multipliers() const { return multipliers_; }
  /// A formula for what the scheme conserves exactly in the place of the energy; null where there is no such quantity.
  virtual const char* discrete_energy_name() const { return nullptr; }
  /// Its value at the state that the last step led to, from the energy and the constraints g there.
  virtual double discrete_energy(double energy, const double* /*g*/) const { return energy; }
  /// What discrete_energy() has summed up over all steps. Who makes steps on trial puts it back afterwards.
  virtual double summed_work() const { return 0; }
  virtual void set_summed_work(double) {}
  /// Null where the method knows no contacts.
  virtual const ContactStatistics* contact_statistics() const { return nullptr; }
  /// Steps of given length: who takes the last step back says what was counted before it.
  virtual void set_contact_statistics(const ContactStatistics&) {}
  virtual const ContactImpulses* contact_impulses() const { return nullptr; }
  /// Where the equations changed with time in the last step, or at its beginning: the states just before and just
  /// after, whose velocities may differ.
  struct Break {
    State before, after;
  };
  virtual std::span<const Break> breaks() const { return {}; }
  /// What happened that a user should know: "stiff from t = 0.3 on: radau took over", a sentence each.
  virtual std::vector<std::string> remarks() const { return {}; }
  /// What makes the steps so far doubtful. A method around another one passes on what that one says.
  virtual std::vector<Doubt> doubts() const { return {}; }

 protected:
  explicit Stepper(bool chooses_steps = false) : chooses_steps_(chooses_steps) {}
  Counters counters_;
  std::vector<double> multipliers_;

 private:
  bool chooses_steps_;
};

/// What a method keeps; printed by `hinge methods` and tested for every method by the property harness.
struct Preserves {
  bool position_level = false;  ///< g = 0 to round-off
  bool velocity_level = false;  ///< g_t + g_y v = 0 to round-off
  bool symplectic = false;      ///< for Hamiltonian and Lagrangian systems
  bool symmetric = false;       ///< a step of -h undoes a step of h
  bool momentum_maps = false;   ///< linear and angular momenta of a symmetric system
  bool energy = false;          ///< the energy to round-off, not only without drift
};

/// Which steps and which systems a method takes.
struct Abilities {
  bool given_steps = true;            ///< steps of given length
  bool chosen_steps = false;          ///< steps that it chooses to meet a tolerance
  bool full_interpolation = false;    ///< within a chosen step as accurate as at its ends
  bool dae = false;                   ///< also F(t, x, x') = 0
  bool noise = false;                 ///< DAEs with noise, and no others
  bool contacts = false;              ///< also unilateral constraints, and DAEs with complementarity pairs
  bool own_reactions = false;         ///< also contacts with a reaction of their own
  int touching_bodies = 0;            ///< also bodies whose shapes touch: 2 in the plane, 3 in space as well
  bool particles = false;             ///< also those that are no expressions
  bool joint_friction = false;        ///< also dry friction in joints
  bool velocity_constraints = false;  ///< also w(t, y, z) = 0
  /// Why not, where it is not so: "its stages have positions alone to keep".
  std::string no_velocity_constraints{};
};

using OptionValue = std::variant<double, std::string, bool, SparkTableau>;
using Options = std::map<std::string, OptionValue>;

/// One entry of the list of methods.
struct MethodInfo {
  std::string name;
  std::string summary;
  std::string order;             ///< of y and z, as a formula in the options: "2 s"
  std::string multiplier_order;  ///< of psi
  Preserves preserves;
  std::vector<OptionInfo> options;
  std::string reference;
  std::string condition{};  ///< of what is preserved: "with constraints = \"multiplier\"; ..."
  Abilities can{};
};

/// A method with its options chosen, not yet bound to a system.
struct MethodChoice {
  MethodInfo info;
  int order = 0;            ///< 0 where it is not stated
  std::string description;  ///< "Gauss-Lobatto, 2 stages"
  using Make = std::unique_ptr<Stepper>(std::shared_ptr<const System>, const SolverOptions&, const StepOptions&);
  /// Binds to a system that the method can take, with steps that it can make; see bind().
  std::function<Make> make;
  int multiplier_order = 0;
  /// The method whose step of -h undoes a step of h of this one. Empty where that is the method itself.
  std::function<MethodChoice()> adjoint{};
  /// What a user should know before applying this method to a system: one sentence each.
  std::function<std::vector<std::string>(const System&)> warnings{};
  /// What is known of this choice beyond its description, a sentence each; shown with every run.
  std::vector<std::string> facts{};
  /// The same, but what is known only together with a system.
  std::function<std::vector<std::string>(const System&)> system_facts{};
  /// More of that, for who wants to know a system before it is run.
  std::function<std::vector<std::string>(const System&)> details{};
  /// Changes description and orders to what they are with a system and steps, where they depend on these.
  std::function<void(MethodChoice&, const System&, const StepOptions&)> specialise{};
  /// Condition number of the iteration matrix of the step of h from a state. Empty where there is none.
  std::function<double(std::shared_ptr<const System>, const State&, double h, const SolverOptions&)> condition{};
  /// Why contacts cannot have a restitution with this choice; empty where they can.
  std::string no_restitution{};

  /// An UnsuitableMethod where the system or the steps are of a kind that the method does not take, with the names of
  /// those that do. What else a method demands of a system it checks when it is bound.
  void refuse(const System& system, const StepOptions& steps = {}) const;
  /// The choice, with the description and the orders that it has there.
  MethodChoice specialised(const System& system, const StepOptions& steps) const;
  /// The method bound to a system. Refuses what it cannot take.
  std::unique_ptr<Stepper> bind(std::shared_ptr<const System> system, const SolverOptions& solver = {},
                                const StepOptions& steps = {}) const;
};

/// s = 1..12 stages, order 2 s. Keeps both constraint levels, symplectic, symmetric.
MethodChoice gauss_lobatto(int stages);
/// s = 2..12 stages, order 2 s - 2. Keeps both constraint levels, symplectic, symmetric.
MethodChoice lobatto_iiia_iiib(int stages);
struct RattleOptions {
  /// How velocity constraints hold within a step: at its middle, or (leapfrog) by the multipliers of the step before.
  bool leapfrog = false;
};
/// Two-stage Lobatto IIIA-IIIB, order 2: explicit but for the constraints when the system is separable. With velocity
/// constraints a symmetric method of order 2 that keeps them.
MethodChoice rattle(const RattleOptions& options = {});
/// The positions of rattle, with central differences as velocities. For separable systems only.
MethodChoice shake();

/// A SPARK method with coefficients of one's own; see tableau.hpp. They are checked against (3.3), (4.1) and (4.3): a
/// condition that is violated by more than 1e-12, and not listed in `violates`, is an InputError that says where.
MethodChoice spark(const SparkTableau& tableau);

struct SymplecticEulerOptions {
  bool natural = false;    ///< the variant for reactions affine in psi; else the true one, for all
  bool conjugate = false;  ///< force and velocity at y1 instead of y0
  bool adjoint = false;    ///< of the method given by the rest
  double alpha = 0.5;      ///< not 0; not 1 for the natural variant
};
/// Symplectic Euler methods, order 1, for reactions r(t, y, z, psi) of any kind. Keep both constraint levels.
MethodChoice symplectic_euler(const SymplecticEulerOptions& options = {});

struct CompositionOptions {
  int order = 4;                  ///< 2, 4 or 6
  std::string scheme = "suzuki";  ///< "triple-jump", "suzuki" or "optimised"
  bool base_first = false;        ///< in each pair: the base before its adjoint
};
/// Symmetric composition of a method with its adjoint, or of a symmetric method with itself.
MethodChoice composition(const MethodChoice& base, const CompositionOptions& options = {});
/// The same with another partner in the place of the adjoint. Not taken to be symmetric, even where it is.
MethodChoice composition(const MethodChoice& base, const MethodChoice& partner, const CompositionOptions& options);

struct EnergyMomentumOptions {
  ConstraintTreatment constraints = ConstraintTreatment::multiplier;
  double penalty = 1e6;           ///< mu, for penalty and augmented
  bool general = false;           ///< Gonzalez' general derivative instead of the one built on invariants
  bool project_velocity = false;  ///< put the velocity on its constraint level after every step
  double tolerance = 1e-10;       ///< augmented: iterations end when |g| is below this
  bool warm_start = false;        ///< augmented: start from the state's multipliers, of the last step, instead of zero
  int max_augmentations = 200;    ///< augmented: a step that needs more fails
  double update_factor = 1;       ///< augmented: 1 converges; 2, as once printed, stagnates for large penalties
};
/// Keeps the energy (multiplier) or the energy with the penalty terms, and momentum maps, exactly. Order 2. For systems
/// with a constant mass matrix.
MethodChoice energy_momentum(const EnergyMomentumOptions& options = {});

struct EulerMaruyamaOptions {
  double seed = 1;  ///< a whole number; the same seed gives the same path
  /// Increments of one's own in the place of random ones: (number of the step, h, dW), with one dW per column of noise.
  std::function<void(long, double, double*)> increments{};
};
/// Drift-implicit Euler-Maruyama for linear DAEs of index 1 with noise, E dx + H x dt = c dt + C dW.
MethodChoice euler_maruyama(const EulerMaruyamaOptions& options = {});

struct RadauOptions {
  int stages = 0;  ///< 1..9 for steps of given length, 3, 5 or 7 for chosen ones; 0: 3, or varied between 3, 5 and 7
  FormulationOptions formulation{};
  /// After every step. Where nothing is asked for: none with steps of given length, which leave round-off; with chosen
  /// steps both levels where the formulation has both, since Newton's iteration leaves a part of the tolerance.
  std::optional<Projection> projection{};
  /// Which multipliers the state gets: those of the formulation, those that belong to y and z, or (automatic) the
  /// latter where the former have a lower order than y and z.
  enum class Multipliers { automatic, formulation, recomputed };
  Multipliers multipliers = Multipliers::automatic;
};
/// Radau IIA, order 2 s - 1, for stiff and constrained systems in any formulation, and for DAEs.
MethodChoice radau(const RadauOptions& options = {});

struct ExplicitOptions {
  int order = 8;                                         ///< 5 or 8
  FormulationOptions formulation{Formulation::index_1};  ///< or baumgarte
  Projection projection = Projection::both;
};
/// Dormand and Prince's explicit Runge-Kutta methods on the index-1 form, with projection; fixed or chosen steps.
MethodChoice explicit_runge_kutta(const ExplicitOptions& options = {});
/// explicit_runge_kutta of order 8 until the system turns out to be stiff, then radau; for DAEs radau at once.
MethodChoice automatic();

struct HalfExplicitOptions {
  int order = 4;  ///< 1, 3, 4 or 5
  Projection projection = Projection::none;
};
/// Half-explicit methods on the index-2 form: explicit but for the multipliers, velocity constraints at round-off.
MethodChoice half_explicit(const HalfExplicitOptions& options = {});

struct GeneralizedAlphaOptions {
  double rho = 0.8;                            ///< spectral radius at infinite frequency, 0 to 1
  Formulation formulation = Formulation::ggl;  ///< or index_3
};
/// Chung and Hulbert's generalized-alpha method for constrained systems; order 2, dissipates high frequencies.
MethodChoice generalized_alpha(const GeneralizedAlphaOptions& options = {});

/// How the equations of a step are scaled when the condition number of their matrix is asked for.
enum class MatrixScaling {
  rows_times_h,       ///< q1 - q0 = h (...), p1 - p0 = h (...); unknowns q1, p1, lambda
  as_printed,         ///< (q1 - q0)/h = ..., (p1 - p0)/h = ...; unknowns q1, p1, lambda
  multiplier_times_h  ///< as rows_times_h, but with the unknown h lambda
};
/// 2-norm condition number of the iteration matrix of an energy-momentum step of h from `start`, in its full form with
/// all unknowns q1, p1 (and lambda), at the converged solution. Throws StepFailure where there is none.
double iteration_matrix_condition(std::shared_ptr<const System> system, const EnergyMomentumOptions& options,
                                  const State& start, double h, MatrixScaling scaling = MatrixScaling::rows_times_h,
                                  const SolverOptions& solver = {});

/// The options of a method: what is given, and the defaults of its table for the rest.
class GivenOptions {
 public:
  /// An option that is not in the table, or a value that it cannot have, is an OptionError that names `method`.
  GivenOptions(const std::string& method, std::vector<OptionInfo> table, Options given);
  bool has(const std::string& name) const { return given_.contains(name); }
  /// Values. Where there is no default, or one that depends on something: 0, false or an empty text.
  double number(const std::string& name) const;
  int integer(const std::string& name) const { return static_cast<int>(number(name)); }
  bool flag(const std::string& name) const;
  std::string word(const std::string& name) const;
  /// The enumeration whose values are in the order of the option's words.
  template <class T>
  T choice(const std::string& name) const {
    return static_cast<T>(place_of_word(name));
  }
  const SparkTableau* tableau(const std::string& name) const;
  const Options& given() const { return given_; }

 private:
  const OptionInfo& row(const std::string& name) const;
  int place_of_word(const std::string& name) const;
  std::vector<OptionInfo> table_;
  Options given_;
};

/// What the list of methods is made of.
struct MethodEntry {
  MethodInfo info;
  std::function<MethodChoice(const GivenOptions&)> make;
  std::string base_option{};  ///< the option that names another method, whose options are taken as well
};
/// Adds a method to the list: models and the functions below then know it by its name. A name that exists already is an
/// InputError. Threads may call it, and all of these, at the same time.
void register_method(MethodEntry entry);

/// All methods, in the order in which they are documented; those that were registered come last.
std::vector<MethodInfo> methods();
/// The options that a method takes; for a composition also those of its base.
std::vector<OptionInfo> method_options(const std::string& name, const Options& given);
/// The method called `name` with options; an unknown name or option is an InputError that names the nearest.
MethodChoice make_method(const std::string& name, const Options& options);

/// A method's name with options, in one text: "gauss-lobatto(stages=3)".
struct MethodName {
  std::string name;
  Options options;
  std::string text() const;
};
/// A list of these: "gauss-lobatto(stages=1), rattle". An InputError says what cannot be read.
std::vector<MethodName> parse_method_names(const std::string& text);
/// Those of `options` that the method called `name` has, when it is made with the `given` ones (a composition has those
/// of its base); all of them where there is no such method.
Options known_options(const std::string& name, const Options& given, Options options);

}  // namespace hinge
