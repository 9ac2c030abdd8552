// What a run remembers from step to step, as plain numbers: for checkpoints.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

namespace hinge {

/// Writes numbers one after the other, or reads them back in the same order: one function names all that is remembered,
/// and serves both ways. Doubles are kept bit for bit.
class Memory {
 public:
  /// For writing.
  Memory() = default;
  /// For reading what was written.
  explicit Memory(std::vector<std::uint64_t> words) : words_(std::move(words)), reading_(true) {}

  bool reading() const { return reading_; }
  const std::vector<std::uint64_t>& words() const { return words_; }
  /// While reading: was more asked for than was written, or another length? Then what was read means nothing.
  bool broken() const { return broken_; }
  bool at_end() const { return at_ == words_.size(); }

  template <class... T>
  void operator()(T&... values) {
    (exchange(values), ...);
  }

 private:
  void word(std::uint64_t& w);
  void exchange(double& x);
  void exchange(std::string& text);
  template <class T>
  requires(std::is_integral_v<T> || std::is_enum_v<T>) void exchange(T& x) {
    auto w = static_cast<std::uint64_t>(x);
    word(w);
    x = static_cast<T>(w);
  }
  template <class T>
  void exchange(std::vector<T>& list) {
    auto size = static_cast<std::uint64_t>(list.size());
    word(size);
    if (reading_ && size > words_.size()) {
      broken_ = true;
      return;
    }
    list.resize(static_cast<std::size_t>(size));
    for (T& x : list) exchange(x);
  }
  /// A struct that lists its members: void remember(Memory&, T&).
  template <class T>
  requires requires(Memory& m, T& x) { remember(m, x); }
  void exchange(T& x) { remember(*this, x); }

  std::vector<std::uint64_t> words_;
  std::size_t at_ = 0;
  bool reading_ = false, broken_ = false;
};

}  // namespace hinge
