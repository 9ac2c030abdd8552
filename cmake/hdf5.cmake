# HDF5, optional: the serial C library, also where a parallel one is installed beside it. The library of Hinge takes its
# header alone and loads it when it is first used (src/simulate/record/hdf5_library.hpp); hinge::hdf5 is for those that
# link it.

find_path(HINGE_HDF5_INCLUDE hdf5.h PATH_SUFFIXES hdf5/serial)
find_library(HINGE_HDF5_LIBRARY NAMES hdf5_serial hdf5)
mark_as_advanced(HINGE_HDF5_INCLUDE HINGE_HDF5_LIBRARY)
if(HINGE_HDF5_INCLUDE AND HINGE_HDF5_LIBRARY)
  add_library(hinge::hdf5_header INTERFACE IMPORTED)
  target_include_directories(hinge::hdf5_header INTERFACE "${HINGE_HDF5_INCLUDE}")
  add_library(hinge::hdf5 INTERFACE IMPORTED)
  target_link_libraries(hinge::hdf5 INTERFACE hinge::hdf5_header "${HINGE_HDF5_LIBRARY}")

  # the name that it is loaded by: what a program linked with it would ask for
  set(HINGE_HDF5_NAME "${HINGE_HDF5_LIBRARY}")
  if(CMAKE_READELF)
    execute_process(COMMAND "${CMAKE_READELF}" -d "${HINGE_HDF5_LIBRARY}" OUTPUT_VARIABLE about ERROR_QUIET)
    if(about MATCHES "SONAME[^\\[]*\\[([^]]+)\\]")
      set(HINGE_HDF5_NAME "${CMAKE_MATCH_1}")
    endif()
  endif()

  # the package that it is in, for a package of ours to depend on
  find_program(HINGE_DPKG_QUERY dpkg-query)
  mark_as_advanced(HINGE_DPKG_QUERY)
  if(HINGE_DPKG_QUERY)
    file(REAL_PATH "${HINGE_HDF5_LIBRARY}" file)
    # the list has the paths of before /usr was merged in places
    string(REGEX REPLACE "^/usr/" "/" short "${file}")
    execute_process(COMMAND "${HINGE_DPKG_QUERY}" -S "${file}" "${short}" OUTPUT_VARIABLE about ERROR_QUIET)
    if(about MATCHES "^([a-z0-9.+-]+)[:,]")
      set(HINGE_HDF5_PACKAGE "${CMAKE_MATCH_1}")
    endif()
  endif()
endif()
