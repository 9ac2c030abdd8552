// Systems that differ in the values of constants alone: what has been found out for one of them holds for all, with
// other numbers in its place. Runs of a sweep have one system each, whose expressions are made, derived and compiled
// once.
//
// The first of a family is made while its constants are traced (expression/constants_made.hpp), and is nobody's system:
// it is asked by the family alone, behind its lock, and what it is asked for is traced as well. A member has the graph
// of the first with constants of its own, and takes from the family what that knows: where the entries of a quantity
// stand, and machine code, which reads its constants from the scratch array. What the family does not know, or what
// would be something else with these constants, the member makes by itself, as any system does. Its numbers are those
// of the same system alone, bit by bit.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "expression/constants_made.hpp"
#include "system/symbolic.hpp"

namespace hinge {

class SystemFamily : public std::enable_shared_from_this<SystemFamily> {
 public:
  /// Null where it cannot be: the system is not made of expressions as a whole, or it is not known where its numbers,
  /// or `others`, which were made with it, come from. Nobody else may use the first one from now on.
  static std::shared_ptr<const SystemFamily> found(const std::shared_ptr<const System>& first,
                                                   std::vector<double> given, ConstantTrace making,
                                                   std::vector<double> others);
  SystemFamily(const SystemFamily&) = delete;
  SystemFamily& operator=(const SystemFamily&) = delete;
  ~SystemFamily();

  struct Member {
    std::shared_ptr<const SymbolicSystem> system;
    std::shared_ptr<Graph> source;  ///< of its expressions: the builder's, with other constants
    std::vector<double> others;
  };
  /// Nothing where other expressions would be made of these.
  std::optional<Member> member(std::span<const double> given) const;

 private:
  friend class SymbolicSystem;
  using Entry = SymbolicSystem::Entry;

  /// What is known at some time, of which a member has the numbers. In this order: constants of the frozen graph, of
  /// the builder's, the others, constants of the graph of derivatives, of which there may be more later.
  struct Snapshot {
    std::uint32_t known = 0, constant = 0;  // quantities, as bits
    std::array<const Entry*, quantity_count> entries{};
    Node nodes = 0;  // of the graph of derivatives
    ConstantsMade numbers;
  };
  /// A function with places of constants in its scratch array.
  struct Tape {
    std::shared_ptr<const Evaluator> evaluator;
    std::vector<double> scratch;
    std::vector<std::pair<std::int32_t, std::int32_t>> constants;  // slot, number of a member
    std::vector<std::pair<Quantity, std::size_t>> parts;
  };
  struct Function {
    std::shared_ptr<const Evaluator> evaluator;
    std::vector<double> scratch;
    std::vector<std::int32_t> slots;
    ConstantsMade numbers;  // of the slots, from the first numbers of a member
    std::shared_ptr<LaneCode> lanes;
  };

  SystemFamily(std::shared_ptr<const SymbolicSystem> first, std::vector<double> given, ConstantTrace making,
               std::vector<double> others);
  // What members ask for.
  void learn(Quantity q) const;
  std::shared_ptr<const Tape> tape(std::uint32_t quantities, const Snapshot& known) const;
  std::shared_ptr<const Function> function(const FunctionKey& key, const MakeFunction& make) const;
  Graph graph_of(const Snapshot& known, std::span<const double> numbers) const;

  // Behind the lock.
  std::vector<double> numbers() const;
  std::shared_ptr<const Snapshot> look() const;
  std::shared_ptr<const Tape> make_tape_of(std::uint32_t quantities, const Snapshot& known) const;
  std::shared_ptr<const Function> make_function(const MakeFunction& make) const;

  const std::shared_ptr<const SymbolicSystem> first_;
  const std::vector<double> given_, others_;
  std::size_t before_derived_ = 0;  // numbers
  mutable std::mutex mutex_;        // of all below, and of the first one
  mutable ConstantTrace making_;
  mutable std::shared_ptr<const Snapshot> snapshot_;
  mutable Node looked_at_ = -1;  // so many nodes of derivatives
  mutable std::map<std::uint32_t, std::shared_ptr<const Tape>> tapes_;
  mutable std::map<FunctionKey, std::shared_ptr<const Function>> functions_;
};

/// What a member has of its family.
struct SymbolicSystem::Kin {
  std::shared_ptr<const SystemFamily> family;
  std::shared_ptr<const SystemFamily::Snapshot> known;
  std::vector<double> numbers;
  bool alone = false;  // has it a graph of derivatives of its own?
};

}  // namespace hinge
