// A run: a system, a method, a start, and at the end a statement of what was preserved and how well.
//
//   hinge::Simulation run(pendulum, hinge::gauss_lobatto(2), {.step = 0.01});
//   run.start({.position = {1, 0}, .velocity = {0, 0}});
//   run.until(10.0);
//   std::cout << run.report();
#pragma once

#include <array>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "hinge/method.hpp"
#include "hinge/record.hpp"
#include "hinge/system.hpp"

namespace hinge {

/// A solution that is known, as expressions in t. What is not known stays empty. As in Start, velocity stands for z
/// where the system has no such word.
struct ExactSolution {
  Vector position{}, velocity{}, momentum{}, multiplier{};
  bool empty() const { return position.size() + velocity.size() + momentum.size() + multiplier.size() == 0; }
};

/// Euclidean norms of the errors in y, z and the multipliers, in this order; empty where there is nothing to compare
/// with.
using StateErrors = std::array<std::optional<double>, 3>;

/// A momentum map of all points of the system: coordinates of shape {3} or {N, 3}, or {2} or {N, 2} in the plane of e1
/// and e2. Give an axis or a direction, as it is: they are not made unit vectors.
struct MomentumMap {
  std::vector<double> axis{};       ///< angular: the sum of axis . ((q_k - point) x p_k)
  std::vector<double> point{};      ///< that the axis goes through; the origin where empty
  std::vector<double> direction{};  ///< linear: the sum of direction . p_k
};

/// Something to notice while a run goes on: a function of the motion that changes its sign. Located to round-off.
struct Event {
  enum class Direction { both, rising, falling };
  enum class Action {
    record,  ///< note the time, and record the state
    stop,    ///< and end the run there
    change   ///< and go on with another velocity
  };
  std::string name{};
  Expression root{};
  Direction direction = Direction::both;
  Action action = Action::record;
  /// For change: the new velocity (momenta for a Hamiltonian system, z for an ODAE, all unknowns for a DAE), one
  /// expression for each number, of the motion before. What the constraints do not allow of it is projected away.
  Vector velocity{};
};

/// An event that has happened.
struct Occurrence {
  std::string name;
  State state;  ///< before a change
};

/// How long steps are, and which of them are recorded.
struct SimulationOptions {
  double step = 0;        ///< of fixed length; with a tolerance, the first one (0: chosen by the method)
  Tolerance tolerance{};  ///< where given, the method chooses its steps
  double max_step = 0;    ///< for these; 0: no limit
  double start = 0;       ///< time at the start
  int every = 1;          ///< record every n-th step (the first and the last state always)
  double interval = 0;  ///< or: record at multiples of this time (with steps of fixed length the first one after each)
  std::vector<double> times{};  ///< or: record at these times, in order; by interpolation where steps are chosen
  SolverOptions solver{};
  StepOptions steps() const { return {tolerance, step, max_step}; }
  /// Throws InputError where an option cannot be.
  void validate() const;
};

/// Where recorded rows go, and what the file says about itself.
struct Output {
  std::string path;  ///< .csv, .h5 or .hdf5
  std::string title;
  std::string model{};     ///< text of the model file
  std::string settings{};  ///< what was set on top of it: "parameters.m1=2 integrate.step=0.1"
};

/// How a run has ended so far: stopped by the progress callback, failed by whatever was thrown.
enum class RunStatus { finished, stopped, failed };

/// Everything worth knowing after a run. Prints as a short table.
struct Report {
  std::string title, method;
  int order = 0;                          ///< 0 where it is not stated
  std::vector<std::string> method_facts;  ///< of the method, beyond its name: a sentence each
  RunStatus status = RunStatus::finished;
  std::string message;                ///< why it failed or stopped
  std::vector<Doubt> doubts;          ///< what makes the result doubtful, where it has not failed
  std::vector<std::string> warnings;  ///< of the method about this system
  double start = 0, end = 0, step = 0;
  Tolerance tolerance;               ///< where steps were chosen
  double shortest = 0, longest = 0;  ///< step, where steps were chosen
  std::vector<std::string> remarks;  ///< of the method about this run
  long steps = 0, rejected = 0;
  State final;
  std::vector<double> velocity, momentum;     ///< at the end, where the system has these words
  bool has_constraints = false;               ///< or algebraic equations, of a DAE
  double constraint = 0;                      ///< max |g| over all steps
  double hidden_constraint = 0;               ///< max |g_t + g_y v|
  std::optional<double> velocity_constraint;  ///< max |w|, where there are velocity constraints
  std::optional<double> energy, energy_error;
  std::optional<double> discrete_energy_error;  ///< of what the scheme conserves in the place of the energy
  std::string discrete_energy;                  ///< and what that is, as a formula
  struct Momentum {
    std::string name;
    double value = 0, error = 0;  ///< at the end; largest deviation over all steps
  };
  std::vector<Momentum> momentum_maps;    ///< those that were asked for
  std::optional<double> condition;        ///< of the iteration matrix of the first step, where asked for
  StateErrors exact_error;                ///< at the end, against the exact solution where one is given
  std::array<std::string, 3> part_names;  ///< what these errors are called: "position", "velocity", "multiplier"
  struct Observed {
    std::string name;
    std::vector<int> shape;
    std::vector<double> value;
  };
  std::vector<Observed> quantities;           ///< at the end
  std::vector<Occurrence> events;             ///< in order of time
  std::optional<ContactStatistics> contacts;  ///< where the system has any
  Counters counters;
  double wall_seconds = 0;
  Layout layout;
  std::string output;  ///< file written, if any
  long recorded = 0;

  /// The verdict: nothing failed, and nothing is doubtful.
  bool sound() const { return status != RunStatus::failed && doubts.empty(); }
};
/// The verdict in words: `sound`, or a line for each doubt with its number and its remedy.
std::string verdict_text(const Report& report);
std::ostream& operator<<(std::ostream& out, const Report& report);

class Run;

/// A file from which a run that was interrupted can go on. Every run starts its method anew after so many steps,
/// whether it has checkpoints or not and whether it is interrupted or not; the file has the last such place.
struct Checkpoints {
  std::string path;     ///< replaced as a whole: what is there is complete
  double seconds = 60;  ///< of wall time from one writing to the next
  long steps = 0;       ///< from one such place to the next; 0: by the size of the system
};

/// A system with a method, on its way from a start. One thread at a time; many of them may share a system.
class Simulation {
 public:
  Simulation(const SystemBuilder& system, MethodChoice method, SimulationOptions options);
  Simulation(std::shared_ptr<const System> system, MethodChoice method, SimulationOptions options);
  ~Simulation();
  Simulation(Simulation&&) noexcept;
  Simulation& operator=(Simulation&&) noexcept;

  /// A quantity to record and report: an expression of the system's own variables. Before start().
  void observe(const std::string& name, const Expression& quantity);
  void observe(const std::string& name, const Vector& quantity, std::vector<int> shape = {});
  /// A momentum map to watch in all steps, record and report. Before start().
  void observe_momentum(const std::string& name, const MomentumMap& map);
  /// An event to watch for. Before start().
  void watch(Event event);
  /// Also report the condition number of the iteration matrix of the first step. Before start(). Throws
  /// UnsuitableMethod where the method has none.
  void observe_condition();
  /// A solution to measure the error at the end with.
  void compare(ExactSolution exact);
  /// Writes recorded rows to a file, opened by start(). Before start().
  void record(Output output);
  /// Keeps recorded rows in memory, for trajectory(). Before start().
  void keep_rows();
  /// Called with every recorded row, after it has gone to files and memory. An exception ends the run as failed. Before
  /// start(); several are called in their order.
  void on_row(std::function<void(const Row&)> callback);

  /// Before start() or resume().
  void keep_checkpoints(Checkpoints checkpoints);
  /// In the place of start(): goes on where the file was written, with the same model and method, as the run would have
  /// gone on that wrote it, bit for bit. Throws InputError where the file is of another model or version.
  void resume(const std::string& checkpoint);
  /// Checks (or makes) the initial values consistent and computes the initial multipliers.
  void start(const Start& initial);
  /// One step; with steps of given length the k-th ends at start + k h, where the start may be an event. Throws
  /// StepFailure; the state is then as before. Whatever is thrown, also by callbacks and own systems, first closes the
  /// records as failed, with the reason, and then reaches the caller as it is.
  void step();
  /// Steps until `end`; the last step is fitted. Throws as step() does.
  void until(double end);
  /// Ends a run that is not continued: closes the records as finished. Called by the destructor as well, which closes
  /// them as failed where it is called because of an exception.
  void finish();

  /// Where the motion is: after a failure, where the step that failed began.
  const State& state() const;
  const System& system() const;
  /// The rows so far; none without keep_rows().
  const Trajectory& trajectory() const;
  /// What was preserved and how well, what it has cost, how it ended. At any time after start().
  Report report() const;
  /// What a user should know before this method is applied to this system.
  const std::vector<std::string>& warnings() const;

  /// Called about ten times a second with the current time; return false to stop the run cleanly.
  void on_progress(std::function<bool(double t)> callback);

 private:
  friend class RunsAbreast;
  std::unique_ptr<Run> run_;
};

}  // namespace hinge
