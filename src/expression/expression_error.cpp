// How an ExpressionError quotes the expression it is about.
#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "expression/utf8.hpp"
#include "hinge/error.hpp"

namespace hinge {

namespace {

/// The expression on one line with a caret under the column, cut to a window around it when it is long.
std::string quote_with_caret(std::string_view text, int column) {
  constexpr std::size_t window = 100;
  std::vector<std::size_t> starts;
  for (std::size_t at = 0; at < text.size(); at += decode_utf8(text, at).size) starts.push_back(at);
  const std::size_t count = starts.size();
  const std::size_t target = std::min(static_cast<std::size_t>(std::max(column, 1) - 1), count);

  std::size_t first = 0, last = count;
  if (count > window) {
    first = std::min(target > window / 2 ? target - window / 2 : 0, count - window);
    last = first + window;
  }
  std::string line = first > 0 ? "..." : "";
  const std::size_t caret = line.size() + (target - first);
  for (std::size_t k = first; k < last; ++k) {
    const Character c = decode_utf8(text, starts[k]);
    if (is_space(text[starts[k]]))
      line += ' ';
    else if (visible(c))
      line += text.substr(starts[k], c.size);
    else
      line += "\uFFFD";
  }
  if (last < count) line += "...";
  return fmt::format("  {}\n  {:>{}}", line, '^', caret + 1);
}

}  // namespace

ExpressionError::ExpressionError(std::string message, std::string expression, int position)
    : InputError(message + '\n' + quote_with_caret(expression, position)),
      cause(std::move(message)),
      text(std::move(expression)),
      column(position) {}

}  // namespace hinge
