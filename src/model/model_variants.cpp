#include "model/model_variants.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "model/override.hpp"
#include "system/system_family.hpp"

namespace hinge {

std::string settings_text(const std::vector<Override>& overrides) {
  std::string text;
  for (const Override& o : overrides) text.append(text.empty() ? "" : " ").append(o.key).append("=").append(o.value);
  return text;
}

namespace {

using Numbers = std::vector<double>;

// Numbers of parameters and at the start as they stand; nothing where one is something else.
std::optional<Numbers> numbers_of(const std::vector<Override>& values) {
  Numbers numbers;
  for (const Override& o : values) {
    if (!o.key.starts_with("parameters.") && !o.key.starts_with("initial.")) return std::nullopt;
    const std::optional<double> x = plain_number(o.value);
    if (!x) return std::nullopt;
    numbers.push_back(*x);
  }
  return numbers;
}

template <class Starts>
auto parts_of(Starts& start) {
  return std::array{&start.position, &start.velocity, &start.momentum, &start.multiplier};
}

// What is made of the expressions of a model, in the builder's graph.
template <class Action>
void for_each_expression(Model& model, Action action) {
  const auto all_of = [&](Vector& list) {
    for (std::size_t k = 0; k < list.size(); ++k) action(list[k]);
  };
  for (Model::Quantity& q : model.quantities) all_of(q.value);
  for (Event& e : model.events) {
    action(e.root);
    all_of(e.velocity);
  }
  for (Vector* part : {&model.exact.position, &model.exact.velocity, &model.exact.momentum, &model.exact.multiplier})
    all_of(*part);
}

// A model that has been read, and its family.
class ReadModel {
 public:
  // Null where it cannot be shared; `alone` is then what was read, if it was.
  static std::shared_ptr<const ReadModel> of(const std::string& text, const std::string& name,
                                             const std::vector<Override>& overrides, const Numbers& numbers,
                                             std::optional<Model>& alone) {
    VariedKeys varied{numbers.size()};
    ConstantTrace trace;
    {
      const ConstantTracing tracing;
      alone.emplace(parse_varied_model(text, name, overrides, &varied));
      trace = tracing.trace();
    }
    const bool all_read = varied.read.size() == numbers.size() &&
                          std::all_of(varied.read.begin(), varied.read.end(), [](const auto& k) { return k.second; });
    if (!all_read) return nullptr;
    Numbers start;
    for (const Numbers* part : parts_of(alone->start)) start.insert(start.end(), part->begin(), part->end());
    const auto* system = dynamic_cast<const SymbolicSystem*>(alone->system.get());
    if (!system) return nullptr;
    bool all_here = true;
    for_each_expression(
        *alone, [&](Expression& e) { all_here = all_here && (!e.graph() || e.graph() == system->equations().source); });
    if (!all_here) return nullptr;
    auto read = std::shared_ptr<ReadModel>(new ReadModel);
    read->family_ = SystemFamily::found(alone->system, numbers, std::move(trace), std::move(start));
    if (!read->family_) return nullptr;
    read->model_ = std::move(*alone);
    read->model_.view = nullptr;
    read->model_.system = nullptr;
    alone.reset();
    return read;
  }

  std::optional<Model> with(const Numbers& numbers) const {
    auto member = family_->member(numbers);
    if (!member) return std::nullopt;
    Model model = model_;
    model.system = std::move(member->system);
    for_each_expression(model, [&](Expression& e) {
      if (e.graph()) e = {member->source, e.node_in(*e.graph())};
    });
    auto x = member->others.begin();
    for (Numbers* part : parts_of(model.start)) {
      std::copy_n(x, part->size(), part->begin());
      x += std::ssize(*part);
    }
    return model;
  }

 private:
  ReadModel() = default;
  std::shared_ptr<const SystemFamily> family_;
  Model model_;  // without its system, which is the family's
};

}  // namespace

struct ModelVariants::Shelf {
  static constexpr std::size_t most_kept = 4;
  static constexpr int most_failures = 8;  // one after the other

  std::mutex mutex;  // of the next three
  std::string keys;  // of all that is kept
  std::deque<std::shared_ptr<const ReadModel>> kept;
  bool reading = false;  // does a thread read one?
  std::atomic<int> failures = 0;
  std::atomic<long> found = 0;
};

ModelVariants::ModelVariants(std::string text, std::string name, std::vector<Override> always)
    : text_(std::move(text)), name_(std::move(name)), always_(std::move(always)), shelf_(std::make_unique<Shelf>()) {}
ModelVariants::~ModelVariants() = default;

long ModelVariants::found() const { return shelf_->found; }

Model ModelVariants::with(const std::vector<Override>& values) const {
  std::vector<Override> all = always_;
  all.insert(all.end(), values.begin(), values.end());
  const std::optional<Numbers> numbers = numbers_of(values);
  if (!numbers || ConstantTrace::active) return parse_model(text_, name_, all);
  std::string keys;
  for (const Override& o : values) keys.append(o.key).append("\n").append(o.option).append("\n");
  std::deque<std::shared_ptr<const ReadModel>> kept;
  {
    const std::lock_guard hold(shelf_->mutex);
    if (shelf_->keys != keys && shelf_->kept.empty()) shelf_->keys = keys;
    if (shelf_->keys == keys) kept = shelf_->kept;
  }
  for (const auto& read : kept) {
    std::optional<Model> model = read->with(*numbers);
    if (!model) continue;
    model->settings = settings_text(all);
    ++shelf_->found;
    shelf_->failures = 0;
    return std::move(*model);
  }
  return read(all, keys, *numbers);
}

// Reads it, and keeps it for others where that may be of use.
Model ModelVariants::read(const std::vector<Override>& all, const std::string& keys, const Numbers& numbers) const {
  Shelf& shelf = *shelf_;
  bool keeps = false;
  {
    const std::lock_guard hold(shelf.mutex);
    keeps = !shelf.reading && shelf.keys == keys && shelf.failures < Shelf::most_failures;
    if (keeps) shelf.reading = true, ++shelf.failures;
  }
  if (!keeps) return parse_model(text_, name_, all);
  const struct Done {
    Shelf& shelf;
    ~Done() {
      const std::lock_guard hold(shelf.mutex);
      shelf.reading = false;
    }
  } done{shelf};
  std::optional<Model> alone;
  const auto read = ReadModel::of(text_, name_, all, numbers, alone);
  if (!read) return alone ? std::move(*alone) : parse_model(text_, name_, all);
  {
    const std::lock_guard hold(shelf.mutex);
    shelf.kept.push_front(read);
    if (shelf.kept.size() > Shelf::most_kept) shelf.kept.pop_back();
  }
  std::optional<Model> model = read->with(numbers);
  return model ? std::move(*model) : parse_model(text_, name_, all);
}

}  // namespace hinge
