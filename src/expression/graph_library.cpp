#include "expression/graph_library.hpp"

#include <algorithm>
#include <atomic>
#include <bit>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include "expression/constants_made.hpp"
#include "expression/native.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_constants = 500, most_kept = 4000, most_nodes_kept = 300'000;
constexpr int most_failures = 8;  // one after the other

std::uint64_t number_bits(double x) { return std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x); }

std::vector<double> values_of(const Graph& graph, std::span<const Node> constants) {
  std::vector<double> values;
  values.reserve(constants.size());
  for (const Node c : constants) values.push_back(graph[c].value);
  return values;
}

struct Recipe {
  Graph after;
  std::vector<int> result;
  ConstantsMade numbers;
};

struct KnownMaking {
  std::shared_ptr<const Recipe> recipe;  // null where it was made once: who makes it once makes it for nobody else
  int failures = 0;
};

class RecipeShelf {
 public:
  /// Makes a place for it where there is none.
  std::pair<KnownMaking, bool> find(const StructureHash& key) {
    const std::lock_guard hold(mutex_);
    const auto [at, is_new] = known_.try_emplace(key);
    if (is_new) {
      order_.push_back(key);
      while (order_.size() > most_kept) drop_oldest();
    }
    return {at->second, is_new};
  }

  void keep(const StructureHash& key, std::shared_ptr<const Recipe> recipe) {
    const std::lock_guard hold(mutex_);
    const auto at = known_.find(key);
    if (at == known_.end()) return;
    if (at->second.recipe) nodes_ -= at->second.recipe->after.size();
    nodes_ += recipe->after.size();
    at->second.recipe = std::move(recipe);
    while (nodes_ > static_cast<std::int64_t>(most_nodes_kept) && order_.size() > 1) drop_oldest();
  }

  void note(const StructureHash& key, bool failed) {
    const std::lock_guard hold(mutex_);
    if (const auto at = known_.find(key); at != known_.end())
      at->second.failures = failed ? at->second.failures + 1 : 0;
  }

  void forget_all() {
    const std::lock_guard hold(mutex_);
    known_.clear();
    order_.clear();
    nodes_ = 0;
  }

 private:
  void drop_oldest() {
    const auto at = known_.find(order_.front());
    if (at->second.recipe) nodes_ -= at->second.recipe->after.size();
    known_.erase(at);
    order_.pop_front();
  }

  std::mutex mutex_;
  std::map<StructureHash, KnownMaking> known_;
  std::deque<StructureHash> order_;  // of their coming
  std::int64_t nodes_ = 0;
};

RecipeShelf& recipes() {
  static RecipeShelf all;
  return all;
}

std::atomic<long> times_found{0};

bool fits_library(const Graph& graph) {
  return graph.size() <= GraphLibrary::most_nodes && graph.constants().size() <= most_constants && !graph.has_tables();
}

// And keeps how, if that can be known.
std::vector<int> make_and_keep(Graph& graph, const StructureHash& key, const std::function<std::vector<int>()>& make) {
  const Node before = graph.size();
  const int variables = graph.variable_count();
  std::optional<ConstantTracing> tracing(std::in_place);
  std::vector<int> result = make();
  const ConstantTrace trace = tracing->trace();
  tracing.reset();
  if (!fits_library(graph) || graph.variable_count() != variables) return result;
  graph.structure();
  const std::span<const Node> constants = graph.constants();
  const auto first_new = std::lower_bound(constants.begin(), constants.end(), before);
  const auto given = static_cast<std::size_t>(first_new - constants.begin());
  const std::vector<double> values = values_of(graph, constants);
  if (auto numbers = ConstantsMade::of(std::span(values).first(given), trace, std::span(values).subspan(given)))
    recipes().keep(key, std::make_shared<const Recipe>(Recipe{graph, result, std::move(*numbers)}));
  return result;
}

bool same_nodes(const Graph& a, const Graph& b) {
  bool same = a.size() == b.size();
  for (Node n = 0; same && n < a.size(); ++n) {
    const Graph::Entry &x = a[n], &y = b[n];
    same = x.op == y.op && x.a == y.a && x.b == y.b && x.c == y.c && number_bits(x.value) == number_bits(y.value);
  }
  return same;
}

}  // namespace

std::vector<int> GraphLibrary::once(Graph& graph, Key key, const std::function<std::vector<int>()>& make) {
  if (ConstantTrace::active || !fits_library(graph)) return make();
  const StructureHash structure = graph.structure();
  key.with(structure.one).with(structure.other).with(static_cast<std::uint64_t>(graph.size()));
  const auto [known, is_new] = recipes().find(key);
  if (is_new || known.failures >= most_failures) return make();
  if (!known.recipe) return make_and_keep(graph, key, make);
  const auto values = known.recipe->numbers.made_of(values_of(graph, graph.constants()));
  if (known.failures > 0 || !values) recipes().note(key, !values);
  if (!values) return make_and_keep(graph, key, make);
  if (native_use() == NativeUse::check) {
    Graph again = graph;
    again.extend(known.recipe->after, *values);
    if (make() != known.recipe->result || !same_nodes(graph, again))
      throw Error("expressions that were found again are not those that are made; this is a bug");
    return known.recipe->result;
  }
  graph.extend(known.recipe->after, *values);
  times_found.fetch_add(1, std::memory_order_relaxed);
  return known.recipe->result;
}

long GraphLibrary::found() { return times_found.load(std::memory_order_relaxed); }
void GraphLibrary::forget_all() { recipes().forget_all(); }

}  // namespace hinge
