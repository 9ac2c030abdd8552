// The file: a line that says what it is, the texts of the identity and the words of the memory, each with its count in
// front, and a sum over all of it.
#include "simulate/checkpoint.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "expression/printable.hpp"
#include "hinge/error.hpp"
#include "simulate/record/recorder_formats.hpp"

namespace hinge {

namespace {

const std::string first_line = "hinge checkpoint 1\n";
constexpr std::uintmax_t largest = 4'000'000'000;

std::uint64_t sum_of(const std::vector<std::uint64_t>& words) {
  std::uint64_t sum = 0x9E3779B97F4A7C15ull;
  for (const std::uint64_t w : words) {
    sum ^= w;
    sum *= 0xD6E8FEB86659FD93ull;
    sum ^= sum >> 32;
  }
  return sum;
}

bool is_checkpoint(std::ifstream& file) {
  std::string begins(first_line.size(), ' ');
  file.read(begins.data(), static_cast<std::streamsize>(begins.size()));
  return file && begins == first_line;
}

}  // namespace

void require_checkpoint_path(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::error_code unknown;
  if (!folder.empty() && !std::filesystem::is_directory(folder, unknown))
    throw InputError(fmt::format("the checkpoint '{}' cannot be written: there is no folder '{}'", printable(path),
                                 printable(folder.string())));
  if (!std::filesystem::exists(path, unknown)) return;
  std::ifstream file(path, std::ios::binary);
  if (!is_checkpoint(file))
    throw InputError(fmt::format(
        "'{}' is there and is no checkpoint of hinge, which would replace it; give another name", printable(path)));
}

void write_checkpoint(const std::string& path, const CheckpointIdentity& identity, const Memory& memory) {
  Memory all;
  CheckpointIdentity of = identity;
  std::vector<std::uint64_t> words = memory.words();
  all(of.version, of.model, of.method, words);
  const std::uint64_t sum = sum_of(all.words());
  const std::string beside = path + ".new";
  {
    std::ofstream out(beside, std::ios::binary | std::ios::trunc);
    if (!out) throw cannot_write(beside, errno);
    out << first_line;
    out.write(reinterpret_cast<const char*>(&sum), sizeof sum);
    out.write(reinterpret_cast<const char*>(all.words().data()),
              static_cast<std::streamsize>(all.words().size() * sizeof(std::uint64_t)));
    out.flush();
    if (!out) throw cannot_write(beside, errno);
  }
  if (std::rename(beside.c_str(), path.c_str()) != 0) throw cannot_write(path, errno);
}

void require_checkpoint(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(path, unknown)) throw cannot_read(path, ENOENT);
  std::ifstream file(path, std::ios::binary);
  if (!file) throw cannot_read(path, errno);
  if (!is_checkpoint(file))
    throw InputError(
        fmt::format("'{}' is no checkpoint of this program; --resume goes on from a file that --checkpoint has written",
                    printable(path)));
}

Memory read_checkpoint(const std::string& path, const CheckpointIdentity& identity) {
  require_checkpoint(path);
  std::error_code trouble;
  const std::uintmax_t size = std::filesystem::file_size(path, trouble);
  const auto damaged = [&] {
    return InputError(fmt::format("the checkpoint '{}' is damaged; begin the run anew", path));
  };
  std::ifstream in(path, std::ios::binary);
  if (trouble || !in) throw cannot_read(path, errno);
  if (size < first_line.size() + 8) throw damaged();
  in.seekg(static_cast<std::streamoff>(first_line.size()));
  const std::uintmax_t rest = size - first_line.size() - 8;
  if (rest % 8 != 0 || rest > largest) throw damaged();
  std::uint64_t sum = 0;
  in.read(reinterpret_cast<char*>(&sum), sizeof sum);
  std::vector<std::uint64_t> words(static_cast<std::size_t>(rest / 8));
  in.read(reinterpret_cast<char*>(words.data()), static_cast<std::streamsize>(rest));
  if (!in || sum != sum_of(words)) throw damaged();
  Memory all(std::move(words));
  CheckpointIdentity of;
  std::vector<std::uint64_t> own;
  all(of.version, of.model, of.method, own);
  if (all.broken()) throw damaged();
  const auto differs = [&](const char* what, const char* remedy) {
    return InputError(fmt::format("the checkpoint '{}' is of another {}; {}", path, what, remedy));
  };
  if (of.version != identity.version)
    throw differs("version of hinge",
                  fmt::format("it was {}, this is {}: begin the run anew", of.version, identity.version).c_str());
  if (of.model != identity.model)
    throw differs("model",
                  "give the same file, with the same files of tables, and the same --set as when it was written (--end "
                  "may differ)");
  if (of.method != identity.method)
    throw differs("method, step, choice of rows, output file or number of steps between two checkpoints",
                  "give those with which it was written (--method, --step, --tolerance, --out, --checkpoint-steps), or "
                  "begin the run anew");
  return Memory(std::move(own));
}

}  // namespace hinge
