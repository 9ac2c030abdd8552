// Pictures of bodies for ParaView: for every picture
//
//   NAME_000012_points.vtp     centres of spheres and particles: radius, velocity, angular_velocity, orientation, body
//   NAME_000012_surfaces.vtp   boxes, capsules, cylinders, meshes that move: velocity, body
//   NAME_000012_contacts.vtp   contacts that carry a force: force, normal, gap; and the force chains, lines between the
//                              centres of bodies through their contacts
//
// and NAME_fixed.vtp, once: what never moves, planes cut to the scene. NAME.pvd lists all of them, NAME_points.pvd,
// NAME_surfaces.pvd and NAME_contacts.pvd each series by itself, and NAME.py opens these in ParaView, with spheres as
// large as they are, forces as arrows and the camera in its place (paraview_script.cpp).
//
// XML with packed base64 data, little endian. The lists are complete after each picture; at the end NAME.pvd gets the
// status of the run as a comment.
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
