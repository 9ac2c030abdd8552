// Bodies that rest, but for rounding: for some steps in a row they have been slower than forces know them, and are
// where they were. Those that touch each other and all rest are held as they are, and left out of the problems of a
// step, until something that moves comes near. Nothing that accelerates by more than 1e-13 of what forces give to a
// free body is taken for rest: after these steps it is too fast.
#pragma once

#include <vector>

#include "body/body_table.hpp"
#include "hinge/nonsmooth.hpp"

namespace hinge {

class RestingBodies {
 public:
  RestingBodies(const BodyTable& table, const System& system);

  bool any_held() const { return held_count_ > 0; }
  bool all_held() const { return held_count_ == count_; }
  bool all_quiet() const;
  /// May some rest while others move: no joints, and forces on a body depend on nothing else?
  bool apart() const { return apart_; }
  bool holds(int velocity) const { return held_[body(velocity)] != 0; }
  std::size_t body_of(int velocity) const { return body(velocity); }
  /// Of one contact in the list: nothing that it touches moves.
  bool holds_contact(const ContactList& list, int i) const;
  /// Nobody is held any more.
  void wake_all();
  /// A step begins: wakes all where it has another length, or where bodies are not as they were left.
  void begin(const State& state, double h);
  /// Wakes who is held and near to somebody who is not; true where there was one.
  bool wake_touched(const ContactList& list);

  /// A step from (y0, z0) to (y1, z1), where free bodies would change their velocities by `given`; the
  /// fastest of all is what problems are solved relative to.
  void note(const State& before, const double* y1, const double* z1, const double* given, double fastest);
  /// Behind a step that led to `state`: bodies that rest together are held from now on, without velocity. The list is
  /// that of the end of the step.
  void hold(const ContactList& list, State& state);
  /// Copies what belongs to bodies that are held.
  void keep_position(const double* from, double* to) const;
  void clear_velocities(double* z) const;

 private:
  std::size_t body(int velocity) const { return static_cast<std::size_t>(body_[static_cast<std::size_t>(velocity)]); }
  template <class F>
  void for_positions(std::size_t b, F&& f) const;
  template <class F>
  void for_velocities(std::size_t b, F&& f) const;

  const BodyTable& table_;
  std::size_t count_, held_count_ = 0;
  double size_, step_ = 0;
  bool apart_, only_bodies_;   // no states beside them
  std::vector<int> body_;      // of each velocity
  std::vector<char> held_;     // of bodies, as are
  std::vector<char> moves_;    // (for hold)
  std::vector<int> quiet_;     // steps in a row,
  std::vector<int> together_;  // and who is held with whom
  std::vector<double> from_;   // y where these steps began
  std::vector<double> kept_;   // y of who is held
};

}  // namespace hinge
