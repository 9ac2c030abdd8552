// Pictures of bodies for ParaView: a .pvd file that lists, for every picture,
//
//   NAME_000012_points.vtp     centres of spheres and particles: radius, velocity, angular_velocity, orientation, body
//   NAME_000012_surfaces.vtp   boxes, capsules, cylinders, meshes, pieces of planes: velocity, body
//   NAME_000012_contacts.vtp   contact points: force, normal, gap; and the force chains, lines between the centres of
//                              bodies through their contacts
//
// XML with base64 data, little endian. The list is complete after each picture; at the end it gets the status of the
// run as a comment.
#pragma once

#include "simulate/record/recorder.hpp"

namespace hinge {

/// True for a path that ends in .pvd.
bool is_picture_path(const std::string& path);

/// A picture of every row; where they are to be thinned out, some hundred from one end to the next, if that is more
/// than one each `step`. Throws OutputError where nothing can be written, InputError where the system has no bodies.
std::unique_ptr<Recorder> open_pictures(const std::string& path, std::shared_ptr<const System> system, bool thinned,
                                        double step);

}  // namespace hinge
