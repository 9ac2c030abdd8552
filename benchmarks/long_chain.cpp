// A chain of N links in space, total length 1, hung up at one end and released from the horizontal: `explicit` from
// expressions beside DOP853 with projection written by hand, and how set-up and steps grow with N.
//
//   masses 1/N, rods 1/N, gravity 9.81;  g_i = ((q_i - q_(i-1)).(q_i - q_(i-1)) - 1/N^2)/2,  q_(-1) = 0
//
// By hand: S = G G^T is tridiagonal; accelerations, multipliers and projections are loops over links. Tolerances, error
// norm and step control are those of `explicit`. Times are processor time, ours and by hand in turns, medians.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

#include <fmt/format.h>

#include "hinge/simulate.hpp"
#include "measure.hpp"
#include "method/explicit/dormand_prince.hpp"

namespace {

constexpr double gravity = 9.81;

std::size_t at(int i) { return static_cast<std::size_t>(i); }

hinge::Lagrangian chain(int links) {
  hinge::Lagrangian system;
  const auto q = system.coordinates("q", {links, 3});
  const auto v = system.velocity(q);
  const auto point = [&q](int i) { return q.segment(3 * at(i), 3); };
  hinge::Expression height = 0.0;
  const double mass = 1.0 / links;
  for (int i = 0; i < links; ++i) {
    const hinge::Vector rod = i == 0 ? point(0) : point(i) - point(i - 1);
    height += point(i)[1];
    system.constrain(0.5 * (dot(rod, rod) - mass * mass));
  }
  system.kinetic(0.5 * mass * dot(v, v));
  system.potential(mass * gravity * height);
  return system;
}

std::vector<double> horizontal(int links) {
  std::vector<double> q(3 * at(links), 0.0);
  for (int i = 0; i < links; ++i) q[3 * at(i)] = static_cast<double>(i + 1) / links;
  return q;
}

hinge::Simulation start_chain(int links, double tolerance) {
  hinge::Simulation run(chain(links), hinge::explicit_runge_kutta({.order = 8}), {.tolerance = {tolerance, tolerance}});
  run.start({.position = horizontal(links)});
  return run;
}

struct ByHand {
  explicit ByHand(int count)
      : links(count),
        n(3 * at(count)),
        x(2 * n),
        x1(2 * n),
        stage(2 * n),
        rod(n),
        diagonal(at(count)),
        off(at(count)),
        mu(at(count)) {
    const std::vector<double> q = horizontal(links);
    std::copy(q.begin(), q.end(), x.begin());
    k.assign(13, std::vector<double>(2 * n));
  }

  void matrix(const double* q) {
    for (std::size_t i = 0; i < n; ++i) rod[i] = q[i] - (i < 3 ? 0 : q[i - 3]);
    const double* r = rod.data();
    for (int i = 0; i < links; ++i, r += 3) {
      double d = (i == 0 ? 1 : 2) * (r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
      if (i > 0) {
        const double coupling = -(r[0] * r[-3] + r[1] * r[-2] + r[2] * r[-1]);
        off[at(i)] = coupling * diagonal[at(i) - 1];
        d -= coupling * off[at(i)];
      }
      diagonal[at(i)] = 1 / d;
    }
  }
  void solve() {
    for (std::size_t i = 1; i < mu.size(); ++i) mu[i] -= off[i] * mu[i - 1];
    mu.back() *= diagonal.back();
    for (std::size_t i = mu.size() - 1; i-- > 0;) mu[i] = mu[i] * diagonal[i] - off[i + 1] * mu[i + 1];
  }
  // out -= G^T mu
  void take(double* out) const {
    for (int i = 0; i < links; ++i)
      for (std::size_t l = 0; l < 3; ++l) {
        const double force = rod[3 * at(i) + l] * mu[at(i)];
        out[3 * at(i) + l] -= force;
        if (i > 0) out[3 * at(i) - 3 + l] += force;
      }
  }
  // dot of rods with differences of u, and u with itself where asked
  void rates_of(const double* u, double* out) const {
    for (int i = 0; i < links; ++i) {
      double sum = 0;
      for (std::size_t l = 0; l < 3; ++l) {
        const std::size_t a = 3 * at(i) + l;
        sum += rod[a] * (u[a] - (i > 0 ? u[a - 3] : 0));
      }
      out[i] = sum;
    }
  }
  void rates(const std::vector<double>& from, std::vector<double>& out) {
    const double *q = from.data(), *v = q + n;
    std::copy_n(v, n, out.begin());
    matrix(q);
    for (int i = 0; i < links; ++i) {
      double sum = i == 0 ? -gravity * rod[1] : 0;
      for (std::size_t l = 0; l < 3; ++l) {
        const std::size_t a = 3 * at(i) + l;
        const double w = v[a] - (i > 0 ? v[a - 3] : 0);
        sum += w * w;
      }
      mu[at(i)] = sum;
    }
    solve();
    double* acceleration = out.data() + n;
    for (std::size_t i = 0; i < n; ++i) acceleration[i] = i % 3 == 1 ? -gravity : 0;
    take(acceleration);
  }
  double residual(const double* q) {
    const double length = 1.0 / links;
    double most = 0;
    for (int i = 0; i < links; ++i) {
      double sum = -length * length;
      for (std::size_t l = 0; l < 3; ++l) {
        const std::size_t a = 3 * at(i) + l;
        const double d = q[a] - (i > 0 ? q[a - 3] : 0);
        sum += d * d;
      }
      mu[at(i)] = sum / 2;
      most = std::max(most, std::abs(sum));
    }
    return most;
  }
  void project(double* q, double* v) {
    for (int round = 0; round < 3; ++round) {
      residual(q);
      solve();
      take(q);
    }
    matrix(q);
    rates_of(v, mu.data());
    solve();
    take(v);
  }
  template <class Row>
  void combine(const Row& row, double h, std::vector<double>& out) {
    for (std::size_t i = 0; i < 2 * n; ++i) {
      double sum = 0;
      for (const auto& [j, w] : row) sum += w * k[at(j)][i];
      out[i] = x[i] + h * sum;
    }
  }
  double squared(const hinge::ExplicitTableau::Row& row, double tolerance) {
    double total = 0;
    for (std::size_t i = 0; i < 2 * n; ++i) {
      double e = 0;
      for (const auto& [j, w] : row) e += w * k[at(j)][i];
      const double r = e / (tolerance + tolerance * std::max(std::abs(x[i]), std::abs(x1[i])));
      total += r * r;
    }
    return total;
  }
  void run(double end, double tolerance) {
    double h = 1e-4;
    bool rejected = false;
    rates(x, k[0]);
    while (t < end) {
      const bool last = t + 1.01 * h >= end;
      if (last) h = end - t;
      for (std::size_t i = 1; i < 12; ++i) {
        combine(table.a[i], h, stage);
        rates(stage, k[i]);
      }
      combine(table.b(), h, x1);
      const double e5 = h * h * squared(table.error, tolerance), e3 = h * h * squared(table.second_error, tolerance);
      const double error = e5 / std::sqrt((e5 + 0.01 * e3) * static_cast<double>(2 * n));
      const double factor = 0.9 * std::pow(std::max(error, 1e-12), -1.0 / 8);
      if (error > 1) {
        h *= std::max(1.0 / 3, std::min(0.9, factor));
        rejected = true;
        continue;
      }
      project(x1.data(), x1.data() + n);
      rates(x1, k[0]);
      x = x1;
      t = last ? end : t + h;
      ++steps;
      h *= std::clamp(factor, 1.0 / 3, rejected ? 1.0 : 6.0);
      rejected = false;
    }
  }

  int links;
  std::size_t n;
  std::vector<double> x, x1, stage, rod, diagonal, off, mu;
  std::vector<std::vector<double>> k;
  const hinge::ExplicitTableau& table = hinge::dormand_prince(8);
  double t = 0;
  long steps = 0;
};

void compare(int links, double end, int rounds) {
  std::vector<double> ours, hand;
  long our_steps = 0, hand_steps = 0;
  double our_tip = 0, hand_tip = 0;
  for (int k = 0; k < rounds; ++k) {
    ours.push_back(bench::time_of([&] {
      hinge::Simulation run = start_chain(links, 1e-6);
      run.until(end);
      our_steps = run.report().counters.steps;
      our_tip = run.state().y[3 * at(links) - 2];
    }));
    hand.push_back(bench::time_of([&] {
      ByHand by_hand(links);
      by_hand.run(end, 1e-6);
      hand_steps = by_hand.steps;
      hand_tip = by_hand.x[3 * at(links) - 2];
    }));
  }
  fmt::print("{} links until t = {:g}, tolerance 1e-6, set-up included, median of {} in turns\n", links, end, rounds);
  fmt::print("  explicit {:>8.3f} s {:>6} steps   tip at {:.6f}\n", bench::median(ours), our_steps, our_tip);
  fmt::print("  by hand  {:>8.3f} s {:>6} steps   tip at {:.6f}\n", bench::median(hand), hand_steps, hand_tip);
  fmt::print("  ratio    {:>8.2f}\n\n", bench::median(ours) / bench::median(hand));
}

void scale(int largest, int steps) {
  fmt::print("{:>8} {:>10} {:>14} {:>12} {:>10} {:>10}\n", "links", "set-up s", "ms/1000 links", "us/step", "exponent",
             "of both");
  double last_setup = 0, last_step = 0;
  for (int links = 1000; links <= largest; links *= 10) {
    const double before = bench::cpu_seconds();
    hinge::Simulation run = start_chain(links, 1e-6);
    const double setup = bench::cpu_seconds() - before;
    std::vector<double> times;
    for (int k = 0; k < steps; ++k) times.push_back(bench::time_of([&] { run.step(); }));
    const double step = bench::median(times), all = setup + steps * step;
    fmt::print("{:>8} {:>10.3f} {:>14.1f} {:>12.1f}", links, setup, setup / links * 1e6, step * 1e6);
    if (last_step > 0)
      fmt::print(" {:>10.3f} {:>10.3f}", std::log10(step / last_step),
                 std::log10(all / (last_setup + steps * last_step)));
    fmt::print("\n");
    last_setup = setup, last_step = step;
  }
}

}  // namespace

int main(int argc, char** argv) {
  const bool quick = bench::quick(argc, argv);
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  compare(1000, quick ? 0.1 : 1.0, quick ? 3 : 5);
  scale(quick ? 10000 : 100000, 20);
}
