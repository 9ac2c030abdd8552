#include "expression/native_library.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace hinge {

namespace {

// Larger functions are evaluated for longer than they take to be compiled.
constexpr Node most_nodes_of_code = 20000;
constexpr std::size_t most_functions = 1000, most_bytes = std::size_t{8} << 20;

struct Known {
  NativeFunction native;
  TapePlaces places;
};

class Shelf {
 public:
  std::shared_ptr<const Known> find(const NativeLibrary::Key& key) {
    const std::lock_guard hold(mutex_);
    const auto at = known_.find(key);
    return at == known_.end() ? nullptr : at->second;
  }

  void keep(const NativeLibrary::Key& key, std::shared_ptr<const Known> function) {
    const std::lock_guard hold(mutex_);
    const std::size_t bytes = function->native.code->size();
    if (!known_.try_emplace(key, std::move(function)).second) return;  // another thread was faster
    order_.push_back(key);
    bytes_ += bytes;
    while (order_.size() > most_functions || (bytes_ > most_bytes && order_.size() > 1)) {
      const auto oldest = known_.find(order_.front());
      bytes_ -= oldest->second->native.code->size();
      known_.erase(oldest);
      order_.pop_front();
    }
  }

  void forget_all() {
    const std::lock_guard hold(mutex_);
    known_.clear();
    order_.clear();
    bytes_ = 0;
  }

 private:
  std::mutex mutex_;
  std::map<NativeLibrary::Key, std::shared_ptr<const Known>> known_;
  std::deque<NativeLibrary::Key> order_;  // of their coming
  std::size_t bytes_ = 0;
};

Shelf& shelf() {
  static Shelf all;
  return all;
}

}  // namespace

std::optional<NativeLibrary::Key> NativeLibrary::key(const Graph& graph, std::span<const std::vector<Node>> blocks,
                                                     std::span<const Node> outputs) {
  if (graph.size() > most_nodes_of_code) return std::nullopt;
  StructureHash hash = graph.structure();
  hash.add(blocks.size());
  for (const auto& block : blocks) hash.add(block);
  hash.add(outputs);
  return Key{hash.one, hash.other, static_cast<std::uint64_t>(graph.size())};
}

std::unique_ptr<Evaluator> NativeLibrary::find(const Key& key, const Graph& graph) {
  const std::shared_ptr<const Known> known = shelf().find(key);
  if (!known) return nullptr;
  count_native_function();
  return with_native_code(known->native, known->places.make_scratch(known->native.scratch, graph),
                          known->places.output_count, nullptr);
}

void NativeLibrary::keep(const Key& key, const NativeFunction& native, const TapePlaces& places) {
  if (native.tables) return;  // whose places in memory are in the code
  TapePlaces needed = places;
  needed.slot = {};
  shelf().keep(key, std::make_shared<const Known>(Known{native, std::move(needed)}));
}

void NativeLibrary::forget_all() { shelf().forget_all(); }

}  // namespace hinge
