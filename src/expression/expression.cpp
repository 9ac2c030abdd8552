// The operators of the public Expression and Vector: thin wrappers that build nodes in the graph of their operands.
#include "hinge/expression.hpp"

#include <fmt/format.h>

#include "expression/graph.hpp"
#include "hinge/error.hpp"

namespace hinge {

std::int32_t Expression::node_in(Graph& graph) const {
  if (!graph_) return graph.constant(value_);
  if (graph_.get() != &graph) throw InputError("an expression of one system was used in another; build it anew there");
  return node_;
}

std::string Expression::text() const { return graph_ ? to_text(*graph_, node_) : fmt::format("{:g}", value_); }

namespace {

Expression make(Op op, const Expression& a, const Expression& b = {}, const Expression& c = {}) {
  auto graph = a.graph();
  if (!graph) graph = b.graph();
  if (!graph) graph = c.graph();
  if (!graph) {  // numbers only
    Graph scratch;
    const auto number = [&scratch](const Expression& x) { return scratch.value(x.node_in(scratch)); };
    return apply_op(op, number(a), number(b), number(c));
  }
  const int count = arity(op);
  const Node x = a.node_in(*graph);
  const Node y = count > 1 ? b.node_in(*graph) : no_node;
  const Node z = count > 2 ? c.node_in(*graph) : no_node;
  return {graph, op == Op::power ? graph->power(x, y) : graph->make(op, x, y, z)};
}

void same_length(const Vector& a, const Vector& b, const char* what) {
  if (a.size() != b.size())
    throw InputError(
        fmt::format("{} of vectors of length {} and {}; the lengths must agree", what, a.size(), b.size()));
}

template <class Function>
Vector entrywise(std::size_t size, Function&& entry) {
  Vector result;
  for (std::size_t i = 0; i < size; ++i) result.push_back(entry(i));
  return result;
}

}  // namespace

Expression Expression::operator-() const { return make(Op::negate, *this); }
Expression& Expression::operator+=(const Expression& other) { return *this = *this + other; }
Expression& Expression::operator-=(const Expression& other) { return *this = *this - other; }
Expression& Expression::operator*=(const Expression& other) { return *this = *this * other; }
Expression& Expression::operator/=(const Expression& other) { return *this = *this / other; }

Expression operator+(const Expression& a, const Expression& b) { return make(Op::add, a, b); }
Expression operator-(const Expression& a, const Expression& b) { return make(Op::subtract, a, b); }
Expression operator*(const Expression& a, const Expression& b) { return make(Op::multiply, a, b); }
Expression operator/(const Expression& a, const Expression& b) { return make(Op::divide, a, b); }
Expression operator<(const Expression& a, const Expression& b) { return make(Op::less, a, b); }
Expression operator<=(const Expression& a, const Expression& b) { return make(Op::less_equal, a, b); }
Expression operator>(const Expression& a, const Expression& b) { return b < a; }
Expression operator>=(const Expression& a, const Expression& b) { return b <= a; }

Expression sin(const Expression& x) { return make(Op::sin, x); }
Expression cos(const Expression& x) { return make(Op::cos, x); }
Expression tan(const Expression& x) { return make(Op::tan, x); }
Expression asin(const Expression& x) { return make(Op::asin, x); }
Expression acos(const Expression& x) { return make(Op::acos, x); }
Expression atan(const Expression& x) { return make(Op::atan, x); }
Expression sinh(const Expression& x) { return make(Op::sinh, x); }
Expression cosh(const Expression& x) { return make(Op::cosh, x); }
Expression tanh(const Expression& x) { return make(Op::tanh, x); }
Expression exp(const Expression& x) { return make(Op::exp, x); }
Expression log(const Expression& x) { return make(Op::log, x); }
Expression sqrt(const Expression& x) { return make(Op::sqrt, x); }
Expression abs(const Expression& x) { return make(Op::abs, x); }
Expression sign(const Expression& x) { return make(Op::sign, x); }
Expression atan2(const Expression& y, const Expression& x) { return make(Op::atan2, y, x); }
Expression hypot(const Expression& x, const Expression& y) { return make(Op::hypot, x, y); }
Expression min(const Expression& x, const Expression& y) { return make(Op::min, x, y); }
Expression max(const Expression& x, const Expression& y) { return make(Op::max, x, y); }
Expression pow(const Expression& x, const Expression& exponent) { return make(Op::power, x, exponent); }
Expression choose(const Expression& condition, const Expression& yes, const Expression& no) {
  return make(Op::select, condition, yes, no);
}

Vector Vector::segment(std::size_t first, std::size_t count) const {
  return entrywise(count, [&](std::size_t i) { return (*this)[first + i]; });
}
Vector Vector::operator-() const {
  return entrywise(size(), [&](std::size_t i) { return -(*this)[i]; });
}
Vector operator+(const Vector& a, const Vector& b) {
  same_length(a, b, "sum");
  return entrywise(a.size(), [&](std::size_t i) { return a[i] + b[i]; });
}
Vector operator-(const Vector& a, const Vector& b) {
  same_length(a, b, "difference");
  return entrywise(a.size(), [&](std::size_t i) { return a[i] - b[i]; });
}
Vector operator*(const Expression& factor, const Vector& a) {
  return entrywise(a.size(), [&](std::size_t i) { return factor * a[i]; });
}
Vector operator*(const Vector& a, const Expression& factor) { return factor * a; }
Vector operator/(const Vector& a, const Expression& divisor) {
  return entrywise(a.size(), [&](std::size_t i) { return a[i] / divisor; });
}
Expression dot(const Vector& a, const Vector& b) {
  same_length(a, b, "dot product");
  Expression sum = 0.0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}
Vector cross(const Vector& a, const Vector& b) {
  if (a.size() != 3 || b.size() != 3) throw InputError("a cross product takes two vectors of length 3");
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
Expression norm(const Vector& a) { return sqrt(dot(a, a)); }

}  // namespace hinge
