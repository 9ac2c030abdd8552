// Hinge and Siconos on the same contact problems in one program: same W and q, start r = 0, same residual (Siconos'
// scaling, recomputed by Hinge for both), processor time of one thread.
//
//   bench_contact_siconos [--quick] [--full] [FILE.hdf5 ...]
//
// Files default to benchmarks/data/contact and examples/contact. A solve may take 8 s (4 s below 500 contacts, --full:
// 200 s); Siconos, which knows no such limit, is run in a child process that has one. A solver of either that missed a
// tolerance is not asked for a narrower one. Siconos' preparation (W as a sparse block matrix) is not counted. At the
// end: all ratios, contact updates per second of block Gauss-Seidel, and what a second thread brings.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>
#include <string>
#include <vector>

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/format.h>

#include "hinge/contact.hpp"
#include "measure.hpp"
#include "solve/contact/delassus.hpp"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wpedantic"
extern "C" {
#include <CSparseMatrix.h>
#include <FrictionContactProblem.h>
#include <Friction_cst.h>
#include <LinearComplementarityProblem.h>
#include <NonSmoothDrivers.h>
#include <NumericsMatrix.h>
#include <NumericsSparseMatrix.h>
#include <SolverOptions.h>
#include <SparseBlockMatrix.h>
#include <lcp_cst.h>
}
#pragma GCC diagnostic pop

namespace {

using hinge::ContactProblem;

struct Score {
  std::string name;
  double seconds = HUGE_VAL, residual = HUGE_VAL;
};

// Block-sparse for friction; dense for LCPs, whose solvers want that.
NumericsMatrix* siconos_matrix(const hinge::SparseRows& W, int block) {
  const int n = static_cast<int>(W.rows());
  NumericsMatrix* matrix = NM_create(block == 1 ? NM_DENSE : NM_SPARSE, n, n);
  if (block == 1) {
    Eigen::Map<Eigen::MatrixXd>(matrix->matrix0, n, n) = Eigen::MatrixXd(W);
    return matrix;
  }
  NM_triplet_alloc(matrix, W.nonZeros());
  matrix->matrix2->origin = NSM_TRIPLET;
  for (int i = 0; i < W.outerSize(); ++i)
    for (hinge::SparseRows::InnerIterator e(W, i); e; ++e) NM_entry(matrix, i, static_cast<int>(e.col()), e.value());
  NumericsMatrix* blocks = NM_new();
  blocks->storageType = NM_SPARSE_BLOCK;
  blocks->size0 = blocks->size1 = n;
  blocks->matrix1 = SBM_new();
  SBM_from_csparse(block, NM_csc(matrix), blocks->matrix1);
  return blocks;
}

struct Shared {
  double seconds;
  bool done;
};

// Runs work(r, seconds) in a child process with a limit of processor time; r comes back through shared memory.
template <class Work>
bool run_with_limit(double limit, Eigen::VectorXd& r, double& seconds, Work&& work) {
  const std::size_t bytes = sizeof(Shared) + sizeof(double) * static_cast<std::size_t>(r.size());
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
  auto* shared = new (memory) Shared{0, false};
  auto* values = reinterpret_cast<double*>(shared + 1);
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    work(r, shared->seconds);
    std::copy(r.data(), r.data() + r.size(), values);
    shared->done = true;
    _exit(0);
  }
  // Ended by its own processor time, or by the clock where it does nothing but wait.
  clockid_t clock{};
  const auto begin = std::chrono::steady_clock::now();
  for (int status = 0; child > 0 && waitpid(child, &status, WNOHANG) == 0;) {
    timespec used{};
    if (clock_getcpuclockid(child, &clock) == 0) clock_gettime(clock, &used);
    const double wall = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (static_cast<double>(used.tv_sec) + 1e-9 * static_cast<double>(used.tv_nsec) > limit || wall > 3 * limit)
      kill(child, SIGKILL);
    usleep(500);
  }
  const bool done = shared->done;
  if (done) {
    r = Eigen::Map<const Eigen::VectorXd>(values, r.size());
    seconds = shared->seconds;
  }
  munmap(memory, bytes);
  return done;
}

// Siconos' own tolerance is relative to the same norms; it stops on its own residual, ours judges.
Score run_siconos(const ContactProblem& p, NumericsMatrix* M, const Eigen::VectorXd& q, int id, const char* name,
                  double tolerance, double limit) {
  Eigen::VectorXd r = Eigen::VectorXd::Zero(q.size());
  Score score{name, limit};
  const bool done = run_with_limit(limit, r, score.seconds, [&](Eigen::VectorXd& x, double& seconds) {
    Eigen::VectorXd u = x, q_copy = q;
    std::vector<double> mu = p.mu;
    SolverOptions* options = solver_options_create(id);
    options->dparam[SICONOS_DPARAM_TOL] = tolerance;
    options->iparam[SICONOS_IPARAM_MAX_ITER] = id == SICONOS_FRICTION_3D_NSN_AC ? 200 : 10'000'000;
    if (p.dimension == 3) {
      FrictionContactProblem problem{};
      problem.dimension = 3;
      problem.numberOfContacts = p.contacts();
      problem.M = M;
      problem.q = q_copy.data();
      problem.mu = mu.data();
      seconds = bench::time_of([&] { fc3d_driver(&problem, x.data(), u.data(), options); });
    } else {
      LinearComplementarityProblem problem{};
      problem.size = static_cast<int>(q.size());
      problem.M = M;
      problem.q = q_copy.data();
      seconds = bench::time_of([&] { linearComplementarity_driver(&problem, x.data(), u.data(), options); });
    }
  });
  if (done && r.allFinite()) score.residual = hinge::contact_residual(p, r).siconos;
  return score;
}

Score run_hinge(const ContactProblem& p, const std::string& solver, double tolerance, double limit) {
  hinge::ContactOptions o;
  o.tolerance = tolerance;
  o.scaling = hinge::ResidualScaling::siconos;
  o.seconds = limit;
  Score score{solver};
  hinge::ContactResult result;
  const auto solve = [&] { result = hinge::solve_contact(p, solver, o); };
  score.seconds = bench::time_of(solve);
  if (score.seconds < 0.05) score.seconds = std::min(score.seconds, bench::time_of_short(solve, 0.005, 3));
  score.residual = result.residual.siconos;
  if (solver == "auto") score.name = "auto: " + std::string(result.solver);
  return score;
}

void print(const Score& s, double tolerance) {
  fmt::print("    {:<28}{:>10.4f} s{:>11.1e}{}\n", s.name, s.seconds, s.residual,
             s.residual <= 1.001 * tolerance ? "" : "   not reached");
  std::fflush(stdout);
}

struct Row {
  std::string file;
  double tolerance, ours, theirs;
};

void compare(const std::string& path, const std::vector<double>& tolerances, bool full, std::vector<Row>& rows) {
  const hinge::ContactFile file = hinge::read_contact_file(path);
  const ContactProblem& p = file.problem;
  const std::string name = std::filesystem::path(path).stem().string();
  if (p.dimension == 2 || p.bilateral > 0) {
    fmt::print("\n{}: left out, 2D friction or bilateral rows\n", name);
    return;
  }
  hinge::Delassus delassus(p);
  NumericsMatrix* M = siconos_matrix(delassus.matrix(), p.dimension);
  const double limit = full ? 200 : p.contacts() < 500 ? 4 : 8;
  struct Candidate {
    const char* name;
    int id;  // of Siconos' solver, -1: ours
    bool out = false;
  };
  std::vector<Candidate> candidates = {{"auto", -1}};
  if (p.dimension == 3) {
    candidates.push_back({"block-gauss-seidel", -1});
    candidates.push_back({"Siconos NSGS", SICONOS_FRICTION_3D_NSGS});
    if (full || p.contacts() < 500) {  // on the large piles they take more than the limit for 1e-3
      candidates.push_back({"Siconos NSN_AC", SICONOS_FRICTION_3D_NSN_AC});
      candidates.push_back({"Siconos ADMM", SICONOS_FRICTION_3D_ADMM});
    }
  } else {
    candidates.push_back({"Siconos PGS", SICONOS_LCP_PGS});
    candidates.push_back({"Siconos Newton FB", SICONOS_LCP_NEWTON_FB_FBLSA});
    candidates.push_back({"Siconos Lemke", SICONOS_LCP_LEMKE});
  }
  fmt::print("\n{} ({} contacts)\n", name, p.contacts());
  for (const double tolerance : tolerances) {
    fmt::print("  {:.0e}\n", tolerance);
    Row row{name, tolerance, HUGE_VAL, HUGE_VAL};
    for (Candidate& c : candidates) {
      if (c.out) continue;
      const Score s = c.id < 0 ? run_hinge(p, c.name, tolerance, limit)
                               : run_siconos(p, M, delassus.q(), c.id, c.name, tolerance, limit);
      print(s, tolerance);
      c.out = !(s.residual <= 1.001 * tolerance);
      double& best = c.id < 0 ? row.ours : row.theirs;
      if (!c.out) best = std::min(best, s.seconds);
    }
    rows.push_back(row);
  }
}

void summarise(const std::vector<Row>& rows) {
  fmt::print("\nbest of Hinge, best of Siconos (seconds), ratio; aim: at most 0.2\n");
  int met = 0, compared = 0;
  for (const Row& r : rows) {
    const bool both = std::isfinite(r.ours) && std::isfinite(r.theirs);
    compared += both ? 1 : 0;
    met += both && r.ours <= 0.2 * r.theirs ? 1 : 0;
    fmt::print("{:<44}{:>7.0e}{:>10.4f}{:>10.4f}  {}\n", r.file, r.tolerance, r.ours, r.theirs,
               both                      ? fmt::format("{:.3f}", r.ours / r.theirs)
               : std::isfinite(r.ours)   ? "Siconos did not get there"
               : std::isfinite(r.theirs) ? "Hinge did not get there"
                                         : "neither got there");
  }
  fmt::print("at most 0.2 in {} of {} comparisons\n", met, compared);
}

void measure_sweeps(const std::string& path) {
  const hinge::ContactFile file = hinge::read_contact_file(path);
  hinge::ContactOptions o;
  o.tolerance = 1e-14;
  o.iterations = 2000;
  hinge::ContactResult result;
  const double cpu = bench::time_of([&] { result = hinge::solve_contact(file.problem, "block-gauss-seidel", o); });
  fmt::print("\nblock Gauss-Seidel, {}: {:.1f} million contact updates per second of processor time\n",
             std::filesystem::path(path).stem().string(), static_cast<double>(result.contact_updates) / cpu / 1e6);
  double wall[2];
  Eigen::VectorXd r[2];
  for (int threads = 1; threads <= 2; ++threads) {
    o.threads = threads;
    o.iterations = 300;
    const auto start = std::chrono::steady_clock::now();
    r[threads - 1] = hinge::solve_contact(file.problem, "apgd", o).r;
    wall[threads - 1] = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
  fmt::print("apgd, 300 iterations: 1 thread {:.3f} s, 2 threads {:.3f} s (wall), speed-up {:.2f}, bits {}\n", wall[0],
             wall[1], wall[0] / wall[1], r[0] == r[1] ? "identical" : "DIFFERENT");
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = bench::quick(argc, argv);
  bool full = false;
  std::vector<std::string> files;
  for (int k = 1; k < argc; ++k) {
    const std::string word = argv[k];
    if (word == "--full")
      full = true;
    else if (word.rfind("--", 0) != 0)
      files.push_back(word);
  }
  if (files.empty())
    for (const char* folder : {HINGE_BENCHMARK_DATA "/contact", HINGE_EXAMPLES "/contact"})
      for (const auto& entry : std::filesystem::directory_iterator(folder))
        if (entry.path().extension() == ".hdf5" && (!quick || entry.file_size() < 200'000))
          files.push_back(entry.path().string());
  std::sort(files.begin(), files.end());
  const std::vector<double> tolerances = quick ? std::vector<double>{1e-3} : std::vector<double>{1e-3, 1e-6, 1e-8};
  std::vector<Row> rows;
  for (const std::string& file : files) compare(file, tolerances, full, rows);
  summarise(rows);
  for (const std::string& file : files)
    if (file.find("fc3d_N1000.") != std::string::npos) measure_sweeps(file);
}
