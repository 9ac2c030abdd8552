// Which Hinge this is.
#pragma once

#include <string>

namespace hinge {

/// "0.1.0"
std::string version();
/// What this build was made with: "Eigen 3.4.0, KLU 1.3.9, HDF5 1.10.8".
std::string build_features();

}  // namespace hinge
