#include "expression/graph_library.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "expression/native.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

constexpr std::size_t most_constants = 500, most_kept = 4000, most_nodes_kept = 300'000;
constexpr int most_failures = 8;  // one after the other

std::uint64_t number_bits(double x) { return std::bit_cast<std::uint64_t>(x == 0 ? 0.0 : x); }

/// How the constants after a making follow from those before: a list of all numbers in it, those of the graph first.
class ConstantsMade {
 public:
  /// Nothing where it is not known where a constant comes from.
  static std::optional<ConstantsMade> of(const Graph& after, Node before, const ConstantTrace& trace) {
    ConstantsMade n;
    for (const Node c : after.constants())
      if (c < before && !n.add(after[c].value)) return std::nullopt;
    n.given_ = n.values_.size();
    for (const double x : {0.0, 1.0, -1.0}) n.require(x);
    for (const double x : trace.read) n.require(x);
    std::set<std::array<int, 4>> known;
    for (const ConstantTrace::Fold& f : trace.folds) {
      const std::array<int, 4> step{static_cast<int>(f.op), n.find(f.a), n.find(f.b), n.find(f.c)};
      if (step[1] < 0 || step[2] < 0 || step[3] < 0) return std::nullopt;
      if (!known.insert(step).second) continue;
      if (std::isnan(f.result)) return std::nullopt;
      n.add(f.result);
      n.steps_.push_back({f.op, step[1], step[2], step[3], n.find(f.result)});
    }
    for (const ConstantTrace::Test& t : trace.tests) {
      if (n.find(t.x) < 0) return std::nullopt;
      n.tests_.push_back({t.test, n.find(t.x), t.test(t.x)});
    }
    for (const Node c : after.constants()) {
      if (c < before) continue;
      n.made_.push_back(n.find(after[c].value));
      if (n.made_.back() < 0) return std::nullopt;
    }
    n.place_ = {};
    return n;
  }

  /// The values of the new constants, where these are the ones before; nothing where other expressions would be made.
  std::optional<std::vector<double>> made_of(const Graph& graph) const {
    std::vector<double> x = values_;
    const std::span<const Node> constants = graph.constants();
    if (constants.size() != given_) return std::nullopt;
    bool same = true;
    for (std::size_t k = 0; k < given_; ++k) {
      x[k] = graph[constants[k]].value;
      same = same && number_bits(x[k]) == number_bits(values_[k]);
    }
    if (!same && !follow(x)) return std::nullopt;
    std::vector<double> made;
    made.reserve(made_.size());
    for (const int k : made_) made.push_back(x[static_cast<std::size_t>(k)]);
    return made;
  }

 private:
  struct Step {
    Op op;
    int a, b, c, result;
  };
  struct Test {
    bool (*test)(double);
    int x;
    bool outcome;
  };

  int find(double x) const {
    const auto at = place_.find(number_bits(x));
    return at == place_.end() ? -1 : at->second;
  }
  bool add(double x) {
    if (std::isnan(x)) return false;
    if (place_.try_emplace(number_bits(x), static_cast<int>(values_.size())).second) values_.push_back(x);
    return true;
  }
  void require(double x) {
    if (std::isnan(x)) return;
    add(x);
    required_.push_back(find(x));
  }

  bool follow(std::vector<double>& x) const {
    for (const int k : required_)
      if (number_bits(x[static_cast<std::size_t>(k)]) != number_bits(values_[static_cast<std::size_t>(k)]))
        return false;
    std::vector<char> known(x.size(), 0);
    std::fill_n(known.begin(), given_, char{1});
    for (const int k : required_) known[static_cast<std::size_t>(k)] = 1;
    const auto value = [&](int k) { return x[static_cast<std::size_t>(k)]; };
    for (const Step& s : steps_) {
      const double result = apply_op(s.op, value(s.a), value(s.b), value(s.c));
      const auto to = static_cast<std::size_t>(s.result);
      if (known[to] && number_bits(x[to]) != number_bits(result)) return false;
      x[to] = result == 0 ? 0.0 : result;
      known[to] = 1;
    }
    for (const Test& t : tests_)
      if (t.test(value(t.x)) != t.outcome) return false;
    return all_differ(x);
  }

  // As they did.
  bool all_differ(const std::vector<double>& x) const {
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (number_bits(x[k]) == number_bits(values_[k])) continue;
      if (std::isnan(x[k])) return false;
      for (std::size_t l = 0; l < x.size(); ++l)
        if (l != k && x[l] == x[k]) return false;
    }
    return true;
  }

  std::vector<double> values_;  // as they were
  std::size_t given_ = 0;       // by the graph, of these
  std::vector<int> required_;   // these are as they were
  std::vector<Step> steps_;
  std::vector<Test> tests_;
  std::vector<int> made_;  // the new constants
  std::unordered_map<std::uint64_t, int> place_;
};

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

struct Tracing {
  ConstantTrace trace;
  Tracing() { ConstantTrace::active = &trace; }
  Tracing(const Tracing&) = delete;
  Tracing& operator=(const Tracing&) = delete;
  ~Tracing() { ConstantTrace::active = nullptr; }
};

// And keeps how, if that can be known.
std::vector<int> make_and_keep(Graph& graph, const StructureHash& key, const std::function<std::vector<int>()>& make) {
  const Node before = graph.size();
  const int variables = graph.variable_count();
  std::optional<Tracing> tracing(std::in_place);
  std::vector<int> result = make();
  const ConstantTrace trace = std::move(tracing->trace);
  tracing.reset();
  if (!fits_library(graph) || graph.variable_count() != variables) return result;
  graph.structure();
  if (auto numbers = ConstantsMade::of(graph, before, trace))
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
  const auto values = known.recipe->numbers.made_of(graph);
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
