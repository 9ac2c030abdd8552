#include "system/shared_tape.hpp"

#include <utility>

#include "expression/native.hpp"

namespace hinge {

namespace {

// Below, tapes are quickly made, and their code is found again (expression/native_library.hpp).
constexpr Node most_nodes_at_once = 20000;
// A tape takes as long as some tens of walks. The first 50 steps of a chain of 1000 links take longer with 5 or 40.
constexpr int most_walks = 15;

}  // namespace

SharedTape::SharedTape(std::shared_ptr<Source> source, std::vector<Node> outputs)
    : source_(std::move(source)), walks_left_(most_walks), outputs_(std::move(outputs)) {
  if (source_->graph.size() <= most_nodes_at_once || native_use() == NativeUse::check)
    tape_ = make_tape(source_->graph, source_->blocks, outputs_);
}

std::shared_ptr<const WalkedFunction> SharedTape::walked() {
  const std::lock_guard lock(mutex_);
  if (tape_) return nullptr;
  std::shared_ptr<const WalkedFunction> walked = walked_;
  if (!walked) walked_ = walked = std::make_shared<const WalkedFunction>(source_->graph, source_->blocks, outputs_);
  return walked;
}

std::shared_ptr<const Evaluator> SharedTape::tape() {
  {
    const std::lock_guard lock(mutex_);
    if (tape_ || --walks_left_ >= 0) return tape_;
  }
  const std::lock_guard source_lock(source_->mutex);  // first this one, as those do who ask for evaluations
  const std::lock_guard lock(mutex_);
  if (!tape_) {
    source_->drafts = {};  // a tape takes memory, and what is to be derived has been derived by now
    tape_ = make_tape(source_->graph, source_->blocks, outputs_);
    outputs_ = {};
    walked_ = nullptr;
  }
  return tape_;
}

}  // namespace hinge
