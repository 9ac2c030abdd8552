// Claims about runs that end badly: whatever is thrown, by a user's system, by a callback or by the disk, ends the
// record as failed, with the reason, and reaches the caller as it was. Nothing says "finished" that is not.
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <new>
#include <stdexcept>

#include <gtest/gtest.h>

#include "cli/program.hpp"
#include "hinge/hinge.hpp"

namespace hinge::failure_test {
namespace {

using test::Folder;

// A point that falls, and throws on the way: functions of its own, no expressions.
class Falling final : public System {
 public:
  explicit Falling(std::function<void(double y)> trouble)
      : System(make_layout(), {.has_energy = true}), trouble_(std::move(trouble)) {}

 protected:
  void force(double, const double* y, const double*, double* out) const override {
    if (trouble_) trouble_(y[0]);
    out[0] = -9.81;
  }
  double energy(double, const double* y, const double* z) const override { return 0.5 * z[0] * z[0] + 9.81 * y[0]; }

 private:
  static Layout make_layout() {
    Layout l;
    l.y = {{"q", {}, 0}};
    l.z = {{"v", {}, 0}};
    l.ny = l.nz = 1;
    return l;
  }
  std::function<void(double)> trouble_;
};

enum class Thrown { runtime_error, bad_alloc, number, input_error };

[[noreturn]] void raise(Thrown what) {
  switch (what) {
    case Thrown::runtime_error: throw std::runtime_error("the sensor is gone");
    case Thrown::bad_alloc: throw std::bad_alloc();
    case Thrown::input_error: throw InputError("no such table");
    case Thrown::number: break;
  }
  throw 42;
}

std::string status_after(Thrown what) {
  switch (what) {
    case Thrown::runtime_error: return "failed: the sensor is gone";
    case Thrown::bad_alloc: return std::string("failed: ") + std::bad_alloc().what();
    case Thrown::input_error: return "failed: no such table";
    case Thrown::number: break;
  }
  return "failed: an exception that says no reason";
}

// The caller sees the very exception.
void expect_reaches_the_caller(Thrown what, const std::function<void()>& action) {
  try {
    action();
    ADD_FAILURE() << "nothing was thrown";
  } catch (const InputError& e) {
    EXPECT_EQ(what, Thrown::input_error) << e.what();
  } catch (const std::runtime_error& e) {
    EXPECT_EQ(what, Thrown::runtime_error) << e.what();
  } catch (const std::bad_alloc&) {
    EXPECT_EQ(what, Thrown::bad_alloc);
  } catch (const int number) {
    EXPECT_EQ(what, Thrown::number);
    EXPECT_EQ(number, 42);
  }
}

class Failure : public testing::TestWithParam<std::tuple<const char*, Thrown>> {
 protected:
  void SetUp() override {
    if (std::string(ending()) == "h5" && !hdf5_available()) GTEST_SKIP() << "this build has no HDF5";
  }
  static const char* ending() { return std::get<0>(GetParam()); }
  static Thrown thrown() { return std::get<1>(GetParam()); }
  std::string file() const { return folder_.file(std::string("run.") + ending()); }

  Simulation recorded(const std::shared_ptr<const System>& system) const {
    Simulation run(system, gauss_lobatto(1), {.step = 0.01});
    run.record({file(), "a fall"});
    run.keep_rows();
    return run;
  }
  // Rows until the failure are there, and both records tell the reason.
  void expect_failed(const Simulation& run, std::size_t rows) const {
    const Trajectory trajectory = read_record(file());
    EXPECT_EQ(trajectory.status, status_after(thrown()));
    EXPECT_EQ(trajectory.rows(), rows);
    EXPECT_EQ(trajectory.header.columns, (std::vector<std::string>{"t", "q", "v", "energy"}));
    EXPECT_EQ(run.trajectory().status, trajectory.status);
    EXPECT_EQ(run.trajectory().values, trajectory.values);
    EXPECT_EQ(run.report().status, RunStatus::failed);
  }

  const Folder folder_;
};

TEST_P(Failure, OfAnOwnForceIsRecorded) {
  bool armed = false;
  auto run = recorded(std::make_shared<Falling>([&](double y) {
    if (armed && y < 0.98) raise(thrown());
  }));
  run.start({.position = {1}});
  armed = true;
  expect_reaches_the_caller(thrown(), [&] { run.until(1); });
  EXPECT_GT(run.report().steps, 3);
  EXPECT_EQ(run.state().t, 0.01 * static_cast<double>(run.report().steps));  // as before the step that failed
  expect_failed(run, static_cast<std::size_t>(run.report().steps) + 1);
  EXPECT_NO_THROW(run.finish());
  EXPECT_EQ(read_record(file()).status, status_after(thrown()));
}

TEST_P(Failure, OfAnOwnForceInASingleStepIsRecorded) {
  bool armed = false;
  auto run = recorded(std::make_shared<Falling>([&](double) {
    if (armed) raise(thrown());
  }));
  run.start({.position = {1}});
  for (int k = 0; k < 5; ++k) run.step();
  armed = true;
  expect_reaches_the_caller(thrown(), [&] { run.step(); });
  expect_failed(run, 6);
}

TEST_P(Failure, OfTheProgressCallbackIsRecorded) {
  auto run = recorded(std::make_shared<Falling>([](double) {}));
  run.on_progress([](double) -> bool { raise(thrown()); });
  run.start({.position = {1}});
  expect_reaches_the_caller(thrown(), [&] { run.until(1e9); });
  expect_failed(run, static_cast<std::size_t>(run.report().steps) + 1);
}

TEST_P(Failure, OfARowCallbackIsRecorded) {
  for (const int row : {1, 2, 7}) {  // the first is recorded by start()
    auto run = recorded(std::make_shared<Falling>(nullptr));
    int rows = 0;
    run.on_row([&](const Row&) {
      if (++rows == row) raise(thrown());
    });
    expect_reaches_the_caller(thrown(), [&] {
      run.start({.position = {1}});
      run.until(1);
    });
    expect_failed(run, static_cast<std::size_t>(row));
  }
}

// A program that gives up between two steps does not finish its run.
TEST_P(Failure, OfTheProgramItselfIsRecorded) {
  expect_reaches_the_caller(thrown(), [&] {
    auto run = recorded(std::make_shared<Falling>(nullptr));
    run.start({.position = {1}});
    run.until(0.1);
    raise(thrown());
  });
  const Trajectory trajectory = read_record(file());
  EXPECT_EQ(trajectory.status, "failed: the program left the run with an exception");
  EXPECT_EQ(trajectory.rows(), 11U);
}

std::string name_of(const testing::TestParamInfo<Failure::ParamType>& tested) {
  static const char* const names[] = {"RuntimeError", "BadAlloc", "Number", "InputError"};
  return std::string(std::get<0>(tested.param)) + names[static_cast<std::size_t>(std::get<1>(tested.param))];
}

INSTANTIATE_TEST_SUITE_P(Records, Failure,
                         testing::Combine(testing::Values("csv", "h5"),
                                          testing::Values(Thrown::runtime_error, Thrown::bad_alloc, Thrown::number,
                                                          Thrown::input_error)),
                         name_of);

// The control: what does end well says so, with and without finish(), and in a handler of somebody else's exception.
TEST(Failures, AreNotSeenWhereThereAreNone) {
  const Folder folder;
  const auto run_to_the_end = [&](bool finish) {
    Simulation run(std::make_shared<Falling>(nullptr), gauss_lobatto(1), {.step = 0.01});
    run.record({folder.file("run.csv"), "a fall"});
    run.start({.position = {1}});
    EXPECT_EQ(read_record(folder.file("run.csv")).status, "");  // it still goes on
    run.until(0.1);
    if (finish) run.finish();
  };
  for (const bool finish : {true, false}) {
    run_to_the_end(finish);
    EXPECT_EQ(read_record(folder.file("run.csv")).status, "finished");
  }
  struct Unwinding {
    std::function<void()> action;
    ~Unwinding() { action(); }
  };
  try {
    const Unwinding at_exit{[&] { run_to_the_end(false); }};
    throw std::runtime_error("somebody else's");
  } catch (const std::runtime_error&) {
    EXPECT_EQ(read_record(folder.file("run.csv")).status, "finished");
  }
}

TEST(Failures, OfPicturesAreInTheirList) {
  const Folder folder;
  Multibody scene;
  scene.gravity({0, 0, -10});
  scene.particles({.name = "grains", .positions = {{0, 0, 5}}, .radii = {0.1}, .density = 10});
  const auto index_of = [&](bool fails) {
    Simulation run(scene.build(), moreau_jean(), {.step = 0.01, .every = 5});
    run.record({folder.file("scene.pvd"), "scene"});
    run.on_row([&](const Row& row) {
      if (fails && row["t"] > 0.07) throw std::runtime_error("no -- more");
    });
    run.start(scene.start());
    try {
      run.until(0.2);
    } catch (const std::runtime_error&) {
      EXPECT_TRUE(fails);
    }
    run.finish();
    return folder.read("scene.pvd");
  };
  EXPECT_NE(index_of(true).find("</VTKFile>\n<!-- status: failed: no - more -->\n"), std::string::npos);
  EXPECT_NE(index_of(false).find("</VTKFile>\n<!-- status: finished -->\n"), std::string::npos);
}

// A disk that is full is a failure like the others, and its own message reaches the caller.
TEST(Failures, OfTheDiskReachTheCaller) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full here";
  const Folder folder;
  std::filesystem::create_symlink("/dev/full", folder.file("full.csv"));
  Simulation run(std::make_shared<Falling>(nullptr), gauss_lobatto(1), {.step = 0.01});
  run.record({folder.file("full.csv"), "a fall"});
  EXPECT_THROW(run.start({.position = {1}}), OutputError);
}

}  // namespace
}  // namespace hinge::failure_test
