// Machine code for tapes, on processors that have it: x86-64 with AVX. Elsewhere, where memory cannot be made
// executable, and where it is switched off, tapes are interpreted. The numbers are the same to the last bit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "expression/evaluator.hpp"
#include "expression/graph.hpp"
#include "expression/tape_places.hpp"
#include "expression/tape_plan.hpp"

namespace hinge {

/// `check`: every function is compared with its tape at random points when it is made, and a difference is an error.
enum class NativeUse { off, on, check };

/// What tapes that are made from now on do. At first what the environment says: HINGE_NATIVE=0 (or off), 1 (or on),
/// check; on, if it says nothing.
NativeUse native_use();
void set_native_use(NativeUse use);
/// Can this processor and this build do it?
bool native_possible();
/// How many functions this process has as code, compiled or found (native_library.hpp).
long native_functions();
void count_native_function();

/// Code in memory of its own, which is first written and then executable, never both.
class NativeCode {
 public:
  using Function = void (*)(const double* const* inputs, double* scratch);

  NativeCode(const NativeCode&) = delete;
  NativeCode& operator=(const NativeCode&) = delete;
  ~NativeCode();
  /// Null where the system refuses memory for code.
  static std::unique_ptr<const NativeCode> make(const std::uint8_t* bytes, std::size_t size, std::size_t entry);

  void operator()(const double* const* inputs, double* scratch) const { function_(inputs, scratch); }
  std::size_t size() const { return size_; }
  /// Another function in it, so many bytes after the beginning.
  Function at(std::size_t place) const {
    return reinterpret_cast<Function>(reinterpret_cast<std::uintptr_t>(memory_) + place);
  }

 private:
  NativeCode(void* memory, std::size_t size, Function function) : memory_(memory), size_(size), function_(function) {}

  void* memory_;
  std::size_t size_;
  Function function_;
};

/// A function as code, and where it finds things. Scratch arrays begin with slots for the inputs, which the code does
/// not use: it reads the blocks themselves. Constants and outputs have their slots there.
struct NativeFunction {
  std::vector<TapePlaces::Block> blocks;
  std::vector<std::int32_t> slots;  // of each node that is an input, a constant or an output; -1 of others
  std::int32_t inputs = 0;          // slots below this are inputs
  std::int32_t first_output = 0;
  std::int32_t scratch = 0;  // slots that are taken; after compile(), those that the code needs
  bool tables = false;       // does the code know where tables are?
  std::shared_ptr<const NativeCode> code;
  std::shared_ptr<const std::vector<TapePlaces::ConstantPlace>> constants;  // null where nobody has said

  /// The steps of a plan in the order in which it found them; outputs that are inputs or come twice are copied. Leaves
  /// no code where there can be none. With four lanes every place has four numbers side by side, of as many points.
  void compile(const Graph& graph, const TapePlan& plan, std::span<const Node> outputs, const TapePlaces& places,
               int lanes = 1);
};

/// The code as an evaluator with so many outputs, whose scratch arrays begin as this one. `tape`: after it was compared
/// with that; null: without.
std::unique_ptr<Evaluator> with_native_code(NativeFunction native, std::vector<double> scratch, std::size_t outputs,
                                            const std::unique_ptr<Evaluator>& tape);
/// Where scratch arrays of the code have the constants of the graph it was made of; null where there is no code, or it
/// depends on more than these.
const std::vector<TapePlaces::ConstantPlace>* constants_in_code(const Evaluator& evaluator);
/// The code itself, for calls with all blocks; null where there is none.
const NativeCode* native_code_of(const Evaluator& evaluator);

}  // namespace hinge
