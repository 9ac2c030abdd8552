// The equations: one problem class for everything smooth.
//
//   y'               = v(t, y, z)
//   d/dt p(t, y, z)  = f(t, y, z) + r(t, y, z, psi)
//   0                = g(t, y)                        position level
//   0                = g_t + g_y v(t, y, z)           velocity level, derived, never typed by the user
//   0                = w(t, y, z)                     velocity constraints, on that level only (nonholonomic)
//
// Lagrangian, Hamiltonian, Mechanical and Odae build such a System from expressions, with exact derivatives.
// Users with compiled equations of their own derive from System and override the functions they have.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "hinge/expression.hpp"
#include "hinge/solve.hpp"
#include "hinge/unilateral.hpp"

namespace hinge {

/// Everything a solver may ask a System for. A suffix is a partial derivative.
enum class Quantity : std::uint8_t {
  velocity,              // v
  momentum,              // p
  force,                 // f
  reaction,              // r
  constraint,            // g
  constraint_rate,       // g_t + g_y v, and below it w: all rows of the velocity level
  energy,                // H, where there is one
  velocity_y,            //
  velocity_z,            //
  momentum_y,            //
  momentum_z,            //
  momentum_t,            //
  force_y,               //
  force_z,               //
  reaction_y,            //
  reaction_z,            //
  reaction_psi,          //
  constraint_y,          // G
  constraint_rate_y,     //
  constraint_rate_z,     // C = G v_z, and below it w_z
  constraint_rate_t,     //
  acceleration_force,    // b = f - p_y v - p_t, so that  p_z z' = b + r
  constraint_curvature,  // c = rate_t + rate_y v, so that  d/dt rate = C z' + c
};
inline constexpr int quantity_count = 23;

/// A set of quantities.
class Quantities {
 public:
  Quantities(std::initializer_list<Quantity> list) {
    for (const Quantity q : list) bits_ |= 1u << static_cast<unsigned>(q);
  }
  bool contains(Quantity q) const { return (bits_ >> static_cast<unsigned>(q)) & 1u; }
  void insert(Quantity q) { bits_ |= 1u << static_cast<unsigned>(q); }

 private:
  std::uint32_t bits_ = 0;
};

/// Values of a chosen set of quantities at one point, computed in one pass. Owns its buffers; evaluating allocates
/// nothing, but for the one time at which a large system made of expressions is translated, because it is asked often.
/// One thread per Evaluation; many Evaluations of one System may work at the same time.
class Evaluation {
 public:
  virtual ~Evaluation() = default;
  /// Arguments that no asked quantity depends on may be null.
  virtual void at(double t, const double* y, const double* z, const double* psi) = 0;
  /// Values in the order of the quantity's pattern. Valid until the next at().
  const double* operator[](Quantity q) const { return value_[static_cast<std::size_t>(q)]; }

 protected:
  std::array<const double*, quantity_count> value_{};
};

/// A named group of numbers in the state: coordinate "q1" of shape {3}, say.
struct Block {
  std::string name;
  std::vector<int> shape;  // {} scalar, {n} vector, {N, n} array of vectors
  int first = 0;           // position of its first number
  bool direction = false;  // vectors that motions of space turn but do not shift: directors, not points
  int size() const;
  /// "q1[2]", "q[17][0]", "theta".
  std::string entry_name(int k) const;
};

/// Which words the outside world uses for y and z.
enum class SystemKind { lagrangian, hamiltonian, mechanical, odae, dae, multibody, own };

/// Dimensions and names.
struct Layout {
  SystemKind kind = SystemKind::own;
  std::vector<Block> y, z, psi;
  std::vector<std::string> constraints;           // how messages name each constraint
  std::vector<std::string> velocity_constraints;  // and each velocity constraint
  int ny = 0, nz = 0, npsi = 0;
  int ng() const { return static_cast<int>(constraints.size()); }
  int nw() const { return static_cast<int>(velocity_constraints.size()); }
  /// Of a row of the velocity level: "constraint 0 (...)", "velocity constraint 1 (...)".
  std::string rate_name(int row) const;
  std::string y_name(int k) const;
  std::string z_name(int k) const;
};

/// A point of the motion. For a DAE y are the unknowns and z their derivatives.
struct State {
  double t = 0;
  std::vector<double> y, z, psi;
};

/// What to do with initial values that violate the constraints.
enum class Consistency {
  check,   ///< refuse them, naming the constraint, the level, the amount, and the nearest consistent values
  project  ///< use those nearest values
};

/// Initial values. Give a velocity or a momentum; both empty means velocity zero.
struct Start {
  std::vector<double> position{}, velocity{}, momentum{};
  std::vector<double> multiplier{};  ///< a guess; only matters where the reaction is nonlinear in it
  Consistency consistent = Consistency::check;
  // Of a DAE, where position stands for the unknowns and velocity for their derivatives:
  std::vector<char> given{}, given_velocity{};  ///< which of them are given, the others being guesses; empty: all
  std::vector<char> fixed{};                    ///< given unknowns that a projection must not change
};

/// What a system has: found, or declared by its author, once when it is built. Methods and formulations ask this; only
/// who works on expressions asks whether the system is made of them. The defaults claim nothing.
struct Structure {
  bool is_dae = false;            ///< F(t, x, x') = 0 with x = y, x' = z; all others are the problem class above
  bool has_energy = false;        ///< is there an energy function?
  bool depends_on_time = true;    ///< false when no equation is known to contain t
  bool velocity_is_z = false;     ///< true when v is known to be z
  bool z_is_momentum = false;     ///< z is what the outside world calls the momentum: initial values are given so
  bool mass_is_constant = false;  ///< true when p_z is known to be numbers that never change
  /// true when v and p are known to depend on z alone, p_z to be numbers, f on y and t alone, and r to be R(t, y) psi.
  /// Found by itself in expressions; of functions it must be said.
  bool is_separable = false;
  bool has_mass_metric = true;      ///< p_z measures changes; general ODAEs have the Euclidean metric only
  bool reaction_is_linear = false;  ///< true when the reaction is known to be a matrix times psi
  bool reaction_is_affine = false;  ///< true when r_psi is known not to depend on psi
  /// true when the reaction is known to be -(g_y v_z)^T psi: ideal constraints, in coordinates where v_z = 1
  bool reaction_is_ideal = false;
  int velocity_constraints =
      0;  ///< rows w(t, y, z) = 0 of the velocity level that no position constraint stands behind
  /// false when their reactions are known to do no work: w(t, y, c z) = c^k w(t, y, z)
  bool velocity_constraints_do_work = false;
  bool has_applied_force = false;    ///< f has parts that do not come from the energy
  bool has_bodies = false;           ///< rigid bodies: y moves by exponentials, z are twists
  bool has_contacts = false;         ///< contact_finder() finds contacts that may open and close
  int gaps = 0;                      ///< contacts given by expressions, with the keys 0, 1, ...
  bool gaps_have_reactions = false;  ///< some of them with a force of their own in the place of gap_y^T n
  bool gaps_depend_on_time = true;   ///< false when no gap is known to contain t
  int pairs = 0;                     ///< complementarity pairs of a DAE
  bool has_noise = false;            ///< sources of white noise in a DAE
  bool is_symbolic = false;          ///< made of expressions as a whole: exact derivatives of everything
};

/// Equations and what is known of them. A finished system never changes: threads may share it, each with Evaluations
/// and ContactFinders of its own.
class System {
 public:
  explicit System(Layout layout, Structure structure = {});
  virtual ~System() = default;
  System(const System&) = delete;
  System& operator=(const System&) = delete;

  const Layout& layout() const { return layout_; }
  const Structure& structure() const { return structure_; }
  int ny() const { return layout_.ny; }
  int nz() const { return layout_.nz; }
  int npsi() const { return layout_.npsi; }
  int ng() const { return layout_.ng(); }
  int nw() const { return layout_.nw(); }
  /// Rows of the velocity level.
  int nrates() const { return ng() + nw(); }

  /// Structure of a quantity's values. Dense unless overridden, but reaction_z, which is empty: a reaction of one's own
  /// that depends on z must say so here.
  virtual const Pattern& pattern(Quantity q) const;
  /// True when all values of the quantity are known to be numbers that never change.
  virtual bool is_constant(Quantity q) const;
  /// Contacts that may open and close; null where there are none.
  virtual std::unique_ptr<ContactFinder> contact_finder() const { return nullptr; }
  /// out = y moved for the time h with constant velocities z: y + h z where v is z, rotations by their exponential.
  /// `out` may be y.
  virtual void move(const double* y, const double* z, double h, double* out) const;
  /// An evaluator of all `wanted` quantities in one pass.
  virtual std::unique_ptr<Evaluation> evaluation(Quantities wanted) const;

 protected:
  // The functions below are for users' own equations; systems made of expressions do not use them.

  /// v(t, y, z); z by default.
  virtual void velocity(double t, const double* y, const double* z, double* out) const;
  /// p(t, y, z); z by default.
  virtual void momentum(double t, const double* y, const double* z, double* out) const;
  /// f(t, y, z); zero by default.
  virtual void force(double t, const double* y, const double* z, double* out) const;
  /// r(t, y, z, psi); -g_y^T psi by default.
  virtual void reaction(double t, const double* y, const double* z, const double* psi, double* out) const;
  /// g(t, y).
  virtual void constraint(double t, const double* y, double* out) const;
  virtual double energy(double t, const double* y, const double* z) const;
  /// Values of a derivative in the order of its pattern. Returns false where it is not given: then differences of
  /// sixth order are used. Give constraint_y to have the velocity level at round-off.
  virtual bool derivative(Quantity, double t, const double* y, const double* z, const double* psi, double* out) const;

  /// For systems that find out while they are built.
  void set_structure(const Structure& structure) { structure_ = structure; }

 private:
  friend class FunctionEvaluation;
  Layout layout_;
  Structure structure_;
  mutable std::array<std::unique_ptr<Pattern>, quantity_count> dense_patterns_;  // made when first asked for
  mutable std::mutex mutex_;
};

// ---------------------------------------------------------------------------------------------------------------
// Systems from expressions. Each is filled in, then used; using it builds the System.

/// What Lagrangian, Hamiltonian, Mechanical and Odae have in common.
class SystemBuilder {
 public:
  virtual ~SystemBuilder() = default;
  /// Time.
  Expression t() const;
  /// One constraint g = 0; `name` is used in messages.
  void constrain(const Expression& g, std::string name = "");
  /// One velocity constraint w(t, q, q') = 0, linear in q' or not, that no position constraint stands behind: rolling,
  /// a blade. Its reaction is -w_q'^T psi (d'Alembert; for nonlinear ones Chetaev's rule). For Lagrangian, Mechanical
  /// and Multibody systems; its multiplier comes after those of all constraints.
  void constrain_velocity(const Expression& w, std::string name = "");
  /// A contact: gap >= 0. For Lagrangian and Mechanical systems.
  void unilateral(const Expression& gap, UnilateralOptions options = {});
  /// The multiplier of a contact whose force is an expression of one's own; see UnilateralOptions.
  Expression contact_multiplier(const std::string& name);
  /// A function of the coordinates, at most quadratic, that methods with discrete derivatives shall keep whole where it
  /// occurs in the potential or the constraints: momentum maps under which it is invariant are then kept.
  void invariant(const Expression& pi);
  /// The finished system, as the builder stands now; it does not change when the builder does.
  std::shared_ptr<const System> build() const { return assemble(); }

 protected:
  SystemBuilder();
  virtual std::shared_ptr<const System> assemble() const = 0;
  struct Draft;  // layout and equations while they are put together
  Draft draft(SystemKind kind, const std::vector<Block>& y_blocks, const std::vector<Expression>& y,
              const std::vector<Block>& z_blocks, const std::vector<Expression>& z) const;
  Vector declare(std::vector<Block>& blocks, int& count, std::vector<Expression>& all, const std::string& name,
                 std::vector<int> shape);

  std::shared_ptr<Graph> graph_;
  Expression t_;
  std::vector<Expression> constraints_;
  std::vector<std::string> constraint_names_;
  std::vector<Expression> velocity_constraints_;
  std::vector<std::string> velocity_constraint_names_;
  std::vector<Expression> invariants_;
  std::vector<Expression> gaps_;
  std::vector<UnilateralOptions> gap_options_;
};

/// L(t, q, q') with forces Q:  d/dt L_v = L_q + Q - G^T psi, with velocity constraints - w_v^T psi as well.
class Lagrangian : public SystemBuilder {
 public:
  /// Declares `size` coordinates (or an array of points, shape {N, 3}) and returns them.
  Vector coordinates(const std::string& name, int size);
  Vector coordinates(const std::string& name, std::vector<int> shape);
  Expression coordinate(const std::string& name);
  /// Three coordinates that are no point but a vector, such as a director: it has no place that could be shifted.
  Vector direction(const std::string& name);
  /// The velocities that belong to coordinates: q'.
  Vector velocity(const Vector& q) const;
  Expression velocity(const Expression& q) const;
  void kinetic(const Expression& energy);
  void potential(const Expression& energy);
  void lagrangian(const Expression& l);
  /// Adds a term to L, whatever the three functions above say: the kinetic energy of a part that is complete in itself.
  void add_kinetic(const Expression& energy);
  /// Numbers declared so far; a coordinate's place among the positions is the count before its declaration.
  int coordinate_count() const { return nq_; }
  /// Adds a generalised force on coordinates.
  void force(const Vector& q, const Vector& force);
  /// Own multipliers and reaction, where the reaction is not -G^T psi. One component per coordinate.
  Vector multipliers(const std::string& name, int size);
  void reaction(const Vector& r);

 private:
  std::shared_ptr<const System> assemble() const override;
  std::vector<Block> q_blocks_, psi_blocks_;
  int nq_ = 0, npsi_ = 0;
  std::vector<Expression> q_, v_, psi_;
  std::vector<Expression> force_, reaction_;
  Expression kinetic_ = 0.0, potential_ = 0.0, added_kinetic_ = 0.0;
};

/// H(t, q, p):  q' = H_p, p' = -H_q - G^T psi.
class Hamiltonian : public SystemBuilder {
 public:
  Vector coordinates(const std::string& name, int size);
  Vector coordinates(const std::string& name, std::vector<int> shape);
  /// Momenta, in the same order and of the same total size as the coordinates.
  Vector momenta(const std::string& name, int size);
  Vector momenta(const std::string& name, std::vector<int> shape);
  void hamiltonian(const Expression& h);

 private:
  std::shared_ptr<const System> assemble() const override;
  std::vector<Block> q_blocks_, p_blocks_;
  int nq_ = 0, np_ = 0;
  std::vector<Expression> q_, p_;
  Expression hamiltonian_ = 0.0;
};

/// M(t, q) q'' = F(t, q, q') - G^T psi. What comes from a changing M belongs to F, as on paper.
class Mechanical : public SystemBuilder {
 public:
  Vector coordinates(const std::string& name, int size);
  Vector coordinates(const std::string& name, std::vector<int> shape);
  Vector velocity(const Vector& q) const;
  /// Row by row, n x n; or the diagonal, n.
  void mass(const Vector& entries);
  void force(const Vector& f);

 private:
  std::shared_ptr<const System> assemble() const override;
  std::vector<Block> q_blocks_;
  int nq_ = 0;
  std::vector<Expression> q_, v_;
  std::vector<Expression> mass_, force_;
};

/// The problem class itself: y' = v, d/dt p = f + r, 0 = g; r may be nonlinear in psi.
class Odae : public SystemBuilder {
 public:
  Vector y(const std::string& name, std::vector<int> shape);
  Vector z(const std::string& name, std::vector<int> shape);
  Vector psi(const std::string& name, std::vector<int> shape);
  void v(const Vector& expressions);
  /// Default: z.
  void p(const Vector& expressions);
  void f(const Vector& expressions);
  void r(const Vector& expressions);

 private:
  std::shared_ptr<const System> assemble() const override;
  std::vector<Block> y_blocks_, z_blocks_, psi_blocks_;
  int ny_ = 0, nz_ = 0, npsi_ = 0;
  std::vector<Expression> y_, z_, psi_, v_, p_, f_, r_;
};

/// The second problem class, F(t, x, x') = 0: circuits, chemistry, flows, and everything else.
class Dae : public SystemBuilder {
 public:
  Vector unknowns(const std::string& name, std::vector<int> shape);
  Expression unknown(const std::string& name);
  /// The derivatives that belong to unknowns: x'.
  Vector derivative(const Vector& x) const;
  Expression derivative(const Expression& x) const;
  /// One equation F = 0; `name` is used in messages. As many as there are unknowns.
  void equation(const Expression& f, std::string name = "");
  /// A pair 0 <= a _|_ b >= 0 of functions of t, x and x': one equation more, as a diode is.
  void complementarity(const Expression& a, const Expression& b, std::string name = "");
  /// A source of white noise: F dt = column dW, one entry per equation. For linear systems of index 1.
  void noise(const Vector& column);

 private:
  std::shared_ptr<const System> assemble() const override;
  std::vector<Block> blocks_;
  int n_ = 0;
  std::vector<Vector> noise_;
  [[noreturn]] void refuse_count() const;
  std::vector<Expression> x_, rates_, equations_;
  std::vector<std::string> equation_names_;
  std::vector<std::pair<Expression, Expression>> pairs_;
  std::vector<std::string> pair_names_;
};

}  // namespace hinge
