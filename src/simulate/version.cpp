// Which version this is, and with which libraries it was built.
#include "hinge/version.hpp"

#include <fmt/format.h>
#include <klu.h>

#include <Eigen/Core>

#ifdef HINGE_HAVE_HDF5
#include <hdf5.h>
#endif

namespace hinge {

std::string version() { return HINGE_VERSION; }

std::string build_features() {
  std::string text = fmt::format("Eigen {}.{}.{}, KLU {}.{}.{}", EIGEN_WORLD_VERSION, EIGEN_MAJOR_VERSION,
                                 EIGEN_MINOR_VERSION, KLU_MAIN_VERSION, KLU_SUB_VERSION, KLU_SUBSUB_VERSION);
#ifdef HINGE_HAVE_HDF5
  text += fmt::format(", HDF5 {}.{}.{}", H5_VERS_MAJOR, H5_VERS_MINOR, H5_VERS_RELEASE);
#else
  text += ", without HDF5";
#endif
  return text;
}

}  // namespace hinge
