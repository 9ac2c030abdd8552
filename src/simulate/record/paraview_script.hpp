// A script that opens pictures in ParaView so that something is seen: spheres with their radii, surfaces, walls that
// can be seen through, force chains and arrows.
#pragma once

#include <cstddef>
#include <string>

#include <Eigen/Core>

namespace hinge {

struct ParaViewScene {
  std::string stem;  ///< of the files: stem + "_points.pvd"
  bool flat = false;
  Eigen::Vector3d up = Eigen::Vector3d::UnitZ();
  double size = 1;         ///< of the scene, its diagonal
  double usual_force = 0;  ///< the strongest contact of most pictures so far: impacts may be much stronger
  std::size_t points = 0;  ///< spheres in one picture
};

/// As text, in Python: for File > Load State, for `paraview --script=NAME.py` and for pvpython.
std::string paraview_script(const ParaViewScene& scene);

}  // namespace hinge
