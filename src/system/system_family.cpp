#include "system/system_family.hpp"

#include <algorithm>

#include "expression/lane_code.hpp"
#include "expression/native.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

// Larger systems take longer to run than to be made.
constexpr Node most_nodes = 5000;
constexpr std::size_t most_constants = 500;

bool fits(const Graph& graph) {
  return graph.size() <= most_nodes && graph.constants().size() <= most_constants && !graph.has_tables();
}

void append_constants(const Graph& graph, std::vector<double>& to) {
  for (const Node n : graph.constants()) to.push_back(graph[n].value);
}

}  // namespace

std::shared_ptr<const SystemFamily> SystemFamily::found(const std::shared_ptr<const System>& first,
                                                        std::vector<double> given, ConstantTrace making,
                                                        std::vector<double> others) {
  auto symbolic = std::dynamic_pointer_cast<const SymbolicSystem>(first);
  if (!symbolic || native_use() == NativeUse::off) return nullptr;
  const Equations& eq = symbolic->equations();
  const SystemHooks& hooks = symbolic->hooks();
  if (!eq.source || !fits(*eq.graph) || !fits(*eq.source) || hooks.contacts || hooks.move || hooks.bodies)
    return nullptr;
  std::shared_ptr<SystemFamily> family(
      new SystemFamily(std::move(symbolic), std::move(given), std::move(making), std::move(others)));
  const std::lock_guard hold(family->mutex_);
  return family->look() ? family : nullptr;
}

SystemFamily::SystemFamily(std::shared_ptr<const SymbolicSystem> first, std::vector<double> given, ConstantTrace making,
                           std::vector<double> others)
    : first_(std::move(first)), given_(std::move(given)), others_(std::move(others)), making_(std::move(making)) {
  first_->derivations_ = &making_;
  const Equations& eq = first_->equations();
  before_derived_ = eq.graph->constants().size() + eq.source->constants().size() + others_.size();
}

SystemFamily::~SystemFamily() { first_->derivations_ = nullptr; }

std::vector<double> SystemFamily::numbers() const {
  std::vector<double> all;
  append_constants(*first_->equations().graph, all);
  append_constants(*first_->equations().source, all);
  all.insert(all.end(), others_.begin(), others_.end());
  append_constants(first_->derived_->graph, all);
  return all;
}

// Null where it is not known how the numbers follow.
std::shared_ptr<const SystemFamily::Snapshot> SystemFamily::look() const {
  const Graph& derived = first_->derived_->graph;
  std::uint32_t known = 0;
  for (std::size_t k = 0; k < first_->entries_.size(); ++k)
    if (first_->entries_[k]) known |= std::uint32_t{1} << k;
  if (looked_at_ == derived.size() && snapshot_ && snapshot_->known == known) return snapshot_;
  looked_at_ = derived.size();
  auto made = ConstantsMade::of(given_, making_, numbers());
  if (!made || !fits(derived)) return snapshot_ = nullptr;
  auto snapshot = std::make_shared<Snapshot>(Snapshot{.numbers = std::move(*made)});
  snapshot->known = known;
  snapshot->nodes = derived.size();
  for (std::size_t k = 0; k < snapshot->entries.size(); ++k) {
    if (!first_->entries_[k]) continue;
    const Entry& entry = *first_->entries_[k];
    snapshot->entries[k] = &entry;
    if (std::all_of(entry.nodes.begin(), entry.nodes.end(), [&](Node n) { return derived.is_constant(n); }))
      snapshot->constant |= std::uint32_t{1} << k;
  }
  return snapshot_ = std::move(snapshot);
}

std::optional<SystemFamily::Member> SystemFamily::member(std::span<const double> given) const {
  std::shared_ptr<const Snapshot> known;
  {
    const std::lock_guard hold(mutex_);
    known = look();
  }
  if (!known) return std::nullopt;
  std::optional<std::vector<double>> numbers = known->numbers.made_of(given);
  if (!numbers) return std::nullopt;
  const Equations& eq = first_->equations();
  const std::span<const double> all(*numbers);
  const std::size_t of_graph = eq.graph->constants().size(), of_source = eq.source->constants().size();
  auto graph = std::make_shared<Graph>(*eq.graph), source = std::make_shared<Graph>(*eq.source);
  graph->set_constants(all.first(of_graph));
  source->set_constants(all.subspan(of_graph, of_source));
  const auto others = all.subspan(of_graph + of_source, others_.size());
  Member m{nullptr, source, {others.begin(), others.end()}};
  Equations own = eq;
  own.graph = std::move(graph);
  own.source = source;
  m.system = std::shared_ptr<const SymbolicSystem>(
      new SymbolicSystem(*first_, std::move(own), {shared_from_this(), std::move(known), std::move(*numbers)}));
  return m;
}

// ---- What members ask for -------------------------------------------------------------------------------------------

void SystemFamily::learn(Quantity q) const {
  const std::lock_guard hold(mutex_);
  static_cast<void>(first_->pattern(q));
}

Graph SystemFamily::graph_of(const Snapshot& known, std::span<const double> numbers) const {
  Graph graph;
  {
    const std::lock_guard hold(mutex_);
    graph = first_->derived_->graph;
  }
  graph.return_to({known.nodes, 0});
  graph.set_constants(numbers.subspan(before_derived_));
  return graph;
}

std::shared_ptr<const SystemFamily::Tape> SystemFamily::tape(std::uint32_t quantities, const Snapshot& known) const {
  const std::lock_guard hold(mutex_);
  const auto [at, is_new] = tapes_.try_emplace(quantities);
  if (is_new) at->second = make_tape_of(quantities, known);
  return at->second;
}

std::shared_ptr<const SystemFamily::Tape> SystemFamily::make_tape_of(std::uint32_t quantities,
                                                                     const Snapshot& known) const {
  std::vector<Node> outputs;
  Tape tape;
  for (std::size_t k = 0; k < known.entries.size(); ++k) {
    if (!(quantities >> k & 1U)) continue;
    const std::vector<Node>& nodes = known.entries[k]->nodes;
    outputs.insert(outputs.end(), nodes.begin(), nodes.end());
    tape.parts.emplace_back(static_cast<Quantity>(k), nodes.size());
  }
  const Graph& graph = first_->derived_->graph;
  tape.evaluator = make_tape(graph, first_->derived_->blocks, outputs);
  const auto* places = constants_in_code(*tape.evaluator);
  if (!places) return nullptr;
  tape.scratch = tape.evaluator->make_scratch();
  const std::span<const Node> constants = graph.constants();
  for (const auto& [slot, node] : *places) {
    const auto place = std::lower_bound(constants.begin(), constants.end(), node) - constants.begin();
    tape.constants.emplace_back(slot, static_cast<std::int32_t>(before_derived_) + static_cast<std::int32_t>(place));
  }
  return std::make_shared<const Tape>(std::move(tape));
}

std::shared_ptr<const SystemFamily::Function> SystemFamily::function(const FunctionKey& key,
                                                                     const MakeFunction& make) const {
  const std::lock_guard hold(mutex_);
  const auto [at, is_new] = functions_.try_emplace(key);
  if (!is_new) return at->second;
  try {
    at->second = make_function(make);
  } catch (const Error&) {  // the member will say it of its own numbers
  }
  return at->second;
}

std::shared_ptr<const SystemFamily::Function> SystemFamily::make_function(const MakeFunction& make) const {
  const std::vector<double> given = numbers();
  ConstantTrace trace;
  FunctionDraft draft;
  {
    const ConstantTracing tracing;
    draft = make(*first_);
    trace = tracing.trace();
  }
  Function function;
  function.evaluator = make_tape(draft.graph, draft.blocks, draft.outputs);
  const auto* places = constants_in_code(*function.evaluator);
  if (!places || draft.graph.has_tables()) return nullptr;
  std::vector<double> made;
  for (const auto& [slot, node] : *places) {
    function.slots.push_back(slot);
    made.push_back(draft.graph[node].value);
  }
  auto numbers = ConstantsMade::of(given, trace, made);
  if (!numbers) return nullptr;
  function.numbers = std::move(*numbers);
  function.scratch = function.evaluator->make_scratch();
  function.lanes =
      std::make_shared<LaneCode>(std::move(draft.graph), std::move(draft.blocks), std::move(draft.outputs));
  return std::make_shared<const Function>(std::move(function));
}

// ---- Of a member ----------------------------------------------------------------------------------------------------

SymbolicSystem::SymbolicSystem(const SymbolicSystem& first, Equations equations, Kin kin)
    : System(first.layout(), first.structure()),
      eq_(std::move(equations)),
      hash_(first.hash_),
      kin_(std::make_unique<Kin>(std::move(kin))),
      derived_(std::make_shared<SharedTape::Source>()) {
  derived_->blocks = first.derived_->blocks;
}

SymbolicSystem::~SymbolicSystem() = default;

// What the family knew when this one was made; nothing else, later.
const SymbolicSystem::Entry* SymbolicSystem::of_family(Quantity q) const {
  return kin_ ? kin_->known->entries[static_cast<std::size_t>(q)] : nullptr;
}

// From now on it has a graph of derivatives: as the family's was, with its own constants.
void SymbolicSystem::derive_alone() const {
  if (!kin_ || kin_->alone) return;
  derived_->graph = kin_->family->graph_of(*kin_->known, kin_->numbers);
  kin_->alone = true;
}

FunctionMade SymbolicSystem::function(const FunctionKey& key, const MakeFunction& make) const {
  const auto alone = [&] {
    const FunctionDraft draft = make(*this);
    FunctionMade made{make_tape(draft.graph, draft.blocks, draft.outputs), {}};
    made.scratch = made.evaluator->make_scratch();
    return made;
  };
  if (!kin_) return alone();
  const auto known = kin_->family->function(key, make);
  if (!known || known->numbers.given() > kin_->numbers.size()) return alone();
  const auto constants = known->numbers.made_of(std::span(kin_->numbers).first(known->numbers.given()));
  if (!constants) return alone();
  FunctionMade made{known->evaluator, known->scratch, known->lanes};
  for (std::size_t k = 0; k < constants->size(); ++k)
    made.scratch[static_cast<std::size_t>(known->slots[k])] = (*constants)[k];
  if (native_use() == NativeUse::check && alone().scratch != made.scratch)
    throw Error("constants of a function that was found are not those of the one that is made; this is a bug");
  return made;
}

}  // namespace hinge
