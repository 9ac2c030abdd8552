// Figures on one page: the picture or the table, what it must show, what was measured, and where the paper errs.
#pragma once

#include "cli/reproduce/computed_figure.hpp"

namespace hinge::cli {

/// One self-contained file.
std::string gallery_page(const std::vector<ComputedFigure>& figures);
/// A table of all points: curve, x, y.
std::string csv_of(const ComputedFigure& figure);
/// "euler-4.1": an id as the name of a file.
std::string file_name(const std::string& id);

}  // namespace hinge::cli
