#include "simulate/page/constraint_shapes.hpp"

#include <algorithm>
#include <cmath>

#include "expression/polynomial.hpp"

namespace hinge {

using Eigen::Vector3d;

PolynomialReader::PolynomialReader(const Graph& graph, const std::vector<Node>& y, Node t)
    : graph_(graph), degree_(polynomial_degree(graph, y)), value_(static_cast<std::size_t>(graph.size()), 0.0), t_(t) {
  for (std::size_t k = 0; k < y.size(); ++k) place_[y[k]] = static_cast<int>(k);
}

std::optional<Quadratic> PolynomialReader::read(Node g, std::size_t most) {
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

double PolynomialReader::constant_part(Node f) {
  double sum = 0;
  for (const Term& term : split_sum(graph_, f, degree_).quadratic) {
    cone_ = cone_of(graph_, std::span(&term.node, 1));
    function_ = term.node;
    variables_.clear();
    if (const double x = at({}); std::isfinite(x)) sum += term.factor * x;
  }
  return sum;
}

std::vector<int> PolynomialReader::coordinates(Node f) const {
  std::vector<int> found;
  for (const Node n : cone_of(graph_, std::span(&f, 1))) {
    if (n != t_ && graph_[n].op != Op::variable) continue;
    const auto at = place_.find(n);
    if (at == place_.end()) return {};
    found.push_back(at->second);
  }
  return found;
}

// The function where these variables are `x` and all others zero.
double PolynomialReader::at(std::initializer_list<Eigen::Index> ones, double x) {
  for (const Node n : cone_) {
    const Graph::Entry& e = graph_[n];
    double& v = value_[static_cast<std::size_t>(n)];
    const auto of = [&](Node operand) { return operand == no_node ? 0.0 : value_[static_cast<std::size_t>(operand)]; };
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

ConstraintReader::ConstraintReader(const std::vector<DerivedView::Point>& points, const std::vector<char>& refused,
                                   const State& start)
    : points_(points), start_(start) {
  for (std::size_t k = 0; k < points.size(); ++k)
    if (!refused[k])
      for (std::size_t j = 0; j < points[k].y.size(); ++j)
        place_[points[k].y[j]] = {static_cast<int>(k), static_cast<int>(j)};
}

int ConstraintReader::only_point(const std::vector<int>& coordinates) const {
  int found = -1;
  for (const int y : coordinates) {
    const auto at = place_.find(y);
    if (at == place_.end() || (found >= 0 && at->second.point != found)) return -1;
    found = at->second.point;
  }
  return found;
}

bool ConstraintReader::read(const Quadratic& q, const std::string& name) {
  std::vector<int> which;  // points
  for (const int y : q.y) {
    const auto at = place_.find(y);
    if (at == place_.end()) return false;
    if (std::find(which.begin(), which.end(), at->second.point) == which.end()) which.push_back(at->second.point);
  }
  if (which.empty() || which.size() > 2) return false;
  const Eigen::Index d = static_cast<Eigen::Index>(points_[static_cast<std::size_t>(which[0])].y.size());
  if (which.size() == 2 && static_cast<Eigen::Index>(points_[static_cast<std::size_t>(which[1])].y.size()) != d)
    return false;
  const Eigen::Index n = d * static_cast<Eigen::Index>(which.size());
  Eigen::VectorXd gradient = Eigen::VectorXd::Zero(n);
  Eigen::MatrixXd hessian = Eigen::MatrixXd::Zero(n, n);
  const auto index = [&](int y) {
    const PointCoordinate& p = place_.at(y);
    return (p.point == which[0] ? 0 : d) + p.component;
  };
  for (std::size_t i = 0; i < q.y.size(); ++i) {
    gradient(index(q.y[i])) = q.gradient(static_cast<Eigen::Index>(i));
    for (std::size_t j = 0; j < q.y.size(); ++j)
      hessian(index(q.y[i]), index(q.y[j])) = q.hessian(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j));
  }
  return which.size() == 2 ? of_two(which, d, gradient, hessian, name) : of_one(which[0], d, gradient, hessian, name);
}

Vector3d ConstraintReader::position(int point) const {
  Vector3d x = Vector3d::Zero();
  const DerivedView::Point& p = points_[static_cast<std::size_t>(point)];
  for (std::size_t k = 0; k < p.y.size(); ++k)
    x(static_cast<Eigen::Index>(k)) = start_.y[static_cast<std::size_t>(p.y[k])];
  return x;
}

namespace {

bool small(const Eigen::MatrixXd& m, double size) { return !(m.cwiseAbs().maxCoeff() > 1e-10 * size); }

}  // namespace

bool ConstraintReader::of_one(int point, Eigen::Index d, const Eigen::VectorXd& gradient,
                              const Eigen::MatrixXd& hessian, const std::string& name) {
  const double h = hessian(0, 0), size = hessian.cwiseAbs().maxCoeff();
  if (size <= 1e-10 * gradient.cwiseAbs().maxCoeff()) {
    DerivedView::Surface s;
    s.normal.head(d) = gradient.normalized();
    s.point = position(point);
    s.name = name;
    planes.push_back({point, s});
    return true;
  }
  if (!small(hessian - h * Eigen::MatrixXd::Identity(d, d), size)) return false;
  Vector3d centre = Vector3d::Zero();
  centre.head(d) = -gradient / h;
  centre = centre.unaryExpr([](double x) { return std::abs(x) < 1e-14 ? 0.0 : x; });
  const double radius = (position(point) - centre).norm();
  if (radius > 0) distances.push_back({point, centre, radius, name});
  return true;
}

bool ConstraintReader::of_two(const std::vector<int>& which, Eigen::Index d, const Eigen::VectorXd& gradient,
                              const Eigen::MatrixXd& hessian, const std::string& name) {
  const double h = hessian(0, 0);
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(d, d);
  Eigen::MatrixXd wanted(2 * d, 2 * d);
  wanted << h * one, -h * one, -h * one, h * one;
  if (h == 0 || !small(hessian - wanted, std::abs(h)) || !small(gradient, std::abs(h))) return false;
  rods.push_back({std::min(which[0], which[1]), std::max(which[0], which[1]), Vector3d::Zero(), name});
  return true;
}

}  // namespace hinge
