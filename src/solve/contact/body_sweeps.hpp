// Sweeps of block Gauss-Seidel over contacts of at most two bodies, on the bodies' velocities: W is never formed.
//
//   u_i = A_i z + w_i,   z += A_i^T (r_i_new - r_i),     W = A A^T
//
// A is H scaled by the root of the inverse mass, z the velocity in that scaling (with or without the part that is there
// without contacts, which then is in w). Memory is kept: bound anew to a problem that is not larger, nothing allocates.
//
// Contacts whose r has not moved for ten sweeps rest: they are looked at in every tenth sweep only.
// Order: as given; or coloured, so that contacts of one colour share no body and may be solved at the same time. The
// order depends on the problem alone, so the bits do not depend on the number of threads.
#pragma once

#include <vector>

#include <Eigen/Core>

#include "solve/contact/local_contact.hpp"

namespace hinge {

class BodySweeps {
 public:
  static constexpr int body_size = 6;

  /// A contact or bilateral rows; r, w and A with the contact's own tangents (see LocalContact).
  struct Item {
    int row = 0, rows = 3;  ///< of r
    int a = -1, b = -1;     ///< bodies; -1: none
    bool bilateral = false;
    int still = 0;  ///< sweeps since r moved last
    LocalContact local;
    double r[3] = {}, w[3] = {}, last[3] = {};  ///< last: r before the last sweep
    double A[6 * body_size] = {};               ///< rows N, T1, T2 for body a (6 each), then for body b
  };

  /// Begins a problem; items are to be filled by `fill`.
  void begin(int bodies, int items);
  Item& item(int i) { return items_[static_cast<std::size_t>(i)]; }
  /// Sets up item i between bodies a and b (-1: none) from its rows of A: `rows` x 12, body a's columns first.
  /// W_ii is computed from them.
  void fill(int i, int row, bool bilateral, int rows, int a, int b, const double (*A)[2 * body_size], double mu);
  /// After all items are filled: orders by colours.
  void colour();

  // r, w of an item in the problem's tangents. Items are addressed by their place in the sweep.
  int size() const { return static_cast<int>(items_.size()); }
  static void turn(const Item& item, const double* x, double* turned);
  static void turn_back(const Item& item, const double* x, double* back);
  /// z = 0 (six per body); then `add_reactions` adds A^T r.
  std::vector<double>& velocity() { return z_; }
  void add_reactions();

  void relaxation(double omega) { relaxation_ = omega; }
  /// One sweep; returns how many contacts were looked at. From r + beta (r - last), which may be outside of cones,
  /// where velocities are those that belong to it.
  long sweep(bool convexified, int threads, double beta = 0);
  /// Did the last sweep lead back? Then the next one should go no further than r itself.
  bool led_back() const { return led_back_; }

  template <bool convexified>
  static void solve_local(Item& item, double relaxation, const double u[3], double r[3]);

 private:
  void go_further(double beta);
  template <bool convexified>
  void update(Item& item);
  template <bool convexified>
  long sweep_range(int first, int last, bool all);

  std::vector<Item> items_, sorted_;
  std::vector<int> first_of_colour_, colour_of_;
  std::vector<unsigned long long> taken_;  // colours in use at each body, as bits
  std::vector<double> z_, last_z_, from_z_;
  bool led_back_ = false;
  int bodies_ = 0;
  long sweeps_ = 0;
  double relaxation_ = 1, beta_ = 0;
};

}  // namespace hinge
