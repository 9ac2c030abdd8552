// The functions of HDF5 that are used, found when the first of them is needed: the library brings forty others along
// (it can read files from the net), which take longer to load than most runs take.
//
// Where the program is linked with HDF5 these are its functions; else the library is loaded by the name that it had
// when Hinge was built.
#pragma once

#include <string>

#include <hdf5.h>

// clang-format off
#define HINGE_HDF5_FUNCTIONS(F)                                                                                  \
  F(H5open) F(H5dont_atexit)                                                                                     \
  F(H5Aclose) F(H5Acreate2) F(H5Aexists) F(H5Aget_name) F(H5Aget_space) F(H5Aget_type) F(H5Aopen)                \
  F(H5Aopen_by_idx) F(H5Aread) F(H5Awrite)                                                                       \
  F(H5Dclose) F(H5Dcreate2) F(H5Dget_create_plist) F(H5Dget_space) F(H5Dget_storage_size) F(H5Dget_type)         \
  F(H5Dopen2) F(H5Dread) F(H5Dvlen_reclaim) F(H5Dwrite)                                                          \
  F(H5Eget_auto2) F(H5Eset_auto2) F(H5Ewalk2)                                                                    \
  F(H5Fclose) F(H5Fcreate) F(H5Fflush) F(H5Fget_file_image) F(H5Fis_hdf5) F(H5Fopen)                             \
  F(H5Lexists) F(H5Oget_info)                                                                                    \
  F(H5Pclose) F(H5Pcreate) F(H5Pget_external_count) F(H5Pget_layout) F(H5Pset_create_intermediate_group)         \
  F(H5Pset_elink_cb) F(H5Pset_fapl_core) F(H5Pset_obj_track_times)                                               \
  F(H5Sclose) F(H5Screate) F(H5Screate_simple) F(H5Sget_simple_extent_dims) F(H5Sget_simple_extent_ndims)        \
  F(H5Sget_simple_extent_npoints)                                                                                \
  F(H5Tclose) F(H5Tcopy) F(H5Tget_class) F(H5Tget_size) F(H5Tis_variable_str) F(H5Tset_cset) F(H5Tset_size)
// What H5P_DATASET_ACCESS, H5T_NATIVE_INT, ... stand for: numbers that the library keeps.
#define HINGE_HDF5_NUMBERS(F)                                                                                    \
  F(H5P_CLS_DATASET_ACCESS_ID_g) F(H5P_CLS_DATASET_CREATE_ID_g) F(H5P_CLS_FILE_ACCESS_ID_g)                      \
  F(H5P_CLS_LINK_CREATE_ID_g) F(H5T_NATIVE_INT_g) F(H5T_NATIVE_DOUBLE_g) F(H5T_C_S1_g)
// clang-format on

namespace hinge::hdf5 {

/// H5F_ACC_RDONLY and H5F_ACC_TRUNC, which call the library where they stand in a text.
inline constexpr unsigned read_only = 0, truncate = 2;

struct Library {
#define HINGE_MEMBER(name) decltype(&::name) name = nullptr;
  HINGE_HDF5_FUNCTIONS(HINGE_MEMBER)
  HINGE_HDF5_NUMBERS(HINGE_MEMBER)
#undef HINGE_MEMBER
};

/// Throws OutputError, with what to do, where the library cannot be loaded. Loaded once, for all threads.
const Library& h5();
/// When it is loaded, tell it not to clean up at exit.
void spare_cleanup();

}  // namespace hinge::hdf5
