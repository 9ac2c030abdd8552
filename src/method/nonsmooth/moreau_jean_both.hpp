// moreau-jean with gaps and joints on both levels, for bodies: positions first, then velocities.
//
//   positions    M (zh - z0) = h/2 f + H0^T R + G0^T S          f(t + h/2, y0 (+) h/2 zh, zh), y1 = y0 (+) h zh
//                laws between R and H0 zh + max(gap(y0)/h, -recover) on normals, H0 zh + d/2 on tangents
//                g(t1, y1) = 0,  w(t + h/2, y0 (+) h/2 zh, zh) = 0
//   velocities   M (z1 - z0) = h f + H0^T R + H1^T (r - R) + G0^T S + G1^T (s - S)
//                laws between r and H1 z1 + e u^-,  of contacts that are closed at y1
//                g_t + G1 z1 = 0,  w(t1, y1, z1) = 0;  rows w_z stand below G
//
// R is what contacts do until the middle of the step, r what they do in all of it. Without contacts and joints this is
// the rule of the midpoint, with joints that of RATTLE. d is what tangential velocities change by because points of
// contact travel, (H1 - H0) zh of the last step, so that stage one has rows of the middle of the step.
//
// What follows: a gap may close exactly and is not crossed where it is convex; at rest gaps and velocities are zero and
// stay so; constant accelerations are exact; penetration is pushed out by positions alone, at a limited speed, and
// gives no velocity, since r knows nothing of it. Restitution has the velocity of the time of impact, and none of
// contacts that were closed already; impacts take (1 - e^2) of the energy of approach (moreau_jean_both_impacts.cpp).
//
// Spins: body/spin_balance.hpp. The axis of a turn is the same at both of its ends, so that wh needs rows of the start
// with the inertia E(h/2 wh) J E(-h/2 wh), and z1 rows of the end.
//
// Stage one knows the contacts of y0. What bodies overlap at y1 since other features met within the step, or since
// sweeps ended before, is taken back by positions alone: min |dy|_M with gap + G dy >= 0, joints held. And where slip
// ends within a step, or the normal of an impact turns (moreau_jean_both_turns.cpp), that is made in parts.
//
// A contact that is there at y0 and gone at y1 (another feature took over) leaves its R in z1, but not where that
// pushed bodies out of each other. Friction of stage two acts against the slip of the middle, u1 + u0 - uh, where slip
// goes on.
//
// Rest: a step that changes nothing but rounding would do the same again and again, unless something depends on time.
// Its result is the state before it, and steps of its length from there are not computed once more. Of free bodies
// those that touch each other may rest while others move (resting_bodies.hpp): they are held, with the reactions they
// had.
//
// Order 2 on smooth pieces, positions too; 1 with impacts. Without contacts symmetric in time.
//
// Reference: G. Capobianco, J. Harsch, S. R. Eugster, R. I. Leine, Int. J. Numer. Methods Eng. 122 (2021) 6497-6526;
// V. Acary, Comput. Methods Appl. Mech. Eng. 256 (2013) 224-250; H. C. Andersen, J. Comput. Phys. 52 (1983) 24-34.
#pragma once

#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "body/spin_balance.hpp"
#include "body/spin_rows.hpp"
#include "formulation/project/projection.hpp"
#include "hinge/nonsmooth.hpp"
#include "method/nonsmooth/contact_step.hpp"
#include "method/nonsmooth/moreau_jean_matrix.hpp"
#include "method/nonsmooth/resting_bodies.hpp"

namespace hinge {

/// Of the smallest body: overlap that is taken back where stage one is not solved to rounding.
inline constexpr double separation_level = 1e-8;

/// z += factor C^T s
void add_joint_reaction(const Pattern& p, const double* C, const double* s, double factor, double* z);

class MoreauJeanBoth final : public Stepper {
 public:
  MoreauJeanBoth(std::shared_ptr<const System> system, const MoreauJeanOptions& options, const SolverOptions& solver);
  StepResult step(State& state, double h) override;
  void reset() override;
  const ContactStatistics* contact_statistics() const override {
    return contacts_.has_contacts() ? &contacts_.measured() : nullptr;
  }
  void set_contact_statistics(const ContactStatistics& s) override { contacts_.statistics = s; }
  const ContactImpulses* contact_impulses() const override {
    return contacts_.has_contacts() ? &contacts_.impulses() : nullptr;
  }
  std::vector<std::string> remarks() const override { return contacts_.remarks(); }

 private:
  using Q = Quantity;
  struct Partner {  // of a contact at y1: its place at y0, or -1
    int before;
    bool closed, rebounds;  // rebounds: it was open at y0, and restitution is to be looked at
  };
  struct Pair {  // of a contact at y1: R, u0 and the change of slip, in its frame
    double R[3], u[3], turn[3];
  };
  StepResult attempt(const State& state, double h);
  void take(State& state, double h);
  void list_again(const State& state);
  double slip_lasts(double h);
  double turn_of(int j) const;
  double further_across(int j, const double* z0) const;
  double impact_lasts(const State& state, double h);
  void note_rest(const State& state, double h);
  bool rests_still(const State& state, double h) const;
  void hold_resting(State& state, double h);
  void list_active(const State& state, double h);
  bool crosses(double h, bool all);
  void act_on_surfaces(const double* y);
  void add_first(const std::vector<double>& r);
  void begin(const State& state, double h);
  double band(double h) const;
  void list_contacts(const State& state, double reach);
  void list_contacts_at_end(const State& state, double h);
  void force_at_middle(const State& state, double h);
  bool factor_positions(double h);
  void velocity_constraints_at_middle(const State& state, double h);
  void demand_of_positions(double h);
  double rounding_of_joints(const State& state, double h) const;
  bool positions(const State& state, double h);
  bool close_gaps(double h);
  bool separate(const State& state, double h);
  double find_overlap(double h);
  void hold_spins(ContactList& list) const;
  void joint_rates_at_end(const State& state, double t1);
  bool has_turned(const ContactList& list, int i, double before) const;
  void pair_contacts();
  void pair_contact(int i, double eps, double largest);
  void slip_of_middle(int j, const double* uh, double* turn) const;
  bool is_recovering() const;
  void find_gone();
  bool is_gone(int j) const;
  void add_first_impulses(double* p) const;
  void momentum_at_end(const State& state, double h);
  bool carried(const State& state, double h, const double* G1);
  void find_islands();
  void turn_with_joints();
  void mix_rows(const State& state);
  void bring_back(int j);
  bool at_one_point(const State& state, int j, double* H) const;
  bool mix_again();
  bool keep_momentum(const double* G1);
  double change_along_first(int active, int row) const;
  void approach(const State& state, double h, const double* G1);
  bool strike(const State& state, double h, const double* G1);
  void demand_of_velocities(double part);
  bool match_energy(double h);
  bool limit_rebound();
  bool velocities(const State& state, double h);
  double work_of_joints(const State& state);
  void account(const State& state, double h);
  void record_impulses();

  std::shared_ptr<const System> system_;
  const BodyTable& table_;
  MoreauJeanOptions options_;
  int max_iterations_;
  bool implicit_, force_varies_;
  int ny_, nz_, m_;
  std::optional<SpinBalance> spins_;  // in space
  MoreauJeanMatrix matrix_;
  ContactStep contacts_;
  ConstraintProjection projection_;  // of positions, what rounding left
  std::unique_ptr<Evaluation> force_, joints_, rates_;
  bool without_forces_ = false, recovering_ = false, separated_ = false, rested_ = false;
  bool strikes_ = false, rebounding_ = false;  // a contact that approached; one that has restitution
  bool few_at_start_ = true;                   // contacts of stage one
  // Of impulses of stage one: by the angles that normals turned by, and all; of the step.
  double turning_now_ = 0, pushed_now_ = 0;
  double recover_, smallest_, fastest_ = 0;  // a length per step; of bodies; before the step
  double whole_ = 0;                         // the step, of which one part is made
  // The last step: its end, and how far away contacts are listed there.
  double listed_time_ = 0, listed_reach_ = -1, reach_ = 0, reach_before_ = 0;
  State start_;                  // of a step that is made in parts
  State rest_{NAN, {}, {}, {}};  // a step from here led here; t: its length
  RestingBodies resting_;
  std::vector<double> listed_position_, found_position_;  // found: where contacts were looked for last

  ContactList before_;  // at y0
  std::vector<Partner> partners_;
  std::vector<Pair> pairs_;
  std::optional<SpinRows> spin_rows_;
  std::vector<char> is_spin_;         // of velocities
  std::vector<double> lever_;         // of spins: half of one over the radius of gyration
  std::vector<char> left_, gone_;     // of contacts at y0: they are not; and what they did is a part of z1
  std::vector<char> used_;            // of contacts at y0: they are at y1, too
  std::vector<double> slip_;          // what friction has besides u1
  std::vector<double> M_, S_, mass_;  // mass_: its diagonal
  std::vector<double> p0_, f_, zh_, z1_, z_new_, y_middle_, y1_, right_, turned_, G0_, c_, free_;
  std::vector<double> R_, joint_, R_at_end_, u0_, uh_, before_u0_, w_, struck_, rebound_, total_;
  std::vector<double> drift_, next_drift_;  // d, of all contacts at y0 and at y1
  std::vector<double> start_z_, start_u0_;  // z0 in the axes of y1; of active contacts, with it
  std::vector<double> R_struck_;            // of active contacts, in the frames of y1
  ContactList first_;                       // before_ in the axes of y1, where something rebounds
  // Rows of y0 in frames of y1, and rows of y1; p of active contacts; what is given in the end.
  std::vector<double> framed_, second_, part_, part_found_;
  std::vector<double> missing_momentum_, kept_u0_, p_of_impact_;
  int extra_ = 0;  // contacts that were brought back, the last of the list
  std::vector<int> struck_active_, island_;
  std::vector<double> share_;    // of islands: sums of weights, with s and without
  std::vector<double> slow_;     // approaches that are no impacts, of contacts in the problem
  std::vector<double> missing_;  // rates at which gaps have to grow
};

/// Of the fastest body: what approaches more slowly does not strike.
inline constexpr double slow_approach = 1e-9;
/// Of what forces on its two bodies may change the velocity of a contact by in a step: the same.
inline constexpr double resting_approach = 1e-3;

/// Tangential components in the frame of another contact; false where the two have little to do with each other.
bool turn_tangents(const ContactList& from, int j, const ContactList& to, int i, double* r);
/// u = H z + drift of one contact.
void row_velocity(const ContactList& list, int i, const double* z, double* u);

}  // namespace hinge
