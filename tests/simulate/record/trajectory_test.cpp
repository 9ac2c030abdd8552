// Claims about rows in a program: what a callback gets, what is kept in memory and what a file gives back are the same
// numbers; events and quantities are among them; times of steps are exact multiples.
#include <cmath>
#include <thread>

#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "hinge/hinge.hpp"

namespace hinge::trajectory_test {
namespace {

using test::Folder;

struct Pendulum {
  Lagrangian system;
  Vector q, v;
  Pendulum() {
    q = system.coordinates("q", 2);
    v = system.velocity(q);
    system.kinetic(0.5 * dot(v, v));
    system.potential(9.81 * q[1]);
    system.constrain(0.5 * (dot(q, q) - 1.0));
  }
};

const std::vector<std::string> pendulum_columns = {"t",      "q[0]",   "q[1]",   "q'[0]",   "q'[1]",
                                                   "psi[0]", "energy", "height", "fall[0]", "fall[1]"};

void observe(Simulation& run, const Pendulum& p) {
  run.observe("height", p.q[1]);
  run.observe("fall", Vector{1.0 - p.q[0], -p.q[1]});
}

TEST(Trajectory, MemoryFilesAndCallbacksHaveTheSameRows) {
  for (const char* name : {"run.csv", "run.h5"}) {
    if (std::string(name) == "run.h5" && !hdf5_available()) continue;
    const Folder folder;
    const Pendulum p;
    Simulation run(p.system, gauss_lobatto(2), {.step = 0.01, .every = 3});
    observe(run, p);
    run.watch({.name = "bottom", .root = p.q[0]});
    run.watch({.name = "half way", .root = p.q[1] + 0.5});
    run.record({folder.file(name), "pendulum", "the text\nof a model\n"});
    run.keep_rows();
    std::vector<double> told, heights;
    std::vector<std::string> events;
    run.on_row([&](const Row& row) {
      EXPECT_EQ(std::vector<std::string>(row.columns.begin(), row.columns.end()), pendulum_columns);
      told.insert(told.end(), row.values.begin(), row.values.end());
      heights.push_back(row["height"]);
      EXPECT_EQ(row["t"], row.state->t);
      EXPECT_EQ(row["q[1]"], row.state->y[1]);
      if (!row.event.empty()) events.emplace_back(row.event);
      EXPECT_THROW(row["depth"], InputError);
    });
    run.start({.position = {1, 0}});
    run.until(2);
    EXPECT_EQ(run.trajectory().status, "");
    run.finish();
    const Trajectory &kept = run.trajectory(), file = read_record(folder.file(name));
    EXPECT_EQ(kept.values, told);
    EXPECT_EQ(kept.values, file.values);  // bit for bit
    EXPECT_EQ(kept.header.columns, file.header.columns);
    EXPECT_EQ(kept.header.about, file.header.about);
    EXPECT_EQ(file.header.model, "the text\nof a model\n");
    EXPECT_EQ(kept.status, "finished");
    EXPECT_EQ(file.status, "finished");
    EXPECT_EQ(kept.column("height"), heights);
    EXPECT_EQ(file.column("height"), file.column("q[1]"));
    const std::vector<Occurrence> occurred = run.report().events;
    EXPECT_GE(occurred.size(), 4U);
    ASSERT_EQ(file.events.size(), occurred.size());
    ASSERT_EQ(kept.events.size(), occurred.size());
    const std::vector<double> times = file.times();
    for (std::size_t k = 0; k < occurred.size(); ++k) {
      EXPECT_EQ(file.events[k].name, occurred[k].name);
      EXPECT_EQ(kept.events[k].row, file.events[k].row);
      EXPECT_EQ(times[file.events[k].row], occurred[k].state.t);
      EXPECT_EQ(file.row(file.events[k].row)[1], occurred[k].state.y[0]);
      EXPECT_EQ(events[k], occurred[k].name);
    }
    EXPECT_EQ(static_cast<long>(file.rows()), run.report().recorded);
  }
}

TEST(Trajectory, StartsAnewWithTheRun) {
  const Pendulum p;
  Simulation run(p.system, gauss_lobatto(2), {.step = 0.01});
  run.keep_rows();
  for (int k = 0; k < 2; ++k) {
    run.start({.position = {1, 0}});
    run.until(0.1);
    EXPECT_EQ(run.trajectory().rows(), 11U);
  }
  EXPECT_THROW(run.trajectory().column("no such"), InputError);
}

// Chosen steps: rows at given times, interpolated; momenta and the energy of every row are those of that row.
TEST(Trajectory, RowsBetweenStepsHaveTheirOwnEnergy) {
  Lagrangian system;
  const Vector q = system.coordinates("q", 2), v = system.velocity(q);
  system.kinetic(0.5 * dot(v, v));
  system.potential(9.81 * q[1]);
  Simulation run(system, explicit_runge_kutta(), {.tolerance = {1e-10, 1e-10}, .interval = 0.125});
  run.observe("E", 0.5 * dot(v, v) + 9.81 * q[1]);
  run.observe("p", v[0]);
  run.observe_momentum("P", {.direction = {1, 0}});
  run.keep_rows();
  run.start({.position = {0, 10}, .velocity = {1, 0}});
  run.until(1);
  const std::vector<double> t = run.trajectory().times(), energy = run.trajectory().column("energy"),
                            e = run.trajectory().column("E"), momentum = run.trajectory().column("P"),
                            p = run.trajectory().column("p");
  ASSERT_EQ(t.size(), 9U);
  for (std::size_t k = 0; k < t.size(); ++k) {
    EXPECT_EQ(t[k], 0.125 * static_cast<double>(k));
    EXPECT_NEAR(energy[k], e[k], 1e-13 * std::abs(e[k]));  // measured 0
    EXPECT_EQ(momentum[k], p[k]);
  }
}

// One evaluation for a row that is the end of a step, which is the one that watches it.
TEST(Trajectory, RowsCostNoEvaluationOfTheirOwn) {
  static long calls = 0;
  class Counted final : public System {
   public:
    Counted() : System(make_layout(), {.has_energy = true}) {}

   protected:
    double energy(double, const double*, const double* z) const override {
      ++calls;
      return 0.5 * z[0] * z[0];
    }

   private:
    static Layout make_layout() {
      Layout l;
      l.y = {{"q", {}, 0}};
      l.z = {{"v", {}, 0}};
      l.ny = l.nz = 1;
      return l;
    }
  };
  const auto calls_of_a_run = [](bool recorded) {
    calls = 0;
    Simulation run(std::make_shared<Counted>(), gauss_lobatto(1), {.step = 0.1});
    if (recorded) run.keep_rows();
    run.start({.position = {0}, .velocity = {1}});
    run.until(1);
    return calls;
  };
  EXPECT_EQ(calls_of_a_run(true), calls_of_a_run(false));
  EXPECT_EQ(calls_of_a_run(true), 12);  // the initial state twice: it is checked first
}

// HDF5 as Debian builds it knows one thread only; each run has its own system here.
TEST(Trajectory, ManyThreadsRecordAtOnce) {
  const Folder folder;
  const auto run_to = [&](const std::string& name) {
    const Pendulum p;
    Simulation run(p.system, gauss_lobatto(2), {.step = 0.001});
    run.record({folder.file(name), "pendulum"});
    run.start({.position = {1, 0}});
    run.until(2);
  };
  const std::string ending = hdf5_available() ? ".h5" : ".csv";
  std::vector<std::thread> threads;
  for (int k = 0; k < 8; ++k) threads.emplace_back(run_to, std::to_string(k) + ending);
  for (std::thread& thread : threads) thread.join();
  const Trajectory first = read_record(folder.file("0" + ending));
  EXPECT_EQ(first.rows(), 2001U);
  for (int k = 1; k < 8; ++k) EXPECT_EQ(read_record(folder.file(std::to_string(k) + ending)).values, first.values);
}

// Sums of 0.1 are off by 1.6e-10 after a million steps; multiples are not.
TEST(Steps, OneByOneKeepTheirTimes) {
  Lagrangian system;
  const Expression q = system.coordinate("q");
  system.kinetic(0.5 * system.velocity(q) * system.velocity(q));
  Simulation one_by_one(system, rattle(), {.step = 0.1, .start = 0.3}),
      at_once(system, rattle(), {.step = 0.1, .start = 0.3});
  one_by_one.start({.position = {0}, .velocity = {1}});
  at_once.start({.position = {0}, .velocity = {1}});
  double sum = 0.3;
  for (int k = 1; k <= 100'000; ++k) {
    one_by_one.step();
    sum += 0.1;
    if (k % 10'000 == 0) {
      EXPECT_EQ(one_by_one.state().t, 0.3 + k * 0.1);
    }
  }
  EXPECT_GT(std::abs(sum - one_by_one.state().t), 1e-9);  // the control: measured 1.9e-8
  at_once.until(0.3 + 100'000 * 0.1);
  EXPECT_EQ(at_once.state().t, one_by_one.state().t);
  EXPECT_EQ(at_once.state().y, one_by_one.state().y);
  // after another end the times count from there
  one_by_one.until(10'001.25);
  one_by_one.step();
  one_by_one.step();
  EXPECT_EQ(one_by_one.state().t, 10'001.25 + 2 * 0.1);
}

}  // namespace
}  // namespace hinge::trajectory_test
