// HDF5 was not written for hostile files: some make it loop for ever, some make it crash. A program that reads what
// others wrote lets a child process try first; what the child does not survive is refused.
#pragma once

#include <functional>
#include <string>

namespace hinge {

/// From now on HDF5 files are tried in a child process before they are read. Off unless asked for, because a library
/// does not fork behind the back of the program that uses it, and because the child has no other threads: for programs
/// that read files before they start any.
void distrust_hdf5_files(bool distrust = true);

/// `read` in a child process, where files are distrusted. Throws InputError where the child crashes, or computes for
/// longer than the size of the file explains; errors that `read` throws are not told.
void try_in_child(const std::string& path, const std::function<void()>& read);

}  // namespace hinge
