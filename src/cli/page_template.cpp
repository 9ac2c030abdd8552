#include "cli/page_template.hpp"

#include <fmt/format.h>

#include "hinge/error.hpp"

#ifdef HINGE_PAGE
// The assembler puts the file into the program: a compiler would take seconds for an array of its bytes.
__asm__(
    ".pushsection .rodata\n"
    "hinge_page_begin:\n"
    ".incbin \"" HINGE_PAGE
    "\"\n"
    "hinge_page_end:\n"
    ".byte 0\n"
    ".popsection\n");

extern "C" const char hinge_page_begin[] __attribute__((visibility("hidden")));
extern "C" const char hinge_page_end[] __attribute__((visibility("hidden")));
#endif

namespace hinge::cli {

std::string_view page_template() {
#ifdef HINGE_PAGE
  return {hinge_page_begin, static_cast<std::size_t>(hinge_page_end - hinge_page_begin)};
#else
  return {};
#endif
}

void require_page_template(const char* what) {
  if (page_template().empty())
    throw InputError(fmt::format(
        "{}: this program was built without the report page, which takes npm (Node.js): install it (as root: "
        "scripts/install-deps page), then build again with 'make'; hinge run --out FILE.csv records without it",
        what));
}

PageOptions page_options(const Model& model) {
  PageOptions options;
  options.system = model.system;
  options.view = model.view;
  options.start = model.simulation.start;
  options.end = model.end;
  options.momentum_maps = model.momentum_maps.size();
  options.method = model.method;
  options.model_name = model.path;
  options.model_text = model.text;
  options.settings = model.settings;
  return options;
}

}  // namespace hinge::cli
