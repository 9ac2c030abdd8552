#include "simulate/page/derived_view.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "simulate/page/constraint_shapes.hpp"
#include "simulate/state_functions.hpp"
#include "system/symbolic.hpp"

namespace hinge {

using Eigen::Vector3d;

namespace {

using Q = Quantity;
using Point = DerivedView::Point;

constexpr std::size_t most_points = 2000;

// ---- Coordinates that may be those of points ------------------------------------------------------------------------

// x, y or x, y, z with the same ending: x1, y1.
void add_scalars(const std::vector<Block>& blocks, std::vector<Point>& points) {
  std::map<std::string, std::map<char, int>> by_ending;
  std::vector<std::string> order;
  for (const Block& b : blocks) {
    if (!b.shape.empty() || b.name.empty() || b.name[0] < 'x' || b.name[0] > 'z') continue;
    const std::string ending = b.name.substr(1);
    if (!by_ending.contains(ending)) order.push_back(ending);
    by_ending[ending][b.name[0]] = b.first;
  }
  for (const std::string& ending : order) {
    const std::map<char, int>& at = by_ending[ending];
    if (!at.contains('x') || !at.contains('y')) continue;
    Point p{at.contains('z') ? "(x, y, z)" + ending : "(x, y)" + ending, {}};
    for (const auto& [letter, y] : at) p.y.push_back(y);
    points.push_back(std::move(p));
  }
}

std::vector<Point> candidates(const Layout& layout) {
  std::vector<Point> points;
  for (const Block& b : layout.y) {
    if (b.direction || b.shape.empty() || b.shape.size() > 2) continue;
    const int d = b.shape.back(), n = b.shape.size() == 2 ? b.shape[0] : 1;
    if (d != 2 && d != 3) continue;
    for (int k = 0; k < n; ++k) {
      Point p{n == 1 && b.shape.size() == 1 ? b.name : b.name + "[" + std::to_string(k) + "]", {}};
      for (int j = 0; j < d; ++j) p.y.push_back(b.first + d * k + j);
      points.push_back(std::move(p));
    }
  }
  add_scalars(layout.y, points);
  return points;
}

// Is sin, cos, ... taken of something that depends on these coordinates?
void refuse_angles(const Graph& graph, std::span<const Node> functions, const std::vector<Node>& y,
                   const std::vector<Point>& points, std::vector<char>& refused) {
  std::vector<Node> angles;
  for (const Node n : cone_of(graph, functions))
    if (const Op op = graph[n].op; op == Op::sin || op == Op::cos || op == Op::tan) angles.push_back(graph[n].a);
  if (angles.empty()) return;
  std::set<Node> inside;
  for (const Node n : cone_of(graph, angles)) inside.insert(n);
  for (std::size_t k = 0; k < points.size(); ++k)
    for (const int i : points[k].y)
      if (inside.contains(y[static_cast<std::size_t>(i)])) refused[k] = 1;
}

// ---- Masses ---------------------------------------------------------------------------------------------------------

using Coupling = std::map<std::pair<int, int>, Eigen::Matrix3d>;

// The blocks of a matrix by points; a point whose rows reach other coordinates is refused.
Coupling blocks_of(const Pattern& pattern, const double* values, const std::vector<PointCoordinate>& place,
                   std::vector<char>& refused) {
  Coupling blocks;
  for (int i = 0; i < pattern.rows; ++i)
    for (int k = pattern.row_start[static_cast<std::size_t>(i)]; k < pattern.row_start[static_cast<std::size_t>(i) + 1];
         ++k) {
      if (values[k] == 0) continue;
      const PointCoordinate a = place[static_cast<std::size_t>(i)],
                            b = place[static_cast<std::size_t>(pattern.column[static_cast<std::size_t>(k)])];
      if (a.point >= 0 && b.point >= 0)
        blocks.try_emplace({a.point, b.point}, Eigen::Matrix3d::Zero()).first->second(a.component, b.component) =
            values[k];
      else
        for (const PointCoordinate& p : {a, b})
          if (p.point >= 0) refused[static_cast<std::size_t>(p.point)] = 1;
    }
  return blocks;
}

// Pairs of different points that share mass.
std::set<std::pair<int, int>> refuse_masses(const System& system, const State& start, const std::vector<Point>& points,
                                            std::vector<char>& refused) {
  std::vector<PointCoordinate> place(static_cast<std::size_t>(system.ny()));
  for (std::size_t k = 0; k < points.size(); ++k)
    for (std::size_t j = 0; j < points[k].y.size(); ++j)
      place[static_cast<std::size_t>(points[k].y[j])] = {static_cast<int>(k), static_cast<int>(j)};
  std::set<std::pair<int, int>> coupled;
  const auto evaluation = system.evaluation({Q::momentum_z, Q::velocity_z});
  for (int trial = 0; trial < 3; ++trial) {
    State s = start;
    for (std::size_t k = 0; k < s.y.size(); ++k) {
      const double x = static_cast<double>(k) + trial;
      s.y[k] += trial * 0.01 * std::sin(1.3 * x + 0.4);
      s.z[k] += trial * 0.01 * std::cos(1.7 * x + 0.2);
    }
    evaluation->at(s.t, s.y.data(), s.z.data(), s.psi.data());
    for (const Q q : {Q::momentum_z, Q::velocity_z})
      for (const auto& [pair, m] : blocks_of(system.pattern(q), (*evaluation)[q], place, refused)) {
        const std::size_t d = points[static_cast<std::size_t>(pair.first)].y.size(),
                          e = points[static_cast<std::size_t>(pair.second)].y.size();
        Eigen::Matrix3d wanted = Eigen::Matrix3d::Zero();
        for (std::size_t k = 0; k < std::min(d, e); ++k)
          wanted(static_cast<Eigen::Index>(k), static_cast<Eigen::Index>(k)) = m(0, 0);
        if (d != e || !((m - wanted).cwiseAbs().maxCoeff() <= 1e-12 * m.cwiseAbs().maxCoeff()))
          refused[static_cast<std::size_t>(pair.first)] = refused[static_cast<std::size_t>(pair.second)] = 1;
        if (pair.first != pair.second) coupled.insert(std::minmax(pair.first, pair.second));
      }
  }
  return coupled;
}

std::optional<Vector3d> upward(const SymbolicSystem& system, const std::vector<Point>& points,
                               const std::vector<char>& refused) {
  const Equations& eq = system.equations();
  std::vector<Node> all = eq.y;
  all.insert(all.end(), eq.z.begin(), eq.z.end());
  all.push_back(eq.t);
  PolynomialReader reader(*eq.graph, all, no_node);
  Vector3d pull = Vector3d::Zero();
  for (std::size_t k = 0; k < points.size(); ++k)
    for (std::size_t j = 0; !refused[k] && j < points[k].y.size(); ++j)
      pull(static_cast<Eigen::Index>(j)) += reader.constant_part(eq.f[static_cast<std::size_t>(points[k].y[j])]);
  if (!(pull.norm() > 0)) return {};
  return Vector3d(Vector3d::Zero() - pull.normalized());
}

void add_once(std::vector<DerivedView::Surface>& list, const DerivedView::Surface& added) {
  const double scale = added.radius > 0 ? added.radius : 1 + added.point.norm();
  const bool there = std::any_of(list.begin(), list.end(), [&](const DerivedView::Surface& s) {
    if ((s.radius > 0) != (added.radius > 0)) return false;
    if (added.radius > 0)
      return (s.point - added.point).norm() <= 1e-9 * scale && std::abs(s.radius - added.radius) <= 1e-9 * scale;
    return s.normal.cross(added.normal).norm() < 1e-9 && std::abs(s.normal.dot(added.point - s.point)) <= 1e-9 * scale;
  });
  if (!there) list.push_back(added);
}

// Gaps of one point: where they are zero there is a wall.
class GapReader {
 public:
  GapReader(const SymbolicSystem& system, const std::vector<Point>& points, const std::vector<char>& refused,
            const State& start)
      : system_(system),
        points_(points),
        refused_(refused),
        start_(start),
        polynomial_(*system.equations().graph, system.equations().y, system.equations().t) {}

  std::vector<DerivedView::Surface> surfaces;
  std::vector<DerivedView::Level> curved;

  void read(const Equations::Gap& gap) {
    const int point = ConstraintReader(points_, refused_, start_).only_point(polynomial_.coordinates(gap.gap));
    if (point < 0) return;
    StateFunctions function(system_, *system_.equations().graph, std::span(&gap.gap, 1));
    State wall = start_;
    if (const auto q = polynomial_.read(gap.gap, 3); q && onto(function, *q, wall)) {
      ConstraintReader shapes(points_, refused_, wall);
      if (shapes.read(*q, gap.name)) {
        for (auto& plane : shapes.planes) {
          // from the wall to where the gap is open
          for (std::size_t j = 0; j < points_[static_cast<std::size_t>(point)].y.size(); ++j)
            wall.y[static_cast<std::size_t>(points_[static_cast<std::size_t>(point)].y[j])] +=
                plane.surface.normal(static_cast<Eigen::Index>(j));
          if (function.at(wall)[0] < 0) plane.surface.normal = -plane.surface.normal;
          surfaces.push_back(plane.surface);
        }
        for (const auto& d : shapes.distances) surfaces.push_back({d.centre, Vector3d::Zero(), d.radius, d.name});
        return;
      }
    }
    curved.push_back({point, gap.gap, gap.name});
  }

 private:
  // Moves the coordinates along the gradient of the polynomial to where the gap is zero.
  static bool onto(StateFunctions& gap, const Quadratic& q, State& state) {
    const auto n = static_cast<Eigen::Index>(q.y.size());
    Eigen::VectorXd from(n);
    for (Eigen::Index k = 0; k < n; ++k) from(k) = state.y[static_cast<std::size_t>(q.y[static_cast<std::size_t>(k)])];
    Eigen::VectorXd way = q.gradient + q.hessian * from;
    if (!(way.norm() > 0)) way = Eigen::VectorXd::Unit(n, 0);
    way.normalize();
    const auto at = [&](double s) {
      for (Eigen::Index k = 0; k < n; ++k)
        state.y[static_cast<std::size_t>(q.y[static_cast<std::size_t>(k)])] = from(k) + s * way(k);
      return gap.at(state)[0];
    };
    const double here = at(0);
    if (here == 0) return true;
    const auto zero_before = [&](double outside) {
      if (!(here * at(outside) <= 0)) return false;
      double inside = 0;
      for (int halvings = 0; halvings < 200 && inside != outside; ++halvings) {
        const double middle = (inside + outside) / 2;
        (here * at(middle) > 0 ? inside : outside) = middle;
      }
      at(outside);
      return true;
    };
    // first to where the polynomial is least or largest, the centre of a sphere; from there on it is the same again
    const double bend = way.dot(q.hessian * way);
    if (bend != 0 && zero_before(-way.dot(q.gradient + q.hessian * from) / bend)) return true;
    for (double reach = 1e-3 * (1 + from.norm()); reach < 1e9; reach *= 2)
      for (const double sign : {1.0, -1.0})
        if (zero_before(sign * reach)) return true;
    return false;
  }

  const SymbolicSystem& system_;
  const std::vector<Point>& points_;
  const std::vector<char>& refused_;
  const State& start_;
  PolynomialReader polynomial_;
};

}  // namespace

DerivedView derive_view(const SymbolicSystem& system, const State& start) {
  DerivedView view;
  const SystemKind kind = system.layout().kind;
  if (kind != SystemKind::lagrangian && kind != SystemKind::hamiltonian && kind != SystemKind::mechanical) return view;
  std::vector<Point> points = candidates(system.layout());
  if (points.empty() || points.size() > most_points) return view;
  const Equations& eq = system.equations();
  std::vector<char> refused(points.size(), 0);
  std::vector<Node> functions = eq.f;
  for (const auto* more : {&eq.p, &eq.v, &eq.g}) functions.insert(functions.end(), more->begin(), more->end());
  refuse_angles(*eq.graph, functions, eq.y, points, refused);
  const std::set<std::pair<int, int>> coupled = refuse_masses(system, start, points, refused);

  PolynomialReader polynomial(*eq.graph, eq.y, eq.t);
  ConstraintReader constraints(points, refused, start);
  std::vector<DerivedView::Level> curved;
  for (std::size_t k = 0; k < eq.g.size(); ++k)
    if (const auto q = polynomial.read(eq.g[k], 6); !q || !constraints.read(*q, system.layout().constraints[k]))
      curved.push_back(
          {constraints.only_point(polynomial.coordinates(eq.g[k])), eq.g[k], system.layout().constraints[k]});
  for (const auto& [a, b] : coupled) {
    const bool rod = std::any_of(constraints.rods.begin(), constraints.rods.end(),
                                 [&, a = a, b = b](const auto& r) { return r.a == a && r.b == b; });
    if (!rod) refused[static_cast<std::size_t>(a)] = refused[static_cast<std::size_t>(b)] = 1;
  }
  const std::optional<Vector3d> up = upward(system, points, refused);
  GapReader gaps(system, points, refused, start);
  for (const Equations::Gap& gap : eq.gaps) gaps.read(gap);
  curved.insert(curved.end(), gaps.curved.begin(), gaps.curved.end());

  std::vector<int> number(points.size(), -1);
  for (std::size_t k = 0; k < points.size(); ++k)
    if (!refused[k]) {
      number[k] = static_cast<int>(view.points.size());
      view.points.push_back(std::move(points[k]));
    }
  if (view.points.empty()) return view;
  if (up && view.points.front().y.size() == 3) view.up = up;
  const auto at = [&](int point) { return number[static_cast<std::size_t>(point)]; };
  for (DerivedView::Rod& rod : constraints.rods)
    if (at(rod.a) >= 0 && at(rod.b) >= 0) view.rods.push_back({at(rod.a), at(rod.b), {}, std::move(rod.name)});
  for (const auto& d : constraints.distances) {
    if (at(d.point) < 0) continue;
    const auto same = std::count_if(constraints.distances.begin(), constraints.distances.end(), [&](const auto& o) {
      return (o.centre - d.centre).norm() <= 1e-9 * d.radius && std::abs(o.radius - d.radius) <= 1e-9 * d.radius;
    });
    if (up && same < 3) {
      view.rods.push_back({-1, at(d.point), d.centre, d.name});
    } else {
      add_once(view.surfaces, {d.centre, Vector3d::Zero(), d.radius, d.name});
    }
  }
  for (const DerivedView::Surface& surface : gaps.surfaces) add_once(view.surfaces, surface);
  for (DerivedView::Level& level : curved)
    if (level.point >= 0 && at(level.point) >= 0) view.levels.push_back({at(level.point), level.function, level.name});
  for (const auto& plane : constraints.planes)
    if (at(plane.point) >= 0) add_once(view.surfaces, plane.surface);
  return view;
}

}  // namespace hinge
