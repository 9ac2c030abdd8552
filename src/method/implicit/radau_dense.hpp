// The solution within a Radau step, in every unknown.
//
//   u         the polynomial of degree s through x0 and the stages. Off by O(h^(s+1)) between its nodes, and at the end
//             of the step by O(h^(2s)) in what is integrated: a step that meets the tolerance need not do so within
//   defect    delta(theta) = ((mu/h) F_x' + F_x)^-1 F(t0 + theta h, u, u'): what u is off at theta. In what algebraic
//             equations and constraints determine this is one Newton iteration; an estimate from the start of the step
//             is blind to it, as these hold in all nodes and at t0
//   pieces    where u may be off by more than the tolerance, the step is made again in m shorter ones with the same
//             stages, each solved from the values of u. |delta| is then looked at in every unknown and every piece, and
//             m is raised where it exceeds the tolerance. The difference at the end of the step, which is of the size
//             of the errors of steps, is spread over it
//
// Pieces are made when they are first asked for: steps without rows or events in them cost nothing.
#pragma once

#include <memory>
#include <vector>

#include "method/implicit/radau_stages.hpp"

namespace hinge {

struct RadauPolynomial {
  const RadauTableau* tableau = nullptr;
  double t = 0, h = 0;
  std::vector<double> from, z;  // x0; Z, stage after stage

  std::size_t stages() const { return static_cast<std::size_t>(tableau->stages); }
  double time(double theta) const { return t + theta * h; }
  void value(double theta, double* x) const;
  void rate(double theta, double* out) const;
};

/// delta(theta) of u, whose length `stages` are factorised for; x and rate are work space.
void radau_defect(ImplicitProblem& problem, RadauStages& stages, const RadauPolynomial& u, double theta, double* x,
                  double* rate, double* delta);

class RadauDense {
 public:
  /// `shown`: the unknowns that have to meet the tolerance.
  RadauDense(ImplicitProblem& problem, int most_stages, LinearAlgebra choice, const Tolerance& tolerance,
             std::vector<char> shown);
  /// Another step from now on.
  void forget() { ready_ = false; }
  /// x and x' at a time within the step of u, which ends at `end`. `error` of u is a guess, in units of the tolerance.
  void at(const RadauPolynomial& u, const std::vector<double>& end, double error, double t, double* x, double* rate);
  /// The same of u alone.
  void sketch(const RadauPolynomial& u, const std::vector<double>& end, double t, double* x, double* rate) const;

 private:
  void prepare(const RadauPolynomial& u, const std::vector<double>& end, double error);
  bool divide(const RadauPolynomial& u, std::size_t count);
  bool linearise(const RadauPolynomial& u, double theta, double h);
  bool solve(const RadauPolynomial& u, RadauPolynomial& piece);
  double error_of(const RadauPolynomial& piece);
  void set_weights(const RadauPolynomial& u);

  ImplicitProblem& problem_;
  int most_stages_;
  LinearAlgebra choice_;
  Tolerance tolerance_;
  std::vector<char> shown_;
  Counters counters_;
  std::unique_ptr<RadauStages> stages_;  // made when it is first asked for
  std::vector<RadauPolynomial> pieces_;
  std::size_t count_ = 0;  // of the pieces in use; 0: u itself
  bool ready_ = false;
  std::vector<double> x_, rate_, dz_, weight_, shift_;
};

}  // namespace hinge
