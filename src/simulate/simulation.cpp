// The run: start, step, watch, record.
#include "hinge/simulate.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "formulation/start/consistent_start.hpp"
#include "hinge/error.hpp"
#include "hinge/version.hpp"
#include "method/wrap/piecewise.hpp"
#include "simulate/dae_levels.hpp"
#include "simulate/events.hpp"
#include "simulate/momentum_map.hpp"
#include "simulate/record/recorder.hpp"
#include "simulate/record/recorder_vtk.hpp"
#include "simulate/reference.hpp"
#include "system/symbolic.hpp"

namespace hinge {

void SimulationOptions::validate() const {
  tolerance.validate();
  if (!std::isfinite(step) || !(step > 0 || (step == 0 && tolerance.given())))
    throw InputError(fmt::format("the step is {}; it must be a positive number", step));
  if (!std::isfinite(max_step) || max_step < 0)
    throw InputError(fmt::format("max_step = {}; give a positive time, or leave it out", max_step));
  for (std::size_t k = 0; k < times.size(); ++k)
    if (!std::isfinite(times[k]) || times[k] < start || (k > 0 && !(times[k] > times[k - 1])))
      throw InputError(
          fmt::format("times[{}] = {}; times to record at are finite, increasing and not before the start, {}", k,
                      times[k], start));
  if (!std::isfinite(start)) throw InputError("the start time is not a finite number");
  if (every < 1) throw InputError(fmt::format("every = {}; record every 1st, 2nd, ... step", every));
  if (!std::isfinite(interval) || interval < 0)
    throw InputError(fmt::format("interval = {}; give a positive time, or leave it out", interval));
  solver.validate();
}

namespace {

using Q = Quantity;
using Clock = std::chrono::steady_clock;

// Expressions of the user's, evaluated in one pass.
struct Observer {
  std::vector<Report::Observed> items;
  std::vector<Expression> expressions;
  std::unique_ptr<Evaluator> tape;
  std::vector<double> scratch, values;

  void compile(const System& system) {
    if (expressions.empty()) return;
    const SymbolicSystem* symbolic = symbolic_part(system);
    if (!symbolic) throw InputError("quantities can be observed on systems made of expressions only");
    std::vector<Node> nodes;
    for (const Expression& e : expressions) nodes.push_back(e.node_in(*symbolic->equations().graph));
    tape = symbolic->tape(nodes);
    scratch = tape->make_scratch();
    values.resize(nodes.size());
  }

  void evaluate(const State& s) {
    if (!tape) return;
    const double* const inputs[] = {&s.t, s.y.data(), s.z.data(), s.psi.data()};
    tape->evaluate(inputs, scratch.data(), values.data());
  }
};

// NaN where one of the numbers is.
double biggest(const double* x, int n) {
  double m = 0;
  for (int i = 0; i < n; ++i) m = !(std::abs(x[i]) <= m) ? std::abs(x[i]) : m;
  return m;
}

// Gaps that are expressions; a method that does not list a contact would not notice that its gap is undefined.
struct GapWatch {
  std::unique_ptr<ContactFinder> finder;
  ContactList list;
  std::vector<double> values;

  void begin(const System& system) {
    finder.reset();
    const auto* symbolic = dynamic_cast<const SymbolicSystem*>(&system);
    if (!symbolic || symbolic->equations().gaps.empty()) return;
    finder = system.contact_finder();
    list.clear(finder->dimension());
    for (std::size_t k = 0; k < symbolic->equations().gaps.size(); ++k) list.key.push_back(k);
    list.count = static_cast<int>(list.key.size());
    values.resize(list.key.size());
  }
  // The first gap that is no number; -1: none.
  int undefined(const State& s) {
    if (!finder) return -1;
    finder->gaps(s.t, s.y.data(), list, values.data());
    for (std::size_t k = 0; k < values.size(); ++k)
      if (!std::isfinite(values[k])) return static_cast<int>(k);
    return -1;
  }
};

// Pictures where nobody says how many: frames of one call of until().
constexpr double usual_frames = 300;

bool all_finite(const std::vector<double>& x) {
  return std::all_of(x.begin(), x.end(), [](double v) { return std::isfinite(v); });
}

}  // namespace

struct Simulation::Impl {
  std::shared_ptr<const System> system;
  MethodChoice method;
  SimulationOptions options;
  std::unique_ptr<Stepper> stepper;           // one of these two
  std::unique_ptr<AdaptiveStepper> adaptive;  //
  std::unique_ptr<Evaluation> watch;
  std::unique_ptr<DaeLevels> levels;  // of a DAE
  GapWatch gaps;
  std::string undefined_gap;
  Observer observer;
  EventWatch events;
  std::vector<Occurrence> occurred;
  int crowded = 0;  // events in a row with hardly any time between
  std::vector<WatchedMomentum> momenta;
  ExactSolution exact;
  Output output;
  std::unique_ptr<Recorder> recorder;
  std::string picture_path;  // .pvd
  std::unique_ptr<PictureSeries> pictures;
  double picture_interval = 0, next_picture = 0;  // 0: one for each row
  long last_picture_step = -1;
  std::vector<double> row;
  std::function<bool(double)> progress;

  bool started = false, depends_on_time = true;
  State state, before;  // before: where the present step began
  State shown;          // between steps, for the record
  double constraint = 0, hidden = 0, energy0 = 0, energy = 0, energy_error = 0;
  double discrete_energy0 = 0, discrete_energy_error = 0;
  double work_before = 0;  // of the stepper, where the present step began
  bool wants_condition = false;
  std::optional<double> condition;
  std::vector<std::string> start_remarks;
  std::optional<std::vector<std::string>> facts, warnings;  // worked out when first asked for
  long steps = 0, recorded = 0, last_recorded_step = -1;
  double next_record_time = 0;
  std::size_t next_time = 0;
  double shortest = INFINITY, longest = 0;
  double wall_seconds = 0;
  RunStatus status = RunStatus::finished;
  std::string message;

  Impl(std::shared_ptr<const System> s, MethodChoice m, SimulationOptions o)
      : system(std::move(s)), method(std::move(m)), options(o) {
    options.validate();
    depends_on_time = system->depends_on_time();
    if (system->layout().kind == SystemKind::dae && !method.takes_dae)
      throw UnsuitableMethod(fmt::format(
          "{} integrates mechanical systems, not F(t, x, x') = 0; use bdf or radau for a [dae]", method.info.name));
    refuse_contacts();
    if (options.tolerance.given()) {
      if (!method.bind_adaptive)
        throw UnsuitableMethod(fmt::format(
            "{} takes steps of given length; give step = ... instead of a tolerance, or choose a method that "
            "chooses its steps: {}",
            method.info.name,
            system->layout().kind == SystemKind::dae ? "auto, radau or bdf"
                                                     : "auto, explicit, radau, bdf or half-explicit"));
      adaptive = bind_piecewise(method, system, options.solver, {options.tolerance, options.step, options.max_step});
    } else {
      if (!method.bind)
        throw UnsuitableMethod(
            fmt::format("{} chooses its steps; give tolerance = 1e-6 instead of a step", method.info.name));
      stepper = method.bind(system, options.solver);
    }
  }

  void refuse_contacts() const {
    const auto* symbolic = dynamic_cast<const SymbolicSystem*>(system.get());
    if (symbolic && method.info.name != "symplectic-euler" && method.info.name != "event-driven")
      for (const auto& gap : symbolic->equations().gaps)
        if (!gap.reaction.empty())
          throw UnsuitableMethod(fmt::format(
              "the contact {} has a reaction of its own; symplectic-euler and event-driven take such contacts, {} does "
              "not",
              gap.name, method.info.name));
    const BodyTable* bodies = bodies_of(*system);
    if (method.info.name == "generalized-alpha" && bodies && bodies->dimension == 3 && bodies->can_collide())
      throw UnsuitableMethod("generalized-alpha knows no bodies that turn in space and touch; use moreau-jean");
    if (method.takes_contacts) return;
    if (symbolic && !symbolic->equations().pairs.empty())
      throw UnsuitableMethod(fmt::format(
          "{} knows no complementarity pairs; use moreau-jean (implicit steps of fixed length)", method.info.name));
    if (system->contact_finder())
      throw UnsuitableMethod(
          fmt::format("{} knows no contacts that open and close; use {}", method.info.name, methods_for_contacts()));
  }

  const char* methods_for_contacts() const {
    const BodyTable* bodies = bodies_of(*system);
    if (!bodies) return "moreau-jean, paoli-schatzman, generalized-alpha or event-driven";
    if (bodies->dimension == 3) return "moreau-jean, or collide = false for bodies that need not touch";
    return symbolic_part(*system) == system.get() ? "moreau-jean, paoli-schatzman or generalized-alpha"
                                                  : "moreau-jean or paoli-schatzman";
  }

  const Counters& counters() const { return adaptive ? adaptive->counters() : stepper->counters(); }

  void make_watch() {
    Quantities wanted{Q::constraint, Q::constraint_rate};
    if (system->has_energy()) wanted.insert(Q::energy);
    if (!momenta.empty()) wanted.insert(Q::momentum);
    watch = system->evaluation(wanted);
    gaps.begin(*system);
    const auto* symbolic = dynamic_cast<const SymbolicSystem*>(system.get());
    if (system->layout().kind == SystemKind::dae && symbolic && !levels)
      levels = std::make_unique<DaeLevels>(*symbolic);
  }

  // What was preserved, at the present state. Says what is not a number there; then nothing has changed.
  const char* look() {
    if (!all_finite(state.y) || !all_finite(state.z) || !all_finite(state.psi)) return "state";
    watch->at(state.t, state.y.data(), state.z.data(), state.psi.data());
    if (levels) levels->at(state);
    const double g = levels ? levels->algebraic : biggest((*watch)[Q::constraint], system->ng());
    const double rate = levels ? levels->hidden : biggest((*watch)[Q::constraint_rate], system->ng());
    if (!std::isfinite(g) || !std::isfinite(rate)) return "residual of the constraints";
    if (system->has_energy() && !std::isfinite(*(*watch)[Q::energy])) return "energy";
    if (const int gap = gaps.undefined(state); gap >= 0) {
      undefined_gap = "gap " + gaps.finder->name(static_cast<std::uint64_t>(gap));
      return undefined_gap.c_str();
    }
    for (const WatchedMomentum& m : momenta)
      if (!std::isfinite(m.motion.momentum(state.y.data(), (*watch)[Q::momentum]))) return "momentum";
    constraint = std::max(constraint, g);
    hidden = std::max(hidden, rate);
    if (system->has_energy()) {
      energy = *(*watch)[Q::energy];
      if (steps == 0) energy0 = energy;
      energy_error = std::max(energy_error, std::abs(energy - energy0));
      const double discrete = stepper ? stepper->discrete_energy(energy, (*watch)[Q::constraint]) : energy;
      if (steps == 0) discrete_energy0 = discrete;
      discrete_energy_error = std::max(discrete_energy_error, std::abs(discrete - discrete_energy0));
    }
    for (WatchedMomentum& m : momenta) m.see(m.motion.momentum(state.y.data(), (*watch)[Q::momentum]), steps == 0);
    return nullptr;
  }

  const ContactImpulses* contact_impulses() const {
    return adaptive ? adaptive->contact_impulses() : stepper->contact_impulses();
  }

  void open_output() {
    if (!picture_path.empty()) pictures = std::make_unique<PictureSeries>(picture_path, system);
    if (output.path.empty()) return;
    RecordHeader header;
    const Layout& l = system->layout();
    header.columns = {"t"};
    for (const std::string& name : state_columns(l)) header.columns.push_back(name);
    const bool taken = std::any_of(l.y.begin(), l.y.end(), [](const Block& b) { return b.name == "energy"; });
    if (system->has_energy()) header.columns.push_back(taken ? "total_energy" : "energy");
    for (const WatchedMomentum& m : momenta) header.columns.push_back(m.name);
    for (const auto& q : observer.items) {
      const Block b{q.name, q.shape, 0};
      for (int k = 0; k < b.size(); ++k) header.columns.push_back(b.entry_name(k));
    }
    header.about = {{"title", output.title},
                    {"method", method.description},
                    {"step", fmt::format("{}", options.step)},
                    {"program", "hinge " + version()}};
    if (!output.settings.empty()) header.about.emplace_back("set", output.settings);
    header.model = output.model;
    recorder = open_recorder(output.path, header);
    row.resize(header.columns.size());
  }

  void write_picture(const State& s) {
    pictures->write(s, contact_impulses());
    last_picture_step = steps;
    if (picture_interval > 0)
      next_picture += picture_interval * (std::floor((s.t - next_picture) / picture_interval + 1e-9) + 1);
    if (!recorder) ++recorded;
  }

  // Where nobody says when to record, a picture for every step would be thousands of files.
  void choose_pictures(double end) {
    picture_interval = 0;
    if (!pictures || at_times() || options.every > 1) return;
    const double interval = (end - state.t) / usual_frames;
    if (!adaptive && !(interval > options.step)) return;
    picture_interval = interval;
    next_picture = state.t + interval;
  }

  void write_row(const State& s) {
    if (pictures && (picture_interval == 0 || s.t >= next_picture - 1e-9 * picture_interval)) write_picture(s);
    if (!recorder) return;
    watch->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    auto out = row.begin();
    *out++ = s.t;
    for (const auto* part : {&s.y, &s.z, &s.psi}) out = std::copy(part->begin(), part->end(), out);
    if (system->has_energy()) *out++ = *(*watch)[Q::energy];
    for (const WatchedMomentum& m : momenta) *out++ = m.motion.momentum(s.y.data(), (*watch)[Q::momentum]);
    observer.evaluate(s);
    std::copy(observer.values.begin(), observer.values.end(), out);
    recorder->record(row);
    ++recorded;
  }
  void write_row() {
    write_row(state);
    last_recorded_step = steps;
  }

  bool at_times() const { return options.interval > 0 || !options.times.empty(); }
  // The next time to record at; infinity when there is none left.
  double due_time() const {
    if (options.interval > 0) return next_record_time - 1e-9 * options.interval;
    return next_time < options.times.size() ? options.times[next_time] : INFINITY;
  }
  void time_recorded(double t) {
    if (options.interval > 0)
      next_record_time =
          options.start + options.interval * (std::floor((t - options.start) / options.interval + 1e-9) + 1);
    else
      while (next_time < options.times.size() && options.times[next_time] <= t) ++next_time;
  }

  // Rows at times within the last step.
  void record_between() {
    if (!adaptive || steps == 0 || !at_times()) return;
    while (due_time() < state.t) {
      const double t = options.interval > 0 ? next_record_time : options.times[next_time];
      if (t >= state.t) break;
      adaptive->interpolate(t, shown);
      shown.t = t;
      write_row(shown);
      time_recorded(t);
    }
  }

  // After a step: rows at the times that it has passed, or every n-th step.
  void record_if_due() {
    if (!at_times()) {
      if (steps % options.every == 0) write_row();
      return;
    }
    record_between();
    if (due_time() > state.t) return;
    write_row();
    time_recorded(state.t);
  }

  // The state within the present step: of the interpolation, or of a shorter step from where it began.
  bool probe(double t, State& out) {
    if (adaptive) {
      adaptive->interpolate(t, out);
      out.t = t;
      return true;
    }
    out = before;
    stepper->reset();
    stepper->set_summed_work(work_before);
    const bool ok = static_cast<bool>(stepper->step(out, t - before.t));
    out.t = t;
    return ok;
  }

  // Events of the step that has just been made. Returns true when the run ends there; the motion may have been set back
  // to an event and changed.
  bool notice_events() {
    if (events.empty()) return false;
    const double work_after = stepper ? stepper->summed_work() : 0;
    const State after = state;
    State from = before;
    EventWatch::Found found;
    bool probed = false;
    const auto within = [&](double t, State& out) {
      probed = true;
      return probe(t, out);
    };
    const int looks = adaptive ? 4 : 1;  // interpolation is cheap, another step is not
    while (events.find(from, after, looks, within, found)) {
      const Event& event = events.event(found.event);
      crowded = !occurred.empty() && found.state.t - occurred.back().state.t <= 1e-10 * std::max(1.0, std::abs(state.t))
                    ? crowded + 1
                    : 0;
      occurred.push_back({event.name, found.state});
      if (crowded >= 8) {
        state = found.state;
        throw StepFailure(
            fmt::format("the events accumulate at t = {:.12g} (the last is '{}'): there is no time between "
                        "them in which the motion could go on; end the run there with an event whose "
                        "action is \"stop\"",
                        found.state.t, event.name),
            found.state.t);
      }
      if (event.action == Event::Action::record) {
        write_row(found.state);
        events.passed(found);
        from = found.state;
        continue;
      }
      state = found.state;
      if (stepper && stepper->discrete_energy_name()) {  // the step that led there, once more: others came after it
        State again = before;
        probe(found.state.t, again);
      }
      record_between();
      write_row();
      if (event.action == Event::Action::stop) {
        if (stepper) stepper->reset();
        look();
        return true;
      }
      state = events.changed(*system, found.event, found.state);
      look();
      write_row();
      if (stepper) stepper->reset();
      if (adaptive)
        if (const StepResult result = adaptive->start(state); !result) throw StepFailure(result.reason, state.t);
      events.restart(state, found.event);
      return false;
    }
    if (probed && stepper) {
      stepper->reset();
      stepper->set_summed_work(work_after);
    }
    return false;
  }

  // One step from t0 to t1 = t0 + h up to round-off. Times are multiples of the step, not sums. Where the equations
  // contain t, the step is t1 - t0 as it rounds, so that constraints hold at the very time that is reported.
  void advance(double t0, double t1, double h) {
    before = state;  // same sizes: nothing is allocated
    work_before = stepper->summed_work();
    state.t = t0;
    if (depends_on_time) h = t1 - t0;
    if (const StepResult result = stepper->step(state, h); !result) {
      state = before;
      throw StepFailure(result.reason, t0);
    }
    state.t = t1;
    accept(h);
  }

  // One step of the method's own length.
  void advance(double limit) {
    before = state;
    if (const StepResult result = adaptive->advance(state, limit); !result) {
      state = before;
      throw StepFailure(result.reason, before.t);
    }
    const double h = state.t - before.t;
    if (state.t < limit || steps == 0) shortest = std::min(shortest, h);
    longest = std::max(longest, h);
    accept(h);
  }

  void accept(double h) {
    ++steps;
    if (const char* trouble = look()) {
      state = before;
      --steps;
      if (stepper) stepper->reset();
      throw StepFailure(
          fmt::format("after the step from t = {:g} (h = {:g}) the {} is no longer a finite number; a function in the "
                      "equations may have left its domain (the root or logarithm of a negative number, a "
                      "division by zero), or the step is too long",
                      before.t, h, trouble),
          before.t);
    }
  }

  void finish(RunStatus end, const std::string& why) {
    status = end;
    message = why;
    if (!recorder) return;
    const auto closing = std::move(recorder);
    const char* word = end == RunStatus::finished ? "finished" : end == RunStatus::stopped ? "stopped" : "failed";
    closing->finish(why.empty() ? word : fmt::format("{}: {}", word, why));
  }
};

Simulation::Simulation(const SystemBuilder& system, MethodChoice method, SimulationOptions options)
    : Simulation(system.build(), std::move(method), options) {}
Simulation::Simulation(std::shared_ptr<const System> system, MethodChoice method, SimulationOptions options)
    : impl_(std::make_unique<Impl>(std::move(system), std::move(method), options)) {}
Simulation::~Simulation() {
  try {
    if (impl_) finish();
  } catch (const Error&) {  // a full disk at the very end: nothing more can be done in a destructor
    impl_.reset();
  }
}
Simulation::Simulation(Simulation&&) noexcept = default;
Simulation& Simulation::operator=(Simulation&&) noexcept = default;

void Simulation::observe(const std::string& name, const Expression& quantity) {
  impl_->observer.items.push_back({name, {}, {}});
  impl_->observer.expressions.push_back(quantity);
}

void Simulation::observe(const std::string& name, const Vector& quantity, std::vector<int> shape) {
  if (shape.empty()) shape = {static_cast<int>(quantity.size())};
  impl_->observer.items.push_back({name, std::move(shape), {}});
  impl_->observer.expressions.insert(impl_->observer.expressions.end(), quantity.begin(), quantity.end());
}

void Simulation::observe_momentum(const std::string& name, const MomentumMap& map) {
  impl_->momenta.push_back({name, motion_of(impl_->system->layout(), map)});
}

void Simulation::watch(Event event) {
  if (impl_->started) throw InputError("watch() comes before start()");
  impl_->events.add(std::move(event));
}

void Simulation::observe_condition() {
  if (!impl_->method.condition)
    throw UnsuitableMethod(
        fmt::format("{} has no condition number: it keeps factorised parts of its iteration matrix, not the whole; "
                    "energy-momentum has one",
                    impl_->method.info.name));
  impl_->wants_condition = true;
}

void Simulation::compare(ExactSolution exact) {
  if (!exact.empty()) evaluate_exact(*impl_->system, exact, impl_->options.start);  // refuses what does not fit
  impl_->exact = std::move(exact);
}

void Simulation::record(Output output) {
  if (is_picture_path(output.path)) {
    impl_->picture_path = std::exchange(output.path, {});
    if (!impl_->output.path.empty()) return;  // besides the rows
  }
  impl_->output = std::move(output);
}
void Simulation::on_progress(std::function<bool(double)> callback) { impl_->progress = std::move(callback); }

void Simulation::start(const Start& initial) {
  Impl& s = *impl_;
  s.observer.compile(*s.system);
  s.events.compile(*s.system);
  s.start_remarks.clear();
  s.state = consistent_start(*s.system, s.options.start, initial, &s.start_remarks);
  if (s.stepper) {
    s.stepper->reset();
    s.stepper->set_summed_work(0);
  }
  if (s.adaptive)
    if (const StepResult result = s.adaptive->start(s.state); !result) throw StepFailure(result.reason, s.state.t);
  s.steps = s.recorded = 0;
  s.shortest = INFINITY;
  s.longest = 0;
  s.next_time = 0;
  s.shown = s.state;
  s.last_recorded_step = s.last_picture_step = -1;
  s.constraint = s.hidden = s.energy_error = s.discrete_energy_error = 0;
  s.wall_seconds = 0;
  s.status = RunStatus::finished;
  s.message.clear();
  s.before = s.state;
  s.make_watch();
  if (const char* trouble = s.look())
    throw InputError(
        fmt::format("the {} is not a finite number at the initial values; start elsewhere, or change the "
                    "expression so that it is defined there",
                    trouble));
  if (s.wants_condition) s.condition = s.method.condition(s.system, s.state, s.options.step, s.options.solver);
  s.next_record_time = s.options.start;
  s.occurred.clear();
  s.crowded = 0;
  s.events.start(s.state);
  s.open_output();
  if (!s.options.times.empty() && s.due_time() > s.state.t)
    s.write_row();  // the first state always
  else
    s.record_if_due();
  s.started = true;
}

void Simulation::step() {
  Impl& s = *impl_;
  if (!s.started) throw InputError("start() comes before step()");
  const auto begin = Clock::now();
  if (s.adaptive)
    s.advance(INFINITY);
  else
    s.advance(s.state.t, s.state.t + s.options.step, s.options.step);
  if (!s.notice_events() && s.state.t > s.before.t) s.record_if_due();
  s.wall_seconds += std::chrono::duration<double>(Clock::now() - begin).count();
}

void Simulation::until(double end) {
  Impl& s = *impl_;
  if (!s.started) throw InputError("start() comes before until()");
  if (!std::isfinite(end)) throw InputError("the end time is not a finite number");
  const double start = s.state.t, h = s.options.step;
  if (end < start) throw InputError(fmt::format("the end, {}, lies before the present time, {}", end, start));
  // Fixed steps: times are start + k h, and the last step is fitted. A last one so short that rounding would rule it
  // (eps |y| / h^2 enters the multipliers) is merged with the one before. After an event that has changed the motion, a
  // shorter step leads back to these times.
  const double count =
      s.adaptive ? 0 : std::max(std::ceil((end - start) / h - 1e-6), end - start > 1e-9 * h ? 1.0 : 0.0);
  if (count > 1e15) throw InputError(fmt::format("{:g} steps of {:g} are too many; choose a longer step", count, h));
  const long n = static_cast<long>(count);
  const auto begin = Clock::now();
  auto reported = begin;
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const double before = s.wall_seconds;
  s.choose_pictures(end);
  bool ended = false;
  try {
    for (long k = 0; !ended && (s.adaptive ? s.state.t < end : k < n);) {
      if (s.adaptive) {
        s.advance(end);
      } else {
        const double t1 = k + 1 == n ? end : start + static_cast<double>(k + 1) * h;
        double t0 = start + static_cast<double>(k) * h;
        if (std::abs(s.state.t - t0) > 1e-9 * h) t0 = s.state.t;
        const double rest = t1 - t0;
        if (rest < 1e-6 * h && k + 1 < n) {  // an event just before this time: go on to the next
          ++k;
          continue;
        }
        s.advance(t0, t1, std::abs(rest - h) > 1e-9 * h ? rest : h);
      }
      const double reached = s.state.t;
      ended = s.notice_events();
      if (s.state.t == reached) ++k;
      if (!ended && s.state.t == reached) s.record_if_due();
      if (s.progress && Clock::now() - reported > std::chrono::milliseconds(100)) {
        reported = Clock::now();
        if (!s.progress(s.state.t)) {
          s.status = RunStatus::stopped;
          s.message = fmt::format("stopped at t = {:g}", s.state.t);
          break;
        }
      }
    }
    if (ended)
      s.message = fmt::format("ended by the event '{}' at t = {:.15g}", s.occurred.back().name, s.state.t);
    else if (s.last_recorded_step != s.steps)
      s.write_row();
    if (s.pictures && s.last_picture_step != s.steps) s.write_picture(s.state);
  } catch (const StepFailure& failure) {
    s.wall_seconds = before + elapsed();
    s.finish(RunStatus::failed, failure.what());
    throw;
  }
  s.wall_seconds = before + elapsed();
}

void Simulation::finish() {
  if (impl_->recorder) impl_->finish(impl_->status, impl_->message);
}

const State& Simulation::state() const { return impl_->state; }
const System& Simulation::system() const { return *impl_->system; }

Report Simulation::report() const {
  Impl& s = *impl_;
  Report r;
  r.title = s.output.title;
  r.method = s.method.description;
  r.order = s.method.order;
  if (!s.facts) {
    s.facts = s.method.facts;
    if (s.method.system_facts)
      for (std::string& fact : s.method.system_facts(*s.system)) s.facts->push_back(std::move(fact));
  }
  r.method_facts = *s.facts;
  if (s.system->layout().kind == SystemKind::dae && s.method.info.name == "moreau-jean" && !r.method_facts.empty()) {
    r.method = "Moreau-Jean " + r.method_facts.back();  // impacts and gaps are not what it is about
    r.method_facts.pop_back();
  }
  r.status = s.status;
  r.message = s.message;
  if (!s.warnings) s.warnings = s.method.warnings ? s.method.warnings(*s.system) : std::vector<std::string>{};
  r.warnings = *s.warnings;
  r.start = s.options.start;
  r.end = s.state.t;
  r.step = s.options.step;
  r.steps = s.steps;
  r.final = s.state;
  r.layout = s.system->layout();
  const auto ends = s.system->evaluation({Q::velocity, Q::momentum});
  ends->at(s.state.t, s.state.y.data(), s.state.z.data(), s.state.psi.data());
  r.velocity.assign((*ends)[Q::velocity], (*ends)[Q::velocity] + s.system->ny());
  r.momentum.assign((*ends)[Q::momentum], (*ends)[Q::momentum] + s.system->nz());
  r.constraint = s.constraint;
  r.hidden_constraint = s.hidden;
  if (s.system->has_energy()) {
    r.energy = s.energy;
    r.energy_error = s.energy_error;
    if (const char* name = s.stepper ? s.stepper->discrete_energy_name() : nullptr) {
      r.discrete_energy = name;
      r.discrete_energy_error = s.discrete_energy_error;
    }
  }
  for (const WatchedMomentum& m : s.momenta) r.momentum_maps.push_back({m.name, m.value, m.error});
  r.condition = s.condition;
  if (!s.exact.empty()) {
    const Reference reference = evaluate_exact(*s.system, s.exact, s.state.t);
    r.exact_error = errors_against(reference, *s.system, s.state);
    r.part_names = part_names(r.layout, reference.second);
    for (auto& error : r.exact_error)
      if (error && !std::isfinite(*error)) error.reset();  // the solution is not defined at this time
  }
  s.observer.evaluate(s.state);
  auto value = s.observer.values.begin();
  for (const auto& item : s.observer.items) {
    const int n = Block{item.name, item.shape, 0}.size();
    r.quantities.push_back({item.name, item.shape, std::vector<double>(value, value + n)});
    value += n;
  }
  r.events = s.occurred;
  r.counters = s.counters();
  r.rejected = r.counters.rejected + r.counters.failed;
  if (const ContactStatistics* c = s.adaptive ? s.adaptive->contact_statistics() : s.stepper->contact_statistics())
    r.contacts = *c;
  r.remarks = s.start_remarks;
  if (s.stepper)
    for (std::string& remark : s.stepper->remarks()) r.remarks.push_back(std::move(remark));
  if (s.adaptive) {
    r.tolerance = s.options.tolerance;
    r.shortest = s.steps > 0 ? std::min(s.shortest, s.longest) : 0;
    r.longest = s.longest;
    for (std::string& remark : s.adaptive->remarks()) r.remarks.push_back(std::move(remark));
  }
  r.wall_seconds = s.wall_seconds;
  r.output = s.output.path.empty() ? s.picture_path : s.output.path;
  r.recorded = s.recorded;
  return r;
}

}  // namespace hinge
