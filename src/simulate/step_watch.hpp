// What no single step may do, whatever the method.
//
// - A mass passes through zero: det p_z changes its sign; with constraints, that of [p_z H^T; H 0] as well, where
//   H = g_y v_z. There the motion ends.
// - Another branch: det(G1 G0^T) < 0, of rows that are independent at the first. Between the two positions the
// constraints were dependent; a curve that crosses
//   itself there goes on in more than one way.
// - No branch at all: constraints are met with an error that is as large as what separates two of them
//   (branch_drift.hpp).
// - Beyond stability: y' turns in step after step, or y1 - y0 is far from h (y0' + y1')/2, while |y'| grows.
//
// Steps that are suspect are made once more in halves, and are doubtful where these lead elsewhere:
//
// - against: y1 - y0 points against y'(t0) and y'(t1), or p1 - p0 against p'(t0) and p'(t1); a pole was jumped over?
// - a leap: y1 - y0 is more than all before, and far from h (y0' + y1')/2
// - a turn: the velocity, the constraints, or a body in space turn by more than 60 degrees
// - a blow: p1 - p0 is twice as large as ever before
//
// Where the method keeps the energy whatever happens, steps in which forces or the kinetic energy change by a good part
// are compared with a solution with a tolerance, too: a comet that flies straight through the sun does so in halves of
// the step as well.
//
// For motion without contacts, whose velocities jump.
#pragma once

#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "formulation/constraint_rounding.hpp"
#include "hinge/simulate.hpp"
#include "simulate/branch_drift.hpp"
#include "solve/linear/linear.hpp"

namespace hinge {

struct BodyTable;

class StepWatch {
 public:
  /// `resolved`: steps are chosen for a tolerance; `keeps_energy`: the method does. Adds what it needs to `wanted`.
  void begin(const System& system, bool resolved, bool keeps_energy, Quantities& wanted);
  /// The state after a step of h, with the wanted quantities there; or one that no step has led to (h = 0). All of it
  /// finite. Allocates nothing.
  void see(const State& state, const Evaluation& at, double h);
  /// Why the motion cannot be as it was seen last; empty where it can.
  const std::string& impossible() const { return impossible_; }
  /// Should the last step be made once more, in halves?
  bool suspect() const { return suspect_; }
  /// Does a part of it, between two other states, go against its velocities?
  bool against(const State& from, const State& to);
  /// Where halves of the last step lead to; null where they lead nowhere, or go against their velocities still.
  void compare(const State* halves);

  /// Should it be compared with a solution with a tolerance?
  bool swings() const { return swings_; }
  void compare_solution(const State& end);

  void doubts(std::vector<Doubt>& doubts) const;

 private:
  struct Point {
    State state;
    std::vector<double> v, p, rate;  // rate: f + r, where it is asked for
    void exchange(Point& other) {
      std::swap(state.t, other.state.t);
      state.y.swap(other.state.y);
      state.z.swap(other.state.z);
      state.psi.swap(other.state.psi);
      v.swap(other.v);
      p.swap(other.p);
      rate.swap(other.rate);
    }
  };
  struct Rows {  // of G, where they were looked at
    std::vector<double> G, y, v;
    std::vector<int> kept;  // independent ones, where some depend on others; else empty
    long step = 0;
    std::optional<double> volume{};  // det(G G^T), of all rows, where it was asked for
  };
  struct Range {  // of one number over the run
    double low = INFINITY, high = -INFINITY;
    double width() const { return high > low ? high - low : 0; }
    void take(double x) { low = x < low ? x : low, high = x > high ? x : high; }
  };
  static constexpr double unresolved = 0.4;  // defect of the trapezoidal rule, as a part of h |y'|
  static constexpr double rounding = 1e-10;  // of the largest number: smaller changes mean nothing
  struct Growth {                            // of one coordinate that turns in every step
    int streak = 0;
    double at_first = 0;
    double fastest = 0, reached = 0, way = 0, factor = 0, first = 0,
           h = 0;  // |y'| of all steps; where it has grown by much
  };
  void take(const State& state, const Evaluation& at, Point& out) const;
  void find_rate(Point& at);
  bool points_against(Point& a, Point& b);
  double defect(std::size_t i, double h) const;
  double volume(const std::vector<double>& a, const std::vector<double>& b, const std::vector<int>& kept);
  void watch_growth(double h);
  void doubt_growth(std::vector<Doubt>& doubts) const;
  bool leaps(double h) const;
  bool velocity_turns();
  bool bodies_turn(double h);
  bool struck();
  bool energy_swings(double h);
  bool branch_due() const;
  void look_at_rows();
  double cosine(const std::vector<double>& a, const std::vector<double>& b, const std::vector<int>& kept);
  double cosine(Rows& a, Rows& b, const std::vector<int>& kept);
  static double cosine(double square_a, double square_b, double product);
  bool rows_follow_the_bodies();
  void assign_rows(std::vector<double>& to) const;
  void watch_branch();
  static bool is_long(const std::vector<double>& from, const std::vector<double>& to);
  void watch_mass(const double* masses);
  int saddle_sign(const State& state) const;

  const System* system_ = nullptr;
  const BodyTable* bodies_ = nullptr;  // in space
  bool active_ = false, resolved_ = false, keeps_energy_ = false, first_ = true;
  bool watches_mass_ = false;
  std::unique_ptr<Evaluation> ends_, rate_, rows_;
  Point before_, now_, from_, to_;
  Rows checked_, last_;
  BranchDrift drift_;
  mutable std::optional<ConstraintRounding> known_;  // asked at the end
  double longest_ = 0;                               // step
  std::vector<Range> y_range_, p_range_;
  std::vector<Growth> growth_;
  State growing_;  // where the first of them had grown
  double growing_h_ = 0;
  std::vector<double> product_;  // G1 G0^T
  std::array<std::vector<double>, 2> between_;
  std::vector<double> moved_;
  std::vector<std::array<int, 3>> products_;
  std::vector<int> exchange_;
  bool redundant_ = false;  // rows of G depend on each other everywhere
  int entries_ = 0;         // of G
  std::unique_ptr<LinearSolver> mass_solver_;
  std::vector<int> diagonal_;  // places of the diagonal in the values of p_z
  std::vector<double> masses_;
  int mass_sign_ = 0;
  double mass_time_ = 0;
  bool suspect_ = false, turned_ = false, swings_ = false;
  std::vector<double> elsewhere_;  // for each coordinate: how far halves of a step lead from its end, at most
  std::string impossible_;
  std::optional<double> branch_, unresolved_;  // when first
  int branches_ = 0;
  long steps_ = 0;
  double largest_ = 0;             // p . v so far
  double hardest_ = 0;             // |p1 - p0|
  double swing_ = 0, widest_ = 0;  // of forces in a step, as a part of p . v: now, and compared so far
  int compared_ = 0;
  struct Stray {
    double part = 0, t = 0, energy = 0;  // of the way of a step; p . v there
  };
  Stray strayed_[2];                       // those that lead elsewhere most, and by much: any, and those from rest
  double turn_ = 0, unresolved_turn_ = 0;  // p . v in a turn; constraints: infinite
  double size_ = 0;                        // the largest |y|; what is 1e-10 of it is rounding
};

}  // namespace hinge
