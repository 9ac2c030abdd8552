// The accelerations of a small mechanism as expressions of (t, y, z), with the elimination of its multipliers, and its
// way back onto the constraints: what pieces of machine code are put together from, each in a graph of its own.
#pragma once

#include <utility>
#include <vector>

#include "expression/graph_library.hpp"
#include "formulation/saddle_elimination.hpp"
#include "hinge/system.hpp"
#include "system/symbolic.hpp"

namespace hinge {

class MotionDraft {
 public:
  /// Is it small, made of expressions, and can there be machine code?
  static bool suits(const System& system);
  /// `exchanges`: of rows, as SaddleKernel made them at some point.
  MotionDraft(const SymbolicSystem& system, const std::vector<int>& exchanges);
  MotionDraft(const MotionDraft&) = delete;

  struct Point {
    Node t = no_node;
    Nodes y, z;
  };
  struct Motion {
    Nodes velocity, acceleration, multiplier;
    Node settled;                    ///< SaddleElimination's; and all of it is finite
    Nodes mass, reaction, gradient;  ///< entries of the matrix; the reaction only where it is not ideal
  };
  /// The variables (t, y, z) themselves.
  Point variables() const { return {eq_.t, eq_.y, eq_.z}; }
  Motion motion(const Point& at);

  /// Two corrections of y, then of z, with the matrix of the point (project/two_corrections.hpp). 1 where they are
  /// enough.
  Node project(Point& at);
  /// Where v = z, and all constraints are on positions.
  static bool can_project(const System& system);

  /// Of what is made of it next, and only once (expression/graph_library.hpp).
  GraphLibrary::Key key(GraphLibrary::Making making) const;
  bool constant_mass() const { return constant_mass_; }
  Graph& graph() { return graph_; }

 private:
  Nodes at(const Nodes& functions, const Point& point);

  const Equations& eq_;
  StructureHash hash_;
  std::vector<int> exchanges_;
  bool constant_mass_;
  Graph graph_;
  Nodes mass_, reaction_, gradient_, constraint_, rate_, force_, curvature_, velocity_;
  SaddleElimination elimination_;
};

/// Where the nodes of a quantity of a system go.
using NodesOfQuantity = std::pair<Quantity, Nodes*>;
/// All of them, in a graph that is copied once.
void collect(const SymbolicSystem& system, Graph& graph, const std::vector<NodesOfQuantity>& lists);

inline void append(Nodes& to, const Nodes& more) { to.insert(to.end(), more.begin(), more.end()); }

}  // namespace hinge
