#include "cli/reproduce/gallery.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "hinge/version.hpp"

namespace hinge::cli {

namespace {

constexpr std::size_t rows_of_a_table = 40;

const char* const style = R"(
:root{--paper:#fff;--ink:#1b1f24;--faint:#57606a;--line:#d0d7de;--card:#f6f8fa;--good:#116329;--bad:#a40e26;--note:#7d4e00}
@media(prefers-color-scheme:dark){:root{--paper:#0d1117;--ink:#e6edf3;--faint:#9198a1;--line:#30363d;--card:#151b23;--good:#56d364;--bad:#ff7b72;--note:#e3b341}
svg{filter:invert(1) hue-rotate(180deg)}}
body{background:var(--paper);color:var(--ink);font:16px/1.5 system-ui,sans-serif;margin:0 auto;max-width:64rem;padding:1rem}
h1,h2{line-height:1.25}h2{margin-top:2.5rem;border-bottom:1px solid var(--line);padding-bottom:.3rem}
a{color:inherit}nav{columns:14rem;font-size:.9rem}nav a{display:block;text-decoration:none}
article{margin:2rem 0;padding:1rem;background:var(--card);border:1px solid var(--line);border-radius:8px}
article h3{margin:.2rem 0}svg{max-width:100%;height:auto;display:block;margin:.6rem auto;border-radius:4px}
code,.id{font-family:ui-monospace,monospace;font-size:.9em}.faint{color:var(--faint)}
ul.claims{list-style:none;padding:0}ul.claims li{padding-left:1.6em;text-indent:-1.6em;margin:.2rem 0}
.holds{color:var(--good)}.fails{color:var(--bad);font-weight:600}
.correction{border-left:4px solid var(--note);padding:.2rem .8rem;margin:.6rem 0}
table{border-collapse:collapse;font-variant-numeric:tabular-nums;margin:.6rem 0;display:block;overflow-x:auto}
td,th{border:1px solid var(--line);padding:.2rem .6rem;text-align:right}td:first-child,th:first-child{text-align:left}
)";

std::string number(double x) { return std::isnan(x) ? "-" : fmt::format("{:.5g}", x); }

// Curves with the same x share their rows.
std::string table_of(const ComputedFigure& f) {
  std::string html;
  for (std::size_t first = 0; first < f.curves.size();) {
    std::size_t last = first;
    while (last < f.curves.size() && f.curves[last].x == f.curves[first].x) ++last;
    const FigureLine& one = f.curves[first];
    html += fmt::format("<table><tr><th>{}</th>", escaped(f.cases.empty() ? f.definition.panels[0].x_label : ""));
    for (std::size_t k = first; k < last; ++k) html += fmt::format("<th>{}</th>", escaped(f.curves[k].name));
    html += "</tr>\n";
    for (std::size_t i = 0; i < std::min(one.x.size(), rows_of_a_table); ++i) {
      html += fmt::format("<tr><td>{}</td>", i < f.cases.size() ? escaped(f.cases[i]) : number(one.x[i]));
      for (std::size_t k = first; k < last; ++k) html += fmt::format("<td>{}</td>", number(f.curves[k].y[i]));
      html += "</tr>\n";
    }
    html += "</table>\n";
    if (one.x.size() > rows_of_a_table)
      html += fmt::format("<p class=\"faint\">the first {} of {} rows</p>\n", rows_of_a_table, one.x.size());
    first = last;
  }
  return html;
}

std::string article_of(const ComputedFigure& f) {
  const FigureDefinition& d = f.definition;
  std::string html = fmt::format("<article id=\"{0}\"><h3><span class=\"id\">{1}</span> {2}</h3>\n", file_name(d.id),
                                 escaped(d.id), escaped(d.title));
  if (!d.shows.empty()) html += fmt::format("<p>{}</p>\n", escaped(d.shows));
  html += d.table ? table_of(f) : svg_of("", f.panels);
  html += "<ul class=\"claims\">\n";
  for (const Verdict& v : f.verdicts)
    html += fmt::format("<li><span class=\"{}\">{}</span> {}</li>\n", v.holds ? "holds" : "fails",
                        v.holds ? "&#10003; holds" : "&#10007; fails", escaped(v.text));
  html += "</ul>\n";
  for (const std::string& failure : f.failures) html += fmt::format("<p class=\"faint\">{}</p>\n", escaped(failure));
  if (!d.correction.empty())
    html += fmt::format("<p class=\"correction\"><strong>The paper's own statement:</strong> {}</p>\n",
                        escaped(d.correction));
  if (!d.remark.empty()) html += fmt::format("<p class=\"faint\">{}</p>\n", escaped(d.remark));
  html += fmt::format(
      "<p class=\"faint\"><code>hinge reproduce {0}</code> &middot; <a href=\"{1}.csv\">numbers</a>{2}</p>\n",
      escaped(d.id), file_name(d.id),
      d.table ? "" : fmt::format(" &middot; <a href=\"{}.svg\">figure</a>", file_name(d.id)));
  return html + "</article>\n";
}

}  // namespace

std::string file_name(const std::string& id) {
  std::string name = id;
  std::replace(name.begin(), name.end(), '/', '-');
  return name;
}

std::string csv_of(const ComputedFigure& figure) {
  std::string text = "curve,x,y\n";
  for (const FigureLine& c : figure.curves)
    for (std::size_t k = 0; k < c.x.size(); ++k) text += fmt::format("\"{}\",{},{}\n", c.name, c.x[k], c.y[k]);
  return text;
}

std::string gallery_page(const std::vector<ComputedFigure>& figures) {
  std::size_t claims = 0, held = 0;
  for (const ComputedFigure& f : figures)
    for (const Verdict& v : f.verdicts) ++claims, held += v.holds ? 1 : 0;
  std::string html = fmt::format(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>The papers, recomputed</title><style>{}</style></head>"
      "<body>\n<h1>The papers, recomputed</h1>\n<p>Figures and tables of the papers that Hinge is made from, computed "
      "by hinge {} from the model files in <code>papers/</code>. Beside each figure stands what it must show and the "
      "number that was measured; where a paper's own statement does not hold, that is said.</p>\n"
      "<p><strong class=\"{}\">{} of {} claims hold</strong>, in {} figures.</p>\n<nav>\n",
      style, escaped(version()), held == claims ? "holds" : "fails", held, claims, figures.size());
  for (const ComputedFigure& f : figures)
    html += fmt::format("<a href=\"#{}\"><span class=\"{}\">{}</span> {}</a>\n", file_name(f.definition.id),
                        f.holds() ? "holds" : "fails", f.holds() ? "&#10003;" : "&#10007;", escaped(f.definition.id));
  html += "</nav>\n";
  std::string paper;
  for (const ComputedFigure& f : figures) {
    if (f.definition.paper != paper) html += fmt::format("<h2>{}</h2>\n", escaped(f.definition.paper));
    paper = f.definition.paper;
    html += article_of(f);
  }
  return html + "</body></html>\n";
}

}  // namespace hinge::cli
