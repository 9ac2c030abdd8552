// A coin that rolls round on its rim at a steady tilt: W^2 R sin(a) = 4 g for a disk without thickness.
#pragma once

#include <string>

#include <fmt/format.h>

namespace hinge::test {

/// `integrate`: what stands in its last section.
inline std::string rolling_coin(double tilt, double radius, const std::string& integrate) {
  return fmt::format(R"toml([parameters]
a = {}
R = {}
Om = "sqrt(4*9.81/(R*sin(a)))"
[multibody]
gravity = [0, 0, -9.81]
[[body]]
name = "floor"
shape = {{ plane = [0, 0, 1] }}
fixed = true
[[body]]
name = "disk"
mass = 0.4
inertia = ["0.4*R^2/4", "0.4*R^2/4", "0.4*R^2/2"]
center = [0, 0, 0]
shape = {{ cylinder = {{ radius = "R", length = 0.0004 }} }}
position = [0, 0, "R*sin(a) + 0.0002*cos(a)"]
rotation = {{ axis = [1, 0, 0], angle = "a" }}
angular_velocity = [0, "Om*sin(a)*cos(a)", "Om*sin(a)*sin(a)"]
[contact]
friction = 0.6
[integrate]
{}end = 0.5
)toml",
                     tilt, radius, integrate);
}

}  // namespace hinge::test
