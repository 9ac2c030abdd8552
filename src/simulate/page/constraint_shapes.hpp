// What single constraints of points look like: the polynomial that a constraint is a function of, and the rod, sphere
// or plane that it keeps points on.
#pragma once

#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "simulate/page/derived_view.hpp"

namespace hinge {

/// A coordinate as that of a point.
struct PointCoordinate {
  int point = -1, component = 0;
};

/// A polynomial of degree at most two in some of the coordinates: its gradient and second derivatives at zero.
struct Quadratic {
  std::vector<int> y;
  Eigen::VectorXd gradient;
  Eigen::MatrixXd hessian;
};

class PolynomialReader {
 public:
  PolynomialReader(const Graph& graph, const std::vector<Node>& y, Node t);

  /// The one polynomial that a constraint is a function of, in at most `most` coordinates.
  std::optional<Quadratic> read(Node g, std::size_t most);
  /// The part of a function that does not depend on where the motion is; a sum of terms of which others are ignored.
  double constant_part(Node f);
  /// The coordinates that a function depends on; none where it depends on anything else, t among it.
  std::vector<int> coordinates(Node f) const;

 private:
  double at(std::initializer_list<Eigen::Index> ones, double x = 1);

  const Graph& graph_;
  std::vector<int> degree_;
  std::vector<double> value_;
  std::map<Node, int> place_;
  Node t_, function_ = no_node;
  std::vector<Node> cone_, variables_;
};

class ConstraintReader {
 public:
  ConstraintReader(const std::vector<DerivedView::Point>& points, const std::vector<char>& refused, const State& start);

  struct Distance {
    int point;
    Eigen::Vector3d centre;
    double radius;
    std::string name;
  };
  struct OnPlane {
    int point;
    DerivedView::Surface surface;
  };
  std::vector<DerivedView::Rod> rods;
  std::vector<Distance> distances;
  std::vector<OnPlane> planes;

  /// False where it is none of these.
  bool read(const Quadratic& q, const std::string& name);
  /// The one point that all these are coordinates of; -1 where there is none.
  int only_point(const std::vector<int>& coordinates) const;
  Eigen::Vector3d position(int point) const;

 private:
  bool of_one(int point, Eigen::Index d, const Eigen::VectorXd& gradient, const Eigen::MatrixXd& hessian,
              const std::string& name);
  bool of_two(const std::vector<int>& which, Eigen::Index d, const Eigen::VectorXd& gradient,
              const Eigen::MatrixXd& hessian, const std::string& name);

  const std::vector<DerivedView::Point>& points_;
  const State& start_;
  std::map<int, PointCoordinate> place_;
};

}  // namespace hinge
