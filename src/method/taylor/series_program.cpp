#include "method/taylor/series_program.hpp"

#include <algorithm>
#include <cmath>

#include "method/taylor/series_builder.hpp"

namespace hinge {

SeriesProgram SeriesBuilder::build() {
  make_variables();
  make_operations();
  find_reach();
  find_levels();
  const std::vector<int> order = sorted();
  renumber(order);
  find_open(order);
  find_used(order);
  find_nothing(order);
  for (const int k : order) program_.most = std::max(program_.most, slots_[at(ops_[at(k)].result)].level);
  for (const auto& x : f_.unknowns) program_.most = std::max(program_.most, x.d);
  for (const auto& [value, s] : constants_)
    if (s >= 0) program_.constants.emplace_back(value, s);
  for (const int k : order) write_operation(ops_[at(k)]);
  for (const int k : order) write_completion(ops_[at(k)]);
  program_.slots = static_cast<int>(slots_.size());
  for (const Slot& s : slots_) program_.level_of.push_back(s.constant || s.level == not_needed ? P::always : s.level);
  program_.level_of[at(program_.t_slot)] = P::always;
  pack_lanes();
  write_closed(order);
  std::vector<char> read(slots_.size(), 0);
  for (const P::Part& part : program_.parts) read[at(part.operand)] = 1;
  for (P::Completion& c : program_.completions) c.read = read[at(c.result)] != 0;
  for (const auto& x : f_.unknowns) program_.unknowns.push_back({slot(x.node), x.d, read[at(slot(x.node))] != 0});
  for (const auto& x : program_.unknowns) program_.kept[at(x.slot)] = 1;
  for (const auto& c : program_.completions) program_.kept[at(c.result)] = 1;
  for (const auto& y : f_.integrals) program_.integrals.push_back(slot(y.node));
  for (const auto& e : f_.equations) program_.equations.push_back(operand(slot(e.node), e.c));
  return std::move(program_);
}

// The coefficient of order k + level.
SeriesProgram::Operand SeriesBuilder::operand(int s, int level) const {
  if (s < 0) return {};
  const Slot& slot = slots_[at(s)];
  if (slot.constant) return {s, level, P::Where::nothing};
  const bool moves = slot.op >= 0 || slot.open;  // t is in its place from the beginning
  if (!moves || slot.level != level) return {s, level, P::Where::earlier};
  return {s, level, slot.op < 0 || ops_[at(slot.op)].nothing ? P::Where::nothing : P::Where::stage};
}

void SeriesBuilder::write_operation(const Draft& op) {
  SeriesProgram& p = program_;
  const auto size = [](const auto& list) { return static_cast<int>(list.size()); };
  const int level = slots_[at(op.result)].level, read = level + shift_of(op);
  P::Operation o{.kind = op.kind,
                 .function = op.function,
                 .has_value = op.has_value,
                 .nothing = op.nothing,
                 .level = level,
                 .result = op.result,
                 .a = operand(op.a, read),
                 .b = operand(op.b, read),
                 .c = operand(op.c, read),
                 .linear = size(p.linear),
                 .groups = size(p.groups),
                 .constant = op.constant,
                 .state = op.state};
  for (const Term& t : op.linear) p.linear.push_back({t.factor, operand(t.a, read)});
  o.linear_end = size(p.linear);
  std::vector<Term> products = op.products;
  std::stable_sort(products.begin(), products.end(),
                   [](const Term& a, const Term& b) { return std::abs(a.factor) > std::abs(b.factor); });
  for (const Term& t : products) {
    const bool fresh = size(p.groups) == o.groups || std::abs(p.groups.back().factor) != std::abs(t.factor);
    if (fresh) p.groups.push_back({t.factor, size(p.products), 0});
    p.products.push_back({t.factor != p.groups.back().factor, operand(t.a, read), operand(t.b, read)});
    p.groups.back().end = size(p.products);
    p.first_block = std::max(p.first_block, P::block - read);
  }
  o.groups_end = size(p.groups);
  if (op.kind == Kind::quotient || op.kind == Kind::root) p.first_block = std::max(p.first_block, P::block - level);
  p.operations.push_back(o);
}

void SeriesBuilder::write_completion(const Draft& op) {
  const Slot& result = slots_[at(op.result)];
  if (!result.open || !result.used) return;
  std::vector<P::Part>& parts = program_.parts;
  const int first = static_cast<int>(parts.size());
  const auto part = [&](int operand, Weight kind, double factor = 1, int s = -1, int other = -1) {
    if (operand >= 0 && slots_[at(operand)].open && in_stage(op, {operand, shift_of(op)}))
      parts.push_back({kind, factor, operand, s, other});
  };
  for (const Term& term : op.linear) part(term.a, Weight::number, term.factor);
  for (const Term& term : op.products) {
    const bool square = term.a == term.b;
    part(term.a, Weight::times, square ? 2 * term.factor : term.factor, term.b);
    if (!square) part(term.b, Weight::times, term.factor, term.a);
  }
  switch (op.kind) {
    case Kind::derivative:
    case Kind::offset: part(op.a, Weight::number); break;
    case Kind::quotient:
      part(op.a, Weight::over, 1, op.b);
      part(op.b, Weight::minus_ratio, 1, op.result, op.b);
      break;
    case Kind::root: part(op.a, Weight::half_over, 1, op.result); break;
    case Kind::choose:
      part(op.a, Weight::state, 1, op.state, 3);
      part(op.b, Weight::state, 1, op.state, 4);
      part(op.c, Weight::state, 1, op.state, 5);
      break;
    case Kind::cubic:
      part(op.a, Weight::state, 1, op.state, 1);
      part(op.b, Weight::state, 1, op.state, 2);
      part(op.c, Weight::state, 1, op.state, 3);
      break;
    default: break;
  }
  program_.completions.push_back({op.result, result.level, first, static_cast<int>(parts.size()), op.nothing, false});
}

// What is read within sums of products, or after its stage, in its own place. What is zero stays so.
void SeriesBuilder::write_closed(const std::vector<int>& order) {
  std::vector<char> read(slots_.size(), 0);
  program_.kept.assign(slots_.size(), 0);
  const auto in_lane = [&](const Draft& op) { return program_.lane_of[at(op.result)].four >= 0; };
  for (const auto& y : f_.integrals) read[at(slot(y.node))] = 1;
  for (const int k : order) {
    const Draft& op = ops_[at(k)];
    for (const Term& t : op.linear)
      if (!in_stage(op, {t.a, shift_of(op)})) read[at(t.a)] = 1;
    if (op.kind != Kind::integral)
      for (const int s : {op.a, op.b, op.c})
        if (s >= 0 && !in_stage(op, {s, shift_of(op)})) read[at(s)] = 1;
    if (in_lane(op)) continue;
    for (const Term& t : op.products) read[at(t.a)] = read[at(t.b)] = 1;
    if (op.kind == Kind::quotient) read[at(op.b)] = 1;
    if (op.kind == Kind::quotient || op.kind == Kind::root) read[at(op.result)] = 1;
  }
  program_.gathered.assign(slots_.size(), 0);
  for (const int k : order) {
    const Draft& op = ops_[at(k)];
    if (!in_lane(op)) continue;
    const auto gather = [&](int s) {
      if (s >= 0 && in_stage(op, {s, shift_of(op)})) program_.gathered[at(s)] = 1;
    };
    for (const Term& t : op.linear) gather(t.a);
    if (op.kind != Kind::integral) gather(op.a);
  }
  for (P::Four& four : program_.fours) {
    four.beside = !four.series;
    for (const int k : four.operation)
      four.beside = four.beside || program_.gathered[at(program_.operations[at(k)].result)];
  }
  for (const int k : order) {
    const int r = ops_[at(k)].result;
    if (!read[at(r)] || slots_[at(r)].open || ops_[at(k)].nothing) continue;
    if (in_lane(ops_[at(k)]))
      program_.closed.push_back({r, slots_[at(r)].level});
    else
      program_.kept[at(r)] = 1;
  }
}

SeriesProgram make_series_program(const Graph& graph, const SeriesFunctions& functions) {
  return SeriesBuilder(graph, functions).build();
}

}  // namespace hinge
