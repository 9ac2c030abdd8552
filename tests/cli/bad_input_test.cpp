// Claims about wrong input: the program answers each with status 2 and one message that names the place, the cause and
// what to do, prints nothing else, and writes no file.
#include <random>
#include <regex>

#include "cli/program.hpp"
#include "model/complaint.hpp"

namespace hinge::test::bad_input_test {
namespace {

using Words = std::vector<std::string>;

void expect_refusal(const Folder& folder, const Answer& answer, const Words& words) {
  EXPECT_EQ(answer.status, 2) << answer.err;
  EXPECT_EQ(answer.out, "");
  EXPECT_EQ(answer.err.rfind("hinge: ", 0), 0U) << answer.err;
  EXPECT_TRUE(!answer.err.empty() && answer.err.back() == '\n');
  EXPECT_LT(answer.err.size(), 2500U);  // a message, not a listing
  EXPECT_FALSE(folder.has("out.csv"));
  for (const std::string& word : words)
    EXPECT_TRUE(mentions(answer.err, word)) << "no \"" << word << "\" in\n" << answer.err;
}

/// `hinge run` refuses this model; its message has all `words`.
void refuses(const std::string& text, const Words& words, const Words& options = {}) {
  SCOPED_TRACE(words.empty() ? "" : words.back());
  const Folder folder;
  Words arguments{"run", folder.write("m.toml", text), "--out", folder.file("out.csv")};
  arguments.insert(arguments.end(), options.begin(), options.end());
  expect_refusal(folder, hinge(folder, arguments), words);
}

void refuses(const std::string& model, const std::string& from, const std::string& to, const Words& words) {
  refuses(with(model, from, to), words);
}

/// `hinge run` refuses the good model with these options.
void refuses_options(const Words& options, const Words& words) { refuses(pendulum, words, options); }

/// `hinge` refuses this command line.
void refuses_command(const Words& arguments, const Words& words) {
  const Folder folder;
  expect_refusal(folder, hinge(folder, arguments), words);
}

// The control: what all variants below start from is right.
TEST(BadInput, ModelsTheVariantsStartFromAreAccepted) {
  for (const std::string& text : {pendulum, chain, rotor, mechanism, odae}) {
    const Folder folder;
    const Answer answer = hinge(folder, {"run", folder.write("m.toml", text), "--out", folder.file("out.csv")});
    EXPECT_EQ(answer.status, 0) << answer.err;
    EXPECT_EQ(answer.err, "");
    EXPECT_TRUE(folder.has("out.csv"));
  }
}

TEST(BadInput, UnknownKeysAreNamedWithTheNearest) {
  refuses(pendulum, "title =", "titel =", {"m.toml:1: titel", "unknown key", "did you mean 'title'?"});
  refuses(pendulum, "kinetic =", "kinetik =", {"m.toml:7: lagrangian.kinetik", "unknown key", "'kinetic'?"});
  refuses(pendulum, "[output]", "[outputs]", {"m.toml:16: outputs", "unknown key", "did you mean 'output'?"});
  refuses(pendulum, "step =", "stepp =", {"m.toml:14: integrate.stepp", "unknown key", "did you mean 'step'?"});
  refuses(pendulum, "position =", "positoin =", {"m.toml:11: initial.positoin", "unknown key", "'position'?"});
  refuses(pendulum, "{ q =", "{ x =", {"m.toml:11: initial.position.x", "unknown key", "known here: q"});
  refuses(pendulum, "quantities =", "qantities =", {"m.toml:17: output.qantities", "did you mean 'quantities'?"});
  refuses(mechanism, "mass =", "masses =", {"m.toml:3: mechanical.masses", "did you mean 'mass'?"});
  refuses(rotor, "momenta =", "momentum =", {"hamiltonian.momentum", "did you mean 'momenta'?"});
  refuses(odae, "psi =", "pssi =", {"m.toml:4: odae.pssi", "did you mean 'psi'?"});
  refuses(pendulum, "[initial]", "[exact]\nplace = [1, 0]\n[initial]", {"exact.place", "unknown key", "position"});
  refuses(odae, "[initial]", "[exact]\nvelocity = [1, 0]\n[initial]", {"exact.velocity", "unknown key", "y, z, psi"});
}

TEST(BadInput, UnknownMethodsAndOptionsAreNamedWithTheNearest) {
  refuses(pendulum, "gauss-lobatto", "gaus-lobatto",
          {"m.toml:13: integrate.method", "no method 'gaus-lobatto'", "did you mean 'gauss-lobatto'?"});
  refuses(pendulum, "gauss-lobatto", "euler",
          {"no method 'euler'", "gauss-lobatto, lobatto-iiia-iiib, rattle", "hinge methods"});
  refuses(pendulum, "\"gauss-lobatto\"", "3",
          {"m.toml:13: integrate.method", "the name of a method", "found a number"});
  refuses(pendulum, "step =", "stage = 3\nstep =", {"m.toml:14: integrate.stage", "no option 'stage'", "'stages'?"});
  refuses(pendulum, "step =", "order = 3\nstep =", {"m.toml:14: integrate.order", "no option 'order'", "stages"});
  refuses(pendulum, "\"gauss-lobatto\"", "\"rattle\"\nstages = 2",
          {"m.toml:14: integrate.stages", "no option 'stages'"});
  refuses(pendulum, "step =", "newton = \"ful\"\nstep =", {"integrate.newton", "did you mean \"full\"?", "simplified"});
  refuses(pendulum, "step =", "linear_algebra = \"x\"\nstep =", {"integrate.linear_algebra", "unknown", "\"sparse\""});
  refuses(pendulum, "step =", "tolerance = 1e-6\nstep =", {"integrate.method", "steps of given length", "step ="});
}

TEST(BadInput, StagesAreAWholeNumberFromOneToTwelve) {
  for (const std::string value : {"13", "0", "-1", "1000000"})
    refuses(pendulum,
            "step =", "stages = " + value + "\nstep =", {"m.toml:14: integrate.stages", "1 to 12 stages", value});
  for (const std::string value : {"1.5", "\"x\"", "true", "1e300", "\"\""})
    refuses(pendulum, "step =", "stages = " + value + "\nstep =", {"m.toml:14: integrate.stages", "whole number"});
  refuses(pendulum, "step =", "stages = [2]\nstep =", {"integrate.stages", "expected a number", "found a list"});
}

TEST(BadInput, TableausOfOnesOwnAreChecked) {
  const std::string own = with(pendulum, "\"gauss-lobatto\"", "\"spark\"") +
                          "[integrate.tableau]\na = [[\"1/2\"]]\nb = [1]\nabar = [[0], [1]]\nbtilde = [0.5, 0.5]\n";
  {
    const Folder folder;
    EXPECT_EQ(hinge(folder, {"run", folder.write("m.toml", own), "--quiet"}).status, 0);  // the control
  }
  const std::string at = "m.toml:18: integrate.tableau: ";
  refuses(own, "abar =", "abr =", {"m.toml:21: integrate.tableau.abr", "unknown key", "did you mean 'abar'?"});
  refuses(own, "abar = [[0], [1]]\n", "", {at, "'abar' is missing", "abar = [[...], ...]"});
  refuses(own, "b = [1]\n", "", {at, "'b' is missing", "b = [...]"});
  refuses(own, "[[0], [1]]", "[[0], [1, 2]]", {"m.toml:21: integrate.tableau.abar[1]", "2 entries", "have 1"});
  refuses(own, "[[0], [1]]", "[[0], 1]", {"m.toml:21: integrate.tableau.abar[1]", "expected a row"});
  refuses(own, "[[0], [1]]", "[0, 1]", {"m.toml:21: integrate.tableau.abar", "expected a matrix"});
  refuses(own, "[[0], [1]]", "[[0], [0], [1]]", {"m.toml:21: integrate.tableau.abar", "needs 2 rows of 1"});
  refuses(own, "b = [1]", "b = 1", {"m.toml:20: integrate.tableau.b", "expected a list"});
  refuses(own, "b = [1]", "b = [inf]", {"m.toml:20: integrate.tableau.b[0]", "not finite"});
  refuses(own, "1/2", "1/2 + q[0]", {"m.toml:19: integrate.tableau.a[0][0]", "must be a constant"});
  refuses(own, "1/2", "1/2 +", {"m.toml:19: integrate.tableau.a[0][0]", "1/2 +"});
  refuses(own, "1/2", "0", {at, "(3.3c)", "violated by 0.5", "worst for i = 1", "violates = [\"(3.3c)\"]"});
  refuses(own, "[0.5, 0.5]", "[0.5, 0.25]", {at, "weights", "btilde sums to 0.75", "Correct them"});
  refuses(own + "order = 3\n", {"m.toml:23: integrate.tableau.order", "order = 3 cannot be", "has order 2"});
  refuses(own + "order = 0\n", {"m.toml:23: integrate.tableau.order", "positive"});
  refuses(own + "violates = [\"(4.1d)\"]\n",
          {"m.toml:23: integrate.tableau.violates", "no condition \"(4.1d)\"", "(4.1"});
  refuses(own + "violates = \"(4.1a)\"\n", {"m.toml:23: integrate.tableau.violates", "expected a list"});
  refuses(own, {"--set integrate.tableau.a: ", "needs 1 row of 1"}, {"--set", "integrate.tableau.a=[[1, 2], [3, 4]]"});
  refuses(with(own, "\"spark\"", "\"rattle\""), {"m.toml:18: integrate.tableau", "no option 'tableau'"});
  refuses(with(pendulum, "\"gauss-lobatto\"", "\"spark\""), {"m.toml:13: integrate.method", "[integrate.tableau]"});
  refuses_options({"--set", "integrate.tableau.a=[[1]]"}, {"--set integrate.tableau.a", "no option 'tableau'"});
}

TEST(BadInput, UnknownNamesInExpressionsAreShownWithTheNearest) {
  refuses(pendulum, "9.81*m", "9.81*mm", {"m.toml:8: lagrangian.potential", "unknown name 'mm'", "'m'?", "\n       ^"});
  refuses(pendulum, "9.81*m*q[1]", "9.81*m*Q[1]", {"unknown name 'Q'", "did you mean 'q'?"});
  refuses(pendulum, "9.81*m*q[1]", "sine(q[1])", {"unknown function 'sine'", "did you mean 'sin'?"});
  refuses(pendulum, "(dot(q,q)", "(dot(q,p)", {"m.toml:9: lagrangian.constraints[0]", "unknown name 'p'"});
  refuses(pendulum, "m = 2.0", "m = \"heavy\"", {"m.toml:3: parameters.m", "unknown name 'heavy'", "known are"});
  refuses(pendulum, "[1, 0]", "[\"lengt\", 0]", {"m.toml:11: initial.position.q[0]", "unknown name 'lengt'"});
  refuses(pendulum, "\"q[1]\" }", "\"psii[0]\" }", {"output.quantities.height", "did you mean 'psi'?"});
  refuses(pendulum, "[initial]", "[define]\nheight = \"qq[1]\"\n[initial]", {"define.height", "did you mean 'q'?"});
  refuses(pendulum, "[initial]", "[exact]\nposition = { q = [\"tt\", 0] }\n[initial]", {"exact.position.q[0]", "'t'?"});
  refuses(pendulum, "[initial]", "[exact]\nposition = { q = [\"t\", \"q[0]\"] }\n[initial]",
          {"exact.position", "function of t alone", "without coordinates"});
}

TEST(BadInput, UnbalancedParenthesesAreShown) {
  refuses(pendulum, "9.81*m*q[1]", "9.81*(m*q[1]",
          {"m.toml:8: lagrangian.potential", "never closed", "add", "\n       ^"});
  refuses(pendulum, "9.81*m*q[1]", "9.81*m)*q[1]", {"closes nothing", "remove it or add", "\n        ^"});
  refuses(pendulum, "9.81*m*q[1]", "9.81*m*q[1", {"'[' is never closed", "add the missing ']'"});
  refuses(pendulum, "9.81*m*q[1]", "9.81*m*q[1)", {"lagrangian.potential"});
  refuses(pendulum, "\"q[2]\"", "\"q[2\"", {"m.toml:6: lagrangian.coordinates[0]", "not closed"});
}

TEST(BadInput, WrongShapesAreDescribed) {
  for (const auto& [value, found] : {std::pair{"[1, 0, 0]", "this is a vector of length 3"},
                                     {"[1]", "this is a vector of length 1"},
                                     {"1", "this is a number"},
                                     {"[[1, 0]]", "this is an array of 1 vectors of length 2"},
                                     {"[]", "this list is empty; give at least one"},
                                     {"true", "found true or false"},
                                     {"{ for = \"i\", value = \"i\" }", "is for arrays of vectors"}})
    refuses(pendulum, "[1, 0]", value, {"m.toml:11: initial.position.q: ", found});
  refuses(pendulum, "{ q = [1, 0] }", "[1, 0, 0]", {"m.toml:11: initial.position: ", "all 2 numbers; found 3"});
  refuses(pendulum, "dot(q',q')", "dot(q',[1,2,3])", {"lagrangian.kinetic", "equal length", "2 and 3"});
  refuses(pendulum, "\"9.81*m*q[1]\"", "\"q\"", {"lagrangian.potential", "expected a number", "vector of length 2"});
  refuses(pendulum, "q[1]\"\n", "q[2]\"\n", {"lagrangian.potential", "index 2 is out of range", "0 to 1"});
  refuses(pendulum, "[integrate]", "velocity = { q = [1] }\n[integrate]",
          {"m.toml:12: initial.velocity.q", "length 2"});
  refuses(pendulum, "[integrate]", "multiplier = [1, 2]\n[integrate]", {"initial.multiplier", "found 2"});
  refuses(chain, "{ for = \"i\", value = \"[i+1, 0, 0]\" }", "[[1,0,0],[2,0,0]]",
          {"initial.position.q", "array of 4", "array of 2"});
  refuses(chain, "\"[i+1, 0, 0]\"", "\"[i+1, 0]\"",
          {"initial.position.q.value", "expected a vector of length 3", "length 2"});
  refuses(chain, "{ for = \"i\", value = \"[i+1, 0, 0]\" }", "[[1,0,0],[2,0]]",
          {"initial.position.q[1]", "length 2", "length 3"});
  for (const std::string mass : {"[[2, 0]]", "[[2, 0], [0, 1], [0, 0]]", "3", "[1, 2, 3]"})
    refuses(mechanism, "[[2, 0], [0, 1]]", mass,
            {"m.toml:3: mechanical.mass", "2 rows and 2 columns, or its diagonal"});
  refuses(mechanism, "[[2, 0], [0, 1]]", "[[2, 0], [0]]", {"m.toml:3: mechanical.mass[1]", "length 1", "length 2"});
  refuses(mechanism, "[0, \"-9.81\"]", "[0]", {"m.toml:4: mechanical.force", "needs 2 expressions", "found 1"});
  refuses(rotor, "\"p[2]\"", "\"p[3]\"", {"hamiltonian", "2 coordinates but 3 momenta", "pairs"});
  refuses(odae, "v = [\"b[0]\", \"b[1]\"]", "v = [\"b[0]\"]", {"m.toml:5: odae.v", "needs 2 expressions", "found 1"});
  refuses(odae, "f = [0, -1]", "f = [0, -1, 0]", {"m.toml:6: odae.f", "needs 2 expressions", "found 3"});
  refuses(odae, "\"force\"]", "\"force\", \"other\"]", {"odae", "2 multipliers for 1 constraints"});
  refuses(pendulum,
          "potential =", "force = [1, 2, 3]\npotential =", {"lagrangian.force", "needs 2 expressions", "found 3"});
}

TEST(BadInput, MissingPartsAreNamedWithAnExample) {
  const auto without = [](const std::string& text, const std::string& first, const std::string& after) {
    const auto begin = text.find(first);
    return text.substr(0, begin) + text.substr(text.find(after, begin));
  };
  refuses(without(pendulum, "[lagrangian]", "[initial]"), {"m.toml", "no system", "[lagrangian], [hamiltonian]"});
  refuses(without(pendulum, "[initial]", "[integrate]"),
          {"m.toml", "no section [initial]", "position = { q = [1, 0] }"});
  refuses(without(pendulum, "[integrate]", "[output]"), {"m.toml: integrate", "no end", "add end = 10", "--end"});
  refuses(without(pendulum, "step =", "end ="),
          {"m.toml: integrate", "neither a step nor a tolerance", "add step = 0.01", "--step"});
  refuses(without(pendulum, "end =", "[output]"), {"m.toml: integrate", "no end time", "add end = 10", "--end"});
  refuses(without(pendulum, "coordinates", "kinetic"), {"m.toml:5: lagrangian", "'coordinates' is missing", "q[3]"});
  refuses(without(pendulum, "kinetic", "potential"), {"m.toml:5: lagrangian", "'kinetic' is missing", "as in"});
  refuses(without(pendulum, "position", "[integrate]"), {"m.toml:10: initial", "'position' is missing", "as in"});
  refuses(pendulum, "{ q = [1, 0] }", "{}", {"m.toml:11: initial.position", "'q' is missing", "a vector of length 2"});
  refuses(pendulum, "\"q[2]\"]", "\"q[2]\", \"w\"]", {"initial.position", "'w' is missing", "a number"});
  refuses(without(rotor, "momenta", "hamiltonian = "), {"m.toml:1: hamiltonian", "'momenta' is missing", "as in"});
  refuses(without(rotor, "hamiltonian =", "constraints"), {"m.toml:1: hamiltonian", "'hamiltonian' is missing"});
  refuses(without(mechanism, "mass", "force"), {"m.toml:1: mechanical", "'mass' is missing", "as in"});
  refuses(without(mechanism, "force", "constraints"), {"m.toml:1: mechanical", "'force' is missing", "as in"});
  for (const auto& [key, next] : {std::pair{"v =", "f ="}, {"f =", "r ="}, {"r =", "g ="}, {"psi =", "v ="}})
    refuses(without(odae, key, next), {"m.toml:1: odae", "is missing, as in"});
  refuses(without(odae, "z = { b", "[integrate]"), {"m.toml:9: initial", "'z' is missing, as in"});
}

TEST(BadInput, TwoSystemsAreOneTooMany) {
  refuses(pendulum, "[initial]", rotor.substr(0, rotor.find("[initial]")) + "[initial]",
          {"m.toml:10: hamiltonian", "two systems", "[lagrangian] and [hamiltonian]", "keep one"});
  refuses(pendulum, "[initial]", "[odae]\n[initial]", {"m.toml:10: odae", "two systems", "keep one"});
}

TEST(BadInput, LaterPartsOfTheLanguageSaySo) {
  refuses("[multibody]\ngravity = 9.81\n", {"m.toml:2: multibody.gravity", "the vector of gravity"});
  refuses("[multibody]\n", {"m.toml:1: multibody", "nothing moves"});
}

TEST(BadInput, CoordinatesAreDeclaredOnceWithUsableNames) {
  refuses(pendulum, "[\"q[2]\"]", "[]", {"m.toml:6: lagrangian.coordinates", "empty", "name at least one"});
  refuses(pendulum, "[\"q[2]\"]", "[\"\"]", {"m.toml:6: lagrangian.coordinates[0]", "'' is not a name", "letters"});
  refuses(pendulum, "[\"q[2]\"]", "3", {"m.toml:6: lagrangian.coordinates", "expected a list", "[\"q[3]\"]"});
  for (const std::string name : {"sin", "t", "pi", "dot", "sum", "if", "norm"})
    refuses(pendulum, "\"q[2]\"", "\"" + name + "[2]\"", {"coordinates[0]", "already means something", "another name"});
  for (const std::string name : {"2q", "q-x", "q x y!", "a.b"})
    refuses(pendulum, "\"q[2]\"", "\"" + name + "[2]\"", {"coordinates[0]", "is not a name"});
  refuses(pendulum, "\"q[2]\"", "\"q[2]\", \"q[2]\"", {"coordinates[1]", "'q' is declared twice"});
  refuses(pendulum, "\"q[2]\"", "\"m[2]\"", {"coordinates[0]", "'m' is declared twice"});
  refuses(rotor, "\"p[2]\"", "\"q[2]\"", {"hamiltonian.momenta[0]", "'q' is declared twice"});
  for (const std::string size : {"0", "-1", "1.5"})
    refuses(pendulum, "\"q[2]\"", "\"q[" + size + "]\"", {"coordinates[0]", "is " + size, "whole number, at least 1"});
  refuses(pendulum, "\"q[2]\"", "\"q[1e6][1e6]\"", {"coordinates[0]", "1e+12 numbers", "at most"});
  refuses(pendulum, "\"q[2]\"", "\"q[2][2][2]\"", {"coordinates[0]", "too many indices"});
  refuses(pendulum, "\"q[2]\"", "\"q[2]x\"", {"coordinates[0]", "cannot read the declaration", "write"});
  refuses(pendulum, "\"q[2]\"", "\"q[n]\"", {"coordinates[0]", "unknown name 'n'"});
  refuses(pendulum, "m = 2.0", "m = 2.0\nsin = 3", {"m.toml:4: parameters.sin", "already means something"});
  refuses(pendulum, "m = 2.0", "m = 2.0\n\"a b\" = 3", {"m.toml:4: parameters.a b", "is not a name"});
  refuses(pendulum, "m = 2.0", "m = 2.0\nm = 3.0", {"m.toml:4:", "redefine", "'m'"});
  refuses(pendulum, "[initial]", "[define]\nq = \"3\"\n[initial]", {"define.q", "declared twice"});
  refuses(pendulum, "{ height =", "{ t =", {"output.quantities.t", "recorded anyway", "another name"});
  refuses(pendulum, "{ height =", "{ \"q[0]\" =", {"output.quantities.q[0]", "recorded anyway", "another name"});
}

TEST(BadInput, ParametersAreNumbers) {
  for (const auto& [value, cause] : {std::pair{"true", "expected a number, found true or false"},
                                     {"1979-05-27", "expected a number, found a date or time"},
                                     {"{ a = 1 }", "expected a number, found a table"},
                                     {"[]", "this list is empty"},
                                     {"\"\"", "the expression is empty; write at least a number"},
                                     {"\"t\"", "unknown name 't'"},
                                     {"\"2 +\"", "2 +"},
                                     {"[1, [2, 3]]", "entries before it"}})
    refuses(pendulum, "m = 2.0", std::string("m = ") + value, {"m.toml:3: parameters.m", cause});
  refuses(pendulum, "m = 2.0", "m = [1, 2]", {"m.toml:7: lagrangian.kinetic", "vector of length 2"});
}

TEST(BadInput, ParametersThatNeedEachOtherAreShownAsACircle) {
  refuses(pendulum, "m = 2.0", "a = \"b\"\nb = \"a\"\nm = 1",
          {"m.toml:3: parameters.a", "(a -> b -> a)", "value of its own"});
  refuses(pendulum, "m = 2.0", "m = \"m + 1\"", {"m.toml:3: parameters.m", "defined by itself", "(m -> m)"});
  refuses(pendulum, "m = 2.0", "m = \"a\"\na = [\"b\", 1]\nb = \"a[0]\"", {"parameters.a", "(a -> b -> a)"});
  refuses(pendulum, "[initial]", "[define]\na = \"2*b\"\nb = \"c/2\"\nc = \"a\"\n[initial]",
          {"define.a", "(a -> b -> c -> a)"});
  // not a circle: the one that is wrong in itself is the one that is named
  refuses(pendulum, "m = 2.0", "m = \"2*a\"\na = \"3*unknown\"", {"m.toml:4: parameters.a", "unknown name 'unknown'"});
}

TEST(BadInput, NotANumberAndInfinityAreRefusedAnywhere) {
  for (const std::string value : {"nan", "inf", "-inf"}) {
    for (const auto& [from, to, place] : {std::tuple{"m = 2.0", "m = ", "m.toml:3: parameters.m"},
                                          {"step = 0.01", "step = ", "m.toml:14: integrate.step"},
                                          {"end = 0.05", "end = ", "m.toml:15: integrate.end"},
                                          {"end = 0.05", "end = 1\nstart = ", "m.toml:16: integrate.start"},
                                          {"\"9.81*m*q[1]\"", "", "m.toml:8: lagrangian.potential"},
                                          {"[output]", "[output]\ninterval = ", "output.interval"}})
      refuses(pendulum, from, to + value, {place, "not finite", "give an ordinary number"});
    refuses(pendulum, "[1, 0]", "[1, " + value + "]", {"m.toml:11: initial.position.q[1]", "not finite"});
    refuses(pendulum, "[integrate]", "velocity = { q = [0, " + value + "] }\n[integrate]",
            {"initial.velocity.q[1]", "not finite"});
    refuses(pendulum, "[integrate]", "momentum = { q = [0, " + value + "] }\n[integrate]",
            {"initial.momentum.q[1]", "not finite"});
    refuses(pendulum, "[integrate]", "multiplier = [" + value + "]\n[integrate]",
            {"initial.multiplier[0]", "not finite"});
  }
  refuses(pendulum, "m = 2.0", "m = \"exp(1000)\"", {"parameters.m", "is infinite", "check the numbers"});
  refuses(pendulum, "m = 2.0", "m = \"sqrt(1 - 2)\"", {"parameters.m", "not a real number", "check the numbers"});
  refuses(pendulum, "m = 2.0", "m = \"1/0\"", {"parameters.m", "division by zero"});
  refuses(pendulum, "[1, 0]", "[\"log(0)\", 0]", {"initial.position.q[0]", "infinite"});
  // hidden in the equations: they are no numbers at the initial values
  refuses(pendulum, "9.81*m*q[1]", "log(-q[0])",
          {"m.toml: the energy is not a number at the initial values", "start elsewhere"});
  refuses(pendulum, "9.81*m*q[1]", "1/q[1]", {"m.toml: the force that changes q'[1] is infinite", "start elsewhere"});
  refuses(pendulum, "(dot(q,q) - l^2)/2", "log(-q[0])",
          {"constraint 0 \"log(-q[0])\" is not a number", "start elsewhere"});
  refuses(pendulum, "dot(q',q')", "dot(q',q')/q[1]", {"is not a number at the initial values", "start elsewhere"});
}

TEST(BadInput, TimesRunForwardInPositiveSteps) {
  for (const std::string step : {"-0.01", "0", "-0.0"})
    refuses(pendulum, "step = 0.01", "step = " + step, {"m.toml:14: integrate.step", "must be positive", "0.01"});
  refuses(pendulum, "step = 0.01", "step = \"abc\"", {"m.toml:14: integrate.step", "unknown name 'abc'"});
  refuses(pendulum, "step = 0.01", "step = [1]", {"m.toml:14: integrate.step", "expected a number, found a list"});
  refuses(pendulum, "step = 0.01", "step = 1e-300", {"m.toml:14: integrate.step", "too many", "longer step"});
  refuses(pendulum, "end = 0.05", "end = -1", {"m.toml:15: integrate.end", "lies before the start", "later end"});
  refuses(pendulum, "end = 0.05", "start = 3\nend = 2", {"m.toml:16: integrate.end", "2, lies before the start, 3"});
}

TEST(BadInput, OutputChoicesAreChecked) {
  for (const std::string every : {"0", "-1"})
    refuses(pendulum, "[output]", "[output]\nevery = " + every,
            {"m.toml:17: output.every", "every = " + every, "at least 1"});
  refuses(pendulum, "[output]", "[output]\nevery = 1.5", {"output.every", "whole number", "1.5"});
  for (const std::string interval : {"-1", "0"})
    refuses(pendulum, "[output]", "[output]\ninterval = " + interval,
            {"m.toml:17: output.interval", "must be positive", "interval = 0.1"});
  refuses(pendulum, "[output]", "[output]\nevery = 1\ninterval = 0.1",
          {"output.interval", "'every' or 'interval', not both"});
  refuses(pendulum, "{ height = \"q[1]\" }", "3", {"output.quantities", "expected a table, as in"});
  refuses(pendulum, "{ height = \"q[1]\" }", "{ a = \"q''\" }", {"output.quantities.a", "acceleration"});
}

TEST(BadInput, FamiliesAreChecked) {
  refuses(chain, "for = \"i\", from", "from", {"m.toml:7: lagrangian.constraints[1]", "needs for = \"i\""});
  refuses(chain, "to = \"N-1\", ", "", {"m.toml:7: lagrangian.constraints[1]", "needs to = ..."});
  refuses(chain, "constraint = \"(dot(q[i]", "constrain = \"(dot(q[i]",
          {"constraints[1].constrain", "did you mean 'constraint'?"});
  refuses(chain, "to = \"N-1\"", "to = \"N\"",
          {"lagrangian.constraints[1].constraint", "index 4 is out of range", "0 to 3"});
  refuses(chain, "from = 1", "from = 0", {"lagrangian.constraints[1].constraint", "index -1 is out of range"});
  refuses(chain, "to = \"N-1\"", "to = 1e9", {"lagrangian.constraints[1]", "at most ten million"});
  refuses(chain, "to = \"N-1\"", "to = 2.5", {"lagrangian.constraints[1].to", "whole number"});
  refuses(chain, "to = \"N-1\"", "to = \"M-1\"", {"lagrangian.constraints[1].to", "unknown name 'M'"});
  for (const std::string index : {"q", "sin", "t"})
    refuses(chain, "for = \"i\", from", "for = \"" + index + "\", from",
            {"constraints[1].for", "already means something", "for = \"i\""});
  refuses(chain, "for = \"i\", from", "for = \"3\", from", {"constraints[1].for", "cannot be the name of an index"});
  refuses(chain, "value =", "vaule =", {"initial.position.q.vaule", "did you mean 'value'?"});
  refuses(chain, "for = \"i\", value", "for = \"i\", to = 4, value",
          {"initial.position.q", "index 4 is out of range", "0 to 3"});
  refuses(chain, "[i+1, 0, 0]", "[t, 0, 0]", {"initial.position", "cannot depend on t or coordinates"});
}

TEST(BadInput, VelocityAndMomentumAreAlternatives) {
  refuses(pendulum, "[integrate]", "velocity = { q = [0, 1] }\nmomentum = { q = [0, 2] }\n[integrate]",
          {"m.toml:13: initial.momentum", "velocity or the initial momentum, not both"});
  refuses(rotor, "{ p = [0, 1] }", "{ p = [0, 1], q = [0, 1] }",
          {"m.toml:8: initial.momentum.q", "given already", "keep one"});
  refuses(odae, "z = { b", "velocity = { b", {"initial.velocity", "unknown key", "y, z"});
  refuses(pendulum, "[integrate]", "consistent = \"yes\"\n[integrate]",
          {"initial.consistent", "\"check\" or \"project\""});
}

// The values that the message suggests, put into the model, are accepted.
void suggestion_is_accepted(const std::string& text, const Words& words) {
  const Folder folder;
  const Answer refused = hinge(folder, {"run", folder.write("m.toml", text), "--out", folder.file("out.csv")});
  expect_refusal(folder, refused, words);
  const auto begin = refused.err.find("values are\n");
  const auto end = refused.err.find("  Put these");
  ASSERT_TRUE(begin != std::string::npos && end != std::string::npos) << refused.err;
  const std::string lines = refused.err.substr(begin + 11, end - begin - 11);
  const std::string fixed = std::regex_replace(text, std::regex("\\[initial\\][^\\[]*(\\[[^\\[]*)*\\[integrate\\]"),
                                               "[initial]\n" + lines + "[integrate]");
  const Answer accepted = hinge(folder, {"run", folder.write("fixed.toml", fixed), "--quiet"});
  EXPECT_EQ(accepted.status, 0) << accepted.err << "\n" << fixed;
}

TEST(BadInput, InconsistentStartsAreMeasuredAndTheSuggestedValuesAreAccepted) {
  suggestion_is_accepted(
      with(pendulum, "[1, 0]", "[1.1, 0.3]"),
      {"m.toml: initial", "constraint 0 \"(dot(q,q) - l^2)/2\"", "position level by 0.15", "\"project\""});
  suggestion_is_accepted(with(pendulum, "[integrate]", "velocity = { q = [1, 1] }\n[integrate]"),
                         {"m.toml: initial", "velocity level by 1", "velocity = { q = [0, 1] }"});
  suggestion_is_accepted(with(pendulum, "[integrate]", "momentum = { q = [1, 1] }\n[integrate]"),
                         {"velocity level by 0.5", "momentum = { q = [0, 1] }"});
  suggestion_is_accepted(
      with(with(pendulum, "[1, 0]", "[0.3, 0.2]"), "[integrate]", "velocity = { q = [1, 1] }\n[integrate]"),
      {"position level by 0.435", "velocity level by 0.5"});
  suggestion_is_accepted(
      with(chain, "[i+1, 0, 0]", "[(i+1)*1.1, 0.1*i^2, 0]"),
      {"constraint 0 ", "constraint 1 (i = 1) \"", "constraint 1 (i = 3) \"", "position = { q = [["});
  suggestion_is_accepted(with(rotor, "[0, 1] }", "[0.25, 1] }"),
                         {"velocity level by 0.5", "momentum = { p = [0, 1] }"});
  suggestion_is_accepted(with(rotor, "momentum = { p = [0, 1] }", "velocity = { q = [0.25, 1] }"),
                         {"velocity level by 0.5", "velocity = { q = [0, 1] }"});
  suggestion_is_accepted(with(mechanism, "[1, 0]", "[0.7, 0.6]"), {"position level by 0.15", "position = { x = ["});
  suggestion_is_accepted(with(with(odae, "[1, 0]", "[1, 0.1]"), "[0, 0]", "[0.1, 0]"),
                         {"position level by 0.01", "velocity level by 0.2", "y = { a = [", "z = { b = ["});
  // moving constraint: the velocity level is g_t + G v
  suggestion_is_accepted(with(pendulum, "(dot(q,q) - l^2)/2", "q[1] - sin(3*t)"),
                         {"velocity level by 3", "velocity = { q = [0, 3] }"});
}

TEST(BadInput, SuggestionsForLargeSystemsStayShort) {
  refuses(with(with(chain, "N = 4", "N = 300"), "[i+1, 0, 0]", "[1.5*(i+1), 0, 0]"),
          {"position level by 0.625", "and 294 more", ", ... }"});
}

TEST(BadInput, ContradictoryConstraintsAreNamed) {
  refuses(pendulum, "l^2)/2\"", "l^2)/2\", \"(dot(q,q) - 2*l^2)/2\"",
          {"m.toml: lagrangian.constraints", "rank 1 of 2", "constraint 1 \"(dot(q,q) - 2*l^2)/2\"", "contradict",
           "remove"});
  refuses(pendulum, "l^2)/2\"", "l^2)/2\", \"q[0] - 5\"", {"rank 1 of 2", "constraint 1 \"q[0] - 5\"", "contradict"});
  // independent where one starts, and still without any solution
  refuses(with(pendulum, "l^2)/2\"", "l^2)/2\", \"q[0] - 5\""), {"inconsistent", "contradict each other"},
          {"--set", "initial.position.q=[0.6, 0.8]"});
  refuses(pendulum, "(dot(q,q) - l^2)/2", "dot(q,q) + 1", {"inconsistent", "no consistent position", "contradict"});
}

// Those that follow from others everywhere are no mistake (RedundantRows); here they are dependent at one position
// only.
TEST(BadInput, ConstraintsThatAreDependentHereAreNamed) {
  refuses(pendulum, "l^2)/2\"", "l^2)/2\", \"q[0] - 1\"",
          {"m.toml: lagrangian.constraints", "rank 1 of 2", "constraint 1 \"q[0] - 1\"", "another position"});
  refuses(pendulum, "l^2)/2\"", "l^2)/2\", \"t\"",
          {"m.toml: lagrangian.constraints", "contradict", "constraint 1 \"t\"", "changes with time", "remove"});
  refuses(pendulum, "l^2)/2\"", "l^2)/2\", \"l - 1\"",
          {"m.toml:9: lagrangian.constraints[1]", "is the number 0", "expression of the coordinates"});
}

TEST(BadInput, SingularMassIsTracedToAMotion) {
  const Words cause{"mass matrix is singular", "give that motion inertia"};
  const auto also = [&](std::string place, std::string motion) {
    Words words = cause;
    words.push_back(std::move(place));
    words.push_back(std::move(motion));
    return words;
  };
  refuses(pendulum, "m/2*dot(q',q')", "m/2*q[0]'^2", also("m.toml: lagrangian", "nothing resists a change of q'[1]"));
  refuses(pendulum, "m/2*dot(q',q')", "0", also("m.toml: lagrangian", "nothing resists"));
  refuses(pendulum, "m/2*dot(q',q')", "q[0]'", also("m.toml: lagrangian", "nothing resists"));
  refuses(with(pendulum, "\"q[2]\"", "\"q[2]\", \"w\""), also("m.toml: lagrangian", "a change of w'"),
          {"--set", "initial.position.w=0"});
  refuses(mechanism, "[[2, 0], [0, 1]]", "[[2, 0], [0, 0]]", also("m.toml: mechanical", "a change of x'[1]"));
  refuses(with(pendulum, "constraints = [\"(dot(q,q) - l^2)/2\"]\n", ""), also("m.toml: lagrangian", "nothing resists"),
          {"--set", "lagrangian.kinetic=\"(q[0]' + q[1]')^2\""});
  refuses(odae, "r = [\"-2*a[0]*force\", \"-2*a[1]*force\"]", "r = [0, \"force\"]",
          {"m.toml", "reaction cannot keep the constraints"});
  refuses(with(rotor, "momentum = { p = [0, 1] }\n", ""),
          {"m.toml", "does not determine the momentum", "give the initial momentum"},
          {"--set", "hamiltonian.hamiltonian=\"p[0]^2/2 + q[1]\""});
}

TEST(BadInput, ConstraintsAreOnPositionsOnly) {
  refuses(pendulum, "l^2)/2\"", "l^2)/2\", \"q[0]'\"",
          {"m.toml:5: lagrangian", "constraint 1 \"q[0]'\"", "depends on a velocity",
           "functions of t and the coordinates"});
  refuses(rotor, "dot(q,q) - 1", "dot(q,p)",
          {"hamiltonian", "constraint 0 \"dot(q,p)\"", "depends on a velocity or momentum"});
  refuses(rotor, "dot(p,p)/2", "dot(q',q')/2", {"hamiltonian.hamiltonian", "no velocities"});
  refuses(mechanism, "[[2, 0]", "[[\"x[0]'\", 0]", {"mechanical", "mass matrix depends on a velocity"});
}

TEST(BadInput, MethodsThatCannotTreatASystemSaySo) {
  refuses(odae, "r = [\"-2*a[0]*force\", \"-2*a[1]*force\"]", "r = [\"-2*a[0]*force*(1 + b[0]^2)\", \"-2*a[1]*force\"]",
          {"m.toml: integrate.method", "reaction"});
  refuses(
      with(with(pendulum, "\"gauss-lobatto\"", "\"shake\""), "constraints =", "force = { q = \"-q'\" }\nconstraints ="),
      {"m.toml: integrate.method", "shake needs a separable system", "rattle gives the same positions"});
}

TEST(BadInput, OutputFilesThatCannotBeWrittenAreRefused) {
  const auto refuses_out = [](const std::string& name, const Words& words) {
    const Folder folder;
    std::filesystem::create_directory(folder.file("folder.csv"));
    expect_refusal(folder, hinge(folder, {"run", folder.write("m.toml", pendulum), "--out", folder.file(name)}), words);
    EXPECT_TRUE(name == "folder.csv" || !folder.has(name));
  };
  refuses_out("out.txt", {"cannot write", "out.txt", "ending names no format", ".csv, .h5"});
  refuses_out("out", {"cannot write", "ending names no format", ".csv, .h5"});
  refuses_out("missing/out.csv", {"cannot write", "missing/out.csv", "No such file", "create the folder"});
  refuses_out("missing/out.h5", {"cannot write", "missing/out.h5", "create the folder"});
  refuses_out("folder.csv", {"cannot write", "folder.csv", "irectory"});
  refuses(pendulum, "[output]", "[output]\nfile = 3", {"m.toml:17: output.file", "a file name"});
  const Folder folder;  // and from the model file
  expect_refusal(
      folder, hinge(folder, {"run", folder.write("m.toml", with(pendulum, "[output]", "[output]\nfile = \"a.txt\""))}),
      {"cannot write 'a.txt'", "ending"});
}

TEST(BadInput, SettingsOnTheCommandLineAreCheckedLikeTheFile) {
  refuses_options({"--set", "x"}, {"--set x", "there is no '='", "write --set parameters.m1=2"});
  refuses_options({"--set", "=3"}, {"--set takes key=value", "--set parameters.m1=2"});
  for (const std::string key : {".a", "parameters..m", "parameters."})
    refuses_options({"--set", key + "=3"}, {"--set " + key, "empty part", "--set parameters.m1=2"});
  refuses_options({"--set", "parameters.m.x=3"},
                  {"--set parameters.m.x", "is not a section", "set parameters.m itself"});
  refuses_options({"--set", "parameters.mass=3"}, {"--set parameters.mass", "no parameter 'mass'", "it has: l, m"});
  refuses_options({"--set", "parameters.L=3"}, {"--set parameters.L", "did you mean 'l'?"});
  refuses_options({"--set", "parameter.m=3"}, {"parameter", "unknown key", "did you mean 'parameters'?"});
  refuses_options({"--set", "title=3"}, {"--set title", "expected a title"});
  refuses_options({"--set", "parameters.m="}, {"--set parameters.m", "expression is empty"});
  refuses_options({"--set", "parameters.m=heavy"}, {"--set parameters.m", "unknown name 'heavy'"});
  refuses_options({"--set", "parameters.m=nan"}, {"--set parameters.m", "not finite"});
  refuses_options({"--set", "parameters.m=1\nl=2"}, {"--set parameters.m", "1 l=2"});
  refuses_options({"--set", "integrate.stages=13"}, {"--set integrate.stages", "1 to 12 stages"});
  refuses_options({"--set", "initial.position=[1,2,3]"}, {"--set initial.position", "found 3"});
  refuses_options({"--set", "lagrangian=3"}, {"--set lagrangian", "expected a section [lagrangian]"});
  refuses_options({"--set", "lagrangian.constraints=[\"q[0\"]"}, {"--set lagrangian.constraints[0]", "never closed"});
  for (const std::string section : {"initial", "integrate", "output", "parameters", "define", "exact"})
    refuses_options({"--set", section + "=3"}, {"--set " + section, "expected a"});
  refuses_options({"--set", repeat("a.", 20000) + "a=1"}, {"--set a.a.a", "more than 100 parts"});
}

TEST(BadInput, ShortOptionsAreNamedInTheirOwnWords) {
  for (const std::string step : {"0", "-1"}) refuses_options({"--step", step}, {"hinge: --step", "must be positive"});
  for (const std::string step : {"nan", "inf"}) refuses_options({"--step", step}, {"hinge: --step", "not finite"});
  refuses_options({"--step", "abc"}, {"hinge: --step", "unknown name 'abc'"});
  refuses_options({"--step", ""}, {"hinge: --step", "empty"});
  refuses_options({"--step", "1e-300"}, {"hinge: --step", "too many", "longer step"});
  refuses_options({"--end", "-1"}, {"hinge: --end", "lies before the start", "later end"});
  for (const std::string end : {"nan", "inf"}) refuses_options({"--end", end}, {"hinge: --end", "not finite"});
  refuses_options({"--end", "1e300"}, {"too many", "longer step"});
  refuses_options({"--method", "ratle"}, {"hinge: --method", "no method 'ratle'", "did you mean 'rattle'?"});
  refuses_options({"--method", ""}, {"hinge: --method", "no method ''", "gauss-lobatto"});
  refuses_options({"--method", "rattle", "--set", "integrate.stages=3"},
                  {"--set integrate.stages", "no option 'stages'"});
}

TEST(BadInput, CommandLinesThatMeanNothingAreExplained) {
  refuses_command({}, {"which command?", "run, convergence, compare, sweep, check, contact", "hinge --help"});
  refuses_command({"rum"}, {"no command 'rum'", "did you mean 'run'?"});
  refuses_command({"pendulum.toml"}, {"no command 'pendulum.toml'", "did you mean 'hinge run pendulum.toml'?"});
  refuses_command({"run"}, {"MODEL is required", "hinge run --help"});
  refuses_command({"check"}, {"MODEL is required", "hinge check --help"});
  refuses_command({"convergence"}, {"MODEL is required", "hinge convergence --help"});
  refuses_command({"methods", "extra"}, {"extra", "'hinge methods' lists them all"});
  refuses_options({"--nope"}, {"no option '--nope'", "hinge run --help"});
  refuses_options({"--jsn"}, {"no option '--jsn'", "did you mean '--json'?"});
  refuses_options({"extra"}, {"extra", "hinge run --help"});
  refuses_options({"--set"}, {"--set", "hinge run --help"});
  refuses_options({"--out", ""}, {"--out", "hinge run --help"});
}

TEST(BadInput, FilesThatAreNoModelAreRefused) {
  const Folder folder;
  std::filesystem::create_directory(folder.file("folder.toml"));
  for (const std::string command : {"run", "check", "convergence"}) {
    expect_refusal(folder, hinge(folder, {command, folder.file("missing.toml")}),
                   {"cannot read", "missing.toml", "No such file", "check the name"});
    expect_refusal(folder, hinge(folder, {command, folder.file("folder.toml")}),
                   {"folder.toml' is a folder", "give the model file"});
    expect_refusal(folder, hinge(folder, {command, ""}), {"cannot read ''", "check the name"});
  }
  refuses("", {"m.toml: there is no system", "[lagrangian]"});
  refuses("\n\n# nothing\n", {"m.toml: there is no system"});
  refuses("This is a letter,\nnot a model.\n", {"m.toml:1:", "this is not TOML", "A model is a text file"});
  refuses("{\"q\": [1, 0]}\n", {"m.toml:1:", "this is not TOML", "A model is a text file"});
  refuses(pendulum + "[initial\n", {"m.toml:18:", "this is not TOML"});
  refuses(with(pendulum, "\"9.81", "9.81"), {"m.toml:8:", "this is not TOML"});
}

TEST(BadInput, UnreadableFilesAreRefused) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads everything";
  const Folder folder;
  const std::string model = folder.write("m.toml", pendulum);
  std::filesystem::permissions(model, std::filesystem::perms::none);
  expect_refusal(folder, hinge(folder, {"run", model}), {"cannot read", "Permission denied"});
}

TEST(BadInput, BinaryGarbageIsRefused) {
  std::mt19937 random(1);
  for (const int size : {1, 10, 1000, 100'000}) {
    for (int k = 0; k < 5; ++k) {
      std::string bytes(static_cast<std::size_t>(size), '\0');
      for (char& c : bytes) c = static_cast<char>(random() % 256);
      bytes[0] = '=';  // otherwise a single letter or line feed could be fine TOML
      refuses(bytes, {"m.toml:1:", "this is not TOML", "A model is a text file"});
    }
  }
  refuses(std::string(3, '\0'), {"m.toml:1:", "this is not TOML"});
  refuses(pendulum + std::string(2, '\0'), {"m.toml:18:", "this is not TOML"});
  refuses(with(pendulum, "9.81*m", "9.81*\\u0000m"),
          {"m.toml:8: lagrangian.potential", "U+0000 is not part of the language"});
  refuses(with(pendulum, "\"Pendulum\"", "\"\xff\xfe\""), {"m.toml:1:", "utf-8"});
  refuses("\xff\xfe[\0l\0", {"m.toml:1:", "this is not TOML"});
}

TEST(BadInput, RandomDamageToAModelNeverCrashes) {
  std::mt19937 random(7);
  const Folder folder;
  for (int k = 0; k < 100; ++k) {
    std::string text = k % 2 ? pendulum : chain;
    for (int n = 0; n < 3; ++n) {
      const std::size_t at = random() % text.size();
      const char* const pieces[] = {"(", ")", "[", "]", "\"", "'",  "=", "{", "}",
                                    "9", "-", "q", ".", ",",  "\n", "^", "/"};
      if (random() % 2)
        text.erase(at, 1 + random() % 4);
      else
        text.insert(at, pieces[random() % std::size(pieces)]);
    }
    const Answer answer = hinge(folder, {"run", folder.write("m.toml", text), "--end", "0.02", "--quiet"});
    EXPECT_TRUE(answer.status >= 0 && answer.status <= 2) << text;
    EXPECT_EQ(answer.status == 0, answer.err.empty()) << text << answer.err;
  }
}

TEST(BadInput, HugeFilesAreRefusedAtOnce) {
  refuses(std::string(10'000'000, '#'), {"m.toml' is larger than 5 MB", "families", "sum()"});
  refuses(pendulum + repeat("# a comment\n", 900'000), {"larger than 5 MB"});
}

TEST(BadInput, DeepNestingIsRefused) {
  const int n = 100'000;
  const auto potential = [](const std::string& expression) { return with(pendulum, "9.81*m*q[1]", expression); };
  for (const std::string& text :
       {repeat("(", n) + "q[1]" + repeat(")", n), repeat("sin(", n) + "q[1]" + repeat(")", n), repeat("-", n) + "q[1]",
        repeat("not ", n) + "q[1]", repeat("q[1]^", n) + "1", repeat("[", n) + "1" + repeat("]", n)})
    refuses(potential(text), {"m.toml:8: lagrangian.potential", "nested more than", "name parts of the expression"});
  refuses(potential(repeat("(", n) + "q[1]"), {"lagrangian.potential", "never closed"});
  refuses(potential("q" + repeat("[0]", n)), {"lagrangian.potential", "cannot be indexed"});
  refuses(with(pendulum, "[1, 0]", repeat("[", n) + repeat("]", n)), {"m.toml:11:", "nested"});
  refuses(with(pendulum, "[1, 0]", repeat("[", 200) + "1" + repeat("]", 200)),
          {"m.toml:11: initial.position.q[0]", "nested too deeply"});
  refuses(with(pendulum, "[1, 0]", repeat("{ a = ", n) + "1" + repeat("}", n)), {"m.toml:11:", "nested"});
  refuses("\n[" + repeat("a.", n) + "a]\n", {"m.toml:2:", "more than 100 parts", "initial.position.q"});
  refuses(repeat("a . ", n) + "a = 1\n", {"m.toml:1:", "more than 100 parts"});
  refuses(repeat("'a'.", n) + "a = 1\n", {"m.toml:1:", "more than 100 parts"});
  refuses("x = { " + repeat("\"a\".", n) + "a = 1 }\n", {"m.toml:1:", "more than 100 parts"});
}

TEST(BadInput, LongLinesAreReadAndQuotedInPart) {
  const std::string terms = repeat(" + 0*q[0]", 110'000);  // 1 MB in one line
  const Folder folder;
  const Answer good =
      hinge(folder, {"run", folder.write("m.toml", with(pendulum, "9.81*m*q[1]", "q[1]" + terms)), "--quiet"});
  EXPECT_EQ(good.status, 0) << good.err;
  refuses(with(pendulum, "9.81*m*q[1]", "q[1]" + terms + " + unknown"),
          {"m.toml:8: lagrangian.potential", "unknown name 'unknown'", "..."});
  refuses(with(pendulum, "9.81*m*q[1]", repeat("z", 1'000'000)), {"unknown name 'zzzz", "..."});
  refuses(repeat("z", 1'000'000) + " = 3\n" + pendulum, {"m.toml:1: zzzz", "...: unknown key"});
}

// Dots and quotes in texts, numbers and comments are no deep keys.
TEST(BadInput, ManyDotsOutsideKeysAreAllRight) {
  const Folder folder;
  const std::string dots = repeat(".", 300);
  std::string text =
      with(pendulum, "\"Pendulum\"", "\"\"\"\n" + dots + " \\\" \" '\n" + dots + "\"\"\" # it's " + dots + " \"");
  text += "# " + dots + "\n'b' = '" + dots + "'\n";
  const Answer answer = hinge(folder, {"run", folder.write("m.toml", text), "--quiet"});
  EXPECT_EQ(answer.status, 2);
  EXPECT_NE(answer.err.find("output.b: unknown key"), std::string::npos) << answer.err;  // got as far as the last line
}

}  // namespace
}  // namespace hinge::test::bad_input_test
