// Hinge and Siconos on the same contact problems in one process: same W and q, start r = 0, same residual (Siconos'
// scaling, recomputed by Hinge for both), processor time of one thread.
//
//   bench_contact_siconos [--quick] [--full] [FILE.hdf5 ...]
//
// Files default to benchmarks/data/contact and examples/contact. Siconos gets 20,000 iterations per problem, so that
// the benchmark ends; --full gives it 500,000, which takes minutes. Its preparation (W as a sparse block matrix) is not
// counted. Also: contact updates per second of block Gauss-Seidel, and what a second thread brings.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "hinge/contact.hpp"
#include "measure.hpp"
#include "solve/complementarity/delassus.hpp"

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

// Siconos' own tolerance is relative to the same norms; it stops on its own residual, ours judges.
Score run_siconos(const ContactProblem& p, const hinge::SparseRows& W, const Eigen::VectorXd& q, int id,
                  const char* name, double tolerance, int iterations) {
  Eigen::VectorXd r = Eigen::VectorXd::Zero(q.size()), u = r, q_copy = q, mu = p.mu;
  SolverOptions* options = solver_options_create(id);
  options->dparam[SICONOS_DPARAM_TOL] = tolerance;
  options->iparam[SICONOS_IPARAM_MAX_ITER] = iterations;
  Score score{name};
  NumericsMatrix* M = siconos_matrix(W, p.dimension);
  if (p.dimension == 3) {
    FrictionContactProblem problem{};
    problem.dimension = 3;
    problem.numberOfContacts = p.contacts();
    problem.M = M;
    problem.q = q_copy.data();
    problem.mu = mu.data();
    score.seconds = bench::time_of([&] { fc3d_driver(&problem, r.data(), u.data(), options); });
  } else {
    LinearComplementarityProblem problem{};
    problem.size = static_cast<int>(q.size());
    problem.M = M;
    problem.q = q_copy.data();
    score.seconds = bench::time_of([&] { linearComplementarity_driver(&problem, r.data(), u.data(), options); });
  }
  solver_options_delete(options);
  score.residual = r.allFinite() ? hinge::contact_residual(p, r).siconos : HUGE_VAL;
  return score;
}

Score run_hinge(const ContactProblem& p, const std::string& solver, double tolerance) {
  hinge::ContactOptions o;
  o.tolerance = tolerance;
  o.scaling = hinge::ResidualScaling::siconos;
  o.seconds = 60;
  Score score{solver};
  hinge::ContactResult result;
  score.seconds = bench::time_of([&] { result = hinge::solve_contact(p, solver, o); });
  score.residual = result.residual.siconos;
  if (solver == "auto") score.name = "auto: " + result.solver;
  return score;
}

void print(const Score& s, double tolerance) {
  fmt::print("    {:<28}{:>10.4f} s{:>11.1e}{}\n", s.name, s.seconds, s.residual,
             s.residual <= 1.001 * tolerance ? "" : "   not reached");
  std::fflush(stdout);
}

void compare(const std::string& path, const std::vector<double>& tolerances, int iterations) {
  const hinge::ContactFile file = hinge::read_contact_file(path);
  const ContactProblem& p = file.problem;
  if (p.dimension == 2 || p.bilateral > 0) return;
  hinge::Delassus delassus(p);
  const hinge::SparseRows W = delassus.matrix();
  fmt::print("\n{} ({} contacts)\n", std::filesystem::path(path).stem().string(), p.contacts());
  for (const double tolerance : tolerances) {
    fmt::print("  {:.0e}\n", tolerance);
    std::vector<Score> ours, theirs;
    std::vector<std::string> names = {"auto"};
    if (p.dimension == 3) names.push_back("block-gauss-seidel");
    for (const std::string& name : names) {
      ours.push_back(run_hinge(p, name, tolerance));
      print(ours.back(), tolerance);
    }
    const auto siconos = [&](int id, const char* name, int limit) {
      theirs.push_back(run_siconos(p, W, delassus.q(), id, name, tolerance, limit));
      print(theirs.back(), tolerance);
    };
    if (p.dimension == 3) {
      siconos(SICONOS_FRICTION_3D_NSGS, "Siconos NSGS", iterations);
      // Half a minute and more on the large piles, and not below 1e-3 there.
      if (p.contacts() < 500 || iterations > 20'000) siconos(SICONOS_FRICTION_3D_NSN_AC, "Siconos NSN_AC", 200);
      if (p.contacts() < 500) siconos(SICONOS_FRICTION_3D_ADMM, "Siconos ADMM", iterations / 10);
    } else {
      siconos(SICONOS_LCP_PGS, "Siconos PGS", p.contacts() < 500 ? iterations : iterations / 20);
      if (p.contacts() < 500) siconos(SICONOS_LCP_NEWTON_FB_FBLSA, "Siconos Newton FB", 1000);
      if (p.contacts() < 500) siconos(SICONOS_LCP_LEMKE, "Siconos Lemke", 10000);
    }
    const auto best = [&](const std::vector<Score>& list) {
      double seconds = HUGE_VAL;
      for (const Score& s : list)
        if (s.residual <= 1.001 * tolerance) seconds = std::min(seconds, s.seconds);
      return seconds;
    };
    const double a = best(ours), b = best(theirs);
    if (std::isfinite(a) && std::isfinite(b))
      fmt::print("    best of Hinge / best of Siconos: {:.3f}\n", a / b);
    else if (std::isfinite(a))
      fmt::print("    Siconos did not get there\n");
  }
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
  for (const std::string& file : files) compare(file, tolerances, full ? 500'000 : 20'000);
  for (const std::string& file : files)
    if (file.find("fc3d_N1000.") != std::string::npos) measure_sweeps(file);
}
