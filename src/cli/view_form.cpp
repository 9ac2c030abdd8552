#include "cli/view_form.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "hinge/error.hpp"
#include "hinge/method.hpp"
#include "model/given_values.hpp"

namespace hinge::cli {

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

const std::string* find(const Values& values, const std::string& name) {
  for (const auto& [key, value] : values)
    if (key == name) return &value;
  return nullptr;
}

// Of [integrate] that are no options of a method.
const char* const time_keys[] = {"step", "tolerance", "end"};

Json option_json(const OptionInfo& o, const std::string* value) {
  Json j = {{"name", o.name}, {"value", value ? *value : o.default_value}, {"meaning", meaning_text(o)}};
  if (!o.unit.empty() && o.unit != o.name) j["unit"] = o.unit;
  std::vector<std::string> words = o.words;
  if (o.type == OptionType::boolean) words = {"true", "false"};
  const bool one_of_them = o.type == OptionType::word || o.type == OptionType::boolean;
  if (one_of_them && !words.empty()) {
    if (j["value"] == "") words.insert(words.begin(), "");  // it depends on something
    j["words"] = words;
  }
  return j;
}

std::vector<OptionInfo> simple_options(const MethodInfo& method) {
  std::vector<OptionInfo> list = method.options;
  std::erase_if(list, [](const OptionInfo& o) { return o.type == OptionType::table || o.type == OptionType::list; });
  return list;
}

std::string text_in(const Json& j, const std::string& what) {
  if (!j.is_string()) throw InputError(fmt::format("{}: expected a text", what));
  const std::string text = j;
  if (text.find('\n') != std::string::npos) throw InputError(fmt::format("{}: expected one line", what));
  return text;
}

const MethodInfo& known_method(const std::vector<MethodInfo>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const MethodInfo& m) { return m.name == name; });
  if (found == all.end()) throw InputError(fmt::format("there is no method '{}'", name));
  return *found;
}

}  // namespace

std::vector<Override> with_changes(std::vector<Override> given, const Changes& changes) {
  for (const auto& [key, value] : changes) {
    std::erase_if(given, [&, k = key](const Override& o) { return o.key == k; });
    given.push_back({key, value, key.substr(key.rfind('.') + 1)});
  }
  return given;
}

Json form_of(const Model& model, const std::vector<Override>& overrides) {
  const Values given = given_values(model.text, "integrate", overrides);
  Json form = {{"parameters", Json::array()}, {"method", model.method}, {"methods", Json::array()}};
  for (const auto& [name, value] : given_values(model.text, "parameters", overrides))
    form["parameters"].push_back({{"name", name}, {"value", value}});
  for (const MethodInfo& m : methods()) {
    Json entry = {{"name", m.name}, {"meaning", m.summary}, {"options", Json::array()}};
    for (const OptionInfo& o : simple_options(m))
      entry["options"].push_back(option_json(o, m.name == model.method ? find(given, o.name) : nullptr));
    form["methods"].push_back(std::move(entry));
  }
  for (const char* key : time_keys)
    if (const std::string* value = find(given, key)) form[key] = *value;
  // what the reader has left out: a step that was asked for takes the place of a tolerance
  if (!model.simulation.tolerance.given()) form.erase("tolerance");
  if (!(model.simulation.step > 0)) form.erase("step");
  return form;
}

Changes changes_after(const Changes& before, const std::string& body, const Model& model,
                      const std::vector<Override>& overrides) {
  const Json request = Json::parse(body, nullptr, false);
  if (!request.is_object()) throw InputError("expected a JSON object");
  for (const char* part : {"parameters", "options"})
    if (request.contains(part) && !request[part].is_object())
      throw InputError(fmt::format("{}: expected names with texts", part));
  const Json given_parameters = request.value("parameters", Json::object()),
             given_options = request.value("options", Json::object());
  Changes after = before;
  const Values parameters = given_values(model.text, "parameters", overrides);
  for (const auto& [name, value] : given_parameters.items()) {
    if (!find(parameters, name)) throw InputError(fmt::format("the model has no parameter '{}'", name));
    after["parameters." + name] = text_in(value, name);
  }
  const std::vector<MethodInfo> all = methods();
  const std::string chosen = request.contains("method") ? text_in(request["method"], "method") : model.method;
  if (chosen != model.method) {
    known_method(all, chosen);
    std::erase_if(after, [](const auto& change) {  // options of the other one
      const std::string& key = change.first;
      return key.starts_with("integrate.") &&
             std::none_of(std::begin(time_keys), std::end(time_keys),
                          [&](const char* k) { return key == std::string("integrate.") + k; });
    });
    after["integrate.method"] = chosen;
  }
  for (const auto& [name, value] : given_options.items()) {
    const std::vector<OptionInfo> options = simple_options(known_method(all, chosen));
    if (std::none_of(options.begin(), options.end(), [&, n = name](const OptionInfo& o) { return o.name == n; }))
      throw InputError(fmt::format("{} has no option '{}'", chosen, name));
    after["integrate." + name] = text_in(value, name);
  }
  // a step in the place of a tolerance, and the other way round
  if (request.contains("step")) after.erase("integrate.tolerance");
  if (request.contains("tolerance")) after.erase("integrate.step");
  for (const char* key : time_keys)
    if (request.contains(key)) after[std::string("integrate.") + key] = text_in(request[key], key);
  return after;
}

}  // namespace hinge::cli
