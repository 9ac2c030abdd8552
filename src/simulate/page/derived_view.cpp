#include "simulate/page/derived_view.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "expression/polynomial.hpp"
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

struct Place {
  int point = -1, component = 0;
};

using Coupling = std::map<std::pair<int, int>, Eigen::Matrix3d>;

// The blocks of a matrix by points; a point whose rows reach other coordinates is refused.
Coupling blocks_of(const Pattern& pattern, const double* values, const std::vector<Place>& place,
                   std::vector<char>& refused) {
  Coupling blocks;
  for (int i = 0; i < pattern.rows; ++i)
    for (int k = pattern.row_start[static_cast<std::size_t>(i)]; k < pattern.row_start[static_cast<std::size_t>(i) + 1];
         ++k) {
      if (values[k] == 0) continue;
      const Place a = place[static_cast<std::size_t>(i)],
                  b = place[static_cast<std::size_t>(pattern.column[static_cast<std::size_t>(k)])];
      if (a.point >= 0 && b.point >= 0)
        blocks.try_emplace({a.point, b.point}, Eigen::Matrix3d::Zero()).first->second(a.component, b.component) =
            values[k];
      else
        for (const Place& p : {a, b})
          if (p.point >= 0) refused[static_cast<std::size_t>(p.point)] = 1;
    }
  return blocks;
}

// Pairs of different points that share mass.
std::set<std::pair<int, int>> refuse_masses(const System& system, const State& start, const std::vector<Point>& points,
                                            std::vector<char>& refused) {
  std::vector<Place> place(static_cast<std::size_t>(system.ny()));
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

// ---- Constraints ----------------------------------------------------------------------------------------------------

// A polynomial of degree at most two in some of the coordinates: value, gradient and second derivatives at zero.
struct Quadratic {
  std::vector<int> y;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
};

class PolynomialReader {
 public:
  PolynomialReader(const Graph& graph, const std::vector<Node>& y, Node t)
      : graph_(graph),
        degree_(polynomial_degree(graph, y)),
        value_(static_cast<std::size_t>(graph.size()), 0.0),
        t_(t) {
    for (std::size_t k = 0; k < y.size(); ++k) place_[y[k]] = static_cast<int>(k);
  }

  /// The one polynomial that a constraint is a function of, in at most `most` coordinates.
  std::optional<Quadratic> read(Node g, std::size_t most) {
    const std::vector<Node> parts = quadratic_parts(graph_, g, degree_);
    if (parts.size() != 1) return {};
    for (const Node n : cone_of(graph_, std::span(&g, 1)))
      if (n == t_) return {};
    cone_ = cone_of(graph_, parts);
    function_ = parts[0];
    Quadratic q;
    variables_.clear();
    for (const Node n : cone_)
      if (graph_[n].op == Op::variable) {
        const auto at = place_.find(n);
        if (at == place_.end() || q.y.size() == most) return {};
        variables_.push_back(n);
        q.y.push_back(at->second);
      }
    const auto n = static_cast<Eigen::Index>(q.y.size());
    q.gradient.resize(n);
    q.hessian.resize(n, n);
    const double zero = at({});
    Eigen::VectorXd plus(n);
    for (Eigen::Index i = 0; i < n; ++i) {
      plus(i) = at({i});
      const double minus = at({i}, -1);
      q.gradient(i) = (plus(i) - minus) / 2;
      q.hessian(i, i) = plus(i) + minus - 2 * zero;
    }
    for (Eigen::Index i = 0; i < n; ++i)
      for (Eigen::Index j = 0; j < i; ++j) q.hessian(i, j) = q.hessian(j, i) = at({i, j}) - plus(i) - plus(j) + zero;
    if (!std::isfinite(zero) || !q.gradient.allFinite() || !q.hessian.allFinite()) return {};
    return q;
  }

  /// The part of a function that does not depend on where the motion is; a sum of terms of which others are ignored.
  double constant_part(Node f) {
    double sum = 0;
    for (const Term& term : split_sum(graph_, f, degree_).quadratic) {
      cone_ = cone_of(graph_, std::span(&term.node, 1));
      function_ = term.node;
      variables_.clear();
      if (const double x = at({}); std::isfinite(x)) sum += term.factor * x;
    }
    return sum;
  }

 private:
  // The function where these variables are `x` and all others zero.
  double at(std::initializer_list<Eigen::Index> ones, double x = 1) {
    for (const Node n : cone_) {
      const Graph::Entry& e = graph_[n];
      double& v = value_[static_cast<std::size_t>(n)];
      const auto of = [&](Node operand) {
        return operand == no_node ? 0.0 : value_[static_cast<std::size_t>(operand)];
      };
      if (e.op == Op::constant)
        v = e.value;
      else if (e.op == Op::variable)
        v = 0;
      else
        v = graph_.apply(e, of(e.a), of(e.b), of(e.c));
      for (const Eigen::Index k : ones)
        if (variables_[static_cast<std::size_t>(k)] == n) v = x;
    }
    return value_[static_cast<std::size_t>(function_)];
  }

  const Graph& graph_;
  std::vector<int> degree_;
  std::vector<double> value_;
  std::map<Node, int> place_;
  Node t_, function_ = no_node;
  std::vector<Node> cone_, variables_;
};

class ConstraintReader {
 public:
  ConstraintReader(const std::vector<Point>& points, const std::vector<char>& refused, const State& start)
      : points_(points), start_(start) {
    for (std::size_t k = 0; k < points.size(); ++k)
      if (!refused[k])
        for (std::size_t j = 0; j < points[k].y.size(); ++j)
          place_[points[k].y[j]] = {static_cast<int>(k), static_cast<int>(j)};
  }

  struct Distance {
    int point;
    Vector3d centre;
    double radius;
    std::string name;
  };
  std::vector<DerivedView::Rod> rods;
  std::vector<Distance> distances;
  struct OnPlane {
    int point;
    DerivedView::Surface surface;
  };
  std::vector<OnPlane> planes;

  void read(const Quadratic& q, const std::string& name) {
    std::vector<int> which;  // points
    for (const int y : q.y) {
      const auto at = place_.find(y);
      if (at == place_.end()) return;
      if (std::find(which.begin(), which.end(), at->second.point) == which.end()) which.push_back(at->second.point);
    }
    if (which.empty() || which.size() > 2) return;
    const Eigen::Index d = static_cast<Eigen::Index>(points_[static_cast<std::size_t>(which[0])].y.size());
    if (which.size() == 2 && static_cast<Eigen::Index>(points_[static_cast<std::size_t>(which[1])].y.size()) != d)
      return;
    const Eigen::Index n = d * static_cast<Eigen::Index>(which.size());
    Eigen::VectorXd gradient = Eigen::VectorXd::Zero(n);
    Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(n, n);
    const auto index = [&](int y) {
      const Place& p = place_.at(y);
      return (p.point == which[0] ? 0 : d) + p.component;
    };
    for (std::size_t i = 0; i < q.y.size(); ++i) {
      gradient(index(q.y[i])) = q.gradient(static_cast<Eigen::Index>(i));
      for (std::size_t j = 0; j < q.y.size(); ++j)
        hessian(index(q.y[i]), index(q.y[j])) = q.hessian(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
    }
    which.size() == 2 ? of_two(which, d, gradient, hessian, name) : of_one(which[0], d, gradient, hessian, name);
  }

 private:
  Vector3d position(int point) const {
    Vector3d x = Vector3d::Zero();
    const Point& p = points_[static_cast<std::size_t>(point)];
    for (std::size_t k = 0; k < p.y.size(); ++k)
      x(static_cast<Eigen::Index>(k)) = start_.y[static_cast<std::size_t>(p.y[k])];
    return x;
  }

  static bool small(const Eigen::MatrixXd& m, double size) { return !(m.cwiseAbs().maxCoeff() > 1e-10 * size); }

  void of_one(int point, Eigen::Index d, const Eigen::VectorXd& gradient, const Eigen::MatrixXd& hessian,
              const std::string& name) {
    const double h = hessian(0, 0), size = hessian.cwiseAbs().maxCoeff();
    if (size <= 1e-10 * gradient.cwiseAbs().maxCoeff()) {
      DerivedView::Surface s;
      s.normal.head(d) = gradient.normalized();
      s.point = position(point);
      s.name = name;
      planes.push_back({point, s});
      return;
    }
    if (!small(hessian - h * Eigen::MatrixXd::Identity(d, d), size)) return;
    Vector3d centre = Vector3d::Zero();
    centre.head(d) = -gradient / h;
    centre = centre.unaryExpr([](double x) { return std::abs(x) < 1e-14 ? 0.0 : x; });
    const double radius = (position(point) - centre).norm();
    if (radius > 0) distances.push_back({point, centre, radius, name});
  }

  void of_two(const std::vector<int>& which, Eigen::Index d, const Eigen::VectorXd& gradient,
              const Eigen::MatrixXd& hessian, const std::string& name) {
    const double h = hessian(0, 0);
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(d, d);
    Eigen::MatrixXd wanted(2 * d, 2 * d);
    wanted << h * one, -h * one, -h * one, h * one;
    if (h == 0 || !small(hessian - wanted, std::abs(h)) || !small(gradient, std::abs(h))) return;
    rods.push_back({std::min(which[0], which[1]), std::max(which[0], which[1]), Vector3d::Zero(), name});
  }

  const std::vector<Point>& points_;
  const State& start_;
  std::map<int, Place> place_;
};

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
  for (std::size_t k = 0; k < eq.g.size(); ++k)
    if (const auto q = polynomial.read(eq.g[k], 6)) constraints.read(*q, system.layout().constraints[k]);
  for (const auto& [a, b] : coupled) {
    const bool rod = std::any_of(constraints.rods.begin(), constraints.rods.end(),
                                 [&, a = a, b = b](const auto& r) { return r.a == a && r.b == b; });
    if (!rod) refused[static_cast<std::size_t>(a)] = refused[static_cast<std::size_t>(b)] = 1;
  }
  const std::optional<Vector3d> up = upward(system, points, refused);

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
    } else if (std::none_of(view.surfaces.begin(), view.surfaces.end(), [&](const auto& s) {
                 return (s.point - d.centre).norm() <= 1e-9 * d.radius &&
                        std::abs(s.radius - d.radius) <= 1e-9 * d.radius;
               })) {
      view.surfaces.push_back({d.centre, Vector3d::Zero(), d.radius, d.name});
    }
  }
  for (const auto& plane : constraints.planes) {
    if (at(plane.point) < 0) continue;
    const bool there = std::any_of(view.surfaces.begin(), view.surfaces.end(), [&](const auto& s) {
      return s.radius == 0 && s.normal.cross(plane.surface.normal).norm() < 1e-9 &&
             std::abs(s.normal.dot(plane.surface.point - s.point)) <= 1e-9 * (1 + plane.surface.point.norm());
    });
    if (!there) view.surfaces.push_back(plane.surface);
  }
  return view;
}

}  // namespace hinge
