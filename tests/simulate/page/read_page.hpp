// The other direction: what a page holds, read back as the page itself reads it.
#pragma once

#include <cstdint>
#include <cstring>
#include <fstream>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#if __has_include(<zlib.h>)
#include <zlib.h>
#endif

namespace hinge {

inline const char* const empty_page =
    "<!doctype html><meta name=\"generator\" content=\"Hinge report page, data version 1\">\n"
    "<!--HINGE-REPORT-DATA-->\n<script>page</script>\n";

struct ReadPage {
  std::string text;
  nlohmann::json data;

  explicit ReadPage(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream all;
    all << in.rdbuf();
    text = all.str();
    data = nlohmann::json::parse(element("<script type=\"application/json\" id=\"hinge-data\">"));
  }

  std::string element(const std::string& opening) const {
    const std::size_t begin = text.find(opening);
    if (begin == std::string::npos) throw std::runtime_error("there is no " + opening);
    const std::size_t from = begin + opening.size();
    return text.substr(from, text.find("</script>", from) - from);
  }

  std::string bytes(int block) const {
    const std::string base64 =
        element("<script type=\"application/octet-stream\" id=\"hinge-block-" + std::to_string(block) + "\">");
    static const std::string letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    unsigned group = 0;
    int bits = 0;
    for (const char c : base64) {
      if (c == '=') break;
      group = group << 6 | static_cast<unsigned>(letters.find(c));
      bits += 6;
      if (bits < 8) continue;
      bits -= 8;
      out += static_cast<char>(group >> bits & 255);
    }
    const nlohmann::json& info = data["blocks"][static_cast<std::size_t>(block)];
    if (info.value("encoding", "base64") == "base64") return out;
#if __has_include(<zlib.h>)
    static const std::map<std::string, std::size_t> sizes{{"float64", 8}, {"float32", 4}, {"uint32", 4},
                                                          {"int32", 4},   {"uint16", 2},  {"int16", 2}};
    uLongf size = info["count"].get<std::size_t>() * sizes.at(info["type"]);
    std::string whole(size, '\0');
    if (uncompress(reinterpret_cast<Bytef*>(whole.data()), &size, reinterpret_cast<const Bytef*>(out.data()),
                   out.size()) != Z_OK ||
        size != whole.size())
      throw std::runtime_error("a block does not unpack");
    return whole;
#else
    throw std::runtime_error("there is no zlib to unpack a block with");
#endif
  }

  /// The numbers of a block, of any type.
  std::vector<double> block(int k) const {
    const std::string raw = bytes(k), type = data["blocks"][static_cast<std::size_t>(k)]["type"];
    if (type == "float64") return numbers<double>(raw);
    if (type == "float32") return numbers<float>(raw);
    if (type == "uint32") return numbers<std::uint32_t>(raw);
    if (type == "int32") return numbers<std::int32_t>(raw);
    if (type == "uint16") return numbers<std::uint16_t>(raw);
    return numbers<std::int16_t>(raw);
  }

  const nlohmann::json* column(const std::string& name) const {
    for (const auto& c : data["tables"][0]["columns"])
      if (c["name"] == name) return &c;
    return nullptr;
  }
  std::vector<double> values(const std::string& name) const { return block(column(name)->at("block")); }
  std::vector<double> times() const { return block(data["tables"][0]["time"]); }

  /// Where a thing of a motion is in a frame.
  std::vector<double> position(std::size_t motion, std::size_t thing, std::size_t frame) const {
    const auto& m = data["scene"]["motions"][motion];
    const auto& p = m["positions"];
    const std::vector<double> all = block(p["block"]);
    const std::size_t d = p["components"], count = m["count"];
    std::vector<double> x;
    for (std::size_t k = 0; k < d; ++k) {
      const double low = p["min"][k], high = p["max"][k];
      x.push_back(low + all[(frame * count + thing) * d + k] / 65535 * (high - low));
    }
    return x;
  }

 private:
  template <class Number>
  static std::vector<double> numbers(const std::string& raw) {
    std::vector<Number> x(raw.size() / sizeof(Number));
    std::memcpy(x.data(), raw.data(), raw.size());
    return {x.begin(), x.end()};
  }
};

}  // namespace hinge
