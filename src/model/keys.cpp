// The table of keys. It is longer than other files because it is data: a row for every key.
//
// A row: its name, what it is (up to the first ; or : this is also said when the value has another type), an example;
// then default, unit and range. Words stand in the order of the enumeration that they choose from.
#include "model/keys.hpp"

#include <utility>

#include <fmt/format.h>

#include "method/default_method.hpp"

namespace hinge {

namespace {

using Type = OptionType;
using Words = std::vector<std::string>;
using Keys = std::vector<KeyInfo>;

KeyInfo row(Type type, const char* name, const char* meaning, const char* example, const char* preset = "") {
  return {.option = {.name = name, .meaning = meaning, .default_value = preset, .type = type}, .example = example};
}

KeyInfo number(const char* name, const char* meaning, const char* example, const char* preset = "",
               const char* unit = "", OptionRange range = {}) {
  KeyInfo key = row(Type::number, name, meaning, example, preset);
  key.option.unit = unit;
  key.option.range = range;
  return key;
}

KeyInfo whole(const char* name, const char* meaning, const char* example, const char* preset = "",
              OptionRange range = {}) {
  KeyInfo key = number(name, meaning, example, preset, "", range);
  key.option.type = Type::integer;
  return key;
}

KeyInfo flag(const char* name, const char* meaning, const char* preset) {
  return row(Type::boolean, name, meaning, "true", preset);
}

KeyInfo word(const char* name, const char* meaning, const Words& words, const char* preset = "") {
  KeyInfo key = row(Type::word, name, meaning, "", preset);
  key.option.words = words;
  return key;
}

KeyInfo text(const char* name, const char* meaning, const char* example, const char* preset = "") {
  return row(Type::text, name, meaning, example, preset);
}

// An expression, a number, or a list of them; with a section also a table.
KeyInfo value(const char* name, const char* meaning, const char* example, const char* unit = "",
              const char* inside = "", Type type = Type::expression) {
  KeyInfo key = row(type, name, meaning, example);
  key.option.unit = unit;
  key.inside = inside;
  return key;
}

KeyInfo list(const char* name, const char* meaning, const char* example, const char* inside = "") {
  return value(name, meaning, example, "", inside, Type::list);
}

KeyInfo table(const char* name, const char* meaning, const char* example = "", const char* inside = "") {
  return value(name, meaning, example, "", inside, Type::table);
}

KeyInfo by_coordinate(const char* name, const char* meaning, const char* example) {
  return value(name, meaning, example, "", "by coordinate");
}

KeyInfo needed(KeyInfo key) {
  key.needed = true;
  return key;
}

KeyInfo in_library(KeyInfo key) {
  key.in_library = true;
  return key;
}

KeyInfo otherwise(KeyInfo key, const std::string& preset) {
  key.option.default_depends = preset;
  return key;
}

Keys operator+(Keys keys, const Keys& more) {
  keys.insert(keys.end(), more.begin(), more.end());
  return keys;
}

constexpr OptionRange positive = positive_range, not_negative = not_negative_range, part{.min = 0, .max = 1};

const Keys family{text("for", "the name of an index; then this is a family", "\"i\""),
                  whole("from", "the first value of the index", "1", "0"),
                  whole("to", "the last value of the index", "3")};

SectionInfo whole_file() {
  return {"",
          {text("title", "a title; the name of the file where it is left out", "\"Pendulum\""),
           table("parameters", "names with numbers or vectors", "", "names"),
           table("functions", "functions that expressions can call", "", "functions"),
           table("tables", "functions of one number, given by points", "", "tables"),
           table("define", "names for parts of expressions", "", "names"),
           table("states", "numbers with equations of their own: controllers, currents, pressures", "", "states"),
           table("initial", "where the motion starts", "", "initial"),
           table("exact", "the solution, where it is known", "", "exact"),
           table("integrate", "method, options and time", "", "integrate"),
           table("output", "what is recorded", "", "output"),
           list("event", "what to notice on the way", "", "event"),
           table("view", "what the picture of a report shows", "", "view"),
           table("lagrangian", "a system: kinetic and potential energy", "", "lagrangian"),
           table("hamiltonian", "a system: an energy of positions and momenta", "", "hamiltonian"),
           table("mechanical", "a system: a mass matrix and forces", "", "mechanical"),
           table("odae", "a system: the problem class itself", "", "odae"),
           table("dae", "a system: equations F(t, x, x') = 0", "", "dae"),
           table("multibody", "a system: bodies, joints, particles", "", "multibody"),
           list("body", "a rigid body", "", "body"),
           list("joint", "a joint between two bodies", "", "joint"),
           list("spring", "a spring between two bodies", "", "spring"),
           list("bushing", "an elastic bearing between two bodies", "", "bushing"),
           list("constraint", "an equation of bodies and joints", "", "constraint"),
           list("force", "a force at a point of a body", "", "force"),
           list("particles", "spheres or disks in large numbers", "", "particles"),
           table("container", "walls around a box", "", "container"),
           table("contact", "what holds for all contacts", "", "contact")}};
}

std::vector<SectionInfo> systems() {
  const KeyInfo coordinates = list("coordinates", "declarations; needed unless there are bodies", "[\"q[3]\"]");
  const KeyInfo constraints =
      list("constraints", "expressions that are zero, and families of them", "[\"dot(q,q) - l^2\"]", "constraints");
  const KeyInfo velocity_constraints =
      list("velocity_constraints", "expressions of velocities that are zero, and families of them",
           "[\"x'*sin(a) - y'*cos(a)\"]", "constraints");
  const KeyInfo unilateral = value("unilateral", "contacts", "[{ gap = \"q[1]\" }]", "", "unilateral");
  const KeyInfo invariants = value("invariants", "functions of the coordinates, at most quadratic", "[\"dot(q,q)\"]");
  const Keys body{needed(in_library(number("mass", "the mass", "1.5", "", "mass", positive))),
                  needed(value("inertia", "about the centre of mass, in the body frame", "[0.2, 0.2, 0.1]")),
                  value("center", "with `fixed`: the centre of mass from there, in the body frame", "[0, 0, 1]"),
                  value("fixed", "the point in space where the body is held", "[0, 0, 0]", "length")};
  KeyInfo bodies = value("bodies", "rigid bodies by their names", "", "", "lagrangian.bodies");
  bodies.elements = "lagrangian.bodies, a list";
  return {
      {"names", {value("*", "a number, a vector or an expression", "1")}},
      {"functions", {text("*", "parameters, an arrow, an expression", "\"(x, a) -> max(0, x - a)\"")}},
      {"tables", {value("*", "a table by its name", "{ points = [[0, 0], [1, 2]] }", "", "tables.NAME")}},
      {"tables.NAME",
       {list("points", "points `[x, y]`, in ascending order of x", "[[0, 0], [1, 0.5], [2, 0]]"),
        list("x", "instead of `points`, with `y`: the numbers x", "[0, 1, 2]"),
        list("y", "the numbers y", "[0, 0.5, 0]"),
        text("file", "instead of `points`: a text file in the folder of the model, two numbers a line", "\"cam.csv\""),
        list("columns", "of the file: two numbers from 0, or names of its first line; else the first two",
             "[\"angle\", \"lift\"]"),
        word("kind",
             "straight lines; a spline with two continuous derivatives; cubics that rise and fall where the "
             "points do; or steps that keep the value of the point before",
             {"linear", "cubic", "monotone", "previous"}, "linear"),
        word("beyond", "outside of the points: an error; the first and last value; a straight line; or all over again",
             {"error", "constant", "linear", "periodic"}, "error"),
        word("ends", "of `cubic`: second derivative zero there; or third one continuous at the points next to them",
             {"natural", "not-a-knot"}, "not-a-knot")}},
      {"states", {value("*", "a state by its name", "{ rate = \"r - x\" }", "", "states.NAME")}},
      {"states.NAME",
       {value("rate", "its time derivative, of t, positions, velocities and states", "\"reference - x\""),
        number("initial", "its value at the start", "0", "0"),
        number("every", "of a sampled state: the time between samples", "0.01", "", "time", positive),
        number("offset", "samples are at `offset` + k `every`, from the start on", "0", "0", "time"),
        value("update", "what it becomes at a sample, of the values just before", "\"u + x\"")}},
      {"lagrangian",
       {coordinates, bodies, value("kinetic", "the kinetic energy, of what is no body", "\"m/2*dot(q',q')\"", "energy"),
        value("potential", "the potential energy", "\"m*gravity*q[1]\"", "energy"),
        value("lagrangian", "L itself, instead of kinetic - potential", "\"m/2*dot(q',q')\"", "energy"),
        by_coordinate("force", "generalised forces: by coordinate, else zero; or a list for all", "{ q = \"-c*q'\" }"),
        value("dissipation", "Rayleigh's function of the velocities; its gradient is a force against them",
              "\"c/2*dot(q',q')\"", "energy/time"),
        constraints, velocity_constraints, unilateral,
        list("multipliers", "declarations of own multipliers", "[\"tension\"]"),
        by_coordinate("reaction", "what they do, like `force`; else it is `-G^T psi`", "{ q = \"-tension*q\" }"),
        invariants}},
      {"lagrangian.bodies", {value("*", "a body by its name", "", "", "lagrangian.bodies.NAME")}},
      {"lagrangian.bodies.NAME", body},
      {"lagrangian.bodies, a list", Keys{needed(text("name", "a name", "\"top\""))} + body},
      {"hamiltonian",
       {needed(coordinates), needed(list("momenta", "declarations in the order of the coordinates", "[\"p[3]\"]")),
        needed(value("hamiltonian", "H(t, q, p)", "\"dot(p,p)/(2*m)\"", "energy")), constraints, invariants}},
      {"mechanical",
       {needed(coordinates),
        needed(value("mass", "the matrix row by row, or its diagonal, of t and q", "[[\"m\", 0], [0, \"m\"]]")),
        needed(by_coordinate("force", "F(t, q, q') by coordinate, or a list for all", "[\"-k*x\", 0]")), constraints,
        velocity_constraints, unilateral}},
      {"odae",
       {needed(list("y", "declarations", "[\"y[2]\"]")), needed(list("z", "declarations", "[\"z[2]\"]")),
        list("psi", "declarations; as many entries as `g` has", "[\"psi\"]"),
        needed(value("v", "expressions in t, y, z, as many as y has", "[\"z[0]\", \"z[1]\"]")),
        value("p", "expressions in t, y, z; else it is z", "[\"2*z[0]\", \"z[1]\"]"),
        needed(value("f", "expressions in t, y, z, as many as z has", "[0, \"-gravity\"]")),
        value("r", "expressions in t, y, z, psi", "[\"-2*y[0]*psi\", \"-2*y[1]*psi\"]"),
        list("g", "expressions that are zero, and families of them", "[\"dot(y,y) - 1\"]", "constraints")}},
      {"dae",
       {needed(list("unknowns", "declarations", "[\"x\", \"y[3]\"]")),
        list("equations", "expressions that are zero, or `\"lhs = rhs\"`, and families of them",
             "[\"x' + y\", \"x - y^3\"]", "equations"),
        value("noise", "C in F dt = C dW: a number or a row for each equation", "[0, 0.1]"),
        list("complementarity", "pairs that are not negative, one of them zero; and families of them",
             "[[\"x\", \"lambda\"]]", "pairs")}},
      {"constraints", family + Keys{needed(value("constraint", "an expression that is zero", "\"q[i] - l\""))}},
      {"equations", family + Keys{needed(value("equation", "an equation", "\"x[i]' = x[i-1]\""))}},
      {"pairs", family + Keys{needed(value("pair", "a pair", "[\"a[i]\", \"b[i]\"]"))}},
      {"by coordinate", {value("*", "a value, or a family over an array of vectors", "[1, 0]", "", "values")}},
      {"values", family + Keys{needed(value("value", "a vector", "\"[(i+1)*l, 0]\""))}},
      {"unilateral", Keys{needed(value("gap", "an expression of q and t that is not negative", "\"y - r\"", "length")),
                          number("restitution", "how much of the velocity returns", "0.5", "0", "", part),
                          number("friction", "Coulomb's coefficient", "0.3", "0", "", not_negative),
                          value("slip", "the tangential velocity, two in space", "\"q[0]'\"", "length/time"),
                          text("name", "a name for messages", "\"floor\""),
                          text("multiplier", "a name for a multiplier of its own, instead of friction", "\"n\""),
                          value("reaction", "the force on all coordinates that uses it", "[0, \"n\"]", "force")} +
                         family},
  };
}

std::vector<SectionInfo> scenes() {
  const KeyInfo friction =
      otherwise(in_library(number("friction", "Coulomb's coefficient", "0.3", "", "", not_negative)), "as `[contact]`");
  const KeyInfo restitution = otherwise(
      in_library(number("restitution", "how much of the velocity returns", "0.5", "", "", part)), "as `[contact]`");
  const KeyInfo rotation = value("rotation", "axis and angle, a unit quaternion `[w, x, y, z]`, or three rows",
                                 "{ axis = [1, 0, 0], angle = \"pi/3\" }", "", "rotation");
  const KeyInfo angle = number("angle", "the turn in the plane", "\"pi/6\"", "0", "radian");
  const KeyInfo mass = in_library(number("mass", "the mass, of each of many", "1", "", "mass", positive));
  const KeyInfo density = in_library(number("density", "instead of the mass", "1000", "", "mass/volume", positive));
  const KeyInfo two_bodies = needed(list("bodies", "two names; `ground` is space", "[\"ground\", \"arm\"]"));
  const KeyInfo points = list("points", "one on each body, at the start", "[[0, 0, 1], [0, 0, 0]]");
  const KeyInfo stiffness = in_library(number("stiffness", "of the free motion", "100", "0", "", not_negative));
  const KeyInfo damping = in_library(number("damping", "of the free motion", "0.1", "0", "", not_negative));
  const KeyInfo length =
      otherwise(in_library(number("length", "of a rod; of a spring at rest", "1", "", "length")), "that of the start");
  const char* const option = "an option of the method, see `hinge methods`";
  KeyInfo dimension = otherwise(whole("dimension", "the plane or space", "2"), "that of `gravity`, else 3");
  dimension.option.values = {2, 3};
  return {
      {"multibody",
       {value("gravity", "the vector of gravity; two components in the plane", "[0, 0, -9.81]", "length/time^2"),
        dimension}},
      {"body",
       Keys{needed(text("name", "a name", "\"ball\"")), mass, density,
            value("inertia", "about the centre of mass, in the body frame; else from the shapes", "[0.2, 0.2, 0.1]"),
            value("center", "the centre of mass, in the body frame; else from the shapes", "[0, 0, 0.1]", "length"),
            value("shape", "a shape, or a list of them", "{ sphere = 0.5 }", "", "body.shape"),
            value("shapes", "the same as `shape`", "[{ sphere = 0.5 }]", "", "body.shape"),
            value("position", "of the origin of its frame, at the start", "[0, 0, 1]", "length"), rotation, angle,
            value("velocity", "of the centre of mass, at the start", "[1, 0, 0]", "length/time"),
            value("angular_velocity", "in space; one number in the plane", "[0, 0, 1]", "1/time"),
            flag("fixed", "never moves", "false"), flag("collide", "touches others", "true"), friction, restitution,
            value("force", "in space, at the centre of mass", "[0, 0, \"-k*ball[2]\"]", "force"),
            value("torque", "in space", "[0, 0, 1]", "force length")} +
           family},
      {"body.shape",
       Keys{in_library(number("sphere", "its radius", "0.5", "", "length", positive)),
            in_library(number("disk", "its radius, in the plane", "0.5", "", "length", positive)),
            value("box", "its edges", "[1, 0.5, 0.2]", "length"),
            value("rectangle", "its edges, in the plane", "[1, 0.5]", "length"),
            value("capsule", "along z, in the plane y", "{ radius = 0.1, length = 1 }", "length", "body.shape.capsule"),
            value("cylinder", "along z", "{ radius = 0.1, length = 1 }", "length", "body.shape.capsule"),
            value("mesh", "the convex hull of points", "[[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]", "length"),
            value("polygon", "the same in the plane", "[[0, 0], [1, 0], [0, 1]]", "length"),
            value("plane", "its normal; what is below is solid; for fixed bodies", "[0, 0, 1]"),
            value("position", "in the body frame", "[0, 0, 0.1]", "length"), rotation, angle} +
           family},
      {"body.shape.capsule",
       {needed(in_library(number("radius", "the radius", "0.1", "", "length", positive))),
        needed(in_library(number("length", "between the centres of the caps", "1", "", "length", positive)))}},
      {"rotation",
       {needed(value("axis", "the direction of the axis", "[1, 0, 0]")),
        needed(number("angle", "the angle", "\"pi/3\"", "", "radian"))}},
      {"joint",
       Keys{text("name", "a name; makes `NAME_angle`, `NAME_force` and others known to expressions", "\"hinge\""),
            needed(word("type", "see below",
                        {"spherical", "revolute", "prismatic", "cylindrical", "universal", "fixed", "rod", "planar",
                         "point-on-line", "point-on-plane", "constant-velocity", "screw", "gear", "rack", "rolling",
                         "knife-edge", "distance"})),
            list("bodies", "two names; `ground` is space; of all but gear and rack", "[\"ground\", \"arm\"]"),
            value("point", "of both bodies at the start; else b's centre of mass", "[0, 0, 1]", "length"),
            points,
            value("axis", "of the motion, at the start", "[0, 0, 1]"),
            value("normal", "rolling, knife-edge: of the plane, which is fixed in a", "[0, 0, 1]"),
            value("axis2", "universal: the axis on b, perpendicular to `axis`; constant-velocity: the shaft of b",
                  "[1, 0, 0]"),
            length,
            list("joints", "gear, rack: the names of two joints", "[\"sun\", \"wheel\"]"),
            in_library(number("ratio", "gear: turns of the second joint for one of the first", "-0.5")),
            in_library(number("radius",
                              "rack: of the pinion, which turns in the first joint; rolling: of the wheel or sphere",
                              "0.05", "", "length")),
            in_library(number("pitch", "screw: how far it slides in a turn", "0.002", "", "length")),
            table("motor", "what a motor prescribes", "{ speed = 2 }", "joint.motor"),
            damping,
            stiffness,
            list("limits", "two stops of the angle or position, which count from the start", "[-1.5, 1.5]"),
            in_library(number("restitution", "of the limits: how much of the velocity returns", "0.5", "0", "", part)),
            value("friction", "dry friction: a coefficient where the joint slides, else a table",
                  "{ coefficient = 0.2, radius = 0.01 }", "", "joint.friction"),
            flag("collide", "the two bodies touch each other", "false")} +
           family},
      {"joint.friction",
       {in_library(number("coefficient", "Coulomb's coefficient, over the force that the joint carries", "0.2", "", "",
                          not_negative)),
        in_library(number("radius", "of the bearing, where the joint turns", "0.01", "", "length", not_negative)),
        in_library(number("span", "in space: between two halves of the bearing, which carry the moment", "0.1", "",
                          "length", not_negative)),
        in_library(number("torque", "a constant torque, where it turns", "0.5", "0", "force length", not_negative)),
        in_library(number("force", "a constant force, where it slides", "5", "0", "force", not_negative))}},
      {"joint.motor",
       {value("angle", "revolute: the angle", "\"sin(t)\"", "radian"),
        value("speed", "of angle or position, which are 0 at the start of the run", "2"),
        value("torque", "revolute: the torque", "\"-k*arm_angle\"", "force length"),
        value("position", "prismatic: the distance", "\"0.1*t\"", "length"),
        value("force", "prismatic: the force", "1", "force"),
        word("jump", "of a prescribed speed: an impact, or an error", {"impact", "refuse"}, "impact")}},
      {"spring", Keys{text("name", "a name; makes `NAME_length`, `NAME_rate` and `NAME_tension` known", "\"spring\""),
                      two_bodies, otherwise(points, "the centres of mass"), stiffness, damping, length,
                      value("tension", "instead of these: how much it pulls, of its `length` and `rate`",
                            "\"k*(length - 1)^3 + c*rate\"", "force")} +
                     family},
      {"bushing",
       Keys{text("name", "a name; makes `NAME_force` and `NAME_torque` known", "\"mount\""), two_bodies,
            value("point", "of both bodies at the start; else b's centre of mass", "[0, 0, 1]", "length"),
            value("rotation", "of its axes, which a carries along; axis and angle, a quaternion, or three rows",
                  "{ axis = [0, 0, 1], angle = \"pi/4\" }", "", "rotation"),
            angle,
            value("stiffness", "6 numbers, or 6 rows: x, y, z, then the rotation; 3 in the plane",
                  "[1e5, 1e5, 1e4, 100, 100, 10]"),
            value("damping", "the same for the rates", "[10, 10, 10, 1, 1, 1]")} +
           family},
      {"constraint",
       Keys{text("name", "a name; makes `NAME_multiplier` known", "\"cam\""),
            needed(value("equation", "an expression that is zero, or `\"lhs = rhs\"`, of t, bodies and joints",
                         "\"follower_position = 0.02*(1 - cos(cam_angle))\""))} +
           family},
      {"force", Keys{text("name", "a name for messages", "\"thrust\""),
                     needed(text("body", "the body that it acts on", "\"rocket\"")),
                     text("against", "the body that takes the reaction", "\"ground\"", "ground"),
                     otherwise(value("point", "of the body, where it is at the start", "[0, 0, 1]", "length"),
                               "the centre of mass"),
                     value("force", "its components", "[0, 0, \"10*sin(t)\"]", "force"),
                     value("torque", "its components; one number in the plane", "[0, 0, 1]", "force length"),
                     word("axes", "what the components are along", {"space", "body"}, "space")} +
                    family},
      {"particles",
       {text("name", "a name", "\"sand\"", "particles"),
        needed(whole("count", "how many", "1000", "", {.min = 1, .max = 5'000'000})),
        needed(value("radius", "a number; two, evenly between; or a law", "0.01", "length", "particles.radius")),
        density, mass, needed(value("box", "two opposite corners", "[[0, 0, 0], [1, 1, 1]]", "length")),
        whole("seed", "of the random numbers", "1", "1"), value("velocity", "of each", "[0, 0, -1]", "length/time"),
        word("arrangement", "how they fill the box, without overlaps", {"random", "grid"}, "random"),
        value("positions", "instead of `count` and `box`: a list of points", "[[0, 0, 1]]", "length"), friction,
        restitution}},
      {"particles.radius",
       {needed(word("law", "how radii are drawn", {"uniform", "normal", "sizes"})),
        number("min", "uniform: the smallest", "0.01", "", "length"),
        number("max", "uniform: the largest", "0.02", "", "length"),
        number("mean", "normal: the mean", "0.01", "", "length"),
        number("deviation", "normal: less than a third of the mean; within three of them", "0.001", "", "length"),
        list("values", "sizes: the radii", "[0.01, 0.02]"),
        list("fractions", "sizes: of the number, which sum to 1; else equal ones", "[0.5, 0.5]")}},
      {"container",
       {text("name", "a name", "\"box\"", "container"),
        needed(value("box", "two opposite corners; the walls look inwards", "[[0, 0, 0], [1, 1, 1]]", "length")),
        list("open", "sides without a wall: left, right, front, back, bottom, top", "[\"top\"]"), friction,
        restitution}},
      {"contact",
       {number("friction", "of everything that has none of its own", "0.3", "0", "", not_negative),
        number("restitution", "of everything that has none of its own", "0.5", "0", "", part),
        in_library(number("overlap", "a depth up to which bodies may overlap at the start", "1e-4", "", "length")),
        text("solver", option, "\"auto\""), number("tolerance", option, "1e-8"), text("cone", option, "\"coulomb\""),
        number("facets", option, "8"), text("impact", option, "\"newton\""), number("threads", option, "2"),
        text("device", option, "\"opencl\""), text("precision", option, "\"double\"")}},
  };
}

std::vector<SectionInfo> starts() {
  const KeyInfo consistent = word("consistent", "refuse inconsistent values, or use the nearest consistent ones",
                                  {"check", "project"}, "check");
  const Words mechanical{"lagrangian", "hamiltonian", "mechanical"};
  const Keys motion{
      by_coordinate("position", "by coordinate, all of them (to be projected: some); or a list", "{ q = [1, 0] }"),
      by_coordinate("velocity", "by coordinate, `q` or `\"q'\"`, else zero; or a list", "{ q = [0, 1] }"),
      by_coordinate("momentum", "instead of the velocity; of a Hamiltonian by momentum", "{ p = [0, 1] }"),
      by_coordinate("multiplier", "a guess, for reactions that are nonlinear in the multipliers", "[1]"),
  };
  const Keys general{by_coordinate("y", "by name, or a list; needed", "{ y = [1, 0] }"),
                     by_coordinate("z", "by name, or a list; needed", "{ z = [1, 0] }"),
                     by_coordinate("psi", "a guess, by name, or a list", "{ psi = 1 }")};
  const Keys unknowns{by_coordinate("unknowns", "values, all or some; the others are computed", "{ x = 1 }"),
                      by_coordinate("derivatives", "values of x' that shall be kept", "{ x = 0 }")};
  const Keys event{text("name", "a name for the report; else `\"event 0\"`, ...", "\"floor\""),
                   needed(value("root", "a function of the motion whose sign changes", "\"q[1]\"")),
                   word("direction", "which changes of sign count", {"both", "rising", "falling"}, "both"),
                   word("action", "note the time; end the run; or go on with other velocities",
                        {"record", "stop", "change"}, "record")};
  const auto change = [](const char* name) {
    return Keys{by_coordinate(name, "of a change: new values; what is not named stays", "{ y = \"-0.8*y'\" }")};
  };
  const Keys more{by_coordinate("guess", "where to look for those that are not given; else 0", "{ x = 1 }"),
                  list("fixed", "names of given values that a projection must not change", "[\"x\"]"), consistent};
  const KeyInfo kept = list("fixed", "coordinates or bodies that a projection must not change", "[\"q[0]\"]");
  const Keys bodies{table("bodies", "motions of rigid bodies, by name", "", "initial.bodies")};
  const char* const by_name = "values stand by coordinate, as in position = { q = 1 }";
  return {
      {"initial", motion + Keys{consistent, kept} + bodies, {"lagrangian"}, false, by_name},
      {"initial", motion + Keys{consistent, kept}, mechanical, false, by_name},
      {"initial", general + Keys{consistent, kept}, {"odae"}},
      {"initial", unknowns + more, {"dae"}, false, "values stand by unknown, as in unknowns = { x = 1 }"},
      {"initial",
       {consistent, kept},
       {"multibody"},
       false,
       "where bodies start stands in [[body]], as position, rotation (angle in the plane), velocity and "
       "angular_velocity"},
      {"initial.bodies", {value("*", "a body by its name", "", "", "initial.bodies.NAME")}},
      {"initial.bodies.NAME",
       {value("rotation", "axis and angle, or three rows of the matrix of directors",
              "{ axis = [1, 0, 0], angle = \"pi/3\" }", "", "rotation"),
        value("directors", "instead: `[d1, d2, d3]`", "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]"),
        value("angular_velocity", "in space", "[0, 0, 1]", "1/time"),
        value("angular_velocity_body", "instead: along the directors", "[0, 0, 1]", "1/time"),
        value("position", "of the centre of mass of a free body; needed there", "[0, 0, 1]", "length"),
        value("velocity", "of the centre of mass of a free body", "[1, 0, 0]", "length/time")}},
      {"exact", motion, mechanical},
      {"exact", general, {"odae"}},
      {"exact", unknowns, {"dae"}},
      {"event", event + change("velocity"), {"lagrangian", "mechanical", "multibody"}},
      {"event", event + change("momentum"), {"hamiltonian"}},
      {"event", event + change("z"), {"odae"}},
      {"event", event + change("unknowns"), {"dae"}},
  };
}

std::vector<SectionInfo> runs() {
  const char* const rows = "[[0, 0], [\"1/2\", \"1/2\"]]";
  const char* const weights = "[\"1/2\", \"1/2\"]";
  const KeyInfo method = otherwise(
      text("method", "the name of a method", "\"gauss-lobatto\""),
      fmt::format("`\"{}\"`; with a tolerance `\"{}\"`; with contacts `\"{}\"`, with contacts and a tolerance "
                  "`\"{}\"`; with velocity constraints `\"{}\"`; of a [dae] `\"{}\"`",
                  default_method({}, false), default_method({}, true), default_method({.has_contacts = true}, false),
                  default_method({.has_contacts = true}, true), default_method({.velocity_constraints = 1}, false),
                  default_method({.is_dae = true}, false)));
  return {
      {.name = "integrate",
       .keys = {method, number("start", "the time at the start", "0", "0", "time"),
                number("end", "the time at the end; a run needs it", "10", "", "time"),
                number("step", "the length of steps; with a tolerance of the first one", "0.01", "", "time", positive),
                value("tolerance", "of local errors; instead of a step", "1e-6", "", "integrate.tolerance"),
                number("max_step", "with a tolerance: the longest step", "0.01", "", "time", positive),
                word("newton", "how the equations of a step are solved", {"automatic", "simplified", "full"},
                     "automatic"),
                word("linear_algebra", "of these equations", {"automatic", "dense", "sparse"}, "automatic"),
                whole("max_iterations", "of Newton, then a step is given up", "50", "50", {.min = 1}),
                table("tableau", "coefficients for `spark`", "", "integrate.tableau")},
       .open = true},
      {"integrate.tolerance",
       {number("relative", "of the number itself; else 0", "1e-8"),
        number("absolute", "in the unit of the number; else as `relative`", "1e-10")}},
      {"integrate.tableau",
       {text("name", "a name for messages and reports", "\"my own\""),
        whole("order", "the order you claim", "4", "", positive), list("a", "s rows of s; needed", rows),
        list("ahat", "s rows of s; else from (4.1b)", rows), list("atilde", "s rows of st + 1; else from (4.1c)", rows),
        list("abar", "st + 1 rows of s; needed", rows), list("b", "s weights; needed", weights),
        list("bhat", "s weights; else `b`", weights), list("btilde", "st + 1 weights, at least 2; needed", weights),
        list("violates", "conditions that are knowingly not satisfied", "[\"(3.3c)\", \"(4.1b)\"]")}},
      {"output",
       {whole("every", "record every n-th step", "10", "1", {.min = 1}),
        number("interval", "instead: record at each multiple of this time", "0.1", "", "time", positive),
        list("times", "instead: times to record at", "[0.5, 1]"),
        table("quantities", "names and expressions of the motion", "{ height = \"q[1]\" }", "names"),
        table("momentum", "momentum maps to watch", "{ L = { axis = [0, 1, 0] } }", "output.momentum"),
        text("file", "a file name, in the folder of the model: `.csv`, `.h5` or `.hdf5`; `--out` wins",
             "\"pendulum.csv\""),
        text("vtk", "a file name, in the folder of the model: pictures of bodies, for ParaView", "\"pictures/pile\"")}},
      {"output.momentum", {value("*", "a momentum map by its name", "", "", "output.momentum.NAME")}},
      {"output.momentum.NAME",
       {value("axis", "angular momentum: the sum of `axis . ((q_k - point) x p_k)`", "[0, 1, 0]"),
        value("point", "that the axis goes through; else the origin", "[0, 0, 0]", "length"),
        value("direction", "linear momentum instead: the sum of `direction . p_k`", "[1, 0, 0]")}},
  };
}

std::vector<SectionInfo> views() {
  const KeyInfo points = table("points", "names and positions; instead of those that follow from the equations",
                               "{ bob = [\"l*sin(a)\", \"-l*cos(a)\"] }", "names");
  const KeyInfo trails = list("trails", "points whose way is drawn: names, or positions", "[\"bob\"]");
  const KeyInfo up = value("up", "against gravity; else from the equations", "[0, 0, 1]");
  return {
      {"view", {points, trails, up}, {"multibody"}},
      {"view",
       {points, list("rods", "pairs of points: names, or positions", "[[[0, 0], \"bob\"]]"), trails,
        list("surfaces", "spheres and planes", "[{ sphere = 1 }]", "view.surfaces"), up}},
      {"view.surfaces",
       {text("name", "a name", "\"bowl\""),
        number("sphere", "its radius; in the plane a circle", "1", "", "length", positive),
        value("plane", "its normal; in the plane a line", "[0, 0, 1]"),
        value("point", "the centre, or a point of the plane; else the origin", "[0, 0, 1]", "length")}},
  };
}

}  // namespace

const std::vector<SectionInfo>& model_sections() {
  static const std::vector<SectionInfo> sections = [] {
    std::vector<SectionInfo> all{whole_file()};
    for (const auto part : {systems, scenes, starts, runs, views})
      for (SectionInfo& section : part()) all.push_back(std::move(section));
    return all;
  }();
  return sections;
}

}  // namespace hinge
