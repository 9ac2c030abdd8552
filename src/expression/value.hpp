// Numbers, vectors and arrays of vectors of expressions, and the operations between them.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "expression/graph.hpp"

namespace hinge {

/// A scalar (shape {}), a vector ({n}) or an array of vectors ({N, n}), row by row.
struct Value {
  std::vector<int> shape;
  std::vector<Node> entries;

  bool scalar() const { return shape.empty(); }
  bool vector() const { return shape.size() == 1; }
  /// Of a scalar.
  Node node() const { return entries.front(); }
};

inline Value scalar_value(Node node) { return {.shape = {}, .entries = {node}}; }

/// Part of a Value that lives elsewhere: indexing an array copies nothing.
struct ValueView {
  std::span<const int> shape;
  std::span<const Node> entries;

  explicit ValueView(const Value& value) : shape(value.shape), entries(value.entries) {}
  /// What the index k picks; the view must not be a scalar.
  ValueView operator[](std::size_t k) const {
    const std::size_t size = entries.size() / static_cast<std::size_t>(shape[0]);
    return {shape.subspan(1), entries.subspan(k * size, size)};
  }
  Value copy() const { return {{shape.begin(), shape.end()}, {entries.begin(), entries.end()}}; }

 private:
  ValueView(std::span<const int> s, std::span<const Node> e) : shape(s), entries(e) {}
};

/// "a number", "a vector of length 3", "an array of 10 vectors of length 3".
std::string describe_shape(const std::vector<int>& shape);

// The operations take `make(op, a, b)`, which makes one node.

/// Every entry with the same number: vector * factor, vector / divisor.
template <class Make>
Value scale(Op op, Value value, Node factor, Make&& make) {
  for (Node& entry : value.entries) entry = make(op, entry, factor);
  return value;
}

/// Entry by entry; the shapes are alike.
template <class Make>
Value entrywise(Op op, Value left, const Value& right, Make&& make) {
  for (std::size_t k = 0; k < left.entries.size(); ++k) left.entries[k] = make(op, left.entries[k], right.entries[k]);
  return left;
}

/// zero + sum_k a_k b_k, of vectors of the same length.
template <class Make>
Node dot(Node zero, const Value& a, const Value& b, Make&& make) {
  Node total = zero;
  for (std::size_t k = 0; k < a.entries.size(); ++k)
    total = make(Op::add, total, make(Op::multiply, a.entries[k], b.entries[k]));
  return total;
}

/// The vector product of vectors of length 3; for length 2 its third component, a number.
template <class Make>
Value cross(const Value& a, const Value& b, Make&& make) {
  const auto minor = [&](std::size_t i, std::size_t j) {
    const Node left = make(Op::multiply, a.entries[i], b.entries[j]);
    const Node right = make(Op::multiply, a.entries[j], b.entries[i]);
    return make(Op::subtract, left, right);
  };
  if (a.entries.size() == 2) return scalar_value(minor(0, 1));
  const Node x = minor(1, 2), y = minor(2, 0), z = minor(0, 1);
  return {.shape = a.shape, .entries = {x, y, z}};
}

}  // namespace hinge
