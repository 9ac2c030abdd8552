// A scene of the exam as every engine is given it: bodies, joints, friction, step and end, read from its model file.
#pragma once

#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <toml++/toml.h>
#include <Eigen/Geometry>

namespace exam {

using Eigen::Quaterniond;
using Eigen::Vector3d;

struct SceneBody {
  std::string name;
  bool fixed = false, collide = true;
  double mass = 0;
  Vector3d inertia = Vector3d::Zero();  ///< along the axes of the body
  std::string shape;                    ///< "sphere", "box", "cylinder" (along z) or "mesh"
  std::vector<double> size;             ///< radius; edges; radius and length; nothing
  std::vector<Vector3d> points;         ///< of a mesh
  Vector3d position = Vector3d::Zero(), velocity = Vector3d::Zero(), angular_velocity = Vector3d::Zero();
  Vector3d force = Vector3d::Zero();
  Quaterniond rotation = Quaterniond::Identity();
  bool turned = false;  ///< by a motor, as its angular velocity says
};

struct SceneJoint {
  std::string type;
  int a = -1, b = -1;  ///< bodies; -1: the ground
  Vector3d point, axis;
};

struct Scene {
  std::string name;
  Vector3d gravity = Vector3d::Zero();
  double friction = 0, restitution = 0, step = 0, end = 0;
  std::vector<SceneBody> bodies;
  std::vector<SceneJoint> joints;
};

/// Numbers of a model file: as they stand, the name of a parameter, or a fraction such as "1/240".
class SceneNumbers {
 public:
  explicit SceneNumbers(const toml::table& file) {
    if (const auto* parameters = file["parameters"].as_table())
      for (const auto& [key, node] : *parameters) named_[std::string(key.str())] = node.value_or(0.0);
  }
  void set(const std::string& name, double value) { named_[name] = value; }
  double number(toml::node_view<const toml::node> node) const {
    if (const auto value = node.value<double>()) return *value;
    const std::string text = node.value_or(std::string());
    if (const auto known = named_.find(text); known != named_.end()) return known->second;
    const std::size_t bar = text.find('/');
    return std::atof(text.c_str()) / (bar == std::string::npos ? 1 : std::atof(text.c_str() + bar + 1));
  }
  std::vector<double> list(toml::node_view<const toml::node> node) const {
    std::vector<double> values;
    if (const auto* array = node.as_array())
      for (const toml::node& x : *array) values.push_back(number(toml::node_view<const toml::node>(x)));
    else if (node)
      values.push_back(number(node));
    return values;
  }
  Vector3d vector(toml::node_view<const toml::node> node) const {
    const std::vector<double> v = list(node);
    return v.size() == 3 ? Vector3d(v[0], v[1], v[2]) : Vector3d::Zero();
  }

 private:
  std::map<std::string, double> named_;
};

inline void read_shape(const SceneNumbers& in, toml::node_view<const toml::node> shape, SceneBody& body) {
  for (const char* kind : {"sphere", "box"})
    if (shape[kind]) body.shape = kind, body.size = in.list(shape[kind]);
  if (const auto cylinder = shape["cylinder"])
    body.shape = "cylinder", body.size = {in.number(cylinder["radius"]), in.number(cylinder["length"])};
  if (const auto* points = shape["mesh"].as_array()) {
    body.shape = "mesh";
    for (const toml::node& p : *points) body.points.push_back(in.vector(toml::node_view<const toml::node>(p)));
  }
}

/// The scene of a model file of the exam; `x0` in the place of the parameter of that name, where given.
inline Scene read_scene(const std::string& path, const double* x0 = nullptr) {
  using View = toml::node_view<const toml::node>;
  const toml::table file = toml::parse_file(path);
  SceneNumbers in(file);
  if (x0) in.set("x0", *x0);
  const View top(static_cast<const toml::node&>(file));
  Scene scene;
  scene.name = path.substr(path.find_last_of('/') + 1);
  scene.name.resize(scene.name.size() - 5);
  scene.gravity = in.vector(top["multibody"]["gravity"]);
  if (const auto contact = top["contact"]; contact) {
    scene.friction = contact["friction"].value_or(0.0);
    scene.restitution = contact["restitution"].value_or(0.0);
  }
  scene.step = in.number(top["integrate"]["step"]);
  scene.end = in.number(top["integrate"]["end"]);
  const auto place = [&](const std::string& name) {
    for (std::size_t k = 0; k < scene.bodies.size(); ++k)
      if (scene.bodies[k].name == name) return static_cast<int>(k);
    return -1;
  };
  if (const auto* bodies = top["body"].as_array())
    for (const toml::node& node : *bodies) {
      const View from(node);
      SceneBody body;
      body.name = from["name"].value_or(std::string());
      body.fixed = from["fixed"].value_or(false);
      body.collide = from["collide"].value_or(true);
      body.mass = from["mass"].value_or(0.0);
      body.inertia = in.vector(from["inertia"]);
      read_shape(in, from["shape"], body);
      body.position = in.vector(from["position"]);
      body.velocity = in.vector(from["velocity"]);
      body.angular_velocity = in.vector(from["angular_velocity"]);
      body.force = in.vector(from["force"]);
      if (const std::vector<double> q = in.list(from["rotation"]); q.size() == 4)
        body.rotation = Quaterniond(q[0], q[1], q[2], q[3]);
      scene.bodies.push_back(body);
    }
  if (const auto* joints = top["joint"].as_array())
    for (const toml::node& node : *joints) {
      const View from(node);
      SceneJoint joint{from["type"].value_or(std::string()), place(from["bodies"][0].value_or(std::string())),
                       place(from["bodies"][1].value_or(std::string())), in.vector(from["point"]),
                       in.vector(from["axis"])};
      if (from["motor"])
        scene.bodies[static_cast<std::size_t>(joint.b)].turned = true;
      else
        scene.joints.push_back(joint);
    }
  if (const auto* heaps = top["particles"].as_array())
    for (const toml::node& node : *heaps) {
      const View from(node);
      SceneBody body;
      body.shape = "sphere";
      body.size = {in.number(from["radius"])};
      body.mass = in.number(from["mass"]);
      body.inertia.setConstant(0.4 * body.mass * body.size[0] * body.size[0]);
      for (const toml::node& p : *from["positions"].as_array()) {
        body.position = in.vector(View(p));
        scene.bodies.push_back(body);
      }
    }
  return scene;
}

}  // namespace exam
