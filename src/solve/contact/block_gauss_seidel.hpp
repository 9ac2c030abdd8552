// Sweeps of block Gauss-Seidel over a contact problem, for the solver of that name and for those that begin with it.
#pragma once

#include <vector>

#include "solve/contact/body_sweeps.hpp"
#include "solve/contact/delassus.hpp"
#include "solve/contact/solver.hpp"

namespace hinge {

class BlockGaussSeidel {
 public:
  BlockGaussSeidel(Delassus& W, const ContactProblem& problem, int threads);
  void relaxation(double omega) {
    relaxation_ = omega;
    sweeps_.relaxation(omega);
  }
  void set(const Eigen::VectorXd& r);
  void get(Eigen::VectorXd& r);
  /// Returns how many contacts were looked at: those at rest are passed over.
  long sweep();
  bool by_body() const { return by_body_; }

 private:
  using Item = BodySweeps::Item;

  bool find_bodies(int size);
  void colour_rows();
  int row(const Item& item) const {
    return item.bilateral ? d_ * W_.contacts() + item.index - W_.contacts() : item.index * d_;
  }
  template <bool convexified>
  void update_by_row(Item& item);

  Delassus& W_;
  const ContactProblem& problem_;
  int threads_, d_, bodies_ = 0, size_ = 0;
  bool by_body_ = false;
  double relaxation_ = 1;
  BodySweeps sweeps_;                 // by bodies
  std::vector<Item> items_;           // by rows of W
  std::vector<int> first_of_colour_;  // of these
  Eigen::VectorXd v_, r_;
};

void solve_block_gauss_seidel(Delassus& W, Judge& judge, Eigen::VectorXd r);

}  // namespace hinge
