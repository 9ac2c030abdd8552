// A machine for SeriesRecurrences that writes instructions. Longer than other files: it is one class, which alone knows
// what the pointers are.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "method/taylor/series_code.hpp"
#include "method/taylor/series_columns.hpp"
#include "method/taylor/series_registers.hpp"

namespace hinge {

class SeriesAssembler : public SeriesRegisters {
  using P = SeriesProgram;
  using Column = SeriesColumns::Column;

 public:
  using Row = SeriesRecurrences<SeriesAssembler>::Row;
  using Order = SeriesRecurrences<SeriesAssembler>::Order;
  /// A series of four: where its coefficients stand, and those counted from the stage.
  struct Series {
    Memory all, ahead;
  };
  SeriesAssembler(const SeriesProgram& program, const SeriesLayout& layout, void* tape,
                  SeriesCode::FirstChoice of_numbers)
      : p_(program), at_(layout), tape_(tape), first_choice_(of_numbers) {
    remembers_ = layout.inverts;  // larger systems do not wait for one number after the other
    write_constants();
  }
  const x86::Code& code() const { return code_; }
  /// One stage is written, before the first block; or one of all blocks, which are `position` stages old.
  void set_stage(int stage) { stage_ = stage, position_ = -1; }
  void set_position(int position) { position_ = position; }
  /// The sums of this block are written, or those of this one and all later ones.
  void set_version(int version, bool and_later) { version_ = version, and_later_ = and_later; }
  const SeriesLayout& layout() const { return at_; }
  int stage() const { return stage_; }
  int position() const { return position_; }
  /// A function begins: where? One for the first stages, or for the others.
  std::size_t begin(bool first) {
    const std::size_t entry = code_.size();
    code_.entry();
    in_first_ = first;
    remembered_.clear();
    base_ = first ? x86::rbx : x86::rsi;
    taken_ = 0;
    if (first) {  // functions are called: one register that they keep
      code_.push(x86::rbx);
      code_.copy_pointer(x86::rbx, x86::rsi);
      return entry;
    }
    for (const std::uint8_t r : kept_registers) code_.push(r);
    code_.load_pointer(forwards_, {x86::rdi, 0});
    code_.load_pointer(fours_, {x86::rdi, 8});
    code_.load_pointer(row_, {x86::rdi, 16});
    code_.load_pointer(count_, {x86::rdi, 24});
    return entry;
  }
  void end(bool first) {
    if (first)
      code_.pop(x86::rbx);
    else
      for (std::size_t k = kept_registers.size(); k-- > 0;) code_.pop(kept_registers[k]);
    code_.clear_upper_halves();
    code_.leave();
  }

  void next_stage() {
    code_.add_to_pointer(forwards_, 8);
    code_.add_to_pointer(fours_, 8 * P::lanes);
    code_.add_to_pointer(row_, bytes(at_.row(1, 0, -1) - at_.row(0, 0, -1)));
    for (Remembered& m : remembered_)
      if (m.at.base == forwards_) m.at.offset -= 8;
  }
  // right = inverse * right
  void multiply_by_inverse() {
    const std::size_t n = p_.equations.size(), rows = at_.height / 4;
    std::vector<int> sums;
    for (std::size_t i = 0; i < rows; ++i) sums.push_back(take());
    const int x = take(), work = take();
    for (std::size_t j = 0; j < n; ++j) {
      const Memory right = in_data(at_.right + j).memory;
      if (const Remembered* m = find(right)) {
        code_.both(x, m->r);
        code_.join(x, x, x);
      } else {
        code_.broadcast(x, right);
      }
      for (std::size_t i = 0; i < rows; ++i) {
        const Memory column = in_data(at_.inverse + j * at_.height + 4 * i).memory;
        code_.packed(Packed::multiply, j == 0 ? sums[i] : work, x, column);
        if (j > 0) code_.packed(Packed::add, sums[i], sums[i], work);
      }
    }
    give(x);
    give(work);
    for (std::size_t j = 0; j < n; ++j) forget(in_data(at_.right + j).memory);
    for (std::size_t i = 0; i < rows; ++i) {
      code_.store_four(in_data(at_.right + 4 * i).memory, sums[i]);
      if (rows <= 2)
        take_apart(sums[i], 4 * i, n);
      else
        give(sums[i]);
    }
  }

  // ---- values -------------------------------------------------------------------------------------------------------

  Value number(double x) const { return {false, -1, constant(x)}; }
  void drop(Value v) { release(v); }
  Value add(Value a, Value b) { return binary(Scalar::add, a, b, true); }
  Value subtract(Value a, Value b) { return binary(Scalar::subtract, a, b, false); }
  Value times(Value a, Value b) { return binary(Scalar::multiply, a, b, true); }
  Value times(Value a, double factor) { return factor == 1 ? a : times(a, number(factor)); }
  Value twice(Value a) {
    a = loaded(a);
    const int to = result_of(a);
    code_.scalar(Scalar::add, to, a.r, a.r);
    return result(a, to);
  }
  Value divide(Value a, Value b) { return binary(Scalar::divide, a, b, false); }
  Value root(Value a) {
    a = loaded(a);
    const int to = result_of(a);
    code_.scalar(Scalar::sqrt, to, a.r, a.r);
    return result(a, to);
  }
  Value function(Op op, int a, int b) {
    forget_all();
    code_.load(0, zero(a).memory);
    code_.load(1, b >= 0 ? zero(b).memory : constant(0));
    set_number(x86::rdi, static_cast<int>(op));
    code_.clear_upper_halves();
    code_.call(reinterpret_cast<const void*>(&apply));
    taken_ |= 1u;
    return {true, 0};
  }

  Value zero(int slot) const { return in_data(at_.series_of(slot)); }
  Value at(int slot, int m) const { return in_data(at_.series_of(slot) + static_cast<std::size_t>(m)); }
  void put(int slot, int m, Value v) { store(at(slot, m), v); }
  Value row(Row what, int level) const {
    if (in_first_) return in_data(at_.row(stage_, static_cast<int>(what), level));
    return {false, -1, {row_, bytes(at_.row(0, static_cast<int>(what), level) - at_.row(0, 0, -1))}};
  }
  Value weight(std::size_t k) const { return in_data(at_.weights + k); }
  void set_weight(std::size_t k, Value v) { store(weight(k), v); }
  Value state(int number, int which) const { return in_data(at_.state(number, which)); }
  void set_state(int number, int which, Value v) { store(state(number, which), v); }

  Value newest(int slot) const { return {false, -1, memory(at_.newest(slot))}; }
  void set(int slot, Value v) {
    v = loaded(v);
    if (at_.beside(slot) && at_.kept(slot)) code_.store(memory(at_.in_series(slot)), v.r);
    store(newest(slot), v);
  }
  Value coefficient(int slot, Order o) const {
    if (!o.ahead) return at(slot, o.order);
    return {false, -1, {forwards_, bytes(at_.series_of(slot)) + 8 * o.order}};
  }
  Value block_sum(std::size_t sums) const { return in_data(sums + static_cast<std::size_t>(position_)); }
  Value read(const P::Operand& o) const {
    if (o.where == P::Where::nothing) return number(0);
    if (o.where == P::Where::stage) return newest(o.slot);
    return {false, -1, {forwards_, bytes(at_.series_of(o.slot)) + 8 * o.level}};
  }
  void keep(int slot, int level, Value v) {
    store({false, -1, {forwards_, bytes(at_.series_of(slot)) + 8 * level}}, v);
  }
  void set_right(std::size_t i, Value v) { store(in_data(at_.right + i), v); }
  Value solution(std::size_t j) const { return in_data(at_.right + j); }
  Value change(int slot) const { return in_data(at_.change + static_cast<std::size_t>(slot)); }
  void set_change(int slot, Value v) { store(change(slot), v); }
  Value set_and_keep_change(int slot, Value v) {
    set_change(slot, v);
    return change(slot);
  }

  void make_block_sum(std::span<const P::Product> products, int level, std::size_t to) {
    const int sums[] = {take(), take()};
    for (const int s : sums) code_.bits(x86::Bits::xor_, s, s, s);
    for (const P::Product& p : products) {
      const SeriesBlocks terms(p_, p, level, version_);
      const Memory a = in_data(at_.series_of(p.a.slot)).memory;
      const Memory b{forwards_, bytes(at_.at_level(p.b.slot, level))};
      int count = 0;
      for_each_term(terms, a, b, 1, [&](int i, Memory one, Memory other) {
        add_to_block_sum(terms, i, one, other, p.minus, sums[count++ % 2]);
      });
    }
    code_.packed(Packed::add, sums[0], sums[0], sums[1]);
    code_.store_four(in_data(to).memory, sums[0]);
    for (const int s : sums) give(s);
  }

  // ---- fours: a loop over those of a step, with a table of where their operands stand -------------------------------

  Lanes add(Lanes a, Lanes b) { return binary(Packed::add, a, b); }
  Lanes subtract(Lanes a, Lanes b) { return binary(Packed::subtract, a, b); }
  Lanes times(Lanes a, Lanes b) { return binary(Packed::multiply, a, b); }
  Lanes twice(Lanes a) {
    a = loaded(a);
    code_.packed(Packed::add, a.r, a.r, a.r);
    return a;
  }
  Lanes times(Lanes a, double factor) { return factor == 1 ? a : times(a, all(number(factor))); }
  Lanes all(Value v) {
    const int r = take();
    code_.broadcast(r, v.memory);
    return {r};
  }
  Lanes gather(const std::array<P::Operand, P::lanes>& o) {
    std::array<std::uint8_t, P::lanes> from;
    for (std::size_t i = 0; i < P::lanes; ++i)
      from[i] = o[i].where == P::Where::earlier ? forwards_ : base_of(at_.newest(o[i].slot));
    return gathered(from);
  }
  Lanes states(const std::array<int, P::lanes>&) { return gathered({base_, base_, base_, base_}); }
  void set_four(int four, int, Lanes x) {
    x = loaded(x);
    if (p_.fours[static_cast<std::size_t>(four)].beside) code_.store_four(next(base_), x.r);
    if (p_.fours[static_cast<std::size_t>(four)].series) code_.store_four(next(fours_), x.r);
    give(x.r);
  }
  // Pointers to the two factors of a product in turn.
  Series series(int) {
    const Column& column = next_column();
    if (column.kind != Column::Kind::table) return {place_of(column, base_), place_of(column, fours_)};
    const std::uint8_t up = first_factor_ ? x86::r10 : x86::r12, ahead = first_factor_ ? x86::r11 : x86::r13;
    first_factor_ = !first_factor_;
    code_.load_pointer(up, {table_, column.offset});
    code_.copy_pointer(ahead, up);
    code_.add_pointers(up, base_);
    code_.add_pointers(ahead, fours_);
    return {{up, 0}, {ahead, 0}};
  }
  Lanes coefficient(const Series& s, Order o) const {
    return {-1, moved(o.ahead ? s.ahead : s.all, 8 * P::lanes * o.order)};
  }
  Memory four_sum(int, int) { return next(base_); }
  Lanes block_sum(Memory sums) { return loaded(Lanes{-1, moved(sums, 8 * P::lanes * position_)}); }
  void fours(const P::Step& step, SeriesRecurrences<SeriesAssembler>& recurrences) {
    for_clusters(step, columns_.at(step.four), [&](int four) { recurrences.one_four(four); });
  }
  void block_of_fours(const P::Step& step, SeriesRecurrences<SeriesAssembler>& recurrences) {
    for_clusters(step, block_columns_.at(step.four), [&](int four) { recurrences.block_of_four(four); });
  }
  void make_block_sum_of_four(int, int, std::span<const P::Product> products, int level) {
    const int sums[] = {take(), take(), take(), take()}, work = take(), product = take();
    for (const int s : sums) code_.bits(x86::Bits::xor_, s, s, s);
    const Column& to = next_column();
    for (const P::Product& p : products) {
      const Series a = series(p.a.slot), b = series(p.b.slot);
      const SeriesBlocks terms(p_, p, level, version_);
      for_each_term(terms, a.all, moved(b.ahead, 8 * P::lanes * level), P::lanes, [&](int i, Memory one, Memory other) {
        code_.load_four(work, one);
        for (int often = 1; often <= 2; ++often) {
          bool any = false;
          for (int j = 0; j < P::block; ++j) {
            if (terms.times(i, j) != often) continue;
            if (often == 2 && !any) code_.packed(Packed::add, work, work, work);
            any = true;
            code_.packed(Packed::multiply, product, work, moved(other, 8 * P::lanes * j));
            code_.packed(p.minus ? Packed::subtract : Packed::add, sums[j], sums[j], product);
          }
        }
      });
    }
    const Memory place = place_of(to, base_);
    for (int j = 0; j < P::block; ++j) code_.store_four(moved(place, 8 * P::lanes * j), sums[j]);
    for (const int r : {sums[0], sums[1], sums[2], sums[3], work, product}) give(r);
  }

  Value choice(const P::Operation& op) {
    Value v = loaded(read(op.a));
    const int to = take();
    code_.move(to, v.r);
    release(v);
    v = {true, to};
    const P::Operand* const others[] = {&op.b, &op.c};
    for (int k = 0; k < 2; ++k) {
      if (others[k]->slot < 0) continue;
      const Value other = loaded(read(*others[k])), flag = loaded(state(op.state, 1 + k));
      code_.blend(v.r, v.r, other.r, flag.r);
      release(other);
      release(flag);
    }
    return times(v, state(op.state, 0));
  }
  void first_choice(std::size_t k, int m) {
    forget_all();
    code_.set_pointer(x86::rdi, tape_);
    set_number(x86::rsi, static_cast<int>(k));
    set_number(x86::rdx, m);
    code_.clear_upper_halves();
    code_.call(reinterpret_cast<const void*>(first_choice_));
  }

 private:
  // The terms of a block's sums: a_i, and b_(m-i) where the coefficient of order `level` before the block stands at b.
  // In loops, where the code is for all later blocks, too.
  template <class Term>
  void for_each_term(const SeriesBlocks& terms, Memory a, Memory b, int lanes, Term&& term) {
    const int size = 8 * lanes;
    int i = terms.plain;
    Memory one = a, other = b;
    if (and_later_) {
      code_.address(loop_up_, moved(a, size * i));
      code_.address(loop_down_, moved(b, -size * i));
      code_.address(left_, {count_, terms.loops()});
      const std::size_t again = code_.size();
      for (int k = 0; k < terms.unit; ++k) term(i + k, Memory{loop_up_, size * k}, Memory{loop_down_, -size * k});
      code_.add_to_pointer(loop_up_, size * terms.unit);
      code_.add_to_pointer(loop_down_, -size * terms.unit);
      code_.add_to_pointer(left_, -1);
      code_.repeat_unless_zero(again);
      i += terms.unit * terms.loops();
      one = {loop_up_, -size * i}, other = {loop_down_, size * i};
    }
    for (; i <= terms.last; ++i) term(i, moved(one, size * i), moved(other, -size * i));
    for (i = terms.first; i < std::min(terms.plain, terms.last + 1); ++i)
      term(i, moved(a, size * i), moved(b, -size * i));
  }
  void add_to_block_sum(const SeriesBlocks& terms, int i, Memory a, Memory b, bool minus, int sum) {
    const int work = take();
    code_.broadcast(work, a);
    if (terms.plain_at(i)) {
      if (terms.twice) code_.packed(Packed::add, work, work, work);
      code_.packed(Packed::multiply, work, work, b);
    } else {
      const int other = take();
      code_.packed(Packed::multiply, work, work, four_numbers([&](int j) { return terms.times(i, j); }));
      code_.load_four(other, b);
      if (!terms.known(i, P::block - 1))
        code_.bits_of_four(x86::Bits::and_, other, other, Memory{0, masks_at_ + 32 * (i - terms.lowest), true});
      code_.packed(Packed::multiply, work, work, other);
      give(other);
    }
    code_.packed(minus ? Packed::subtract : Packed::add, sum, sum, work);
    give(work);
  }

  static double apply(double a, double b, std::size_t op) { return apply_op(static_cast<Op>(op), a, b); }
  static constexpr std::uint8_t forwards_ = x86::rax, cluster_ = x86::rcx, row_ = x86::rdx, count_ = x86::r8,
                                fours_ = x86::r9, index_ = x86::rdi, left_ = x86::rdi, table_ = x86::rbx,
                                fours_left_ = x86::rbp, cluster_ahead_ = x86::r14, loop_up_ = x86::r15,
                                loop_down_ = x86::rdx;  // no row is asked for in sums of blocks
  static constexpr std::array<std::uint8_t, 6> kept_registers = {x86::rbx, x86::rbp, x86::r12,
                                                                 x86::r13, x86::r14, x86::r15};

  static std::int32_t bytes(std::size_t place) { return static_cast<std::int32_t>(8 * place); }
  Value in_data(std::size_t place) const { return {false, -1, {base_, bytes(place)}}; }

  // Every number that operations are multiplied by, before the first function.
  void write_constants() {
    const auto want = [&](double x) {
      const auto [found, fresh] = constants_.try_emplace(std::bit_cast<std::uint64_t>(x), 0);
      if (!fresh) return;
      found->second = static_cast<std::int32_t>(code_.size());
      code_.append(found->first);
    };
    for (const double x : {0.0, 0.5, 1.0, -1.0}) want(x);
    for (const P::Operation& op : p_.operations) want(op.constant);
    for (const P::Linear& l : p_.linear) want(l.factor);
    for (const P::Group& g : p_.groups) want(g.factor);
    for (const P::Part& part : p_.parts) want(part.factor);
    for (const P::Step& step : p_.steps) {
      if (step.four < 0) continue;
      const auto write = [&](SeriesColumns columns) {
        columns.place = static_cast<std::int32_t>(code_.size());
        for (const std::int64_t place : columns.table) code_.append(place);
        return columns;
      };
      columns_[step.four] = write(series_columns(p_, at_, step, [](auto& r, int four) { r.one_four(four); }));
      block_columns_[step.four] =
          write(series_columns(p_, at_, step, [](auto& r, int four) { r.block_of_four(four); }));
    }
    write_fours();
  }
  Memory constant(double x) const { return {0, constants_.at(std::bit_cast<std::uint64_t>(x)), true}; }

  // ---- where the operands of a four stand: in its cluster, all at one place, or in a table --------------------------

  template <class Body>
  void for_clusters(const P::Step& step, const SeriesColumns& columns, Body&& body) {
    const std::int32_t begin = bytes(at_.begin_of_four(step.four));
    const bool loops = step.count > 1;
    if (loops) {
      code_.address(cluster_, {base_, begin});
      code_.address(cluster_ahead_, {fours_, begin});
      set_number(fours_left_, step.count);
      if (columns.width > 0) code_.address(table_, {0, columns.place, true});
    }
    const std::size_t again = code_.size();
    next_column_ = columns.list.data();
    for (int k = 0; k < step.length; ++k) body(step.four + k);
    if (!loops) return;
    const std::int32_t stride = bytes(at_.begin_of_four(step.four + step.length)) - begin;
    code_.add_to_pointer(cluster_, stride);
    code_.add_to_pointer(cluster_ahead_, stride);
    if (columns.width > 0) code_.add_to_pointer(table_, columns.width);
    code_.add_to_pointer(fours_left_, -1);
    code_.repeat_unless_zero(again);
  }
  const Column& next_column() { return *next_column_++; }
  // `from`: the base, or one that is counted from the stage.
  Memory place_of(const Column& column, std::uint8_t from) {
    if (column.kind == Column::Kind::constant) return {from, column.offset};
    if (column.kind == Column::Kind::of_cluster) return {from == fours_ ? cluster_ahead_ : cluster_, column.offset};
    code_.load_pointer(index_, {table_, column.offset});
    return {from, 0, false, index_};
  }
  Memory next(std::uint8_t from) { return place_of(next_column(), from); }
  static Memory moved(Memory m, std::int32_t by) { return {m.base, m.offset + by, m.in_code, m.index}; }
  std::uint8_t base_of(SeriesLayout::Newest n) const { return n.step == 0 ? base_ : n.step == 1 ? forwards_ : fours_; }
  Memory memory(SeriesLayout::Newest n) const { return {base_of(n), bytes(n.place)}; }

  // Of a block of four, which becomes its first number.
  void take_apart(int four, std::size_t first, std::size_t count) {
    const auto place = [&](std::size_t k) { return in_data(at_.right + first + k).memory; };
    int upper = -1;
    if (first + 2 < count) code_.upper_half(upper = take(), four);
    for (const std::size_t k : {std::size_t{1}, std::size_t{3}})
      if (first + k < count) {
        const int r = take();
        code_.second(r, k == 1 ? four : upper);
        remembered_.push_back({place(k), r});
      }
    remembered_.push_back({place(0), four});
    if (upper >= 0) remembered_.push_back({place(2), upper});
  }
  // Four numbers 0, 1 or 2; and all bits of the first ones, up to three.
  void write_fours() {
    fours_at_ = static_cast<std::int32_t>(code_.size());
    for (int k = 0; k < 81; ++k)
      for (int j = 0, rest = k; j < P::block; ++j, rest /= 3) code_.append(static_cast<double>(rest % 3));
    masks_at_ = static_cast<std::int32_t>(code_.size());
    for (int last = 0; last < P::block - 1; ++last)
      for (int j = 0; j < P::block; ++j) code_.append(j <= last ? ~std::uint64_t{0} : std::uint64_t{0});
  }
  template <class Number>
  Memory four_numbers(Number&& number) const {
    int which = 0;
    for (int j = P::block; j-- > 0;) which = 3 * which + number(j);
    return {0, fours_at_ + 32 * which, true};
  }

  Lanes gathered(const std::array<std::uint8_t, P::lanes>& from) {
    const int low = take(), high = take();
    code_.load(low, next(from[0]));
    code_.load_second(low, low, next(from[1]));
    code_.load(high, next(from[2]));
    code_.load_second(high, high, next(from[3]));
    code_.join(low, low, high);
    give(high);
    return {low};
  }
  const SeriesProgram& p_;
  const SeriesLayout& at_;
  void* tape_;
  SeriesCode::FirstChoice first_choice_;
  std::map<std::uint64_t, std::int32_t> constants_;
  std::map<int, SeriesColumns> columns_, block_columns_;  // of steps, by their first four
  const Column* next_column_ = nullptr;
  std::int32_t fours_at_ = 0, masks_at_ = 0;
  bool in_first_ = true, and_later_ = false, first_factor_ = true;
  int stage_ = 0, position_ = -1, version_ = 0;
  std::uint8_t base_ = x86::rbx;
};

}  // namespace hinge
