#include "expression/native_library.hpp"

#include <deque>
#include <map>
#include <mutex>
#include <utility>

namespace hinge {

namespace {

// Larger functions are evaluated for longer than they take to be compiled.
constexpr Node most_nodes = 20000;
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
  if (graph.size() > most_nodes) return std::nullopt;
  std::uint64_t one = 0, other = 0;
  const auto add = [&](std::uint64_t x) {
    one = (one ^ x) * 0x9E3779B97F4A7C15ULL;
    one ^= one >> 29;
    other = (other + x) * 0xD6E8FEB86659FD93ULL;
    other ^= other >> 32;
  };
  const auto both = [](Node a, Node b) {
    return static_cast<std::uint64_t>(static_cast<std::uint32_t>(a)) << 32 | static_cast<std::uint32_t>(b);
  };
  for (Node n = 0; n < graph.size(); ++n) {
    const Graph::Entry& e = graph[n];
    const auto kind = static_cast<std::uint64_t>(e.op) << 56;
    if (e.op == Op::constant)
      add(kind);
    else if (e.c < 0)
      add(kind ^ both(e.a, e.b));
    else
      add(kind ^ both(e.a, e.b)), add(static_cast<std::uint64_t>(e.c));
  }
  const auto add_all = [&](std::span<const Node> nodes) {
    add(nodes.size());
    for (const Node n : nodes) add(static_cast<std::uint64_t>(n));
  };
  add(blocks.size());
  for (const auto& block : blocks) add_all(block);
  add_all(outputs);
  return Key{one, other, static_cast<std::uint64_t>(graph.size())};
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
