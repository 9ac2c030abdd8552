#include "expression/native.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <string_view>

#if defined(__x86_64__) && defined(__unix__)
#include <sys/mman.h>
#endif

namespace hinge {

namespace {

NativeUse from_environment() {
  const char* const text = std::getenv("HINGE_NATIVE");
  const std::string_view value = text ? text : "";
  if (value == "0" || value == "off" || value == "no") return NativeUse::off;
  return value == "check" ? NativeUse::check : NativeUse::on;
}

std::atomic<NativeUse>& choice() {
  static std::atomic<NativeUse> use{from_environment()};
  return use;
}

std::atomic<long> functions{0};

}  // namespace

NativeUse native_use() { return native_possible() ? choice().load(std::memory_order_relaxed) : NativeUse::off; }
void set_native_use(NativeUse use) { choice().store(use, std::memory_order_relaxed); }
long native_functions() { return functions.load(std::memory_order_relaxed); }
void count_native_function() { functions.fetch_add(1, std::memory_order_relaxed); }

#if defined(__x86_64__) && defined(__unix__)

bool native_possible() { return __builtin_cpu_supports("avx") != 0; }

std::unique_ptr<const NativeCode> NativeCode::make(const std::uint8_t* bytes, std::size_t size, std::size_t entry) {
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return nullptr;
#ifdef MADV_HUGEPAGE
  if (size > (std::size_t{1} << 20)) madvise(memory, size, MADV_HUGEPAGE);  // fewer places to look up; may be refused
#endif
  std::memcpy(memory, bytes, size);
  if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) {  // hardened systems may say no
    munmap(memory, size);
    return nullptr;
  }
  count_native_function();
  const auto function = reinterpret_cast<Function>(reinterpret_cast<std::uintptr_t>(memory) + entry);
  return std::unique_ptr<const NativeCode>(new NativeCode(memory, size, function));
}

NativeCode::~NativeCode() { munmap(memory_, size_); }

#else

bool native_possible() { return false; }
std::unique_ptr<const NativeCode> NativeCode::make(const std::uint8_t*, std::size_t, std::size_t) { return nullptr; }
NativeCode::~NativeCode() = default;

#endif

}  // namespace hinge
