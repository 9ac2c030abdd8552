// Newton matrices of the symplectic Euler methods. Rows: R_y, R_z, R_g (first half), R_1, R_v (second half); columns:
// y1, Z, P0 and z1, P1.
#include <algorithm>

#include "method/symplectic/symplectic_euler_step.hpp"

namespace hinge {

// The order of place() here is the order of add() in assemble_first() and assemble_second().
void SymplecticEuler::lay_out(Part& part) {
  BlockMatrix& matrix = part.matrix;
  const auto pattern = [this](Q q) -> const Pattern& { return system_->pattern(q); };
  const int y = offset_[at_y], mid = offset_[at_z_mid], p0 = offset_[at_p0];
  if (part.has_first) {
    // rows: R_y at y, R_z at mid, R_g at p0
    matrix.place(identity_, y, y);
    if (w_.at_end) matrix.place(pattern(Q::velocity_y), y, y);
    matrix.place(pattern(Q::velocity_z), y, mid);
    if (w_.at_end) {
      matrix.place(pattern(Q::momentum_y), mid, y);
      matrix.place(pattern(Q::force_y), mid, y);
    }
    matrix.place(pattern(Q::momentum_z), mid, mid);
    matrix.place(pattern(Q::force_z), mid, mid);
    for (const int k : {0, 1})
      if (w_.first[static_cast<std::size_t>(k)] != 0)
        matrix.place(pattern(Q::reaction_psi), mid, k == 0 ? p0 : offset_[at_p1]);
    matrix.place(pattern(Q::constraint_y), p0, y);
  }
  if (part.has_second) {
    // rows: R_1 at z, R_v at p1
    const int z = offset_[at_z] - part.offset, p1 = offset_[at_p1] - part.offset;
    matrix.place(pattern(Q::momentum_z), z, z);
    for (const int k : {0, 1}) {
      if (w_.second[static_cast<std::size_t>(k)] == 0) continue;
      matrix.place(pattern(Q::reaction_z), z, z);
      if (k == 1) matrix.place(pattern(Q::reaction_psi), z, p1);
      if (part.has_first) {
        matrix.place(pattern(Q::reaction_y), z, y);
        if (k == 0) matrix.place(pattern(Q::reaction_psi), z, p0);
      }
    }
    matrix.place(pattern(Q::constraint_rate_z), p1, z);
    if (part.has_first) {
      matrix.place(pattern(Q::constraint_rate_y), p1, y);
      matrix.place(pattern(Q::momentum_y), z, y);
      matrix.place(pattern(Q::force_z), z, mid);
      if (w_.at_end) matrix.place(pattern(Q::force_y), z, y);
      for (const int k : {0, 1})
        if (w_.first[static_cast<std::size_t>(k)] != 0) matrix.place(pattern(Q::reaction_psi), z, k == 0 ? p0 : p1);
    }
  }
}

void SymplecticEuler::assemble_first(BlockMatrix& matrix, int& block, double h) {
  const Evaluation& e = *mid_derivatives_;
  const double ef = w_.at_end ? 0 : h;  // h e
  matrix.add(block++, 1.0, ones_.data());
  if (w_.at_end) matrix.add(block++, -h, e[Q::velocity_y]);
  matrix.add(block++, -h, e[Q::velocity_z]);
  if (w_.at_end) {
    matrix.add(block++, 1.0, e[Q::momentum_y]);
    matrix.add(block++, -ef, e[Q::force_y]);
  }
  matrix.add(block++, 1.0, e[Q::momentum_z]);
  matrix.add(block++, -ef, e[Q::force_z]);
  for (std::size_t k = 0; k < 2; ++k)
    if (w_.first[k] != 0) matrix.add(block++, -h * w_.first[k], (*kick0_derivatives_[k])[Q::reaction_psi]);
  matrix.add(block++, 1 / (h * h), (*position_derivatives_)[Q::constraint_y]);
}

void SymplecticEuler::assemble_second(BlockMatrix& matrix, int& block, double h, bool alone) {
  const Evaluation& mid = *mid_derivatives_;
  const Evaluation& end = *end_derivatives_[1];
  matrix.add(block++, 1.0, end[Q::momentum_z]);
  for (std::size_t k = 0; k < 2; ++k) {
    if (w_.second[k] == 0) continue;
    const Evaluation& r = *end_derivatives_[k];
    matrix.add(block++, -h * w_.second[k], r[Q::reaction_z]);
    if (k == 1) matrix.add(block++, -h * w_.second[k], r[Q::reaction_psi]);
    if (alone) continue;
    matrix.add(block++, -h * w_.second[k], r[Q::reaction_y]);
    if (k == 0) matrix.add(block++, -h * w_.second[k], r[Q::reaction_psi]);
  }
  matrix.add(block++, 1 / h, end[Q::constraint_rate_z]);
  if (alone) return;
  matrix.add(block++, 1 / h, end[Q::constraint_rate_y]);
  matrix.add(block++, 1.0, end[Q::momentum_y]);
  matrix.add(block++, -h, mid[Q::force_z]);
  if (w_.at_end) matrix.add(block++, -h, mid[Q::force_y]);
  for (std::size_t k = 0; k < 2; ++k)
    if (w_.first[k] != 0) matrix.add(block++, -h * w_.first[k], (*kick0_derivatives_[k])[Q::reaction_psi]);
}

void SymplecticEuler::assemble(Part& part, const State& state, double h) {
  const double t1 = end_time(state, h);
  int block = 0;
  part.matrix.clear();
  if (part.has_first) {
    mid_derivatives_->at(w_.at_end ? t1 : state.t, w_.at_end ? x(at_y) : state.y.data(), x(at_z_mid), psi(0));
    std::copy_n((*mid_derivatives_)[Q::velocity_z], velocity_z_.size(), velocity_z_.data());
    for (int k = 0; k < 2; ++k)
      if (w_.first[static_cast<std::size_t>(k)] != 0)
        kick0_derivatives_[static_cast<std::size_t>(k)]->at(state.t, state.y.data(), state.z.data(), psi(k));
    position_derivatives_->at(t1, x(at_y), x(at_z_mid), psi(0));
    assemble_first(part.matrix, block, h);
  }
  if (part.has_second) {
    for (int k = 0; k < 2; ++k)
      if (k == 1 || w_.second[0] != 0) end_derivatives_[static_cast<std::size_t>(k)]->at(t1, x(at_y), x(at_z), psi(k));
    assemble_second(part.matrix, block, h, !part.has_first);
  }
  ++counters_.evaluations;
}

}  // namespace hinge
