// The one system section of a model: [lagrangian], [hamiltonian], [mechanical], [odae] or [dae].
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "model/body_section.hpp"
#include "model/reader.hpp"
#include "system/symbolic.hpp"

namespace hinge {

/// What the other sections need to know about the system that was read.
struct SystemSection {
  std::unique_ptr<SystemBuilder> builder;
  std::shared_ptr<const SymbolicSystem> system;
  std::shared_ptr<const System> whole;  ///< with the particles of a [multibody]; else the same
  std::vector<RigidBody> bodies;
  Start start;      ///< of the bodies of a [multibody]
  Options contact;  ///< [contact]: options of the method
  Scope scope;      ///< parameters, defined names, coordinates, multipliers and t; rates where they exist
};

/// Reads [parameters], the system section and [define] of the model file `root`.
SystemSection read_system(const Item& root);

/// The names of all system sections, also of those that this version does not have yet.
const std::vector<std::string>& system_sections();

/// The velocities, by the names of their coordinates.
std::vector<Block> velocity_blocks(const Layout& layout);

}  // namespace hinge
