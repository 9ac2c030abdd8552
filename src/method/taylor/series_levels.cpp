// Which order each operation has at which stage, what is known when, and the order within a stage.
#include <algorithm>

#include "hinge/error.hpp"
#include "method/taylor/series_builder.hpp"

namespace hinge {

void SeriesBuilder::find_reach() {
  for (bool changed = true; changed;) {
    changed = false;
    for (const Draft& op : ops_) {
      if (op.dead) continue;
      int reach = unlimited;
      if (op.reach >= 0)
        reach = slots_[at(op.reach)].reach;
      else
        for_each_operand(op, [&](Operand o) {
          if (slots_[at(o.slot)].reach < unlimited) reach = std::min(reach, slots_[at(o.slot)].reach - o.shift);
        });
      if (op.kind == Kind::step) reach = unlimited;
      int& known = slots_[at(op.result)].reach;
      changed = changed || reach < known;
      known = std::min(known, reach);
    }
  }
}

void SeriesBuilder::find_levels() {
  for (const auto& e : f_.equations) raise(slot(e.node), e.c);
  for (const auto& y : f_.integrals) raise(slot(y.node), y.d);
  for (bool changed = true; changed;) {
    changed = false;
    for (const Draft& op : ops_) {
      const int level = slots_[at(op.result)].level;
      if (op.dead || level == not_needed) continue;
      for_each_operand(op, [&](Operand o) { changed = raise(o.slot, level + o.shift) || changed; });
      if (op.kind == Kind::integral && op.has_value)
        for (const int s : {op.a, op.b})
          if (s >= 0) changed = raise(s, level) || changed;
    }
  }
}
// Order zero of what can be known at stage 0 is known there: weights are made of it.
bool SeriesBuilder::raise(int s, int level) {
  Slot& slot = slots_[at(s)];
  level = std::max(level, std::min(0, slot.reach));
  if (level <= slot.level) return false;
  if (level > slot.reach)
    throw UnsuitableMethod(
        "an equation contains a derivative that its structure does not know of, which taylor cannot expand; use "
        "radau");
  slot.level = level;
  return true;
}

// Operations of a stage, those that others need first.
std::vector<int> SeriesBuilder::sorted() const {
  std::vector<int> order, stack;
  std::vector<char> mark(ops_.size(), 0);
  for (std::size_t first = 0; first < ops_.size(); ++first) {
    if (ops_[first].dead || slots_[at(ops_[first].result)].level == not_needed) continue;
    stack.push_back(static_cast<int>(first));
    while (!stack.empty()) {
      const int k = stack.back();
      if (mark[at(k)] == 2) {
        stack.pop_back();
        continue;
      }
      if (mark[at(k)] == 1) {
        mark[at(k)] = 2;
        order.push_back(k);
        stack.pop_back();
        continue;
      }
      mark[at(k)] = 1;
      for_each_operand(ops_[at(k)], [&](Operand o) {
        if (const int p = producer(o.slot); p >= 0 && in_stage(ops_[at(k)], o) && mark[at(p)] == 0) stack.push_back(p);
      });
    }
  }
  return order;
}

// Slots in the order in which they are written, without those of sums that became parts of others.
void SeriesBuilder::renumber(const std::vector<int>& order) {
  std::vector<int> fresh(slots_.size(), -1);
  std::vector<Slot> slots;
  const auto place = [&](int& s) {
    if (s < 0) return;
    int& number = fresh[at(s)];
    if (number < 0) {
      number = static_cast<int>(slots.size());
      slots.push_back(slots_[at(s)]);
    }
    s = number;
  };
  for (int s = 0; const auto& e : f_.equations) s = slot(e.node), place(s);
  for (int s = 0; const auto& x : f_.unknowns) s = slot(x.node), place(s);
  for (int s = 0; const auto& y : f_.integrals) s = slot(y.node), place(s);
  place(program_.t_slot);
  for (auto& [value, s] : constants_) place(s);
  for (const int k : order) {
    Draft& op = ops_[at(k)];
    for (auto* list : {&op.linear, &op.products})
      for (Term& term : *list) place(term.a), place(term.b);
    for (int* s : {&op.a, &op.b, &op.c, &op.result}) place(*s);
  }
  for (int& s : slot_of_)
    if (s >= 0) s = fresh[at(s)];
  slots_ = std::move(slots);
}

// Whose last coefficient matters after its stage: what is multiplied, integrals, quotients and roots, which read their
// own, and what these are made of. A sum that is an equation and nothing else is zero then.
void SeriesBuilder::find_used(const std::vector<int>& order) {
  for (const auto& y : f_.integrals) slots_[at(slot(y.node))].used = true;
  for (const auto& e : f_.equations)
    if (Slot& s = slots_[at(slot(e.node))]; s.level != e.c) s.used = true;
  for (const int k : order)
    for_each_operand(ops_[at(k)], [&](Operand o) {
      if (ops_[at(k)].kind != Kind::sum) slots_[at(o.slot)].used = true;
    });
  for (const int k : order)
    if (const Kind kind = ops_[at(k)].kind; kind == Kind::quotient || kind == Kind::root)
      slots_[at(ops_[at(k)].result)].used = true;
  // and what another equation reads at a later stage
  for (const int k : order)
    for (const Term& term : ops_[at(k)].linear)
      if (!in_stage(ops_[at(k)], {term.a, 0})) slots_[at(term.a)].used = true;
  for (const int k : order)
    for (const Term& term : ops_[at(k)].products) slots_[at(term.a)].used = slots_[at(term.b)].used = true;
  for (bool changed = true; changed;) {
    changed = false;
    for (const int k : order)
      if (ops_[at(k)].kind == Kind::sum && slots_[at(ops_[at(k)].result)].used)
        for (const Term& term : ops_[at(k)].linear) changed = !std::exchange(slots_[at(term.a)].used, true) || changed;
  }
}

void SeriesBuilder::find_open(const std::vector<int>& order) {
  for (const int k : order) {
    const Draft& op = ops_[at(k)];
    for_each_operand(op, [&](Operand o) {
      if (in_stage(op, o) && slots_[at(o.slot)].open && op.kind != Kind::step) slots_[at(op.result)].open = true;
    });
  }
}

// What is zero after the first stages until the stage is complete: the unknowns, constants, and what is made of their
// coefficients of the stage alone.
void SeriesBuilder::find_nothing(const std::vector<int>& order) {
  for (const int k : order) {
    Draft& op = ops_[at(k)];
    op.nothing = op.kind == Kind::step ||
                 (op.products.empty() && op.kind != Kind::quotient && op.kind != Kind::root && op.kind != Kind::cubic);
    if (!op.nothing || op.kind == Kind::step) continue;
    for_each_operand(op, [&](Operand o) {
      const int level = slots_[at(op.result)].level + o.shift;
      if (operand(o.slot, level).where != P::Where::nothing) op.nothing = false;
    });
  }
}

}  // namespace hinge
