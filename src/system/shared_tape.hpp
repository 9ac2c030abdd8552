// One list of outputs of a system, for all evaluations that ask for it.
//
// Large ones are walked at first, and arranged into a tape, or translated, after they have been asked so often that it
// pays. Many are asked once or twice, by what looks at a start.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "expression/evaluator.hpp"
#include "expression/graph.hpp"
#include "expression/walked_function.hpp"

namespace hinge {

class SharedTape {
 public:
  /// A copy of the graph of a system in which one quantity after the other is derived and then forgotten.
  struct Draft {
    Graph graph;
    Graph::Mark mark;
    std::vector<Node> image;  // in the graph of the source, of what stays here
    std::vector<Node> rate;   // g_t + g_y v and w, which stay
  };
  /// The graph of a system, which grows, and its inputs.
  struct Source {
    std::mutex mutex;  // of all but the blocks
    Graph graph;
    std::vector<std::vector<Node>> blocks;
    std::array<std::optional<Draft>, 2> drafts;  // of quantities that need no rate, and of others
  };

  /// The source is locked by the caller.
  SharedTape(std::shared_ptr<Source> source, std::vector<Node> outputs);

  /// What to use for the next evaluation, which is counted: null where it is to be walked.
  std::shared_ptr<const Evaluator> tape();
  /// Null where there is a tape. The source is locked by the caller.
  std::shared_ptr<const WalkedFunction> walked();

 private:
  const std::shared_ptr<Source> source_;
  std::mutex mutex_;  // of all below
  int walks_left_;
  std::vector<Node> outputs_;
  std::shared_ptr<const WalkedFunction> walked_;
  std::shared_ptr<const Evaluator> tape_;
};

}  // namespace hinge
