// The readers of the sections of a model file, in the order in which a file is read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "expression/time_rate.hpp"
#include "hinge/body.hpp"
#include "hinge/model.hpp"
#include "hinge/multibody.hpp"
#include "model/reader.hpp"
#include "system/states.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// What the other sections need to know about the system that was read.
struct SystemSection {
  std::unique_ptr<SystemBuilder> builder{};
  std::shared_ptr<const SymbolicSystem> system{};
  std::shared_ptr<const System> whole{};  ///< with the particles of a [multibody]; else the same
  std::vector<RigidBody> bodies{};        ///< of [lagrangian.bodies]
  Start start{};                          ///< of the bodies of a [multibody]
  std::vector<std::string> forces{};      ///< names of forces that [output] may use
  std::vector<AddedState> states{};       ///< of [states]
  std::vector<double> state_start{};
  Layout declared{};  ///< without these
  Scope scope{};      ///< parameters, defined names, coordinates, multipliers and t; rates where they exist
};

/// Reads [parameters], the system section and [define] of the model file `root`.
SystemSection read_system(const Item& root);
/// [states]: their names, before forces are read; their equations, when the system is built; their values at the start.
void declare_states(const Item& section, SystemSection& system);
void read_states(const Item& section, SystemSection& system);
void append_states(const SystemSection& system, Start& start);
void read_initial(const Item& root, SystemSection& system, Model& model);
void read_exact(const Item& section, SystemSection& system, Model& model);
/// [integrate], and the options of the method in [contact]. The method is made.
void read_integrate(const Item& root, SystemSection& system, Model& model);
void read_output(const Item& section, SystemSection& system, Model& model);
/// [view], and the bodies in directors, which have no shapes.
void read_view(const Item& section, SystemSection& system, Model& model);
/// [[event]]: functions of the motion to watch.
void read_events(const Item& list, SystemSection& system, Model& model);

// ---- Names and expressions ----------------------------------------------------------------------------------------

/// [functions]: their texts; what is in them is read where they are called.
void read_functions(const Item& section, Scope& scope);
/// [tables]; their numbers may use parameters.
void read_tables(const Item& section, Scope& scope);
/// Items that may use each other, in any order: [parameters] and [define].
void read_named_values(const Item& section, const ValueReader& read);
/// Some of them.
void read_named_values(const Item& section, std::vector<std::string> keys, const ValueReader& read);
/// What may be names in a text, in order.
std::vector<std::string> words_in(const std::string& text);
/// The first of the names that an item, or what is in it, mentions; empty if none.
std::string mentioned(const Item& item, const std::vector<std::string>& names);
/// The keys of a section whose values mention one of the names, or one of these keys.
std::vector<std::string> keys_that_mention(const Item& section, std::vector<std::string> names);

/// Variables that the model declares, "q1[3]", "theta", "q[N][3]": a name and a shape.
std::vector<Block> read_declarations(const Item& list, const char* what, const ValueReader& read);

Vector as_vector(const std::vector<Node>& nodes, const std::shared_ptr<Graph>& graph);
/// Makes `name` stand for these expressions.
void define(const std::string& name, const Vector& v, const std::vector<int>& shape, Scope& scope);

/// Values by the names of blocks, as one long list: a table keyed by name, or a list of all.
struct BlockReader {
  const ValueReader& read;
  std::vector<Block> blocks;
  std::vector<std::string> aliases{};  ///< other names of the same blocks
  /// For a block that is not named: what it gets; a complaint where this is empty.
  std::function<std::vector<Node>(const Block&)> missing{};
  std::vector<Node> operator()(const Item& item) const;
};
/// Zeros for `missing`.
std::function<std::vector<Node>(const Block&)> zeros(Graph& graph);
/// The velocities, by the names of their coordinates.
std::vector<Block> velocity_blocks(const Layout& layout);
std::vector<std::string> names_of(const std::vector<Block>& blocks, const char* suffix = "");

/// What a prime means in expressions; the refusal where it would be an acceleration.
std::function<Node(Node)> rate_or_refusal(TimeRate rate, const char* refusal);

void read_constraints(const Item& list, const ValueReader& read, SystemBuilder& builder);
void read_velocity_constraints(const Item& list, const ValueReader& read, SystemBuilder& builder);
/// For methods with discrete derivatives.
void read_invariants(const Item& list, const ValueReader& read, SystemBuilder& builder);
/// Contacts { gap = "y", restitution = 0.5, friction = 0.3, slip = "x'", name = "floor" }.
void read_unilateral(const Item& list, const ValueReader& read, SystemBuilder& builder);
/// `equations`: expressions that shall be zero, "lhs = rhs", and families of these.
void read_equations(const Item& list, const ValueReader& read, Dae& builder);
/// One of them: what has to be zero.
Value read_equation(const Item& item, const ValueReader& read);
/// `complementarity`: [["a", "b"], { for = "i", from = 0, to = 3, pair = ["a[i]", "b[i]"] }]; vectors pair by entries.
void read_pairs(const Item& list, const ValueReader& read, Dae& builder);
/// `noise`: a matrix with one row for each equation, or a list with one number for each.
void read_noise(const Item& item, const ValueReader& read, Dae& builder);

// ---- Bodies -------------------------------------------------------------------------------------------------------

/// Adds the bodies to the system, and their names to the scope: NAME_x, NAME_d1, NAME_d2, NAME_d3,
/// NAME_angular_velocity, NAME_angular_momentum. `item` is a table keyed by name, or a list of tables with a name each.
std::vector<RigidBody> read_bodies(const Item& item, Lagrangian& system, const ValueReader& read);
/// The coordinates of a body, three numbers each.
std::vector<std::string> coordinate_names(const RigidBody& body);
/// Reads a table of motions, keyed by body, into the numbers of a start. The coordinates that it gives.
std::vector<std::string> read_body_motions(const Item& table, const std::vector<RigidBody>& bodies,
                                           const ValueReader& read, Start& start);
/// Three principal moments, or the rows of a matrix.
Eigen::Matrix3d read_inertia(const Item& item, const ValueReader& read);

/// An empty scene with the dimension and the gravity of [multibody].
std::unique_ptr<Multibody> begin_multibody(const Item& section, const ValueReader& read);
/// Bodies, particles and walls; then the scope knows the names of the bodies:
/// NAME, NAME_rotation, NAME_spin (NAME_angle in the plane), NAME_angular_velocity, NAME_e1, NAME_e2, NAME_e3.
void read_scene(const Item& root, Multibody& scene, const ValueReader& read);
/// Points of two bodies, in their order.
void read_points(const Item& points, int dimension, const ValueReader& read, std::optional<Eigen::Vector3d>& a,
                 std::optional<Eigen::Vector3d>& b);
/// Joints of the types "rolling" and "knife-edge".
void read_rolling(const Item& item, JointKind kind, Multibody& scene, const ValueReader& read);
/// Forces of joints that other forces use: none, or what joints are called, and keys of [define] that use nothing else.
struct ReactionsInEquations {
  std::vector<std::string> names{}, defined{};
  bool misspelt = false;  ///< something looks like one and is none: the complaint shall know all of them
};
/// Joints, springs, forces, and [define], which joints may use and which may use the angles of joints, but for the keys
/// `later`.
void read_connections(const Item& root, const std::vector<std::string>& later, const ReactionsInEquations& reactions,
                      Multibody& scene, const ValueReader& read);
/// [[constraint]], [[bushing]] and [[force]].
void read_elements(const Item& root, Multibody& scene, const ValueReader& read);
/// What forces are called, as far as the file tells.
std::vector<std::string> force_names(const Item& root, const ValueReader& read);
/// Complains where bodies and what connects them use these names, or keys of [define] that do, in places or ways that
/// equations do not allow.
ReactionsInEquations reactions_in_equations(const Item& root, const std::vector<std::string>& names,
                                            const std::vector<std::string>& defined, const ValueReader& read);
/// When the joints are there, before what pulls and drives them: the scope knows these.
void bind_reactions(const Item& root, const ReactionsInEquations& used, Multibody& scene, const ValueReader& read);
/// Before the system is built: those that [output] uses.
void declare_contact_forces(const Item& root, Multibody& scene);
/// After that: the scope knows the forces of a [multibody] that are used, and the keys of [define] that use them.
void bind_forces(const Item& root, const std::vector<std::string>& defined, const ReactionsInEquations& used,
                 SystemSection& out);

/// Complains where a prescribed motion jumps between start and end; where it shall be smooth, also where its speed
/// does.
void refuse_jumps(const Item& item, const Expression& motion, const Expression& time, double start, double end,
                  bool smooth);

/// `bodies = ["ground", "arm"]`
void read_pair(const Item& item, const char* what, const ValueReader& read, std::string& a, std::string& b);
/// The turn of a body, a shape or axes: `angle` in the plane, `rotation` in space.
Eigen::Quaterniond read_turn(const Item& table, int dimension, const ValueReader& read);
/// [[particles]] and [container]; `contact` has friction and restitution of what has none of its own.
void read_particles(const Item& root, const BodyOptions& contact, Multibody& scene, const ValueReader& read);
void read_container(const Item& item, const BodyOptions& contact, Multibody& scene, const ValueReader& read);

/// "link{i}" -> "link3": expressions in braces.
std::string read_name(const Item& item, const ValueReader& read);
/// Runs `action` for each member of a family { for = "i", ... }, or once.
void each(const Item& item, const ValueReader& read, const std::function<void()>& action);
/// Runs `action`; what it says about an option becomes a complaint about the key of that name.
void at_field(const Item& table, const std::function<void()>& action);

}  // namespace hinge
