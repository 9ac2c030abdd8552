#ifdef HINGE_HAVE_HDF5

#include "simulate/record/hdf5_library.hpp"

#include <atomic>

#include <dlfcn.h>

#include <fmt/format.h>

#include "hinge/error.hpp"

namespace hinge::hdf5 {

namespace {

std::atomic<bool> spared = false;

struct Loaded {
  Library functions;
  std::string failure;
};

// Where HDF5's functions are: in the program, in what this code was linked into (a Python module sees nothing of what
// others have loaded), or in a library that is not loaded yet.
void* find_library(std::string& failure) {
  if (dlsym(RTLD_DEFAULT, "H5open")) return RTLD_DEFAULT;
  Dl_info own{};
  if (dladdr(reinterpret_cast<const void*>(&find_library), &own) != 0 && own.dli_fname)
    if (void* handle = dlopen(own.dli_fname, RTLD_LAZY | RTLD_NOLOAD); handle && dlsym(handle, "H5open")) return handle;
  if (void* handle = dlopen(HINGE_HDF5_NAME, RTLD_LAZY | RTLD_LOCAL)) return handle;
  const char* reason = dlerror();
  failure = reason ? reason : HINGE_HDF5_NAME " cannot be loaded";
  return nullptr;
}

template <class Pointer>
void find(void* library, const char* name, Pointer& pointer, std::string& failure) {
  pointer = reinterpret_cast<Pointer>(dlsym(library, name));
  if (!pointer && failure.empty()) failure = fmt::format("{} has no {}", HINGE_HDF5_NAME, name);
}

Loaded load() {
  Loaded loaded;
  void* const library = find_library(loaded.failure);
  if (!loaded.failure.empty()) return loaded;
    // names are macros in places: H5Oget_info is H5Oget_info1 or another one
#define HINGE_NAME(name) #name
#define HINGE_FIND(name) find(library, HINGE_NAME(name), loaded.functions.name, loaded.failure);
  HINGE_HDF5_FUNCTIONS(HINGE_FIND)
  HINGE_HDF5_NUMBERS(HINGE_FIND)
#undef HINGE_FIND
#undef HINGE_NAME
  if (loaded.failure.empty() && spared) loaded.functions.H5dont_atexit();
  if (loaded.failure.empty() && loaded.functions.H5open() < 0) loaded.failure = "HDF5 does not start";
  return loaded;
}

const Loaded& once() {
  static const Loaded loaded = load();
  return loaded;
}

}  // namespace

const Library& h5() {
  const Loaded& loaded = once();
  if (loaded.failure.empty()) return loaded.functions;
  throw OutputError(fmt::format(
      "files of HDF5 (.h5, .hdf5) need its library, which is not there ({}); install it (on Debian libhdf5-103-1), or "
      "use .csv",
      loaded.failure));
}

void spare_cleanup() { spared = true; }

}  // namespace hinge::hdf5

#endif
