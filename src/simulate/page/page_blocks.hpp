// Blocks of numbers inside a page: little-endian, packed by zlib where that is there, in base64.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

namespace hinge {

using Json = nlohmann::ordered_json;

class PageBlocks {
 public:
  /// Each returns the number of the block.
  int add(std::span<const double> values);
  int add(std::span<const float> values);
  int add(std::span<const std::uint16_t> values);
  int add(std::span<const std::int16_t> values);
  int add(std::span<const std::uint32_t> values);
  int add(std::span<const std::int32_t> values);
  /// Seven digits where single precision can hold all of them, else all digits.
  int add_line(std::span<const double> values);

  const Json& infos() const { return infos_; }
  const std::vector<std::string>& texts() const { return texts_; }

 private:
  template <class Number>
  int add_as(const char* type, std::span<const Number> values);
  Json infos_ = Json::array();
  std::vector<std::string> texts_;
};

}  // namespace hinge
