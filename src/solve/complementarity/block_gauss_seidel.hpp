// Sweeps of block Gauss-Seidel over a contact problem, for the solver of that name and for those that begin with it.
#pragma once

#include <vector>

#include "solve/complementarity/delassus.hpp"
#include "solve/complementarity/local_contact.hpp"
#include "solve/complementarity/solver.hpp"

namespace hinge {

class BlockGaussSeidel {
 public:
  BlockGaussSeidel(Delassus& W, const ContactProblem& problem, int threads);
  void relaxation(double omega) { relaxation_ = omega; }
  void set(const Eigen::VectorXd& r);
  void get(Eigen::VectorXd& r) const;
  void sweep();
  bool by_body() const { return by_body_; }
  int colours() const { return first_of_colour_.empty() ? 0 : static_cast<int>(first_of_colour_.size()) - 1; }

 private:
  /// A contact, or a bilateral row; r and A with the contact's own tangents.
  struct Item {
    int index, row, rows, a = -1, b = -1;
    bool bilateral;
    LocalContact local;
    double r[3], w[3];
    double A[36];  // rows N, T1, T2 for body a (6 each), then for body b
  };

  bool find_bodies(int size);
  void colour();
  template <bool convexified>
  void solve_local(Item& item, const double u[3], double r[3]);
  template <bool convexified>
  void update_by_body(Item& item);
  template <bool convexified>
  void update_by_row(Item& item);
  template <bool convexified>
  void sweep_range(int first, int last);

  Delassus& W_;
  const ContactProblem& problem_;
  int threads_, d_, bodies_ = 0, size_ = 0;
  bool by_body_ = false;
  double relaxation_ = 1;
  std::vector<Item> items_;
  std::vector<int> first_of_colour_;
  Eigen::VectorXd v_, r_;
};

void solve_block_gauss_seidel(Delassus& W, Judge& judge, Eigen::VectorXd r);

}  // namespace hinge
