// [dae]: F(t, x, x') = 0, and its [initial] values.
#pragma once

#include <string>
#include <vector>

#include "hinge/model.hpp"
#include "hinge/system.hpp"
#include "model/reader.hpp"

namespace hinge {

/// `equations`: expressions that shall be zero, "lhs = rhs", and families of these.
void read_equations(const Item& list, const ValueReader& read, const Scope& scope, Dae& builder);
/// `complementarity`: [["a", "b"], { for = "i", from = 0, to = 3, pair = ["a[i]", "b[i]"] }]; vectors pair by entries.
void read_pairs(const Item& list, const ValueReader& read, Dae& builder);
/// `noise`: a matrix with one row for each equation, or a list with one number for each.
void read_noise(const Item& item, const ValueReader& read, Graph& graph, Dae& builder);
/// [initial] of a DAE: unknowns, derivatives, guess, fixed, consistent.
void read_dae_initial(const Item& section, const Layout& layout, const ValueReader& read, const Graph& graph,
                      Start& start);

}  // namespace hinge
