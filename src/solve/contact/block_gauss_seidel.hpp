// Sweeps of block Gauss-Seidel over a contact problem, for the solver of that name and for those that begin with it.
#pragma once

#include <vector>

#include "solve/contact/body_rows.hpp"
#include "solve/contact/body_sweeps.hpp"
#include "solve/contact/delassus.hpp"

namespace hinge {

class BlockGaussSeidel {
 public:
  BlockGaussSeidel() = default;
  BlockGaussSeidel(Delassus& W, const ContactProblem& problem, int threads) { begin(W, problem, threads); }
  /// Over the velocities of bodies; no W is made, and memory is kept.
  void begin(const BodyRows& rows, const ContactProblem& problem, int threads);
  void begin(Delassus& W, const ContactProblem& problem, int threads);
  void relaxation(double omega) {
    relaxation_ = omega;
    sweeps_.relaxation(omega);
  }
  void set(const Eigen::Ref<const Eigen::VectorXd>& r);
  void get(Eigen::Ref<Eigen::VectorXd> r);
  /// From r + beta (r - last). Returns how many contacts were looked at: those at rest are passed over.
  long sweep(double beta = 0);
  /// Did the last sweep lead back? Then the next one should go no further than r itself.
  bool led_back() const { return by_body_ ? sweeps_.led_back() : led_back_; }
  /// Of one contact, in updates between bodies.
  double cost() const { return cost_; }

 private:
  using Item = BodySweeps::Item;

  bool find_bodies(int size);
  bool go_further(double beta);
  void colour_rows();
  template <bool convexified>
  void update_by_row(Item& item);

  Delassus* W_ = nullptr;  // none: by bodies
  const ContactProblem* problem_ = nullptr;
  int threads_ = 1, bodies_ = 0, size_ = 0;
  bool by_body_ = false, led_back_ = false, has_last_ = false;
  double relaxation_ = 1, cost_ = 1;
  BodySweeps sweeps_;                 // by bodies
  std::vector<Item> items_;           // by rows of W
  std::vector<int> first_of_colour_;  // of these
  Eigen::VectorXd v_, r_, last_, from_;
};

}  // namespace hinge
