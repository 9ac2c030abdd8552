#pragma once

#include <string>

namespace hinge {

/// "0.1.0"
std::string version();
/// What this build was made with: "HDF5 1.10.8, KLU 1.3.9, g++ 12.2.0".
std::string build_features();

}  // namespace hinge
