// A model with a known motion, run by a method in this process: all rows compared, and what the verdict says.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "hinge/hinge.hpp"

namespace hinge::test {

/// A method with steps of given or of chosen length.
struct Way {
  std::string text;  ///< "radau(stages=5)"
  int order;         ///< of steps of given length
  bool chosen;       ///< with a tolerance
};

inline const std::vector<Way>& ways() {
  static const std::vector<Way> all = {{"gauss-lobatto", 4, false},
                                       {"gauss-lobatto(stages=1)", 2, false},
                                       {"lobatto-iiia-iiib", 4, false},
                                       {"rattle", 2, false},
                                       {"shake", 2, false},
                                       {"symplectic-euler", 1, false},
                                       {"composition", 4, false},
                                       {"energy-momentum", 2, false},
                                       {"explicit", 8, false},
                                       {"half-explicit", 4, false},
                                       {"generalized-alpha", 2, false},
                                       {"bdf(order=2)", 2, false},
                                       {"radau", 5, false},
                                       {"moreau-jean", 2, false},
                                       {"explicit", 8, true},
                                       {"explicit(order=5)", 5, true},
                                       {"half-explicit", 4, true},
                                       {"bdf", 5, true},
                                       {"radau", 5, true},
                                       {"radau(stages=3)", 5, true},
                                       {"auto", 8, true}};
  return all;
}

/// The motion: values of the columns at a time.
using Motion = std::function<std::vector<double>(double t)>;

struct Outcome {
  enum class Kind { refused, failed, doubtful, sound, slow } kind = Kind::refused;
  std::string words;  ///< why it was refused, failed or is doubtful
  double error = 0;   ///< of all rows, relative to the largest value of each column
  std::string where;  ///< of the largest error
  std::size_t rows = 0;
  double end = 0;
};

/// The model with a method; `absolute` is a tolerance, too.
inline Model with_method(Model model, const Way& way, double step, Tolerance tolerance) {
  const MethodName method = parse_method_names(way.text).front();
  model.choice = make_method(method.name, method.options);
  model.simulation.step = way.chosen ? 0 : step;
  model.simulation.tolerance = way.chosen ? tolerance : Tolerance{};
  return model;
}

/// Runs the model; rows until where it ends are compared.
inline Outcome attempt(const std::function<Model()>& make, const std::vector<std::string>& columns,
                       const Motion& motion, double seconds = 5) {
  Outcome out;
  try {
    const Model model = make();
    Simulation run = model.simulation_for("");
    run.keep_rows();
    bool slow = false;
    const auto begin = std::chrono::steady_clock::now();
    run.on_progress([&](double) {
      slow = std::chrono::steady_clock::now() - begin > std::chrono::duration<double>(seconds);
      return !slow;
    });
    run.start(model.start);
    out.kind = Outcome::Kind::sound;
    try {
      run.until(model.end);
    } catch (const StepFailure& failure) {
      out.kind = Outcome::Kind::failed;
      out.words = failure.what();
    }
    run.finish();
    const Report report = run.report();
    for (const Doubt& doubt : report.doubts) {
      if (out.kind == Outcome::Kind::sound) out.kind = Outcome::Kind::doubtful;
      out.words += fmt::format("{}: {:.3g}; {}. ", doubt.cause, doubt.value, doubt.remedy);
    }
    if (slow) out.kind = Outcome::Kind::slow;
    out.end = report.end;
    const Trajectory& rows = run.trajectory();
    out.rows = rows.rows();
    const std::vector<double> times = rows.times();
    std::vector<std::vector<double>> computed, exact;
    for (const std::string& name : columns) computed.push_back(rows.column(name));
    std::vector<double> size(columns.size(), 0);
    for (const double t : times) {
      exact.push_back(motion(t));
      for (std::size_t c = 0; c < columns.size(); ++c) size[c] = std::max(size[c], std::abs(exact.back()[c]));
    }
    for (std::size_t k = 0; k < times.size(); ++k) {
      if (k > 0 && times[k] < times[k - 1]) {
        out.error = HUGE_VAL;
        out.where = fmt::format("row {} at t = {} after t = {}", k, times[k], times[k - 1]);
      }
      const bool jump = (k > 0 && times[k] == times[k - 1]) || (k + 1 < times.size() && times[k] == times[k + 1]);
      for (std::size_t c = 0; c < columns.size() && !jump; ++c) {
        const double error = std::abs(computed[c][k] - exact[k][c]) / std::max(size[c], 1e-300);
        if (error <= out.error) continue;
        out.error = error;
        out.where =
            fmt::format("{} at t = {:.9g}: {:.9g}, exactly {:.9g}", columns[c], times[k], computed[c][k], exact[k][c]);
      }
    }
  } catch (const InputError& refusal) {
    out.kind = Outcome::Kind::refused;
    out.words = refusal.what();
  }
  return out;
}

}  // namespace hinge::test
