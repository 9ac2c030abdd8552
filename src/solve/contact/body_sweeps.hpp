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

#include <array>
#include <vector>

#include <Eigen/Core>

#include "solve/contact/local_contact.hpp"
#include "solve/parallel.hpp"

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

  /// Begins a problem, of which every item is told its bodies (-1: none), then the order is made, coloured or as given,
  /// then items are filled, in any order and by any thread.
  void begin(int bodies, int items);
  void join(int i, int a, int b) { pair_[static_cast<std::size_t>(i)] = {a, b}; }
  void order(bool coloured);
  /// Sets up item i from its rows of A: `rows` x 12, body a's columns first, and its w in the problem's tangents. W_ii
  /// is computed from them.
  void fill(int i, int row, bool bilateral, int rows, const double (*A)[2 * body_size], double mu, const double* w);

  // r, w of an item in the problem's tangents. Items are addressed by their place in the sweep.
  int size() const { return static_cast<int>(items_.size()); }
  Item& item(int place) { return items_[static_cast<std::size_t>(place)]; }
  static void turn(const Item& item, const double* x, double* turned);
  static void turn_back(const Item& item, const double* x, double* back);
  /// z = 0 (six per body); then `add_reactions` adds A^T r.
  std::vector<double>& velocity() { return z_; }
  void add_reactions(int threads);

  void relaxation(double omega) { relaxation_ = omega; }
  /// One sweep; returns how many contacts were looked at. From r + beta (r - last), which may be outside of cones,
  /// where velocities are those that belong to it.
  long sweep(bool convexified, int threads, double beta = 0);
  /// Did the last sweep lead back? Then the next one should go no further than r itself.
  bool led_back() const { return led_back_; }

  template <bool convexified>
  static void solve_local(Item& item, double relaxation, const double u[3], double r[3]);

 private:
  /// Contacts that share no body, to be shared out; or some for one thread.
  struct Run {
    int first, last;
    bool alone;
  };
  static constexpr int most_colours = 64;  // the last one takes what fits nowhere, and is one thread's
  static constexpr int piece = 1536;       // of velocities

  Run run_of(int k) const { return runs_.empty() ? Run{0, size(), true} : runs_[static_cast<std::size_t>(k)]; }
  void colour();
  template <class Work>
  void each_run(int threads, Work&& work);
  void go_further(int first, int last);
  bool leads_back() const;
  template <bool convexified>
  void update(Item& item);
  template <bool convexified>
  long sweep_range(int first, int last, bool all);

  std::vector<Item> items_;
  std::vector<std::array<int, 2>> pair_;   // bodies of the items as given
  std::vector<int> place_, colour_of_;     // in items_; empty: as given
  std::vector<Run> runs_;                  // none: as given
  std::vector<unsigned long long> taken_;  // colours in use at each body, as bits
  std::vector<double> z_, last_z_, from_z_;
  std::vector<std::array<double, 2>> products_;  // of pieces: their sums, and those of their sizes
  bool led_back_ = false, has_last_ = false;
  ParallelStages stages_;
  int bodies_ = 0;
  long sweeps_ = 0;
  double relaxation_ = 1, beta_ = 0;
};

}  // namespace hinge
