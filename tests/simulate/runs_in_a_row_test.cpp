// What a process has found out for one run is used by the next; a run has the bits that it has alone all the same.
#include <bit>
#include <cmath>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "expression/graph_library.hpp"
#include "expression/native.hpp"
#include "expression/native_library.hpp"
#include "hinge/error.hpp"
#include "hinge/model.hpp"

namespace hinge::runs_in_a_row_test {
namespace {

using Overrides = std::vector<Override>;

struct Random {
  std::mt19937_64 draw;
  std::size_t below(std::size_t n) { return draw() % n; }
  /// One that folds away, one that coincides with others, or any.
  std::string number() {
    const char* const usual[] = {"1.0", "0.5", "2.0", "0.0", "3.0", "-1.0", "0.25"};
    return below(4) == 0 ? usual[below(std::size(usual))]
                         : fmt::format("{:.17g}", 0.3 + static_cast<double>(draw() >> 11) * 0x1p-52);
  }
  std::string parameter() { return std::string(1, static_cast<char>('a' + static_cast<char>(below(3)))); }
};

// Parameters in all places in which they change what is made, or may.
std::string term(Random& r) {
  const std::string p = r.parameter(), o = r.parameter();
  const std::string all[] = {fmt::format("{}*q[0]^2", p),
                             fmt::format("{}^2*sin({}*q[1])", p, o),
                             fmt::format("(1 + q[0]^2)^{}", p),
                             fmt::format("{}^{}*q[1]", p, o),
                             fmt::format("if({} > 1, {}*q[1], q[0]^2)", p, o),
                             fmt::format("if(q[0] > {}, q[1]^2, {}*q[1]^2)", p, o),
                             fmt::format("exp(-{}*q[1]^2)", p),
                             fmt::format("{}/({}^2 + 1 + q[0]^2)", p, o),
                             fmt::format("sqrt({}^2 + 1 + q[1]^2)", p),
                             fmt::format("abs({} - 1)*q[0]", p),
                             fmt::format("({} - {})*q[1]", p, o),
                             fmt::format("{}*{}*q[0]*q[1]*{}", p, o, p),
                             fmt::format("min({}, {})*q[0]", p, o),
                             fmt::format("2*({}*3)*q[0]^3/6", p),
                             fmt::format("{}*cos(t)*q[1]", p)};
  return all[r.below(std::size(all))];
}

std::string terms(Random& r) {
  std::string sum = term(r);
  for (std::size_t k = r.below(4); k-- > 0;) sum += (r.below(2) ? " + " : " - ") + term(r);
  return sum;
}

std::string model_text(Random& r, std::size_t kind) {
  std::string text = "[parameters]\na = 1.3\nb = 0.7\nc = 1.9\n";
  const std::string p = r.parameter();
  const bool constrained = r.below(2) == 0;
  switch (kind) {
    case 0:
      text += "[lagrangian]\ncoordinates = [\"q[2]\"]\n";
      text += fmt::format("kinetic = \"(1 + {}^2)/2*dot(q',q') + {}*q[0]^2*q[1]'^2/9\"\npotential = \"{}\"\n", p,
                          r.parameter() + "^2", terms(r));
      if (constrained) text += fmt::format("constraints = [\"(q[0]^2 + {}^2*q[1]^2 - 1)/2\"]\n", r.parameter());
      if (r.below(2)) text += fmt::format("force = {{ q = [\"-{}*q[0]'\", \"{}\"] }}\n", p, term(r));
      break;
    case 1:
      text += "[hamiltonian]\ncoordinates = [\"q[2]\"]\nmomenta = [\"p[2]\"]\n";
      text += fmt::format("hamiltonian = \"dot(p,p)/(2 + {}^2) + {}\"\n", p, terms(r));
      break;
    case 2:
      text += "[mechanical]\ncoordinates = [\"q[2]\"]\n";
      text += fmt::format("mass = [[\"1 + {}^2\", 0], [0, \"2 + {}^2*q[0]^2\"]]\nforce = {{ q = [\"{}\", \"{}\"] }}\n",
                          p, p, terms(r), term(r));
      break;
    default:
      text += "[dae]\nunknowns = [\"q[2]\", \"y\"]\n";
      text += fmt::format("equations = [\"q[0]' = y\", \"q[1]' = {}\", \"y + y^3 = {}*q[0] + 1\"]\n", terms(r), p);
  }
  if (kind == 3)
    text += "[initial]\nunknowns = { q = [1, 0.2] }\nguess = { y = 0.5 }\n";
  else if (kind == 0 && constrained)
    text += "[initial]\nposition = { q = [1, 0] }\nvelocity = { q = [0, 0.5] }\n";
  else if (kind == 1)
    text += fmt::format("[initial]\nposition = {{ q = [\"{}\", 0.2] }}\nmomentum = {{ p = [0, 0.5] }}\n", p);
  else
    text += fmt::format("[initial]\nposition = {{ q = [\"{}\", 0.2] }}\nvelocity = {{ q = [0, \"{}\"] }}\n", p,
                        r.parameter());
  return text + "[integrate]\ntolerance = 1e-7\nend = 0.3\n[output]\nquantities = { s = \"a*q[0] + b\" }\n";
}

// The bits of the last row, or why there is none.
template <class Make>
std::string end_of_model(Make make) {
  try {
    const Model model = make();
    Simulation run = model.simulation_for("");
    std::vector<double> row;
    run.on_row([&](const Row& r) { row.assign(r.values.begin(), r.values.end()); });
    run.start(model.start);
    run.until(model.end);
    run.finish();
    const Counters& c = run.report().counters;
    std::string all = fmt::format("{} {} {}", run.report().steps, c.evaluations, run.report().doubts.size());
    for (const double x : row) all += fmt::format(" {:x}", std::isnan(x) ? 0 : std::bit_cast<std::uint64_t>(x));
    return all;
  } catch (const Error& e) {
    return e.what();
  }
}

std::string end_of(const std::string& text, const Overrides& overrides) {
  return end_of_model([&] { return parse_model(text, "model", overrides); });
}

void forget_all() {
  GraphLibrary::forget_all();
  NativeLibrary::forget_all();
}

/// How many of them came to an end.
int expect_bits_of_runs_alone(const std::string& text, const std::vector<Overrides>& runs) {
  std::vector<std::string> alone;
  for (const Overrides& run : runs) {
    forget_all();
    alone.push_back(end_of(text, run));
  }
  forget_all();
  int ended = 0;
  for (std::size_t k = 0; k < runs.size(); ++k) {
    EXPECT_EQ(end_of(text, runs[k]), alone[k]) << text << runs[k][0].key << " = " << runs[k][0].value;
    ended += std::isdigit(static_cast<unsigned char>(alone[k][0])) != 0;
  }
  return ended;
}

// The same of variants of one model; the last `varied` overrides are those that vary.
void expect_bits_of_variants(const std::string& text, const std::vector<Overrides>& runs, std::size_t varied,
                             long& found) {
  const Overrides always(runs[0].begin(), runs[0].end() - static_cast<std::ptrdiff_t>(varied));
  const ModelVariants variants(text, "model", always);
  for (const Overrides& run : runs) {
    const Overrides values(run.end() - static_cast<std::ptrdiff_t>(varied), run.end());
    Overrides all = always;
    all.insert(all.end(), values.begin(), values.end());
    const std::string shared = end_of_model([&] { return variants.with(values); });
    EXPECT_EQ(shared, end_of(text, all)) << text << values[0].key << " = " << values[0].value;
  }
  found += variants.found();
}

const std::vector<std::vector<std::string>> methods{{"explicit", "radau", "taylor", "bdf"},
                                                    {"explicit", "radau", "taylor"},
                                                    {"explicit", "radau", "taylor", "half-explicit"},
                                                    {"radau", "bdf", "taylor"}};
const char* const section[] = {"lagrangian.potential", "hamiltonian.hamiltonian", "mechanical.force.q",
                               "dae.equations"};

TEST(RunsInARow, OfAnyParametersHaveTheBitsOfRunsThatAreAlone) {
  Random r{std::mt19937_64(7)};
  const long before = GraphLibrary::found();
  int ended = 0;
  for (int m = 0; m < 24; ++m) {
    const std::size_t kind = r.below(4);
    const std::string text = model_text(r, kind);
    std::vector<Overrides> runs;
    const std::string method = methods[kind][r.below(methods[kind].size())];
    const bool both = r.below(2) == 0;
    for (int k = 0; k < 6; ++k) {
      runs.push_back({{"parameters.a", r.number()}, {"integrate.method", method}});
      if (both) runs.back().push_back({"parameters.b", r.number()});
    }
    ended += expect_bits_of_runs_alone(text, runs);
  }
  EXPECT_GT(ended, 100);                            // measured 144 of 144
  EXPECT_GT(GraphLibrary::found() - before, 1000);  // measured 4549
}

// One model for all runs: the same, and where it cannot be one the run reads its own.
TEST(RunsInARow, OfVariantsOfAModelHaveTheBitsOfRunsThatAreAlone) {
  Random r{std::mt19937_64(23)};
  long found = 0;
  for (int m = 0; m < 24; ++m) {
    const std::size_t kind = r.below(4);
    const std::string text = model_text(r, kind);
    const std::string method = methods[kind][r.below(methods[kind].size())];
    const bool both = r.below(2) == 0, at_start = kind < 3 && r.below(3) == 0;
    std::vector<Overrides> runs;
    for (int k = 0; k < 8; ++k) {
      runs.push_back({{"integrate.method", method}, {"parameters.a", r.number()}});
      if (both) runs.back().push_back({"parameters.b", r.below(3) ? r.number() : runs.back()[1].value});
      if (at_start) runs.back().push_back({"initial.position.q", fmt::format("[{}, 0.25]", r.number())});
    }
    expect_bits_of_variants(text, runs, runs[0].size() - 1, found);
  }
  EXPECT_GT(found, native_use() == NativeUse::off ? -1 : 50);
}

// Numbers at the start by themselves, and beside a parameter.
TEST(RunsInARow, OfVariantsThatStartElsewhereHaveTheBitsOfRunsThatAreAlone) {
  Random r{std::mt19937_64(29)};
  long found = 0;
  for (const char* method : {"explicit", "radau", "gauss-lobatto"}) {
    const std::string text =
        "[parameters]\nl = 1.3\ng = 9.81\n[lagrangian]\ncoordinates = [\"phi\", \"r\"]\n"
        "kinetic = \"(r'^2 + r^2*phi'^2)/2\"\npotential = \"-g*r*cos(phi) + 20*(r - l)^2\"\n"
        "[initial]\nposition = { phi = 1.5, r = \"l\" }\nvelocity = { r = 0.1 }\n"
        "[integrate]\nend = 0.5\n";
    std::vector<Overrides> runs;
    for (int k = 0; k < 10; ++k)
      runs.push_back({{"integrate.method", method},
                      {method[0] == 'g' ? "integrate.step" : "integrate.tolerance", method[0] == 'g' ? "0.01" : "1e-7"},
                      {"initial.position.phi", r.number()},
                      {"initial.velocity.r", r.number()},
                      {"parameters.l", r.number()}});
    for (std::size_t varied = 1; varied <= 3; ++varied) expect_bits_of_variants(text, runs, varied, found);
  }
  EXPECT_GT(found, native_use() == NativeUse::off ? -1 : 20);
}

// Methods, tolerances, initial values, and the equations themselves.
TEST(RunsInARow, OfAnyKeysHaveTheBitsOfRunsThatAreAlone) {
  Random r{std::mt19937_64(11)};
  int ended = 0;
  for (int m = 0; m < 8; ++m) {
    const std::size_t kind = r.below(4);
    const std::string text = model_text(r, kind);
    std::vector<Overrides> by_method, by_tolerance, by_start, by_text, mixed;
    for (int k = 0; k < 6; ++k) {
      const std::string& method = methods[kind][r.below(methods[kind].size())];
      by_method.push_back({{"integrate.method", method}});
      by_tolerance.push_back({{"integrate.tolerance", r.below(2) ? "1e-6" : "1e-8"}});
      by_start.push_back(
          {{kind == 3 ? "initial.unknowns.q" : "initial.position.q", fmt::format("[{}, 0.25]", r.number())}});
      if (kind < 2) by_text.push_back({{section[kind], kind == 0 ? terms(r) : "dot(p,p)/2 + " + terms(r)}});
      mixed.push_back(
          {{"parameters.c", r.number()}, {"integrate.method", method}, {"integrate.end", r.below(2) ? "0.2" : "0.1"}});
    }
    for (const auto& runs : {by_method, by_tolerance, by_start, by_text, mixed})
      ended += expect_bits_of_runs_alone(text, runs);
  }
  EXPECT_GT(ended, 150);  // measured 204, all
}

// The same entries of p and r in other places: two carts, one of which is driven.
TEST(RunsInARow, OfEntriesInOtherPlacesHaveTheBitsOfRunsThatAreAlone) {
  Random r{std::mt19937_64(17)};
  int ended = 0;
  for (const char* method : {"explicit", "radau", "taylor"}) {
    const std::string text =
        "[parameters]\nc = 1\n[odae]\ny = [\"x[2]\"]\nz = [\"v[2]\"]\npsi = [\"l\"]\nv = [\"v[0]\", \"v[1]\"]\n"
        "p = [\"2*v[0]\", \"2*v[1]\"]\nf = [\"-c*(x[0] - x[1])\", \"c*(x[0] - x[1])\"]\nr = [\"l\", 0]\n"
        "g = [\"x[0] + x[1] - sin(t)\"]\n[initial]\ny = [0, 0]\nz = [0.5, 0.5]\n[integrate]\ntolerance = 1e-7\nend = "
        "2\n";
    std::vector<Overrides> runs;
    for (int k = 0; k < 12; ++k)
      runs.push_back({{"odae.r", r.below(2) ? "[\"l\", 0]" : "[0, \"l\"]"},
                      {"odae.p", r.below(2) ? "[\"2*v[0]\", \"2*v[1]\"]" : "[\"2*v[1]\", \"2*v[0]\"]"},
                      {"parameters.c", r.number()},
                      {"integrate.method", method}});
    ended += expect_bits_of_runs_alone(text, runs);
  }
  EXPECT_GT(ended, 10);
}

// Parameters that are read as numbers: lengths of bodies, numbers of unknowns, friction, times of events.
TEST(RunsInARow, OfParametersThatAreReadAsNumbersHaveTheBitsOfRunsThatAreAlone) {
  Random r{std::mt19937_64(13)};
  const char* const texts[] = {R"toml([parameters]
a = 1.3
b = 0.7
[multibody]
gravity = [0, -9.81, 0]
[[body]]
name = "rod"
mass = "a"
inertia = [0.01, "a/12*b^2", "a/12*b^2"]
position = ["b/2", 0, 0]
[[joint]]
type = "revolute"
bodies = ["ground", "rod"]
point = [0, 0, 0]
axis = [0, 0, 1]
[integrate]
method = "explicit"
tolerance = 1e-7
end = 0.2
)toml",
                               R"toml([parameters]
a = 1.3
b = 0.7
N = 3
[lagrangian]
coordinates = ["x[N]"]
kinetic = "a/2*dot(x',x')"
potential = "b*dot(x,x) + sum(i, 1, N-1, (x[i] - x[i-1])^4)"
[initial]
position = { x = { for = "i", value = "0.1*i + b" } }
[integrate]
method = "explicit"
tolerance = 1e-7
end = 0.2
)toml"};
  for (const char* const text : texts)
    for (const char* const key : {"parameters.a", "parameters.b", "parameters.N"}) {
      std::vector<Overrides> runs;
      for (int k = 0; k < 6; ++k)
        runs.push_back({{key, key[11] == 'N' ? fmt::format("{}", 2 + r.below(3)) : r.number()}});
      expect_bits_of_runs_alone(text, runs);
    }
}

}  // namespace
}  // namespace hinge::runs_in_a_row_test
