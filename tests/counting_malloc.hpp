// Malloc and its kin, replaced: they count, and one of them may fail. Operator new, Eigen and KLU all end up in them.
// For programs of their own, one file each, and not for builds with sanitizers, which replace malloc themselves.
#pragma once

#include <cstdlib>

namespace {
long allocations = 0;
long failing = -1;  // the number of the allocation that fails

bool next_fails() { return ++allocations == failing; }
}  // namespace

extern "C" {
void* __libc_malloc(std::size_t size);
void* __libc_calloc(std::size_t count, std::size_t size);
void* __libc_realloc(void* p, std::size_t size);
void* __libc_memalign(std::size_t alignment, std::size_t size);

void* malloc(std::size_t size) { return next_fails() ? nullptr : __libc_malloc(size); }
void* calloc(std::size_t count, std::size_t size) { return next_fails() ? nullptr : __libc_calloc(count, size); }
void* realloc(void* p, std::size_t size) { return next_fails() ? nullptr : __libc_realloc(p, size); }
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  return next_fails() ? nullptr : __libc_memalign(alignment, size);
}
}
