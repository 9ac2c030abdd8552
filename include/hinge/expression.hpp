// Expressions built with C++ operators: the same graph that a model file's text becomes.
//
//   auto q = pendulum.coordinates("q", 2);
//   pendulum.constrain(0.5 * (dot(q, q) - 1.0));
//
// Derivatives are exact and found by the library; nobody types a Jacobian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

namespace hinge {

class Graph;

/// A scalar expression. Cheap to copy. A plain number converts to one.
class Expression {
 public:
  Expression(double value = 0) : value_(value) {}  // NOLINT: numbers are expressions
  Expression(std::shared_ptr<Graph> graph, std::int32_t node) : graph_(std::move(graph)), node_(node) {}

  Expression operator-() const;
  Expression& operator+=(const Expression& other);
  Expression& operator-=(const Expression& other);
  Expression& operator*=(const Expression& other);
  Expression& operator/=(const Expression& other);

  /// The graph it lives in; null for a plain number.
  const std::shared_ptr<Graph>& graph() const { return graph_; }
  /// The node in `graph`, made there if this is a plain number.
  std::int32_t node_in(Graph& graph) const;
  std::string text() const;

 private:
  std::shared_ptr<Graph> graph_;
  std::int32_t node_ = -1;
  double value_ = 0;
};

Expression operator+(const Expression& a, const Expression& b);
Expression operator-(const Expression& a, const Expression& b);
Expression operator*(const Expression& a, const Expression& b);
Expression operator/(const Expression& a, const Expression& b);
Expression operator<(const Expression& a, const Expression& b);
Expression operator<=(const Expression& a, const Expression& b);
Expression operator>(const Expression& a, const Expression& b);
Expression operator>=(const Expression& a, const Expression& b);

Expression sin(const Expression& x);
Expression cos(const Expression& x);
Expression tan(const Expression& x);
Expression asin(const Expression& x);
Expression acos(const Expression& x);
Expression atan(const Expression& x);
Expression sinh(const Expression& x);
Expression cosh(const Expression& x);
Expression tanh(const Expression& x);
Expression exp(const Expression& x);
Expression log(const Expression& x);
Expression sqrt(const Expression& x);
Expression abs(const Expression& x);
Expression sign(const Expression& x);
Expression atan2(const Expression& y, const Expression& x);
Expression hypot(const Expression& x, const Expression& y);
Expression min(const Expression& x, const Expression& y);
Expression max(const Expression& x, const Expression& y);
Expression pow(const Expression& x, const Expression& exponent);
/// `yes` where the condition holds, `no` elsewhere.
Expression choose(const Expression& condition, const Expression& yes, const Expression& no);

/// A vector of expressions.
class Vector {
 public:
  Vector() = default;
  explicit Vector(std::vector<Expression> entries) : entries_(std::move(entries)) {}
  Vector(std::initializer_list<Expression> entries) : entries_(entries) {}

  std::size_t size() const { return entries_.size(); }
  const Expression& operator[](std::size_t i) const { return entries_.at(i); }
  Expression& operator[](std::size_t i) { return entries_.at(i); }
  /// Entries first, ..., first + count - 1: one point out of a long vector of points.
  Vector segment(std::size_t first, std::size_t count) const;
  auto begin() const { return entries_.begin(); }
  auto end() const { return entries_.end(); }
  void push_back(Expression x) { entries_.push_back(std::move(x)); }
  Vector operator-() const;

 private:
  std::vector<Expression> entries_;
};

Vector operator+(const Vector& a, const Vector& b);
Vector operator-(const Vector& a, const Vector& b);
Vector operator*(const Expression& factor, const Vector& a);
Vector operator*(const Vector& a, const Expression& factor);
Vector operator/(const Vector& a, const Expression& divisor);
Expression dot(const Vector& a, const Vector& b);
Vector cross(const Vector& a, const Vector& b);
Expression norm(const Vector& a);

}  // namespace hinge
