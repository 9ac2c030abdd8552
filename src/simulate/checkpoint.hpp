// A file with all that a run needs to go on: what it is of, then numbers (hinge/memory.hpp).
#pragma once

#include <string>

#include "hinge/memory.hpp"

namespace hinge {

/// What a checkpoint is of: two runs with the same text may be continued from each other's.
struct CheckpointIdentity {
  std::string version, model, method;
};

/// Refuses, with InputError, a file that is there and is no checkpoint, and a folder that is not there.
void require_checkpoint_path(const std::string& path);
/// Refuses, with InputError, what is no checkpoint.
void require_checkpoint(const std::string& path);
/// Written beside and renamed: whoever looks sees the old file or the new one. Throws OutputError.
void write_checkpoint(const std::string& path, const CheckpointIdentity& identity, const Memory& memory);
/// Throws InputError where the file cannot be read, is damaged, or is of something else.
Memory read_checkpoint(const std::string& path, const CheckpointIdentity& identity);

}  // namespace hinge
