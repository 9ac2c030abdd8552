// Small decisions and numbers out of the bytes of a fuzzer, zeros when they are used up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace hinge::test {

class ByteReader {
 public:
  ByteReader(const std::uint8_t* data, std::size_t size) : next_(data), left_(size) {}

  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *next_++;
  }
  /// Mostly small, now and then anything.
  int integer() {
    const std::uint8_t b = byte();
    return b < 0xf0 ? b - 8 : raw<int>();
  }
  double number() {
    const std::uint8_t b = byte();
    if (b == 0xff) return raw<double>();
    if (b == 0xfe) return std::numeric_limits<double>::quiet_NaN();
    return (b - 100) / 16.0;
  }
  std::string text() {
    std::string out(byte() % 16, ' ');
    for (char& c : out) c = static_cast<char>(byte());
    return out;
  }
  template <class Number>
  std::vector<Number> list() {
    std::vector<Number> out(byte() % 64);
    for (Number& x : out) {
      if constexpr (std::is_same_v<Number, int>)
        x = integer();
      else
        x = number();
    }
    return out;
  }

 private:
  template <class Number>
  Number raw() {
    Number x{};
    std::uint8_t bytes[sizeof x];
    for (std::uint8_t& b : bytes) b = byte();
    std::memcpy(&x, bytes, sizeof x);
    return x;
  }

  const std::uint8_t* next_;
  std::size_t left_;
};

}  // namespace hinge::test
