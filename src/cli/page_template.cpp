#include "cli/page_template.hpp"

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

}  // namespace hinge::cli
