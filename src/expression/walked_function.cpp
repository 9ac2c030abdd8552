#include "expression/walked_function.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "expression/table.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"

namespace hinge {

WalkedFunction::WalkedFunction(const Graph& graph, std::span<const std::vector<Node>> blocks,
                               std::span<const Node> outputs) {
  constexpr std::int32_t unused = -1, wanted = -2;
  const Node end = outputs.empty() ? 0 : *std::max_element(outputs.begin(), outputs.end()) + 1;
  std::vector<std::int32_t> slot(at(end), unused);
  for (const Node n : outputs) slot[at(n)] = wanted;
  std::vector<Node> leaves;
  std::size_t count = 0;
  Node first = end;  // operation
  for (Node n = end; n-- > 0;) {
    if (slot[at(n)] == unused) continue;
    const Graph::Entry& e = graph[n];
    if (e.op <= Op::variable) {
      leaves.push_back(n);
      continue;
    }
    first = n;
    count += e.op == Op::select ? 2 : 1;
    slot[at(e.a)] = wanted;
    if (e.b >= 0) slot[at(e.b)] = wanted;
    if (e.c >= 0) slot[at(e.c)] = wanted;
  }
  for (const std::vector<Node>& block : blocks) {
    bool used = false;
    for (const Node n : block) {
      used = used || (n < end && slot[at(n)] == wanted);
      if (n < end) slot[at(n)] = slots_;
      ++slots_;
    }
    blocks_.push_back({static_cast<std::int32_t>(block.size()), used});
  }
  inputs_ = slots_;
  for (const Node n : leaves) {
    if (slot[at(n)] != wanted) continue;  // an input
    const Graph::Entry& e = graph[n];
    if (e.op == Op::variable)
      throw InputError(fmt::format("'{}' is not a variable of this system", graph.variable_name(e.a)));
    slot[at(n)] = slots_++;
    constants_.push_back(e.value);
  }
  operations_.resize(count);
  Operation* next = operations_.data();
  for (Node n = first; n < end; ++n) {
    if (slot[at(n)] != wanted) continue;
    const Graph::Entry& e = graph[n];
    const std::int32_t a = slot[at(e.a)];
    if (e.op == Op::table) {
      *next++ = {e.op, a, static_cast<std::int32_t>(tables_.size())};
      tables_.push_back(graph.table(e));
    } else {
      *next++ = {e.op, a, e.b < 0 ? 0 : slot[at(e.b)]};
      if (e.op == Op::select) *next++ = {e.op, slot[at(e.c)], 0};
    }
    slot[at(n)] = slots_++;
  }
  outputs_.reserve(outputs.size());
  for (const Node n : outputs) outputs_.push_back(slot[at(n)]);
}

std::vector<double> WalkedFunction::make_scratch() const {
  std::vector<double> scratch(at(slots_) + outputs_.size(), 0.0);
  std::copy(constants_.begin(), constants_.end(), scratch.begin() + inputs_);
  return scratch;
}

void WalkedFunction::evaluate(const double* const* inputs, double* s) const {
  double* next = s;
  for (std::size_t k = 0; k < blocks_.size(); ++k) {
    if (blocks_[k].used && inputs[k])
      std::copy_n(inputs[k], blocks_[k].size, next);
    else if (blocks_[k].used)
      std::fill_n(next, blocks_[k].size, 0.0);
    next += blocks_[k].size;
  }
  next += constants_.size();
  const Operation* o = operations_.data();
  for (double* const out = s + slots_; next != out; ++next, ++o) {
    switch (o->op) {
      case Op::add: *next = s[o->a] + s[o->b]; break;
      case Op::subtract: *next = s[o->a] - s[o->b]; break;
      case Op::multiply: *next = s[o->a] * s[o->b]; break;
      case Op::divide: *next = s[o->a] / s[o->b]; break;
      case Op::negate: *next = -s[o->a]; break;
      case Op::table: *next = (*tables_[at(o->b)])(s[o->a]); break;
      case Op::select:
        *next = s[o->a] != 0 ? s[o->b] : s[o[1].a];
        ++o;
        break;
      default: *next = apply_op(o->op, s[o->a], s[o->b]); break;
    }
  }
  for (const std::int32_t from : outputs_) *next++ = s[from];
}

}  // namespace hinge
