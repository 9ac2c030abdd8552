// Reading TOML with good manners: every complaint says where, why, and what would be right.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <toml++/impl/forward_declarations.h>
#include <Eigen/Core>

#include "expression/parse.hpp"
#include "hinge/error.hpp"
#include "model/keys.hpp"

namespace hinge {

/// The file being read: its name for messages, and which keys came from the command line instead.
struct Source {
  std::string name;
  std::string system;                             // its system section, "lagrangian"; empty where there is none
  std::string own_method;                         // of the file, before the command line; empty where it names none
  std::map<std::string, std::string> overridden;  // "parameters.m1" -> "--set parameters.m1", how it was given
  mutable long parts = 0;                         // of a scene, so far
  mutable std::vector<std::string> files{};       // that were read: key, name and a sum over what is in them
  // Keys of numbers that may be others the next time (hinge/model.hpp, ModelVariants): has each been read as a value?
  std::map<std::string, bool>* varied = nullptr;
  /// Was this key, or one inside it, given on the command line?
  bool overrides(const std::string& key) const;
};

/// Words that expressions keep for themselves: functions, constants, t.
bool is_reserved(const std::string& name);
/// "a, b, c"
std::string joined(const std::vector<std::string>& words, const char* quote = "");
/// ", did you mean 'b'?", or `otherwise` where nothing known is near.
std::string suggestion(const std::string& word, const std::vector<std::string>& known, const char* otherwise = ";",
                       const char* quote = "'");

/// An error that already says where it is.
struct LocatedError : InputError {
  using InputError::InputError;
};

/// One value in the file with its full key, "initial.position.q1".
struct Item {
  const toml::node* node = nullptr;
  std::string key{};
  const Source* source = nullptr;
  const KeyInfo* row = nullptr;          ///< what the table of keys says about it
  const SectionInfo* section = nullptr;  ///< and about what is inside

  explicit operator bool() const { return node != nullptr; }
  bool is_table() const;
  bool is_array() const;
  bool is_string() const;
  bool is_boolean() const;
  std::string text() const;
  /// "a list", "a number"
  const char* found() const;
  /// "pendulum.toml:12:14: initial.position.q1" or "--set initial.position.q1".
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
  /// A table's key that has to be there.
  Item need(const std::string& name) const;
  std::size_t size() const;
  /// A table's keys, in the order of the file.
  std::vector<std::string> keys() const;
  /// The elements of a list; the item itself where it is none; nothing where it is not there.
  std::vector<Item> entries() const;
  /// Complains about keys other than these names of the model, naming the nearest.
  void expect_names(const std::vector<std::string>& known) const;
  std::string expect_string(const char* what) const;
  /// Complains where this key cannot be what it is called: unknown, with the nearest one.
  [[noreturn]] void refuse_unknown(const std::string& name, const std::vector<std::string>& known) const;
};

/// Complains about everything inside that does not fit the table of keys: unknown keys, wrong types, unknown words.
void check_keys(const Item& table);

/// Complains where `name` cannot be declared: it is no name, is a word of expressions, or has a meaning already.
void claim_name(const Item& item, const std::string& name, const Scope& scope);

/// Expressions in a scope, from items: numbers, strings, lists of them, families { for = "i", ... }.
class ValueReader {
 public:
  explicit ValueReader(Scope& scope) : scope_(scope) {}
  Scope& scope() const { return scope_; }

  /// A number: a TOML number, or a string with an expression without variables; in the range that the table of keys
  /// has.
  double number(const Item& item) const;
  int integer(const Item& item) const;
  /// These, where they are there; `into` stays as it is where they are not.
  template <class Number>
  void number(const Item& item, Number& into) const {
    if (item) into = number(item);
  }
  void flag(const Item& item, bool& into) const;
  /// A value of any shape: number, string, nested list.
  Value value(const Item& item) const;
  Node scalar(const Item& item) const;
  /// All entries of a list of expressions one after the other, vectors written out.
  std::vector<Node> list(const Item& item) const;
  /// A value for a block of this shape; a family { for = "i", value = "..." } runs over its first extent.
  std::vector<Node> block(const Item& item, const std::vector<int>& shape) const;
  /// What these nodes are, as numbers; `what` says why they have to be.
  std::vector<double> constants(const Item& item, const std::vector<Node>& nodes,
                                const char* what =
                                    "these are numbers, given by parameters; they cannot depend on t or "
                                    "the motion") const;
  /// The same, where nothing but these numbers depends on them.
  std::vector<double> carried(const Item& item, const std::vector<Node>& nodes, const char* what) const;
  /// Numbers of one of these shapes (any where there are none); `expected` is what a complaint asks for.
  std::vector<double> numbers(const Item& item, const std::vector<std::vector<int>>& shapes,
                              const char* expected) const;
  /// A point or direction: three numbers, or two in the plane.
  Eigen::Vector3d vector(const Item& item, int dimension = 3) const;
  template <class Point>
  void vector(const Item& item, int dimension, Point& into) const {
    if (item) into = vector(item, dimension);
  }
  /// A list of them.
  std::vector<Eigen::Vector3d> points(const Item& item, int dimension) const;

  /// Runs `action(i)` for each i of a family { for, from, to, ... } with the index bound in the scope.
  void family(const Item& item, int default_to, const std::function<void(int)>& action) const;

 private:
  double any_number(const Item& item) const;

  Scope& scope_;
};

/// The choice that a word stands for: enumerators stand in the order of the words in the table of keys.
std::size_t word_index(const Item& item);
template <class Choice>
void read_choice(const Item& item, Choice& into) {
  if (item) into = static_cast<Choice>(word_index(item));
}

}  // namespace hinge
