// The coarse level of grains (grain_coarse.cl): what is solved for the field that stretches reactions.
#pragma once

#include <vector>

#include "method/nonsmooth/grain_types.cl"

namespace hinge {

/// By how much reactions were stretched: the field where it is largest, and |dv|^2_M.
struct GrainStretch {
  double largest = 0, energy = 0;
};

class GrainCoarse {
 public:
  static int cells(const GrainGrid& g) { return g.bx * g.by * g.bz / (COARSE_EDGE * COARSE_EDGE * COARSE_EDGE); }
  /// `sums` has those of every coarse cell (COARSE_SUMS each). Values of the field at as many nodes, between -1/2 and
  /// 1, by conjugate gradients; the same bits whoever summed.
  const std::vector<double>& solve(const GrainGrid& grid, const double* sums);
  /// By the last field.
  const GrainStretch& change() const { return change_; }

 private:
  void multiply(const std::vector<double>& x, std::vector<double>& y) const;

  int nx_ = 0, ny_ = 0, nz_ = 0;
  GrainStretch change_;
  std::vector<int> cells_;        // that have grains
  std::vector<double> matrices_;  // of those, 36 each
  std::vector<int> corners_;      // of those, 8 each
  std::vector<double> x_, r_, z_, p_, q_, diagonal_;
};

}  // namespace hinge
