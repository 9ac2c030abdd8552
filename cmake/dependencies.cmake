# What the library links. Used twice: by the build, and by find_package(hinge) from an installed Hinge.

find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(TBB REQUIRED)
find_package(tomlplusplus REQUIRED)  # the shared library: the parser is compiled once, by the distribution

# KLU: Debian ships SuiteSparse without a CMake package.
if(NOT TARGET hinge::klu)
  find_path(HINGE_KLU_INCLUDE klu.h PATH_SUFFIXES suitesparse REQUIRED)
  add_library(hinge::klu INTERFACE IMPORTED)
  target_include_directories(hinge::klu INTERFACE "${HINGE_KLU_INCLUDE}")
  foreach(name klu amd colamd btf suitesparseconfig)
    find_library(HINGE_KLU_${name} ${name} REQUIRED)
    target_link_libraries(hinge::klu INTERFACE "${HINGE_KLU_${name}}")
    mark_as_advanced(HINGE_KLU_${name})
  endforeach()
  mark_as_advanced(HINGE_KLU_INCLUDE)
endif()

# zlib, optional: report pages are smaller with it.
if(NOT TARGET hinge::zlib)
  find_path(HINGE_ZLIB_INCLUDE zlib.h)
  find_library(HINGE_ZLIB_LIBRARY z)
  mark_as_advanced(HINGE_ZLIB_INCLUDE HINGE_ZLIB_LIBRARY)
  if(HINGE_ZLIB_INCLUDE AND HINGE_ZLIB_LIBRARY)
    add_library(hinge::zlib INTERFACE IMPORTED)
    target_include_directories(hinge::zlib INTERFACE "${HINGE_ZLIB_INCLUDE}")
    target_link_libraries(hinge::zlib INTERFACE "${HINGE_ZLIB_LIBRARY}")
  endif()
endif()
