#include "expression/tape_plan.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "solve/index.hpp"

namespace hinge {

namespace {

// Operands of an operation, the one that needs most slots first.
std::array<Node, 3> neediest_first(const Graph::Entry& e, const std::vector<std::int32_t>& need) {
  std::array<Node, 3> operands{e.a, e.b, e.c};
  const auto order = [&](Node& x, Node& y) {
    if (need[at(x)] < need[at(y)]) std::swap(x, y);
  };
  const int count = arity(e.op);
  if (count > 1) order(operands[0], operands[1]);
  if (count > 2) {
    order(operands[1], operands[2]);
    order(operands[0], operands[1]);
  }
  return operands;
}

// How many temporaries each operation below the outputs needs if no sub-expression is shared: while an operand is
// computed, those before it occupy a slot each. Zero elsewhere.
std::vector<std::int32_t> slots_needed(const Graph& graph, std::span<const Node> outputs) {
  std::vector<std::int32_t> need(at(graph.size()), 0);
  std::vector<Node> below;  // from the last to the first
  Node last = -1;
  for (const Node output : outputs) need[at(output)] = 1, last = std::max(last, output);
  for (Node n = last; n >= 0; --n) {
    if (need[at(n)] == 0) continue;
    need[at(n)] = 0;
    const Graph::Entry& e = graph[n];
    const int count = arity(e.op);
    if (count == 0) continue;
    below.push_back(n);
    const Node operands[] = {e.a, e.b, e.c};
    for (int k = 0; k < count; ++k) need[at(operands[k])] = 1;
  }
  for (auto at_last = below.rbegin(); at_last != below.rend(); ++at_last) {
    const Node n = *at_last;
    const Graph::Entry& e = graph[n];
    const int count = arity(e.op);
    const auto operands = neediest_first(e, need);
    std::int32_t own = 1;
    for (int k = 0; k < count; ++k) own = std::max(own, need[at(operands[static_cast<std::size_t>(k)])] + k);
    need[at(n)] = own;
  }
  return need;
}

}  // namespace

TapePlan::TapePlan(const Graph& graph, std::span<const Node> outputs, Order order) {
  join(graph, depth_first(graph, outputs));
  if (order == Order::by_kind) group_equal_kinds(at(graph.size()));
}

// All operations below the outputs, and how often each node is used.
std::vector<Node> TapePlan::depth_first(const Graph& graph, std::span<const Node> outputs) {
  enum : char { fresh, open, done };
  std::vector<char> state(at(graph.size()), fresh);
  uses.assign(at(graph.size()), 0);
  const std::vector<std::int32_t> need = slots_needed(graph, outputs);
  std::vector<Node> order, stack;
  for (const Node output : outputs) {
    ++uses[at(output)];  // never released: the value is read at the end
    stack.push_back(output);
    while (!stack.empty()) {
      const Node n = stack.back();
      char& status = state[at(n)];
      const Graph::Entry& e = graph[n];
      const int count = arity(e.op);
      if (status == fresh && count > 0) {
        status = open;
        const auto children = neediest_first(e, need);
        for (int k = count - 1; k >= 0; --k) {  // the last one pushed is computed first
          const Node child = children[static_cast<std::size_t>(k)];
          ++uses[at(child)];
          if (state[at(child)] == fresh) stack.push_back(child);
        }
        continue;
      }
      stack.pop_back();
      if (status == done) continue;
      status = done;
      if (count > 0) order.push_back(n);
    }
  }
  return order;
}

void TapePlan::add_sum(const Graph& graph, Node root, std::vector<char>& absorbed) {
  const auto alone = [&](Node n, auto... ops) { return uses[at(n)] == 1 && ((graph[n].op == ops) || ...); };
  const auto first = static_cast<std::int32_t>(operands.size());
  std::vector<std::pair<Node, bool>> terms;  // from the last to the first; subtracted?
  for (Node n = root;;) {
    const Graph::Entry& e = graph[n];
    Node rest = e.a, term = e.b;
    if (e.op == Op::add && !alone(rest, Op::add, Op::subtract) && alone(term, Op::add, Op::subtract))
      std::swap(rest, term);
    terms.emplace_back(term, e.op == Op::subtract);
    if (!alone(rest, Op::add, Op::subtract)) {
      terms.emplace_back(rest, false);
      break;
    }
    absorbed[at(rest)] = 1;
    n = rest;
  }
  for (auto term = terms.rbegin(); term != terms.rend(); ++term) {
    Node a = term->first, b = nothing;
    if (alone(a, Op::multiply)) {
      absorbed[at(a)] = 1;
      b = graph[a].b;
      a = graph[a].a;
    }
    operands.push_back(term->second ? ~a : a);
    operands.push_back(b);
  }
  steps.push_back({sum, root, first, static_cast<std::int32_t>(operands.size()) - first});
}

void TapePlan::join(const Graph& graph, const std::vector<Node>& order) {
  std::vector<char> absorbed(at(graph.size()), 0);
  const bool sums = order.size() <= window;
  std::unordered_map<Node, std::pair<Node, Node>> turned;  // argument -> sine, cosine
  for (const Node n : order)
    if (const Op op = graph[n].op; op == Op::sin || op == Op::cos) {
      auto& [sine, cosine] = turned.try_emplace(graph[n].a, nothing, nothing).first->second;
      (op == Op::sin ? sine : cosine) = n;
    }
  // from the outputs downwards, so that a sum knows whether it is part of another one
  for (auto n = order.rbegin(); n != order.rend(); ++n) {
    if (absorbed[at(*n)]) continue;
    const Graph::Entry& e = graph[*n];
    if (e.op == Op::sin || e.op == Op::cos)
      if (const auto [sine, cosine] = turned.at(e.a); sine != nothing && cosine != nothing) continue;  // below
    const auto is_product = [&](Node x) { return graph[x].op == Op::multiply && uses[at(x)] == 1; };
    const auto is_sum = [&](Node x) {
      return (graph[x].op == Op::add || graph[x].op == Op::subtract) && uses[at(x)] == 1;
    };
    if (sums && ((e.op == Op::add && (is_product(e.a) || is_product(e.b) || is_sum(e.a) || is_sum(e.b))) ||
                 (e.op == Op::subtract && (is_product(e.a) || is_product(e.b) || is_sum(e.a))))) {
      add_sum(graph, *n, absorbed);
      continue;
    }
    const auto first = static_cast<std::int32_t>(operands.size());
    const Node children[] = {e.a, e.b, e.c};
    operands.insert(operands.end(), children, children + arity(e.op));
    steps.push_back({static_cast<int>(e.op), *n, first, arity(e.op)});
  }
  std::reverse(steps.begin(), steps.end());
  // A pair stands where the first of the two stood.
  if (turned.empty()) return;
  std::vector<Step> all;
  all.reserve(steps.size() + turned.size());
  auto next = steps.begin();
  for (const Node n : order) {
    if (next != steps.end() && next->result == n) all.push_back(*next++);
    const Graph::Entry& e = graph[n];
    if (e.op != Op::sin && e.op != Op::cos) continue;
    auto& [sine, cosine] = turned.at(e.a);
    if (sine == nothing || cosine == nothing) continue;
    const auto first = static_cast<std::int32_t>(operands.size());
    operands.insert(operands.end(), {e.a, cosine});
    --uses[at(e.a)];
    all.push_back({sine_and_cosine, sine, first, 2});
    sine = cosine = nothing;
  }
  steps = std::move(all);
}

// Equal operations one after the other are one loop instead of a decision each, which the processor would guess wrong
// more often than not. Within windows of the order, whatever is ready and of the most frequent kind goes first.
void TapePlan::group_equal_kinds(std::size_t nodes) {
  std::vector<std::int32_t> place(nodes, -1);
  std::vector<Step> members;
  std::vector<std::int32_t> waits;                           // operands still to come from this window
  std::vector<std::pair<std::int32_t, std::int32_t>> users;  // operand, user: places in the window
  std::array<std::vector<std::int32_t>, kinds> ready;
  const auto mark = [&](const Step& step, std::int32_t value) {
    place[at(step.result)] = value;
    if (step.kind == sine_and_cosine) place[at(operands[at(step.first) + 1])] = value;
  };
  for (std::size_t first = 0; first < steps.size(); first += window) {
    const std::size_t count = std::min(window, steps.size() - first);
    members.assign(steps.begin() + static_cast<std::ptrdiff_t>(first),
                   steps.begin() + static_cast<std::ptrdiff_t>(first + count));
    for (std::size_t k = 0; k < count; ++k) mark(members[k], static_cast<std::int32_t>(k));
    waits.assign(count, 0);
    users.clear();
    for (std::size_t k = 0; k < count; ++k) {
      for_each_operand(members[k], [&](Node n) {
        if (const std::int32_t from = place[at(n)]; from >= 0) {
          ++waits[k];
          users.emplace_back(from, static_cast<std::int32_t>(k));
        }
      });
      if (waits[k] == 0) ready[static_cast<std::size_t>(members[k].kind)].push_back(static_cast<std::int32_t>(k));
    }
    std::sort(users.begin(), users.end());
    for (std::size_t done = 0; done < count;) {
      auto& now = *std::max_element(ready.begin(), ready.end(),
                                    [](const auto& x, const auto& y) { return x.size() < y.size(); });
      for (std::size_t next = 0; next < now.size(); ++next, ++done) {  // `now` may grow on the way
        const std::int32_t k = now[next];
        steps[first + done] = members[static_cast<std::size_t>(k)];
        for (auto u = std::lower_bound(users.begin(), users.end(), std::pair(k, std::int32_t{0}));
             u != users.end() && u->first == k; ++u) {
          const auto user = static_cast<std::size_t>(u->second);
          if (--waits[user] == 0) ready[static_cast<std::size_t>(members[user].kind)].push_back(u->second);
        }
      }
      now.clear();
    }
    for (const Step& step : members) mark(step, -1);
  }
}

}  // namespace hinge
