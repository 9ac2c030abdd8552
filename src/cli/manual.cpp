// hinge man: the page of the manual, from the same declarations as --help, the methods and the table of keys.
#include <iostream>

#include <fmt/format.h>

#include "cli/command_info.hpp"
#include "cli/commands.hpp"
#include "hinge/method.hpp"
#include "hinge/version.hpp"
#include "model/keys.hpp"
#include "model/schema.hpp"

namespace hinge::cli {

namespace {

// Text as roff: backslashes and minus signs as they are, and no line that begins with a command.
std::string roff(const std::string& text) {
  std::string out;
  bool line = true;
  for (const char c : text) {
    if (line && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c != '`')
      out += c;
    line = c == '\n';
  }
  return out;
}

void section(const std::string& title) { std::cout << ".SH " << title << '\n'; }

void entry(const std::string& name, const std::string& text) {
  std::cout << fmt::format(".TP\n\\fB{}\\fR\n{}\n", roff(name), roff(text));
}

void command(const CommandInfo& c) {
  std::string usage;
  for (const CommandOption& o : c.options)
    if (o.by_place) usage += fmt::format(" \\fI{}\\fR", o.name);
  std::cout << fmt::format(".SS \"hinge {}\"\n\\fBhinge {}\\fR{} [\\fIoptions\\fR]\n.PP\n{}.\n", c.name, c.name, usage,
                           roff(c.meaning));
  for (const CommandOption& o : c.options) entry(o.takes_value && !o.by_place ? o.name + " VALUE" : o.name, o.meaning);
  if (!c.help.empty()) std::cout << ".PP\n.nf\n" << roff(c.help) << ".fi\n";
}

}  // namespace

int manual(const std::vector<CommandInfo>& commands) {
  std::cout << fmt::format(".TH HINGE 1 \"\" \"hinge {}\" \"User Commands\"\n", version());
  section("NAME");
  std::cout << "hinge \\- constrained mechanical systems, smooth and nonsmooth\n";
  section("SYNOPSIS");
  std::cout << "\\fBhinge\\fR \\fICOMMAND\\fR [\\fIarguments\\fR]\n";
  section("DESCRIPTION");
  std::cout
      << "Simulates constrained mechanical systems that are described by a model file, and says what was preserved "
         "and how well.\n";
  section("COMMANDS");
  for (const CommandInfo& c : commands) command(c);
  section("\"MODEL FILE\"");
  std::cout << "A model is a file in TOML. Its sections and keys:\n";
  for (const SectionInfo& s : model_sections()) {
    if (s.name.empty() || s.keys.empty()) continue;
    std::string of;
    for (const std::string& system : s.systems) of += (of.empty() ? " of a model with [" : ", [") + system + "]";
    std::cout << fmt::format(".SS \"{}{}\"\n", roff(s.name), roff(of));
    for (const KeyInfo& k : s.keys)
      entry(k.option.name, meaning_text(k.option) + (k.needed ? "; needed" : "") +
                               (k.option.default_value.empty() ? "" : "; default " + default_text(k.option)) +
                               (k.example.empty() ? "" : "; as in " + k.example));
  }
  section("METHODS");
  for (const MethodInfo& m : methods()) entry(m.name, m.summary + ". Order " + m.order + ".");
  section("\"EXIT STATUS\"");
  entry("0", "done");
  entry("1", "the numerics failed; what was computed is kept");
  entry("2", "the input is wrong: the message says where, why, and what to do");
  entry("130", "stopped by Ctrl-C; what was computed is kept");
  return done;
}

int schema() {
  std::cout << model_schema() << '\n';
  return done;
}

}  // namespace hinge::cli
