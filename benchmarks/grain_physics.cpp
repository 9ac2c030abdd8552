// Physics of grains against what is published: discharge of a silo, angle of repose, rotating drum.
//
//   bench_grain_physics [hopper] [repose] [drum] [--threads 4] [--device opencl] [--friction 0.5] [--holes 6,8,10]
//
// Hopper: a silo with a flat bottom and a round hole; what falls through is put on top again. Beverloo's law,
//   W = C rho sqrt(g) (D - k d)^(5/2), with C of 0.55 to 0.65 and k of 1.2 to 1.6 for spheres (W. A. Beverloo, H. A.
//   Leniger, J. van de Velde, Chem. Eng. Sci. 15 (1961) 260; R. M. Nedderman, Statics and Kinematics of Granular
//   Materials, 1992, ch. 10: C of 0.58, k of 1.4); the silo is wider than 2.5 D (C. Mankoc et al., Granular Matter 9
//   (2007) 407). With k = 1.4 C falls with the friction and with the hole: 0.566 +- 0.003 for 0.2 and 8 d, 0.541 +-
//   0.009 for 0.2 and 5 d, 0.495 +- 0.014 for 0.5 and 5 d.
// Repose: the same silo is emptied, and what stays around the hole has a slope. It grows with the friction of grains
//   (Y. C. Zhou et al., Phys. Rev. E 64 (2001) 021301) and is that of internal friction of spheres: 5.8 degrees without
//   any (P.-E. Peyneau, J.-N. Roux, Phys. Rev. E 78 (2008) 011307), 20 to 26 with 0.5 (GDR MiDi, Eur. Phys. J. E 14
//   (2004) 341: glass beads).
// Drum: half filled. At a Froude number w^2 R / g of 10^-4 to 10^-2 the bed rolls and its surface is flat; from 1 on
//   grains turn with the drum (J. Mellmann, Powder Technol. 118 (2001) 251). Its wall is rough, of glued grains, as
//   those of measurements are: along a --smooth one spheres roll, and the bed slides. The dynamic angle of 20 to 32
//   degrees is what is commonly seen with beads, without one source.
// Are the numerics fine enough? --step 2.5e-4 --sweeps 1000 --tolerance 1e-3; --seed 5 is another bed, --radius 10
// --length 12 another drum, --slow without the fast one, --width and --seconds another silo.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "hinge/grains.hpp"
#include "hinge/multibody.hpp"
#include "measure.hpp"

namespace {

using Eigen::Vector3d;

constexpr double pi = 3.14159265358979323846, gravity = 9.81, density = 2500;
constexpr double diameter = 0.01, spread = 0.1;  // the mean, and half of the width of its distribution

struct Choice {
  hinge::GrainOptions options{.tolerance = 1e-2, .sweeps = 100};
  double friction = 0.5;
  std::vector<double> holes{6, 8, 10}, frictions{0, 0.1, 0.3, 0.5};
  double width = 25, seconds = 2;               // of the silo in diameters; of what is measured
  double step = 5e-4, radius = 20, length = 6;  // of the drum in diameters
  int seed = 0;
  bool smooth = false, slow = false;  // the drum's wall; the slower one alone
  bool quick = false;
};

struct Bed {
  hinge::GrainScene scene;
  hinge::GrainState state;
  std::size_t count() const { return scene.radius.size(); }
  Eigen::Map<Vector3d> x(std::size_t i) { return Eigen::Map<Vector3d>(state.position.data() + 3 * i); }
  Eigen::Map<Vector3d> v(std::size_t i) { return Eigen::Map<Vector3d>(state.velocity.data() + 3 * i); }
};

void add_grain(Bed& bed, const Vector3d& x, double friction, hinge::RandomNumbers& random) {
  const double r = diameter / 2 * (1 + spread * (2 * random.uniform() - 1)), m = density * 4 / 3 * pi * r * r * r;
  bed.scene.radius.push_back(r);
  bed.scene.mass.push_back(m);
  bed.scene.moment.push_back(0.4 * m * r * r);
  bed.scene.friction.push_back(friction);
  bed.state.position.insert(bed.state.position.end(), x.data(), x.data() + 3);
  bed.state.rotation.insert(bed.state.rotation.end(), {1, 0, 0, 0});
  bed.state.velocity.insert(bed.state.velocity.end(), 3, 0.0);
  bed.state.spin.insert(bed.state.spin.end(), 3, 0.0);
}

void advance(hinge::Grains& grains, int steps, double step) {
  for (int k = 0; k < steps; ++k)
    if (const std::string trouble = grains.step(step); !trouble.empty()) {
      std::printf("failed: %s\n", trouble.c_str());
      std::exit(1);
    }
}

constexpr double lattice = 1.13 * diameter;

// A box of so many diameters with grains as high as it is wide times `height`, on a plate with a hole (0: none).
Bed silo(const Choice& choice, double hole, double friction, double height) {
  Bed bed;
  hinge::RandomNumbers random(static_cast<std::uint64_t>(3 + choice.seed));
  const double width = choice.width * diameter;
  const int side = static_cast<int>(width / lattice), layers = static_cast<int>(height * choice.width);
  for (int i = 0; i < side * side * layers; ++i) {
    const Vector3d cell(i % side, i / side % side, i / (side * side));
    add_grain(
        bed,
        lattice * (cell + Vector3d(0.5, 0.5, 0.5)) + 0.05 * diameter * Vector3d(random.uniform(), random.uniform(), 0),
        friction, random);
  }
  for (int k = 0; k < 4; ++k) {
    const double sign = k % 2 == 0 ? 1 : -1;
    bed.scene.walls.push_back({sign * Vector3d::Unit(k / 2), k % 2 == 0 ? 0 : -width, friction});
  }
  hinge::GrainWall floor{.friction = friction};
  if (hole > 0) {
    floor.kind = hinge::GrainWall::Kind::orifice;
    floor.centre = {width / 2, width / 2, 0};
    floor.radius = hole * diameter / 2;
  }
  bed.scene.walls.push_back(floor);
  return bed;
}

// Those below the plate: on top again, at rest, one beside the other. Their mass.
double put_on_top(Bed& bed, double width) {
  double top = 0, mass = 0;
  for (std::size_t i = 0; i < bed.count(); ++i)
    if (bed.x(i)[2] > 0) top = std::max(top, bed.x(i)[2]);
  const int side = static_cast<int>(width / lattice);
  int slot = 0;
  for (std::size_t i = 0; i < bed.count(); ++i) {
    if (bed.x(i)[2] > -2 * diameter) continue;
    mass += bed.scene.mass[i];
    const Vector3d cell(slot % side, slot / side % side, slot / (side * side));
    bed.x(i) = lattice * (cell + Vector3d(0.5, 0.5, 0.5)) + Vector3d(0, 0, top + diameter);
    bed.v(i).setZero();
    std::fill_n(bed.state.spin.begin() + static_cast<std::ptrdiff_t>(3 * i), 3, 0.0);
    ++slot;
  }
  return mass;
}

// Of the silo between two and ten diameters above the plate, two diameters away from the walls, beside which there is
// less.
double bulk_density(Bed& bed, double width) {
  const double rim = 2 * diameter;
  const auto inside = [&](double x) { return x > rim && x < width - rim; };
  double mass = 0;
  for (std::size_t i = 0; i < bed.count(); ++i)
    if (inside(bed.x(i)[0]) && inside(bed.x(i)[1]) && bed.x(i)[2] > rim && bed.x(i)[2] < 10 * diameter)
      mass += bed.scene.mass[i];
  return mass / (8 * diameter * std::pow(width - 2 * rim, 2));
}

bool say(const char* what, double value, double low, double high, double error = 0) {
  const bool within = value >= low && value <= high;
  std::printf("  %-44s %8.3f   published %g to %g: %s", what, value, low, high, within ? "within" : "OUTSIDE");
  if (error > 0) std::printf(", +- %.2g by the scatter of the rates", error);
  std::printf("\n");
  std::fflush(stdout);
  return within;
}

void hopper(const Choice& choice) {
  const double step = choice.step;
  const double width = choice.width * diameter;
  std::vector<double> rates, errors, root;  // errors of the rates, as parts of them
  std::vector<double> as_law;               // C of each with k = 1.4
  for (const double hole : choice.holes) {
    double bulk = 0;
    Bed bed = silo(choice, hole, choice.friction, 1.3);
    hinge::Grains grains(bed.scene, choice.options);
    grains.set(bed.state);
    constexpr int portion = 40;
    const int at_first = static_cast<int>(0.75 / step / portion),
              measured = static_cast<int>(choice.seconds / step / portion);
    double mass = 0;
    constexpr int per_piece = 10;
    std::vector<double> pieces(static_cast<std::size_t>(measured / per_piece) + 1);
    for (int k = 0; k < at_first + measured; ++k) {
      advance(grains, portion, step);
      grains.get(bed.state);
      const double more = put_on_top(bed, width);
      if (more > 0) grains.set(bed.state);
      if (k < at_first) continue;
      bulk += bulk_density(bed, width) / measured;
      mass += more;
      pieces[static_cast<std::size_t>((k - at_first) / per_piece)] += more;
    }
    pieces.resize(std::max<std::size_t>(1, static_cast<std::size_t>(measured / per_piece)));
    double mean = 0, square = 0;
    for (const double piece : pieces) mean += piece, square += piece * piece;
    const double n = static_cast<double>(pieces.size());
    mean /= n;
    errors.push_back(std::sqrt(std::max(0.0, square / n - mean * mean) / std::max(1.0, n - 1)) / mean);
    rates.push_back(mass / (measured * portion * step));
    std::printf(
        "  hopper: %zu grains, hole of %g d, %.4f kg/s +- %.1f %%, bulk density %.0f, residual up to %.1e, %ld of %ld "
        "steps above\n",
        bed.count(), hole, rates.back(), 100 * errors.back(), bulk, grains.report().largest_residual,
        grains.report().unconverged, grains.report().steps);
    as_law.push_back(rates.back() / (bulk * std::sqrt(gravity) * std::pow((hole - 1.4) * diameter, 2.5)));
    root.push_back(std::pow(rates.back() / (bulk * std::sqrt(gravity) * std::pow(diameter, 2.5)), 0.4));
    std::printf("  C with k = 1.4: %.3f +- %.3f\n", as_law.back(), as_law.back() * errors.back());
    std::fflush(stdout);
  }
  // W^(2/5) is linear in D; and the exponent with k = 1.4
  const auto slope = [](const std::vector<double>& x, const std::vector<double>& y, double& at_zero) {
    double sx = 0, sy = 0, xx = 0, xy = 0;
    const auto n = static_cast<double>(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) sx += x[i], sy += y[i], xx += x[i] * x[i], xy += x[i] * y[i];
    const double b = (n * xy - sx * sy) / (n * xx - sx * sx);
    at_zero = (sy - b * sx) / n;
    return b;
  };
  if (rates.size() < 2) return;
  std::vector<double> d, log_d, log_w;
  for (std::size_t i = 0; i < rates.size(); ++i) {
    d.push_back(choice.holes[i]);
    log_d.push_back(std::log(choice.holes[i] - 1.4));
    log_w.push_back(std::log(rates[i]));
  }
  double at_zero = 0, unused = 0;
  const double line = slope(d, root, at_zero);
  double middle = 0, spread_of_d = 0, variance = 0;
  for (const double x : d) middle += x / static_cast<double>(d.size());
  for (const double x : d) spread_of_d += (x - middle) * (x - middle);
  for (std::size_t i = 0; i < d.size(); ++i)
    variance += std::pow((d[i] - middle) / spread_of_d * 0.4 * root[i] * errors[i], 2);
  const double c = std::pow(line, 2.5);
  say("Beverloo's C", c, 0.55, 0.65, 2.5 * c * std::sqrt(variance) / line);
  say("Beverloo's k", -at_zero / line, 1.2, 1.6);
  say("exponent with k = 1.4", slope(log_d, log_w, unused), 2.4, 2.6);
}

// The slope of what stays in a silo that was emptied: heights of the surface over the distance from the hole.
void repose(const Choice& choice) {
  double before = -1;
  for (const double friction : choice.frictions) {
    Choice c = choice;
    const double hole = 6, width = c.width * diameter;
    Bed bed = silo(c, hole, friction, 0.6);
    hinge::Grains grains(bed.scene, c.options);
    grains.set(bed.state);
    long below = -1;
    for (int k = 0; k < (choice.quick ? 25 : 60); ++k) {
      advance(grains, 200, choice.step);
      grains.get(bed.state);
      // those that are out are put to rest far below, so that they are not looked for
      long out = 0;
      for (std::size_t i = 0; i < bed.count(); ++i)
        if (bed.x(i)[2] < -2 * diameter) {
          bed.x(i) = Vector3d(static_cast<double>(i) * 2 * diameter, -100, -100);
          bed.v(i).setZero();
          ++out;
        }
      grains.set(bed.state);
      // until hardly one leaves in a tenth of a second
      if (k > 5 && out - below <= static_cast<long>(bed.count() / 300)) break;
      below = out;
    }
    constexpr int bins = 8;
    const double first = hole / 2 * diameter, last = width / 2;
    std::vector<double> height(bins, 0.0);
    for (std::size_t i = 0; i < bed.count(); ++i) {
      const double r = std::hypot(bed.x(i)[0] - width / 2, bed.x(i)[1] - width / 2);
      const int bin = static_cast<int>(std::floor((r - first) / (last - first) * bins));
      if (bin >= 0 && bin < bins)
        height[static_cast<std::size_t>(bin)] = std::max(height[static_cast<std::size_t>(bin)], bed.x(i)[2]);
    }
    // without the rim and the wall
    double sx = 0, sy = 0, xx = 0, xy = 0;
    for (int b = 1; b < bins - 1; ++b) {
      const double x = (b + 0.5) * (last - first) / bins, y = height[static_cast<std::size_t>(b)];
      sx += x, sy += y, xx += x * x, xy += x * y;
    }
    const double n = bins - 2;
    double angle = std::atan((n * xy - sx * sy) / (n * xx - sx * sx)) * 180 / pi;
    // a single layer has no slope
    if (*std::max_element(height.begin(), height.end()) < 1.5 * diameter) angle = 0;
    std::printf("  repose: friction %g, %ld of %zu grains have left\n", friction, below, bed.count());
    if (friction == 0)
      say("angle without friction (degrees)", angle, 0, 8);
    else if (friction == 0.5)
      say("angle of repose (degrees)", angle, 20, 26);
    else
      std::printf("  angle of repose %.1f degrees\n", angle);
    if (angle <= before) std::printf("  OUTSIDE: it does not grow with the friction\n");
    before = angle;
  }
}

// The wall of a drum made of grains, one diameter apart, that are heavy beyond measure and turn with it: where they are
// and how they move is said anew before every step, gravity taken off.
class RoughWall {
 public:
  RoughWall(Bed& bed, double radius, double length, double friction, double w) : first_(bed.count()), w_(w) {
    hinge::RandomNumbers random(6);
    const int around = static_cast<int>(2 * pi * radius / (1.15 * diameter)),
              layers = static_cast<int>(length / lattice);
    for (int i = 0; i < around * layers; ++i) {
      const double angle = 2 * pi * (i % around + 0.5 * (i / around % 2)) / around;
      add_grain(bed, {radius * std::sin(angle), lattice * (i / around + 0.55), radius * std::cos(angle)}, friction,
                random);
      bed.scene.mass.back() *= 1e9;
      bed.scene.moment.back() *= 1e9;
      start_.push_back(angle);
    }
    radius_ = radius;
  }
  void place(Bed& bed, double t, double step) const {
    for (std::size_t k = 0; k < start_.size(); ++k) {
      const double angle = start_[k] + w_ * t, s = std::sin(angle), c = std::cos(angle);
      const std::size_t i = first_ + k;
      bed.x(i)[0] = radius_ * s, bed.x(i)[2] = radius_ * c;
      bed.v(i) = Vector3d(w_ * radius_ * c, 0, -w_ * radius_ * s + gravity * step);
      Eigen::Map<Vector3d>(bed.state.spin.data() + 3 * i) = Vector3d(0, w_, 0);
    }
  }

 private:
  std::size_t first_;
  double w_, radius_ = 0;
  std::vector<double> start_;
};

void drum(const Choice& choice) {
  const double step = choice.step;
  for (const double froude : {1e-3, 4.0}) {
    if (choice.slow && froude > 1) continue;
    Bed bed;
    hinge::RandomNumbers random(static_cast<std::uint64_t>(4 + choice.seed));
    const double R = (choice.quick ? 10 : choice.radius) * diameter, length = choice.length * diameter,
                 w = std::sqrt(froude * gravity / R);
    const int side = static_cast<int>(2 * R / lattice), layers = static_cast<int>(length / lattice);
    for (int i = 0; i < side * side * layers; ++i) {
      const Vector3d x = lattice * Vector3d(i % side - side / 2.0 + 0.5, i / side % layers + 0.55,
                                            i / (layers * side) - side / 2.0 + 0.5);
      if (x[2] < 0 && std::hypot(x[0], x[2]) < R - 0.6 * diameter) add_grain(bed, x, choice.friction, random);
    }
    const std::size_t count = bed.count();
    bed.scene.walls = {{{0, 1, 0}, 0, 0}, {{0, -1, 0}, -length, 0}};
    const double outside = choice.smooth ? R : R + diameter;
    bed.scene.walls.push_back({{0, 1, 0}, 0, 1.0, hinge::GrainWall::Kind::drum, {0, 0, 0}, outside, {0, 0, 0}, w});
    std::optional<RoughWall> wall;
    if (!choice.smooth) wall.emplace(bed, R + diameter / 4, length, choice.friction, w);
    hinge::Grains grains(bed.scene, choice.options);
    grains.set(bed.state);
    double time = 0;
    const auto turn = [&](int steps) {
      if (!wall) return advance(grains, steps, step);
      for (int k = 0; k < steps; ++k, time += step) {
        grains.get(bed.state);
        wall->place(bed, time, step);
        grains.set(bed.state);
        advance(grains, 1, step);
      }
    };
    const int turns = static_cast<int>((froude < 1 ? 0.25 : 6) * 2 * pi / w / step / 20);
    double angle = 0, turning = 0, curved = 0, carried_along = 0;  // the last: of the outermost layer
    int seen = 0;
    for (int k = 0; k < turns; ++k) {
      turn(20);
      if (k < turns / 2) continue;
      grains.get(bed.state);
      // the surface: the highest grain in strips of two diameters, a line through the middle ones
      std::vector<double> top(static_cast<std::size_t>(R / diameter), -HUGE_VAL);
      double sum = 0, mass = 0, along = 0, outer = 0;
      for (std::size_t i = 0; i < count; ++i) {
        const auto strip =
            static_cast<std::size_t>(std::clamp((bed.x(i)[0] + R) / (2 * diameter), 0.0, R / diameter - 1));
        top[strip] = std::max(top[strip], bed.x(i)[2]);
        const Vector3d arm(bed.x(i)[0], 0, bed.x(i)[2]);
        sum += Vector3d::UnitY().cross(arm).dot(bed.v(i)) / std::max(arm.squaredNorm(), diameter * diameter) / w;
        mass += 1;
        if (arm.norm() < R - 1.2 * diameter) continue;
        along += Vector3d::UnitY().cross(arm).dot(bed.v(i)) / arm.squaredNorm() / w;
        outer += 1;
      }
      carried_along += along / std::max(outer, 1.0);
      double sx = 0, sy = 0, xx = 0, xy = 0, n = 0;
      std::vector<std::pair<double, double>> points;
      for (std::size_t s = top.size() / 4; s < top.size() - top.size() / 4; ++s) {
        const double x = (2 * static_cast<double>(s) + 1) * diameter - R, y = top[s];
        if (y == -HUGE_VAL) continue;
        points.emplace_back(x, y);
        sx += x, sy += y, xx += x * x, xy += x * y, n += 1;
      }
      const double b = (n * xy - sx * sy) / (n * xx - sx * sx), a = (sy - b * sx) / n;
      for (const auto& [x, y] : points) curved = std::max(curved, seen > 0 ? 0 : std::abs(y - a - b * x) / diameter);
      angle += std::abs(std::atan(b)) * 180 / pi;
      turning += sum / mass;
      ++seen;
    }
    std::printf("  drum: %zu grains, Froude number %g, %ld of %ld steps above the tolerance\n", count, froude,
                grains.report().unconverged, grains.report().steps);
    if (froude < 1) {
      say("dynamic angle (degrees; commonly seen)", angle / seen, 20, 32);
      say("surface off a line (diameters)", curved, 0, 1.5);
      std::printf("  the layer at the wall turns with %.2f of the drum's angular velocity\n", carried_along / seen);
    } else {
      say("angular velocity of grains by the drum's", turning / seen, 0.9, 1.05);
    }
  }
}

std::vector<double> numbers(const char* text) {
  std::vector<double> list;
  for (char* end = nullptr; *text; text = *end == ',' ? end + 1 : end) {
    list.push_back(std::strtod(text, &end));
    if (end == text) break;
  }
  return list;
}

}  // namespace

int main(int argc, char** argv) {
  Choice choice;
  bool any = false, all[3] = {false, false, false};
  choice.quick = bench::quick(argc, argv);
  if (choice.quick) choice.holes = {4, 6}, choice.width = 15, choice.seconds = 0.5, choice.frictions = {0, 0.5};
  for (int i = 1; i < argc; ++i) {
    const std::string key = argv[i], value = i + 1 < argc ? argv[i + 1] : "";
    if (key == "hopper") any = all[0] = true;
    if (key == "repose") any = all[1] = true;
    if (key == "drum") any = all[2] = true;
    if (key == "--threads") choice.options.threads = std::max(1, std::atoi(value.c_str()));
    if (key == "--friction") choice.friction = std::atof(value.c_str());
    if (key == "--holes") choice.holes = numbers(value.c_str());
    if (key == "--frictions") choice.frictions = numbers(value.c_str());
    if (key == "--width") choice.width = std::atof(value.c_str());
    if (key == "--smooth") choice.smooth = true;
    if (key == "--step") choice.step = std::atof(value.c_str());
    if (key == "--sweeps") choice.options.sweeps = std::atoi(value.c_str());
    if (key == "--tolerance") choice.options.tolerance = std::atof(value.c_str());
    if (key == "--radius") choice.radius = std::atof(value.c_str());
    if (key == "--length") choice.length = std::atof(value.c_str());
    if (key == "--slow") choice.slow = true;
    if (key == "--seed") choice.seed = std::atoi(value.c_str());
    if (key == "--seconds") choice.seconds = std::atof(value.c_str());
    if (key == "--device" && value == "opencl") choice.options.device = hinge::GrainDevice::opencl;
  }
  if (all[0] || !any) hopper(choice);
  if (all[1] || !any) repose(choice);
  if (all[2] || !any) drum(choice);
}
