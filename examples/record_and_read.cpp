// What a run records, in three ways: told row by row, kept in memory, written to a file and read back. It checks its
// own result.
//
// A pendulum swings through its lowest point; the passages are events, and the height of the mass is a quantity.
//
// What to expect: the passages, then "all checks passed". Energies differ from the first one by less than the method
// allows with this step, and the file gives back the numbers in memory bit for bit. The exit status is 1 when one of
// the checks fails.
//
// After `make test`, which configures and builds it:
//
//   build/example_record_and_read [FILE.csv|FILE.h5]
#include <cmath>
#include <filesystem>
#include <iostream>

#include <hinge/hinge.hpp>

int main(int argc, char** argv) try {
  const std::string path =
      argc > 1 ? argv[1] : (std::filesystem::temp_directory_path() / "hinge_record_and_read.csv").string();

  hinge::Lagrangian pendulum;
  const auto q = pendulum.coordinates("q", 2);
  const auto v = pendulum.velocity(q);
  pendulum.kinetic(0.5 * dot(v, v));
  pendulum.potential(9.81 * q[1]);
  pendulum.constrain(0.5 * (dot(q, q) - 1.0), "rod");

  hinge::Simulation run(pendulum, hinge::gauss_lobatto(2), {.step = 0.01, .every = 5});
  run.observe("height", 1.0 + q[1]);
  run.watch({.name = "bottom", .root = q[0]});

  run.record({.path = path, .title = "Pendulum"});  // 1. to a file
  run.keep_rows();                                  // 2. in memory
  double lowest = 1;                                // 3. to a function of one's own
  run.on_row([&](const hinge::Row& row) {
    lowest = std::min(lowest, row["height"]);
    if (!row.event.empty()) std::cout << row.event << " at t = " << row["t"] << '\n';
  });

  run.start({.position = {1, 0}});
  run.until(3.0);
  run.finish();  // the file says "finished" from here on

  const hinge::Trajectory& kept = run.trajectory();
  const hinge::Trajectory file = hinge::read_record(path);
  double energy_error = 0;
  for (const double energy : kept.column("energy")) energy_error = std::max(energy_error, std::abs(energy));

  bool good = true;
  const auto check = [&](const char* what, bool passed) {
    std::cout << (passed ? "  passed  " : "  FAILED  ") << what << '\n';
    good = good && passed;
  };
  check("energy within 1e-6 of zero, where it began", energy_error < 1e-6);  // measured 5.5e-8
  check("the lowest row is a passage through the bottom", lowest < 1e-14);   // measured 0
  check("the file has every number that memory has", file.values == kept.values && file.rows() == kept.rows());
  check("and says how the run ended", file.status == "finished");
  check("passages are where q[0] is zero", file.events.size() == 3);
  for (const auto& passage : file.events) good = good && std::abs(file.column("q[0]")[passage.row]) < 1e-14;
  std::cout << (good ? "all checks passed\n" : "some checks FAILED\n");
  if (argc == 1) std::filesystem::remove(path);
  return good ? 0 : 1;
} catch (const hinge::Error& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
