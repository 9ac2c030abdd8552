// NAME_force, NAME_torque, NAME_motor_torque, NAME_tension, NAME_contact_force: what [output], [[event]] and parts of
// [define] may use of forces. The equations may not, from which these follow.
#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "expression/suggest.hpp"
#include "model/sections.hpp"

namespace hinge {

namespace {

void collect_words(const Item& item, std::set<std::string>& words) {
  const std::string text = item.text();
  const auto part = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && part(text[end])) ++end;
    if (end > at) words.insert(text.substr(at, end - at));
    at = end + 1;
  }
  if (item.is_array())
    for (const Item& entry : item.entries()) collect_words(entry, words);
  if (item.is_table())
    for (const std::string& key : item.keys()) collect_words(item[key], words);
}

std::set<std::string> words_of(const Item& root) {
  std::set<std::string> words;
  for (const char* section : {"output", "event", "define", "view"})
    if (root[section]) collect_words(root[section], words);
  return words;
}

// And the forces that a misspelt word is near to: the complaint about it has to know their names.
std::set<std::string> with_nearest(std::set<std::string> words, const std::vector<Multibody::Force>& forces,
                                   const Scope& scope) {
  constexpr std::size_t some = 1000;
  if (forces.size() > some) return words;
  std::vector<std::string> names, near;
  for (const Multibody::Force& f : forces) names.push_back(f.name + "_" + f.part);
  for (const std::string& word : words)
    if (word.find('_') != std::string::npos && !scope.names.count(word)) near.push_back(nearest_name(word, names));
  words.insert(near.begin(), near.end());
  return words;
}

const std::vector<std::pair<const char*, std::vector<const char*>>> parts = {
    {"joint", {"_force", "_torque", "_motor_torque", "_motor_force"}},
    {"bushing", {"_force", "_torque"}},
    {"spring", {"_tension"}},
    {"constraint", {"_multiplier"}},
    {"body", {"_contact_force"}}};

}  // namespace

std::vector<std::string> force_names(const Item& root, const ValueReader& read) {
  std::vector<std::string> names;
  for (const auto& [section, suffixes] : parts)
    for (const Item& item : root[section].entries())
      if (item["name"])
        each(item, read, [&, &endings = suffixes] {
          const std::string name = read_name(item["name"], read);
          for (const char* suffix : endings)
            if (!root["parameters"][name + suffix] && !root["define"][name + suffix]) names.push_back(name + suffix);
        });
  return names;
}

void refuse_forces_in_equations(const Item& root, const std::vector<std::string>& names,
                                const std::vector<std::string>& defined) {
  std::vector<std::string> all = names;
  all.insert(all.end(), defined.begin(), defined.end());
  for (const char* section : {"joint", "spring", "bushing", "constraint", "force", "body"})
    for (const Item& item : root[section].entries())
      for (const std::string& key : item.keys())
        if (key != "name")
          if (const std::string used = mentioned(item[key], all); !used.empty())
            item[key].fail(
                fmt::format("'{}' is a force that follows from the equations, so that they cannot use it; it is "
                            "for [output] and [[event]]",
                            used));
}

void declare_contact_forces(const Item& root, Multibody& scene) {
  const std::set<std::string> words = words_of(root);
  for (const Multibody::Force& f : scene.forces())
    if (f.part == std::string("contact_force") && words.count(f.name + "_contact_force")) scene.contact_force(f.name);
}

void bind_forces(const Item& root, const std::vector<std::string>& defined, SystemSection& out) {
  auto& scene = dynamic_cast<Multibody&>(*out.builder);
  const ValueReader read(out.scope);
  const std::set<std::string> words = with_nearest(words_of(root), scene.forces(), out.scope);
  const bool plane = scene.dimension() == 2;
  for (const Multibody::Force& f : scene.forces()) {
    const std::string part = f.part, name = f.name + "_" + part;
    if (out.scope.names.count(name)) continue;  // the file gives it a meaning of its own
    out.forces.push_back(name);
    if (!words.count(name)) continue;
    const auto vector = [&](const Vector& v, bool scalar) {
      define(name, v, scalar ? std::vector<int>{} : std::vector<int>{static_cast<int>(v.size())}, out.scope);
    };
    if (part == "force") vector(scene.joint_force(f.name), false);
    if (part == "torque") vector(scene.joint_torque(f.name), plane);
    if (part == "motor_torque" || part == "motor_force") vector({scene.motor_effort(f.name)}, true);
    if (part == "tension") vector({scene.spring_tension(f.name)}, true);
    if (part == "multiplier") vector({scene.multiplier(f.name)}, true);
    if (part == "contact_force") vector(scene.contact_force(f.name), false);
  }
  read_named_values(root["define"], defined, read);
}

}  // namespace hinge
