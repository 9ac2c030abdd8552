// Pictures of bodies for ParaView: a .pvd file that lists, for every recorded time,
//
//   NAME_000012_points.vtp     centres of spheres and particles: radius, velocity, angular_velocity, orientation, body
//   NAME_000012_surfaces.vtp   boxes, capsules, cylinders, meshes, pieces of planes: velocity, body
//   NAME_000012_contacts.vtp   contact points: force, normal, gap; and the force chains, as lines from centre to
//   contact
//                              to centre
//
// XML with base64 data, little endian.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "hinge/method.hpp"
#include "hinge/system.hpp"

namespace hinge {

/// True for a path that ends in .pvd.
bool is_picture_path(const std::string& path);

class PictureSeries {
 public:
  /// Throws OutputError where nothing can be written, InputError where the system has no bodies.
  PictureSeries(std::string path, std::shared_ptr<const System> system);
  ~PictureSeries();
  /// One frame; the contacts may be missing. The .pvd is complete after each.
  void write(const State& state, const ContactImpulses* contacts);

 private:
  struct Surfaces;
  void write_points(const std::string& path, const State& state) const;
  void write_surfaces(const std::string& path, const State& state) const;
  void write_contacts(const std::string& path, const State& state, const ContactImpulses* contacts) const;
  void write_index() const;

  std::string path_, stem_;  // stem: without the ending
  std::shared_ptr<const System> system_;
  std::vector<int> body_of_column_;  // of z
  std::vector<char> one_shape_;      // of each body
  std::unique_ptr<Surfaces> surfaces_;
  struct Frame {
    double t;
    std::string name;
  };
  std::vector<Frame> frames_;
};

}  // namespace hinge
