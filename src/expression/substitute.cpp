#include "expression/substitute.hpp"

#include <stdexcept>
#include <unordered_map>

namespace hinge {

std::vector<Node> substitute(const Graph& from, std::span<const Node> functions, std::span<const Node> replaced,
                             std::span<const Node> images, Graph& to) {
  std::unordered_map<Node, Node> image;
  for (std::size_t k = 0; k < replaced.size(); ++k) image.emplace(replaced[k], images[k]);
  for (const Node n : cone_of(from, functions, replaced)) {
    const Graph::Entry e = from[n];  // a copy: the arena may grow below
    Node made = no_node;
    if (e.op == Op::constant) {
      made = to.remake(from, e, no_node, no_node, no_node);
    } else if (e.op == Op::variable) {
      if (&from != &to) throw std::logic_error("a variable that is not replaced cannot go to another graph");
      made = n;
    } else {
      const auto moved = [&](Node operand) { return operand == no_node ? no_node : image.at(operand); };
      made = to.remake(from, e, moved(e.a), moved(e.b), moved(e.c));
    }
    image[n] = made;
  }
  std::vector<Node> result;
  for (const Node f : functions) result.push_back(image.at(f));
  return result;
}

}  // namespace hinge
