// A System made of expressions.
//
// Its graph is frozen: whoever makes expressions from those of a system does so in a graph of his own, a copy, in which
// all nodes of the system have the same numbers. Derivatives that the system itself is asked for are found in another
// copy, behind a lock, each as if it were the first: what they are does not depend on who asked for what before.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "expression/derivative.hpp"
#include "expression/evaluator.hpp"
#include "expression/graph.hpp"
#include "hinge/system.hpp"
#include "system/shared_tape.hpp"

namespace hinge {

/// The functions of the problem class as nodes of one graph.
struct Equations {
  std::shared_ptr<const Graph> graph;
  std::shared_ptr<const Graph> source;  // the builder's, where its users' expressions are; null where there is none
  Node t = no_node;
  std::vector<Node> y, z, psi;
  std::vector<Node> v, p, f, r, g;
  std::vector<Node> w;                   // velocity constraints, functions of (t, y, z)
  std::vector<Node> acceleration_force;  // b with p_z z' = b + r, where it is known more simply than f - p_y v - p_t
  std::vector<Node> invariants;          // chosen for discrete derivatives
  Node energy = no_node;
  bool ideal = false;          // r is -g_y^T psi - w_z^T psi
  bool applied_force = false;  // f has parts that do not come from the energy,
  std::vector<Node> applied;   // these, where they are known
  // F(t, x, x') of a DAE, with x = y and x' = z, and what messages call each equation. Then v = z and f = 0.
  std::vector<Node> residual;
  std::vector<std::string> residual_names;
  std::vector<std::vector<Node>> noise;  // columns of C in  F dt = C dW
  // Contacts: gap >= 0, and the tangential velocities of those with friction (all the same number of rows)
  struct Gap {
    Node gap = no_node;
    std::vector<Node> slip{};
    double friction = 0, restitution = 0;
    std::string name{};
    int point = -1, point_size = 0;  // the one point that it depends on, where the tangents come from the gap
    // a force of its own, an expression of `multiplier`; empty: gap_y^T multiplier
    Node multiplier = no_node;
    std::vector<Node> reaction{};
    // where they are known: |gap'| is at most `speed`, and what it is made of turns by at most `turn` per time
    Node speed = no_node, turn = no_node;
  };
  std::vector<Gap> gaps;
  // Pairs 0 <= a _|_ b >= 0 of a DAE
  struct Pair {
    Node a = no_node, b = no_node;
    std::string name;
  };
  std::vector<Pair> pairs;
  // Numbers among z that change at the times offset + k every, to what `update` is then (system/states.hpp)
  struct Sample {
    std::string name;
    double every = 0, offset = 0;
    std::size_t z = 0;
    Node update = no_node;
  };
  std::vector<Sample> samples;

  /// A tape of functions of (t, y, z, psi), given as the four input blocks in this order, in a graph that contains this
  /// one.
  std::unique_ptr<Evaluator> tape(const Graph& in, std::span<const Node> outputs) const;
};

struct BodyTable;

/// What a system has besides equations: contacts that are found by geometry, and rotations that move by exponentials.
struct SystemHooks {
  std::function<std::unique_ptr<ContactFinder>()> contacts{};
  std::function<void(const double* y, const double* z, double h, double* out)> move{};
  std::shared_ptr<const BodyTable> bodies{};
};

class LaneCode;
class SymbolicSystem;
class SystemFamily;

/// A function as it is put together, and which one it is among those that are made of a system.
struct FunctionDraft {
  Graph graph;
  std::vector<std::vector<Node>> blocks;
  std::vector<Node> outputs;
};
using FunctionKey = std::vector<std::int32_t>;
using MakeFunction = std::function<FunctionDraft(const SymbolicSystem&)>;
/// The function, and a scratch array that has its constants.
struct FunctionMade {
  std::shared_ptr<const Evaluator> evaluator;
  std::vector<double> scratch;
  std::shared_ptr<LaneCode> lanes{};  ///< the same for several members of a family at once; null where there is none
};

class SymbolicSystem final : public System {
 public:
  SymbolicSystem(Layout layout, Equations equations, SystemHooks hooks = {});
  ~SymbolicSystem() override;

  const Pattern& pattern(Quantity q) const override;
  bool is_constant(Quantity q) const override;
  std::unique_ptr<Evaluation> evaluation(Quantities wanted) const override;
  std::unique_ptr<ContactFinder> contact_finder() const override;
  void move(const double* y, const double* z, double h, double* out) const override;

  const Equations& equations() const { return eq_; }
  /// Of the equations: their nodes, not their graph, and only what quantities are derived from.
  const StructureHash& hash() const { return hash_; }
  const SystemHooks& hooks() const { return hooks_; }
  /// Nodes of expressions that belong to the builder, in `graph`: a copy of the builder's graph as it is now, which
  /// contains the equations too.
  std::vector<Node> nodes_of(std::span<const Expression> expressions, Graph& graph) const;
  /// Nodes of the values of a quantity, in the order of its pattern, in `graph`: a copy of the equations' graph and of
  /// what has been derived until now. What it is asked for later has all of that with the same numbers.
  std::vector<Node> nodes_of(Quantity q, Graph& graph) const;
  /// The same of several, in a graph that has all of them.
  std::vector<std::vector<Node>> nodes_of(std::span<const Quantity> quantities, Graph& graph) const;
  /// A function that is made of this system and nothing else but the key. Where the system is one of a family
  /// (system/system_family.hpp), what `make` gives of the first one may be taken.
  FunctionMade function(const FunctionKey& key, const MakeFunction& make) const;

 private:
  friend class SystemFamily;
  struct Kin;  // of a member of a family
  struct Entry {
    Pattern pattern;
    std::vector<Node> nodes;
  };
  SymbolicSystem(const SymbolicSystem& first, Equations equations, Kin kin);
  const Entry* of_family(Quantity q) const;
  std::unique_ptr<Evaluation> evaluation_of_family(std::uint32_t quantities) const;
  void derive_alone() const;
  const Entry& entry(Quantity q) const;
  Entry derive(Quantity q) const;
  Entry derive_anew(Quantity q) const;
  Structure find_structure() const;

  using Draft = SharedTape::Draft;
  Draft& draft(bool rated) const;

  Equations eq_;
  StructureHash hash_;  // of eq_, but for its graph
  SystemHooks hooks_;
  std::unique_ptr<Kin> kin_;                      // null where there is no family
  mutable ConstantTrace* derivations_ = nullptr;  // where the first of a family notes how it derives
  std::shared_ptr<SharedTape::Source> derived_;   // the frozen graph, and after it what has been derived
  // all below: behind the lock of derived_
  mutable std::array<std::optional<Entry>, quantity_count> entries_;
  mutable std::array<std::atomic<const Pattern*>, quantity_count> patterns_{};  // of entries_, without a lock
  mutable std::map<std::uint32_t, std::shared_ptr<SharedTape>> tapes_;          // by the quantities that they compute
};

/// A system that is made of expressions in its first coordinates and velocities, and of something else in the others.
struct PartlySymbolic {
  virtual ~PartlySymbolic() = default;
  virtual const SymbolicSystem& symbolic() const = 0;
};

/// The part of a system that is made of expressions, the whole where everything is; null where nothing is.
const SymbolicSystem* symbolic_part(const System& system);

/// sum_k a_k b_k
Node dot_product(Graph& graph, std::span<const Node> a, std::span<const Node> b);

/// d/dt e(t, y) = e_t + e_y v, entry by entry.
std::vector<Node> time_derivative(Graph& graph, std::span<const Node> e, Node t, std::span<const Node> y,
                                  std::span<const Node> v);
/// g_t + g_y v, then w
std::vector<Node> constraint_rate(Graph& graph, const Equations& eq);
/// b with p_z z' = b + r.
std::vector<Node> acceleration_force(Graph& graph, const Equations& eq);

}  // namespace hinge
