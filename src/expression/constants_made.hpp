// How numbers follow from others, known from one making (constant_trace.hpp): with other numbers given, those that the
// same making would lead to, or the answer that it would be another one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "expression/constant_trace.hpp"
#include "expression/graph.hpp"

namespace hinge {

/// Notes what is done with constants while it lives. What it has noted is noted by one that was there before, too.
class ConstantTracing {
 public:
  ConstantTracing() : before_(ConstantTrace::active) { ConstantTrace::active = &trace_; }
  ConstantTracing(const ConstantTracing&) = delete;
  ConstantTracing& operator=(const ConstantTracing&) = delete;
  ~ConstantTracing();
  const ConstantTrace& trace() const { return trace_; }
  void append_to(ConstantTrace& other) const;

 private:
  ConstantTrace* before_;
  ConstantTrace trace_;
};

class ConstantsMade {
 public:
  /// `given`: what the making starts from; `made`: what has come out. Nothing where it is not known where a number
  /// comes from.
  static std::optional<ConstantsMade> of(std::span<const double> given, const ConstantTrace& trace,
                                         std::span<const double> made);

  /// What comes out of other numbers, as many; nothing where other expressions would be made.
  std::optional<std::vector<double>> made_of(std::span<const double> given) const;
  std::size_t given() const { return given_.size(); }

 private:
  struct Step {
    Op op;
    int a, b, c, result;
  };
  struct Test {
    bool (*test)(double);
    int x;
    bool outcome;
  };

  int find(double x) const;
  bool add(double x);
  void require(double x);
  bool follow(std::vector<double>& x, std::vector<char>& known) const;
  bool all_differ(const std::vector<double>& x) const;

  std::vector<double> values_;  // as they were: those that are given first, all others after them
  std::vector<int> given_;      // where they stand
  std::vector<int> required_;   // these are as they were
  std::vector<Step> steps_;
  std::vector<Test> tests_;
  std::vector<int> made_;
  std::unordered_map<std::uint64_t, int> place_;  // while it is put together
};

}  // namespace hinge
