#include "model/schema.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "hinge/method.hpp"
#include "model/keys.hpp"

namespace hinge {

namespace {

using Json = nlohmann::ordered_json;

// Sections of one name may be different for different systems: "initial" of [dae], of [lagrangian].
std::string definition_name(const SectionInfo& s) {
  std::string name = s.name;
  for (const std::string& system : s.systems) name += "," + system;
  return name;
}

Json reference(const std::string& section) {
  // '/' and '~' do not occur in names, the rest is escaped as in an address
  std::string text = "#/definitions/";
  for (const char c : section) text += c == ' ' ? "%20" : std::string(1, c);
  return {{"$ref", text}};
}

// The table that a section of this name follows, whatever the system is.
Json section_reference(const std::string& name) {
  Json any = Json::array();
  for (const SectionInfo& s : model_sections())
    if (s.name == name) any.push_back(reference(definition_name(s)));
  return any.size() == 1 ? any.front() : Json{{"anyOf", any}};
}

// An expression may be given in the place of every number.
const Json number_or_text = {"number", "string"};

Json plain_type(const OptionInfo& o) {
  switch (o.type) {
    case OptionType::number:
    case OptionType::integer: return {{"type", number_or_text}};
    case OptionType::boolean: return {{"type", "boolean"}};
    case OptionType::word: return {{"type", "string"}, {"enum", o.words}};
    case OptionType::text: return {{"type", "string"}};
    case OptionType::list: return {{"type", {"array", "string"}}};
    case OptionType::table: return {{"type", "object"}};
    case OptionType::expression: return {{"type", {"number", "string", "boolean", "array", "object"}}};
  }
  return Json::object();
}

void add_words(const OptionInfo& o, const std::string& example, Json& schema) {
  schema["description"] = meaning_text(o);
  if (!example.empty()) schema["description"] = schema["description"].get<std::string>() + "; as in " + example;
  if (!o.default_value.empty() && o.type != OptionType::expression) {
    const Json value = Json::parse(o.default_value, nullptr, false);
    schema["default"] = value.is_discarded() ? Json(o.default_value) : value;
  }
}

// The limits of a number hold where it is a number; an expression is not looked into.
void add_range(const OptionInfo& o, Json& schema) {
  if (o.type != OptionType::number && o.type != OptionType::integer) return;
  if (std::isfinite(o.range.min)) schema[o.range.open_min ? "exclusiveMinimum" : "minimum"] = o.range.min;
  if (std::isfinite(o.range.max)) schema[o.range.open_max ? "exclusiveMaximum" : "maximum"] = o.range.max;
}

Json key_schema(const KeyInfo& key, bool top) {
  Json schema = plain_type(key.option);
  add_words(key.option, key.example, schema);
  if (!key.in_library) add_range(key.option, schema);
  if (key.inside.empty()) return schema;
  const Json inside = section_reference(key.inside),
             each = key.elements.empty() ? inside : section_reference(key.elements);
  const bool list = key.option.type == OptionType::list, table = key.option.type == OptionType::table;
  const auto if_object = [](const Json& then) { return Json{{"if", {{"type", "object"}}}, {"then", then}}; };
  if (table)
    schema["allOf"] = Json::array({inside});
  else if (!list)
    schema["allOf"] = Json::array({if_object(inside)});
  if (list && top) {
    schema["type"] = "array";
    schema["items"] = {{"type", "object"}, {"allOf", Json::array({each})}};
  } else if (!table) {
    schema["items"] = if_object(each);
  }
  return schema;
}

// Is there a key that says that it may be given in the place of this one? "instead of `count` and `box`: ..."
bool has_another(const SectionInfo& s, const KeyInfo& key) {
  return std::any_of(s.keys.begin(), s.keys.end(), [&](const KeyInfo& other) {
    const std::string& meaning = other.option.meaning;
    const std::string names = meaning.substr(0, meaning.find(':'));
    return names.starts_with("instead of") && names.find("`" + key.option.name + "`") != std::string::npos;
  });
}

Json section_schema(const SectionInfo& s) {
  Json schema = {{"type", "object"}, {"properties", Json::object()}};
  Json others = false;
  for (const KeyInfo& key : s.keys) {
    if (key.option.name == "*")
      others = key_schema(key, false);
    else
      schema["properties"][key.option.name] = key_schema(key, s.name.empty());
  }
  if (s.open)  // [integrate]: the options of all methods
    for (const MethodInfo& m : methods())
      for (const OptionInfo& o : m.options) {
        if (schema["properties"].contains(o.name)) continue;
        Json option = plain_type(o);
        if (o.type == OptionType::number || o.type == OptionType::integer) option.erase("enum");
        if (o.type == OptionType::word) option = {{"type", number_or_text}};  // other methods have other words
        add_words(o, "", option);
        schema["properties"][o.name] = std::move(option);
      }
  Json needed = Json::array();
  for (const KeyInfo& key : s.keys)
    if (key.needed && !has_another(s, key)) needed.push_back(key.option.name);
  if (!needed.empty()) schema["required"] = std::move(needed);
  schema["additionalProperties"] = std::move(others);
  return schema;
}

// Which of several sections of one name a model has follows from its system.
Json choices() {
  Json all = Json::array();
  std::map<std::string, Json> chosen;  // by system
  for (const SectionInfo& s : model_sections())
    for (const std::string& system : s.systems) {
      Json& properties = chosen[system];
      if (properties.contains(s.name)) continue;  // the first one counts, as for the reader
      const bool list = s.name == "event";
      properties[s.name] = list ? Json{{"items", reference(definition_name(s))}} : reference(definition_name(s));
    }
  for (const auto& [system, properties] : chosen)
    all.push_back({{"if", {{"required", {system}}}}, {"then", {{"properties", properties}}}});
  return all;
}

}  // namespace

std::string model_schema() {
  Json schema = {
      {"$schema", "http://json-schema.org/draft-07/schema#"},
      {"title", "A model of hinge"},
      {"description", "Keys, types and words of a model file; made by 'hinge schema' from the tables of the reader."}};
  schema.update(section_schema(model_sections().front()));
  schema["allOf"] = choices();
  Json systems = Json::array();
  for (const char* system : {"lagrangian", "hamiltonian", "mechanical", "odae", "dae", "multibody"})
    systems.push_back({{"required", {system}}});
  schema["oneOf"] = std::move(systems);
  for (const SectionInfo& s : model_sections())
    if (!s.name.empty()) schema["definitions"][definition_name(s)] = section_schema(s);
  return schema.dump(2);
}

}  // namespace hinge
