// What the command line changes in a model file: --set parameters.m=2, --set body.0.mass=3, --step 0.01.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <toml++/impl/forward_declarations.h>

#include "hinge/model.hpp"
#include "model/reader.hpp"

namespace hinge {

/// The parts of the longest dotted key, a.b.c.
constexpr int deepest_key = 100;

/// What overrides have replaced, for who wants the file back as it was; taken back when this goes.
class Overridden {
 public:
  Overridden() = default;
  Overridden(const Overridden&) = delete;
  Overridden& operator=(const Overridden&) = delete;
  ~Overridden();
  void keep(std::function<void()> take_back) { all_.push_back(std::move(take_back)); }

 private:
  std::vector<std::function<void()>> all_;
};

/// A value that is a number as it stands, such as -1.25e-3: what apply_override() makes of it.
std::optional<double> plain_number(const std::string& value);
/// --set a.b.c=value, or body.0.mass=value; the value is read as TOML, and as a text where it is none. Returns the key
/// of the item.
std::string apply_override(toml::table& root, const Override& o, Source& source, Overridden* before = nullptr);

/// A misspelt parameter in --set would otherwise be a new one that nothing uses.
void refuse_unused_parameters(const toml::table& root, const std::string& text, const std::vector<Override>& overrides);

}  // namespace hinge
