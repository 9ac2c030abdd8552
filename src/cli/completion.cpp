// hinge completion: what a shell proposes, from the same declarations as --help, the methods and the table of keys.
#include <algorithm>
#include <iostream>
#include <set>

#include <fmt/format.h>

#include "cli/command_info.hpp"
#include "cli/commands.hpp"
#include "hinge/contact.hpp"
#include "hinge/error.hpp"
#include "hinge/method.hpp"
#include "model/keys.hpp"

namespace hinge::cli {

namespace {

// In single quotes, for any of the three shells.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? "'\\''" : std::string(1, c == '\n' ? ' ' : c);
  return out + "'";
}

// Keys that --set may begin with.
std::vector<std::string> set_keys() {
  std::vector<std::string> keys{"parameters."};
  for (const SectionInfo& s : model_sections())
    if (s.name == "integrate" || s.name == "output")
      for (const KeyInfo& k : s.keys) keys.push_back(fmt::format("{}.{}=", s.name, k.option.name));
  std::set<std::string> options;
  for (const MethodInfo& m : methods())
    for (const OptionInfo& o : m.options) options.insert(fmt::format("integrate.{}=", o.name));
  keys.insert(keys.end(), options.begin(), options.end());
  std::sort(keys.begin(), keys.end());
  keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  return keys;
}

// Endings of the files that are meant in a place; empty: none are.
std::vector<std::string> endings_of(const std::string& command, const CommandOption& o) {
  if (o.by_place && o.name == "MODEL") return {"toml"};
  if (o.by_place && o.name == "FILE")
    return command == "contact" ? std::vector<std::string>{"hdf5", "h5"}
                                : std::vector<std::string>{"toml", "h5", "hdf5", "csv"};
  if (o.name == "--out" || o.name == "--report" || o.name == "--csv" || o.name == "--reference") return {"*"};
  return {};
}

std::string bash(const std::vector<CommandInfo>& commands) {
  std::vector<std::string> names;
  std::string cases;
  for (const CommandInfo& c : commands) {
    names.push_back(c.name);
    std::vector<std::string> options, files;
    std::string values;
    for (const CommandOption& o : c.options) {
      const std::vector<std::string> words = words_of(o), endings = endings_of(c.name, o);
      if (o.by_place) {
        files.insert(files.end(), endings.begin(), endings.end());
        options.insert(options.end(), words.begin(), words.end());
        continue;
      }
      options.push_back(o.name);
      if (!o.takes_value) continue;
      values += fmt::format("        {}) {} ;;\n", o.name,
                            !words.empty()     ? fmt::format("COMPREPLY=($(compgen -W {} -- \"$current\"))",
                                                             quoted(fmt::format("{}", fmt::join(words, " "))))
                            : !endings.empty() ? "COMPREPLY=($(compgen -f -- \"$current\"))"
                                               : "COMPREPLY=()");
    }
    cases += fmt::format(
        "    {})\n      case $before in\n{}        *)\n          COMPREPLY=($(compgen -W {} -- \"$current\"))\n{}      "
        "    ;;\n"
        "      esac\n      ;;\n",
        c.name, values, quoted(fmt::format("{}", fmt::join(options, " "))),
        files.empty()
            ? ""
            : fmt::format("          [[ $current == -* ]] || COMPREPLY+=($(compgen -d -- \"$current\") $(compgen -f -X "
                          "'!*.@({})' -- \"$current\"))\n",
                          fmt::join(files, "|")));
  }
  return fmt::format(
      "# bash completion of hinge: hinge completion bash > ~/.local/share/bash-completion/completions/hinge\n"
      "_hinge() {{\n"
      "  local current before command line=${{COMP_LINE:0:COMP_POINT}}\n"
      "  local - ; shopt -s extglob\n"
      "  read -ra line <<< \"$line\"\n"
      "  current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD-1]}} command=${{COMP_WORDS[1]}}\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W {} -- \"$current\"))\n"
      "    return\n"
      "  fi\n"
      "  case $command in\n{}"
      "  esac\n"
      "  # a key is not finished at its = or point\n"
      "  [[ ${{#COMPREPLY[@]}} == 1 && ${{COMPREPLY[0]}} == *[=.] ]] && compopt -o nospace\n"
      "}}\n"
      "complete -o filenames -F _hinge hinge\n",
      quoted(fmt::format("{} --help --version", fmt::join(names, " "))), cases);
}

// [ ] and : stand for something in zsh's descriptions.
std::string zsh_text(std::string text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string zsh(const std::vector<CommandInfo>& commands) {
  std::string list, cases;
  for (const CommandInfo& c : commands) {
    list += fmt::format("    {}\n", quoted(c.name + ":" + zsh_text(c.meaning)));
    std::string arguments;
    for (const CommandOption& o : c.options) {
      const std::vector<std::string> words = words_of(o), endings = endings_of(c.name, o);
      std::string action = " ";
      if (!words.empty())
        action = fmt::format("({})", fmt::join(words, " "));
      else if (!endings.empty())
        action = endings[0] == "*" ? "_files" : fmt::format("_files -g \"*.({})\"", fmt::join(endings, "|"));
      if (o.by_place)
        arguments += " \\\n        " + quoted(fmt::format("*:{}:{}", zsh_text(o.meaning), action));
      else
        arguments += " \\\n        " +
                     quoted(fmt::format("{}{}[{}]{}", o.name == "--set" ? "*" : "", o.name, zsh_text(o.meaning),
                                        o.takes_value ? fmt::format(":{}:{}", o.name.substr(2), action) : ""));
    }
    cases += fmt::format("    {})\n      _arguments{}\n      ;;\n", c.name, arguments);
  }
  return fmt::format(
      "#compdef hinge\n"
      "# zsh completion of hinge: hinge completion zsh > a folder of $fpath, as _hinge\n"
      "_hinge() {{\n"
      "  local -a commands=(\n{}  )\n"
      "  if ((CURRENT == 2)); then\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  ((CURRENT--))\n"
      "  case $command in\n{}"
      "  esac\n"
      "}}\n"
      "_hinge \"$@\"\n",
      list, cases);
}

std::string fish(const std::vector<CommandInfo>& commands) {
  std::string text =
      "# fish completion of hinge: hinge completion fish > ~/.config/fish/completions/hinge.fish\n"
      "complete -c hinge -f\n";
  for (const CommandInfo& c : commands) {
    text += fmt::format("complete -c hinge -n __fish_use_subcommand -a {} -d {}\n", c.name, quoted(c.meaning));
    const std::string when = quoted(fmt::format("__fish_seen_subcommand_from {}", c.name));
    for (const CommandOption& o : c.options) {
      const std::vector<std::string> words = words_of(o), endings = endings_of(c.name, o);
      const std::string of_words = words.empty() ? "" : " -a " + quoted(fmt::format("{}", fmt::join(words, " ")));
      if (o.by_place) {
        if (!endings.empty())
          for (const std::string& e : endings)
            text += fmt::format("complete -c hinge -n {} -a '(__fish_complete_suffix .{})'\n", when, e);
        else if (!words.empty())
          text += fmt::format("complete -c hinge -n {}{}\n", when, of_words);
        continue;
      }
      text += fmt::format("complete -c hinge -n {} -l {}{}{} -d {}\n", when, o.name.substr(2),
                          !o.takes_value    ? ""
                          : endings.empty() ? " -x"
                                            : " -r -F",
                          of_words, quoted(o.meaning));
    }
  }
  return text;
}

}  // namespace

std::vector<std::string> words_of(const CommandOption& o) {
  std::vector<std::string> words;
  if (o.name == "--method" || o.name == "--methods" || (o.by_place && o.name == "name")) {
    for (const MethodInfo& m : methods()) words.push_back(m.name);
  } else if (o.name == "--set") {
    words = set_keys();
  } else if (o.name == "--solver") {
    words = {"all"};
    for (const ContactSolverInfo& s : contact_solvers()) words.push_back(s.name);
  } else if (o.name == "--template") {
    words = template_names();
  } else if (o.name == "--log") {
    words = {"x", "y", "xy"};
  } else if (o.name == "--scaling") {
    words = {"ours", "siconos", "fclib", "absolute"};
  } else if (o.name == "--friction") {
    words = {"exact", "convexified", "polyhedral"};
  } else if (o.name == "SHELL") {
    words = {"bash", "zsh", "fish"};
  }
  return words;
}

int completion(const std::string& shell, const std::vector<CommandInfo>& commands) {
  if (shell == "bash")
    std::cout << bash(commands);
  else if (shell == "zsh")
    std::cout << zsh(commands);
  else if (shell == "fish")
    std::cout << fish(commands);
  else
    throw InputError(fmt::format("completion: '{}' is not known; there are bash, zsh and fish", shell));
  return done;
}

}  // namespace hinge::cli
