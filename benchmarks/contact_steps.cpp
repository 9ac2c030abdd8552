// What a step with contacts costs, beside a plain solution of as many contacts by 100 sweeps: at most 20 times that is
// aimed at, for scenes with up to 1000 contacts.
//
//   bench_contact_steps [--end T] MODEL...
//
// Per model: steps, the most contacts in a step, microseconds of the processor per step, and ratios: of all steps
// together, of the dearest twenty that follow each other, of the dearest one, which other processes may make dearer;
// the same of the work of solvers in updates of contacts, which a step counts, for all and for the dearest one.
// Contacts are those that are listed (but one for each body at least, since a step moves them all); the plain solution
// is that of a heap with as many, drawn at random, over bodies.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "hinge/contact.hpp"
#include "hinge/model.hpp"
#include "hinge/multibody.hpp"
#include "hinge/simulate.hpp"
#include "hinge/system.hpp"
#include "measure.hpp"

namespace {

constexpr int sweeps = 100, window = 20;

// Every body lies on three others that are drawn, with friction and something that drives it down.
hinge::ContactProblem heap(int contacts) {
  hinge::RandomNumbers random(7);
  hinge::ContactProblem p;
  const int bodies = std::max(1, contacts / 3);
  p.bodies.resize(bodies, contacts, 0);
  p.mu.assign(static_cast<std::size_t>(contacts), 0.3);
  for (int b = 0; b < bodies; ++b) {
    p.bodies.inverse(b).setIdentity();
    p.bodies.v_free[static_cast<std::size_t>(6 * b + 2)] = -1;
  }
  for (int i = 0; i < contacts; ++i) {
    const int a = std::min(i / 3, bodies - 1), b = a == 0 ? -1 : static_cast<int>(random.uniform() * a);
    p.bodies.pair[static_cast<std::size_t>(2 * i)] = a;
    p.bodies.pair[static_cast<std::size_t>(2 * i + 1)] = b;
    Eigen::Vector3d normal(0.8 * (random.uniform() - 0.5), 0.8 * (random.uniform() - 0.5), 1);
    normal.normalize();
    const Eigen::Vector3d first = normal.cross(Eigen::Vector3d::UnitX()).normalized(), second = normal.cross(first);
    for (int side = 0; side < (b < 0 ? 1 : 2); ++side) {
      const double sign = side == 0 ? 1 : -1;
      int row = 0;
      for (const Eigen::Vector3d& n : {normal, first, second}) {
        p.bodies.rows(i, side).block<1, 3>(row, 0) = sign * n.transpose();
        p.bodies.rows(i, side).block<1, 3>(row++, 3) = -normal.cross(n).transpose();
      }
    }
  }
  return p;
}

// Seconds of a plain solution, linear between what was measured.
class PlainSolution {
 public:
  PlainSolution() {
    for (const int n : {1, 4, 16, 64, 256, 1024, 8192}) {
      const hinge::ContactProblem p = heap(n);
      hinge::ContactOptions options;
      options.tolerance = 1e-14;
      options.iterations = sweeps;
      hinge::ContactSolver solver("block-gauss-seidel", options);
      std::vector<double> r;
      points_.push_back({n, bench::time_of_short([&] {
                           r.assign(static_cast<std::size_t>(p.rows()), 0.0);
                           solver.solve(p, r);
                         })});
    }
  }
  double operator()(int contacts) const {
    std::size_t k = 1;
    while (k + 1 < points_.size() && points_[k].contacts < contacts) ++k;
    const Point &a = points_[k - 1], &b = points_[k];
    return a.seconds + (contacts - a.contacts) * (b.seconds - a.seconds) / (b.contacts - a.contacts);
  }

 private:
  struct Point {
    int contacts;
    double seconds;
  };
  std::vector<Point> points_;
};

// The dearest stretch of so many steps.
double dearest(const std::vector<double>& cost, const std::vector<double>& plain, std::size_t length) {
  length = std::min(length, cost.size());
  double worst = 0, sum = 0, all = 0;
  for (std::size_t k = 0; k < cost.size(); ++k) {
    sum += cost[k];
    all += plain[k];
    if (k >= length) sum -= cost[k - length], all -= plain[k - length];
    if (k + 1 >= length) worst = std::max(worst, sum / all);
  }
  return worst;
}

void measure(const std::string& path, double end, const PlainSolution& plain) {
  const hinge::Model model = hinge::load_model(path);
  hinge::Simulation run = model.simulation_for("");
  const int bodies = std::max(1, run.system().nz() / (run.system().structure().has_bodies ? 6 : 1));
  int contacts = 0, most = 0;
  run.start(model.start);
  if (std::isnan(end)) end = model.end;
  std::vector<double> cost, reference;
  double all = 0, all_plain = 0, work = 0, plain_work = 0, worst_work = 0;
  while (run.state().t < end * (1 - 1e-12)) {
    cost.push_back(bench::time_of([&] { run.step(); }));
    const hinge::ContactStatistics now = run.report().contacts.value_or(hinge::ContactStatistics{});
    const int before = std::exchange(contacts, now.contacts), size = std::max({bodies, before, contacts});
    const double updates = now.updates - std::exchange(work, now.updates), plain_updates = sweeps * std::max(size, 8);
    reference.push_back(plain(size));
    plain_work += plain_updates;
    worst_work = std::max(worst_work, updates / plain_updates);
    most = std::max(most, contacts);
    all += cost.back();
    all_plain += reference.back();
  }
  const auto contact = run.report().contacts;
  const double steps = static_cast<double>(cost.size());
  std::printf("%-28s %7.0f %6d %10.1f %8.2f %8.1f %8.1f %8.2f %8.1f   %ld of %ld, %.1e\n",
              std::filesystem::path(path).stem().c_str(), steps, most, 1e6 * all / steps, all / all_plain,
              dearest(cost, reference, window), dearest(cost, reference, 1), work / plain_work, worst_work,
              contact ? contact->unconverged : 0, contact ? contact->solves : 0, contact ? contact->velocity_left : 0);
  std::fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  double end = NAN;
  std::vector<std::string> models;
  for (int k = 1; k < argc; ++k)
    if (std::string(argv[k]) == "--end" && k + 1 < argc)
      end = std::stod(argv[++k]);
    else
      models.emplace_back(argv[k]);
  if (models.empty())
    for (const char* name : {"box-stack", "disk-pile", "rotating-drum", "spheres-into-a-box", "newtons-cradle", "grip"})
      models.push_back(std::string(HINGE_EXAMPLES) + "/" + name + ".toml");
  const PlainSolution plain;
  std::printf("%-28s %7s %6s %10s %8s %8s %8s %8s %8s   %s\n", "", "steps", "most", "us/step", "all", "twenty", "one",
              "work", "one", "not to the tolerance, in all");
  for (const std::string& path : models) try {
      measure(path, end, plain);
    } catch (const std::exception& failure) {
      std::printf("%-28s %s\n", path.c_str(), failure.what());
    }
}
