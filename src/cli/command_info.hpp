// The commands of the program and their options, as main() declares them: for shells, and for the manual.
#pragma once

#include <string>
#include <vector>

namespace hinge::cli {

struct CommandOption {
  std::string name;  ///< "--step"; "MODEL" for one that is known by its place
  std::string meaning;
  bool takes_value = false, by_place = false, needed = false;
};

struct CommandInfo {
  std::string name, meaning;
  std::string help;  ///< examples and exit status, as --help shows them
  std::vector<CommandOption> options;
};

/// hinge completion bash, zsh or fish: a script on standard output.
int completion(const std::string& shell, const std::vector<CommandInfo>& commands);
/// hinge man: the page of the manual, for man(1).
int manual(const std::vector<CommandInfo>& commands);
/// hinge schema: the JSON schema of the model file.
int schema();

/// What an option may be set to, where these are words: the methods, the shells.
std::vector<std::string> words_of(const CommandOption& option);

}  // namespace hinge::cli
