// Numbers in registers, or in memory until an instruction reads them there.
//
// What is stored stays in its register, too, until another number needs it: what is read soon after it was stored has
// not to wait for memory. All numbers are in memory whenever a function is called or a loop begins.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "expression/x86_code.hpp"

namespace hinge {

class SeriesRegisters {
 protected:
  using Memory = x86::Memory;
  using Packed = x86::Packed;
  using Scalar = x86::Scalar;

 public:
  struct Value {
    bool loaded = false;
    int r = -1;
    Memory memory{};
    bool shared = false;  // the register keeps the number for others
  };
  struct Lanes {
    int r = -1;  // or in memory
    Memory memory{};
  };

 protected:
  struct Remembered {
    Memory at;
    int r;
  };
  // A free one; else the one that remembers what was stored first and is not in use.
  int take() {
    int r = 0;
    while (r < 16 && taken_ >> r & 1u) ++r;
    if (r == 16) {
      const auto oldest = std::find_if(remembered_.begin(), remembered_.end(), [&](const Remembered& m) {
        return in_use_[static_cast<std::size_t>(m.r)] == 0;
      });
      r = oldest->r;
      remembered_.erase(oldest);
    }
    taken_ |= 1u << r;
    return r;
  }
  void give(int r) { taken_ &= ~(1u << r); }
  void release(Value v) {
    if (v.shared)
      --in_use_[static_cast<std::size_t>(v.r)];
    else if (v.loaded)
      give(v.r);
  }
  const Remembered* find(Memory at) const {
    const auto found = std::find_if(remembered_.begin(), remembered_.end(), [&](const Remembered& m) {
      return m.at.base == at.base && m.at.offset == at.offset && m.at.in_code == at.in_code && m.at.index == at.index;
    });
    return found == remembered_.end() ? nullptr : &*found;
  }
  void forget(Memory at) {
    if (const Remembered* m = find(at)) {
      give(m->r);
      remembered_.erase(remembered_.begin() + (m - remembered_.data()));
    }
  }
  void forget_all() {
    for (const Remembered& m : remembered_) give(m.r);
    remembered_.clear();
  }
  Value remembered(Value v) {
    if (v.loaded) return v;
    const Remembered* m = find(v.memory);
    if (!m) return v;
    ++in_use_[static_cast<std::size_t>(m->r)];
    return {true, m->r, {}, true};
  }
  Value loaded(Value v) {
    v = remembered(v);
    if (v.loaded) return v;
    const int r = take();
    code_.load(r, v.memory);
    return {true, r};
  }
  // Where an operation on a loaded number goes, and what it is then.
  int result_of(Value a) { return a.shared ? take() : a.r; }
  Value result(Value a, int to) {
    if (a.shared) release(a);
    return {true, to};
  }
  Value binary(Scalar op, Value a, Value b, bool commutes) {
    a = remembered(a), b = remembered(b);
    if (commutes && b.loaded && (!a.loaded || (a.shared && !b.shared))) std::swap(a, b);
    a = loaded(a);
    const int to = result_of(a);
    if (b.loaded)
      code_.scalar(op, to, a.r, b.r);
    else
      code_.scalar(op, to, a.r, b.memory);
    release(b);
    return result(a, to);
  }
  Lanes loaded(Lanes a) {
    if (a.r >= 0) return a;
    a.r = take();
    code_.load_four(a.r, a.memory);
    return a;
  }
  Lanes binary(Packed op, Lanes a, Lanes b) {
    a = loaded(a);
    if (b.r < 0) {
      code_.packed(op, a.r, a.r, b.memory);
    } else {
      code_.packed(op, a.r, a.r, b.r);
      give(b.r);
    }
    return a;
  }
  void store(Value to, Value v) {
    v = loaded(v);
    forget(to.memory);
    code_.store(to.memory, v.r);
    if (v.shared || !remembers_)
      release(v);
    else
      remembered_.push_back({to.memory, v.r});
  }
  void set_number(int to, int value) {
    code_.set_pointer(to, reinterpret_cast<const void*>(static_cast<std::intptr_t>(value)));
  }

  x86::Code code_{1024};
  unsigned taken_ = 0;
  bool remembers_ = true;
  std::vector<Remembered> remembered_;  // in registers that are taken, the oldest first
  std::array<int, 16> in_use_{};        // how often, of these
};

}  // namespace hinge
