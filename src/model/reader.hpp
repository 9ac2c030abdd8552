// Reading TOML with good manners: every complaint says where, why, and what would be right.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "expression/parse.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"

namespace hinge {

/// The file being read: its name for messages, and which keys came from the command line instead.
struct Source {
  std::string name;
  std::map<std::string, std::string> overridden;  // "parameters.m1" -> "--set parameters.m1", how it was given
  std::string own_method;                         // of the file, before that; empty where it names none
};

/// Words that expressions keep for themselves: functions, constants, t.
bool is_reserved(const std::string& name);

/// An error that already says where it is.
struct LocatedError : InputError {
  using InputError::InputError;
};

/// One value in the file with its full key, "initial.position.q1".
struct Item {
  const toml::node* node = nullptr;
  std::string key;
  const Source* source = nullptr;

  explicit operator bool() const { return node != nullptr; }
  bool is_table() const { return node->is_table(); }
  bool is_array() const { return node->is_array(); }
  bool is_string() const { return node->is_string(); }
  std::string text() const;
  /// "pendulum.toml:12: initial.position.q1" or "--set initial.position.q1".
  std::string where() const;
  [[noreturn]] void fail(const std::string& cause) const;
  /// Runs `action`; an error in it becomes one that says where.
  template <class Action>
  auto located(Action&& action) const {
    try {
      return action();
    } catch (const LocatedError&) {
      throw;
    } catch (const InputError& e) {
      fail(e.what());
    }
  }

  /// The item inside: a table's key or an array's element.
  Item operator[](const std::string& name) const;
  Item operator[](std::size_t index) const;
  std::size_t size() const;
  /// A table's keys, in the order of the file.
  std::vector<std::string> keys() const;
  /// Complains about keys other than `known`, naming the nearest.
  void expect_keys(const std::vector<std::string>& known) const;
  std::string expect_string(const char* what) const;
};

/// Complains where `name` cannot be declared: it is no name, is a word of expressions, or has a meaning already.
void claim_name(const Item& item, const std::string& name, const Scope& scope);

/// Expressions in a scope, from items: numbers, strings, lists of them, families { for = "i", ... }.
class ValueReader {
 public:
  explicit ValueReader(Scope& scope) : scope_(scope) {}
  const Scope& scope() const { return scope_; }

  /// A number: a TOML number, or a string with an expression without variables.
  double number(const Item& item) const;
  int integer(const Item& item) const;
  /// A value of any shape: number, string, nested list.
  Value value(const Item& item) const;
  Node scalar(const Item& item) const;
  /// All entries of a list of expressions one after the other, vectors written out.
  std::vector<Node> list(const Item& item) const;
  /// A value for a block of this shape; a family { for = "i", value = "..." } runs over its first extent.
  std::vector<Node> block(const Item& item, const std::vector<int>& shape) const;

  /// Runs `action(i)` for each i of a family { for, from, to, ... } with the index bound in the scope.
  void family(const Item& item, int default_to, const std::vector<std::string>& other_keys,
              const std::function<void(int)>& action) const;

 private:
  Scope& scope_;
};

/// The choice that a word stands for; the nearest is suggested for an unknown one.
template <class Choice>
Choice read_choice(const Item& item, const std::vector<std::pair<const char*, Choice>>& choices) {
  const std::string word = item.expect_string("a word");
  std::vector<std::string> names;
  std::string list;
  for (const auto& [name, choice] : choices) {
    if (word == name) return choice;
    names.emplace_back(name);
    list += (list.empty() ? "\"" : ", \"") + names.back() + "\"";
  }
  const std::string near = nearest_name(word, names);
  item.fail(fmt::format("\"{}\" is unknown{} choose one of {}", word,
                        near.empty() ? ";" : fmt::format(", did you mean \"{}\"?", near), list));
}

}  // namespace hinge
