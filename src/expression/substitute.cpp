#include "expression/substitute.hpp"

#include <algorithm>
#include <stdexcept>
#include <unordered_map>

namespace hinge {

std::vector<Node> substitute(const Graph& from, std::span<const Node> functions, std::span<const Node> replaced,
                             std::span<const Node> images, Graph& to) {
  std::unordered_map<Node, Node> image;
  for (std::size_t k = 0; k < replaced.size(); ++k) image.emplace(replaced[k], images[k]);
  // The nodes that the functions are made of, down to the replaced ones; operands have smaller numbers.
  std::vector<Node> cone, stack;
  const auto visit = [&](Node n) {
    if (image.emplace(n, no_node).second) stack.push_back(n);
  };
  for (const Node f : functions) visit(f);
  while (!stack.empty()) {
    const Node n = stack.back();
    stack.pop_back();
    cone.push_back(n);
    const Graph::Entry& e = from[n];
    const Node operands[] = {e.a, e.b, e.c};
    for (int k = 0; k < arity(e.op); ++k) visit(operands[k]);
  }
  std::sort(cone.begin(), cone.end());
  for (const Node n : cone) {
    const Graph::Entry e = from[n];  // a copy: the arena may grow below
    Node made = no_node;
    if (e.op == Op::constant) {
      made = to.constant(e.value);
    } else if (e.op == Op::variable) {
      if (&from != &to) throw std::logic_error("a variable that is not replaced cannot go to another graph");
      made = n;
    } else {
      const auto moved = [&](Node operand) { return operand == no_node ? no_node : image.at(operand); };
      made = to.make(e.op, moved(e.a), moved(e.b), moved(e.c));
    }
    image[n] = made;
  }
  std::vector<Node> result;
  for (const Node f : functions) result.push_back(image.at(f));
  return result;
}

}  // namespace hinge
