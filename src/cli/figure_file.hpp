// A figure as the file that its name asks for: SVG as it is, PDF and PNG by rsvg-convert or, where that is not there,
// by Chromium.
#pragma once

#include <string>

namespace hinge::cli {

/// Throws InputError for an ending other than .svg, .pdf and .png, and where neither program is there.
void require_figure_format(const std::string& path);
/// The bytes of that file.
std::string as_figure_file(const std::string& svg, const std::string& path);

}  // namespace hinge::cli
