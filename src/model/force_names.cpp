// NAME_force, NAME_torque, NAME_motor_torque, NAME_tension, NAME_contact_force: what [output], [[event]] and parts of
// [define] may use of forces. Of the equations, from which these follow, forces may use NAME_force and NAME_torque of
// joints: they become a part of the reaction, r(t, y, z, psi).
#include <algorithm>
#include <cctype>
#include <set>

#include <fmt/format.h>

#include "expression/suggest.hpp"
#include "model/sections.hpp"

namespace hinge {

namespace {

void collect_words(const Item& item, std::set<std::string>& words) {
  for (const std::string& word : words_in(item.text())) words.insert(word);
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

// And the forces that a misspelt word is near to, or that are of what it names: the complaint about it has to know
// them.
std::set<std::string> with_nearest(std::set<std::string> words, const std::vector<Multibody::Force>& forces,
                                   const Scope& scope) {
  constexpr std::size_t some = 1000;
  if (forces.size() > some) return words;
  std::vector<std::string> names, near;
  for (const Multibody::Force& f : forces) names.push_back(f.name + "_" + f.part);
  for (const std::string& word : words) {
    if (word.find('_') == std::string::npos || scope.names.count(word) > 0) continue;
    near.push_back(nearest_name(word, names));
    for (std::size_t i = 0; i < forces.size(); ++i)
      if (word.starts_with(forces[i].name + "_")) near.push_back(names[i]);
  }
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

namespace {

// Forces in the places that other forces stand in: what is given of one, entry by entry.
std::vector<Item> forces_of(const char* section, const Item& item) {
  const std::string which = section;
  const Item from = which == "joint" ? item["motor"] : item;
  std::vector<Item> list;
  if (which == "spring") {
    if (from["tension"]) list.push_back(from["tension"]);
  } else if (which == "joint" || which == "force" || which == "body") {
    for (const char* key : {"force", "torque"})
      if (from && from.is_table() && from[key]) list.push_back(from[key]);
  }
  return list;
}

bool is_one_of(const std::vector<std::string>& list, const std::string& name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

}  // namespace

ReactionsInEquations reactions_in_equations(const Item& root, const std::vector<std::string>& names,
                                            const std::vector<std::string>& defined, const ValueReader& read) {
  std::vector<std::string> of_joints, others;
  for (const Item& item : root["joint"].entries())
    if (item["name"])
      each(item, read, [&] {
        for (const char* suffix : {"_force", "_torque"}) of_joints.push_back(read_name(item["name"], read) + suffix);
      });
  for (const std::string& name : names)
    if (!is_one_of(of_joints, name)) others.push_back(name);
  const std::vector<std::string> defined_by_others = keys_that_mention(root["define"], others);
  others.insert(others.end(), defined_by_others.begin(), defined_by_others.end());
  std::vector<std::string> all = names;
  all.insert(all.end(), defined.begin(), defined.end());
  bool any = false, misspelt = false;
  const auto looks_like_one = [&](const std::string& word) {
    return (word.ends_with("_force") || word.ends_with("_torque")) && !is_one_of(all, word) &&
           !root["parameters"][word] && !root["define"][word];
  };
  for (const char* section : {"joint", "spring", "bushing", "constraint", "force", "body"})
    for (const Item& item : root[section].entries()) {
      std::size_t allowed = 0, mentions = 0;
      for (const Item& force : forces_of(section, item)) {
        if (const std::string used = mentioned(force, others); !used.empty())
          force.fail(
              fmt::format("'{}' follows from the equations, so that they cannot use it; of forces they can use "
                          "NAME_force and NAME_torque of joints, others are for [output] and [[event]]",
                          used));
        allowed += mentioned(force, all).empty() ? 0u : 1u;
        std::set<std::string> words;
        collect_words(force, words);
        misspelt = misspelt || std::any_of(words.begin(), words.end(), looks_like_one);
      }
      for (const std::string& key : item.keys()) {
        if (key == "name") continue;
        const std::string used = mentioned(item[key], all);
        if (used.empty()) continue;
        ++mentions;
        const bool is_force = allowed > 0 && (key == "force" || key == "torque" || key == "tension" ||
                                              (key == "motor" && item[key].size() == (item[key]["jump"] ? 2u : 1u)));
        if (!is_force)
          item[key].fail(
              fmt::format("'{}' is a force that follows from the equations: other forces can use it, as in force = "
                          "[...], torque, tension or motor = {{ torque = ... }}, and nothing else of them; it is for "
                          "[output] and [[event]]",
                          used));
      }
      any = any || mentions > 0;
    }
  if (!any && !misspelt) return {};
  ReactionsInEquations used;
  used.misspelt = misspelt && of_joints.size() < 1000;
  used.names = of_joints;
  for (const std::string& key : defined)
    if (!is_one_of(defined_by_others, key)) used.defined.push_back(key);
  return used;
}

void bind_reactions(const Item& root, const ReactionsInEquations& used, Multibody& scene, const ValueReader& read) {
  if (used.names.empty()) return;
  const bool plane = scene.dimension() == 2;
  for (const Multibody::Force& f : scene.forces()) {
    const std::string part = f.part, name = f.name + "_" + part;
    if (!is_one_of(used.names, name) || read.scope().names.count(name)) continue;
    if (!used.misspelt && mentioned(root, {name}).empty()) continue;
    const Vector v = part == "force" ? scene.joint_force(f.name) : scene.joint_torque(f.name);
    define(name, v, plane && part == "torque" ? std::vector<int>{} : std::vector<int>{static_cast<int>(v.size())},
           read.scope());
  }
  read_named_values(root["define"], used.defined, read);
}

void declare_contact_forces(const Item& root, Multibody& scene) {
  const std::set<std::string> words = words_of(root);
  for (const Multibody::Force& f : scene.forces())
    if (f.part == std::string("contact_force") && words.count(f.name + "_contact_force")) scene.contact_force(f.name);
}

void bind_forces(const Item& root, const std::vector<std::string>& defined, const ReactionsInEquations& used,
                 SystemSection& out) {
  auto& scene = dynamic_cast<Multibody&>(*out.builder);
  const ValueReader read(out.scope);
  const std::set<std::string> words = with_nearest(words_of(root), scene.forces(), out.scope);
  const bool plane = scene.dimension() == 2;
  for (const Multibody::Force& f : scene.forces()) {
    const std::string part = f.part, name = f.name + "_" + part;
    const bool bound = is_one_of(used.names, name) && !root["parameters"][name] && !root["define"][name];
    if (out.scope.names.count(name) && !bound) continue;  // the file gives it a meaning of its own
    out.forces.push_back(name);
    if (!words.count(name) || out.scope.names.count(name)) continue;
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
  std::vector<std::string> left;
  for (const std::string& key : defined)
    if (!is_one_of(used.defined, key)) left.push_back(key);
  read_named_values(root["define"], left, read);
}

}  // namespace hinge
