// [[joint]] with type = "rolling" or "knife-edge".
#include <fmt/format.h>

#include "model/sections.hpp"

namespace hinge {

namespace {

// Keys of joints that these two do not look at.
void refuse_other_keys(const Item& item, bool rolls) {
  const char* const type = rolls ? "rolling" : "knife-edge";
  for (const char* key : {"axis2", "length", "motor", "damping", "stiffness", "joints", "ratio", "pitch", "limits",
                          "restitution", "friction"})
    if (item[key])
      item[key].fail(
          fmt::format("a {} joint has no '{}'; leave it out, or put what it says on another joint", type, key));
  if (!rolls && item["radius"])
    item["radius"].fail("a knife-edge has no radius; leave it out, or use type = \"rolling\"");
  if (!rolls && item["points"]) item["points"].fail("a knife-edge has one point, that of the blade: point = [0, 0, 0]");
  if (item["point"] && item["points"])
    item["points"].fail("give 'point', of the plane, or 'points', of the plane and the centre of the wheel; not both");
}

}  // namespace

void read_rolling(const Item& item, JointKind kind, Multibody& scene, const ValueReader& read) {
  const bool rolls = kind == JointKind::rolling;
  refuse_other_keys(item, rolls);
  const int d = scene.dimension();
  const std::string name = item["name"] ? read_name(item["name"], read) : "";
  if (rolls) {
    RollingOptions o;
    o.name = name;
    read_pair(item, "joint", read, o.a, o.b);
    o.radius = read.number(item.need("radius"));
    if (item["axis"]) o.axis = read.vector(item["axis"], d);
    if (item["normal"]) o.normal = read.vector(item["normal"], d);
    read.vector(item["point"], d, o.point);
    read_points(item["points"], d, read, o.point, o.center);
    read.flag(item["collide"], o.collide);
    at_field(item, [&] { scene.rolling(o); });
    return;
  }
  KnifeEdgeOptions o;
  o.name = name;
  read_pair(item, "joint", read, o.a, o.b);
  read.vector(item["point"], d, o.point);
  o.axis = read.vector(item.need("axis"), d);
  if (item["normal"]) o.normal = read.vector(item["normal"], d);
  read.flag(item["collide"], o.collide);
  at_field(item, [&] { scene.knife_edge(o); });
}

}  // namespace hinge
