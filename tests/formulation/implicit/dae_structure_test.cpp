// Claims about what a DAE is: index, degrees of freedom, and what is wrong with singular ones.
#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include <gtest/gtest.h>
#include <Eigen/Eigenvalues>

#include "formulation/implicit/dae_structure.hpp"
#include "formulation/implicit/implicit_problem.hpp"
#include "formulation/implicit/linear_pencil.hpp"
#include "hinge/model.hpp"
#include "places.hpp"

namespace hinge::dae_structure_test {
namespace {

std::shared_ptr<const SymbolicSystem> symbolic(const std::shared_ptr<const System>& system) {
  return std::dynamic_pointer_cast<const SymbolicSystem>(system);
}

Model paper(const std::string& name, const std::vector<Override>& overrides = {}) {
  return load_model(std::string(HINGE_PAPERS) + "/dae/" + name + ".toml", overrides);
}

struct Known {
  std::string file;
  int index, freedom;
  std::size_t combinations = 0;
  std::vector<Override> overrides{};
};

// Indices as published with the test set (Hairer and Wanner's for Robertson and van der Pol).
TEST(DaeStructure, FindsThePublishedIndices) {
  const std::vector<Known> list = {
      {"robertson", 1, 2},
      {"van-der-pol", 0, 2},
      {"van-der-pol-reduced", 1, 1},
      {"differentiator", 2, 0},
      {"transistor", 1, 5, 3},
      {"ring-modulator", 0, 15},
      {"ring-modulator", 2, 10, 1, {{"parameters.Cs", "0"}}},
      {"charge-pump", 2, 2},
      {"water-tube", 2, 9},
      {"hlr", 2, 1},
      {"pendulum-index3", 3, 2},
      {"pendulum-index2", 2, 3},
      {"linear-index4", 4, 1},
      {"noise", 1, 1},
  };
  for (const Known& known : list) {
    SCOPED_TRACE(known.file);
    const Model model = paper(known.file, known.overrides);
    const auto system = symbolic(model.system);
    State point{0, model.start.position, {}, {}};
    point.z.assign(point.y.size(), 0.0);
    for (const State* where : {static_cast<const State*>(nullptr), static_cast<const State*>(&point)}) {
      const DaeStructure s = analyse_dae(*system, where);
      EXPECT_EQ(s.index(), known.index);
      EXPECT_EQ(s.degrees_of_freedom(), known.freedom);
      EXPECT_EQ(s.combinations.size(), known.combinations);
      EXPECT_TRUE(s.regular) << s.singular;
    }
    if (const auto pencil = linear_pencil(*system)) {
      EXPECT_EQ(pencil->index, known.index);
      EXPECT_EQ(pencil->degrees_of_freedom, known.freedom);
    }
  }
}

TEST(DaeStructure, GivesEachUnknownItsIndexAndScaling) {
  const DaeStructure three = analyse_dae(*symbolic(paper("pendulum-index3").system));
  EXPECT_EQ(three.nu, (std::vector<int>{1, 1, 2, 2, 3}));
  EXPECT_EQ(three.row_order, (std::vector<int>{1, 1, 2, 2, 0}));  // (h P, h^2 D, C)
  const DaeStructure two = analyse_dae(*symbolic(paper("pendulum-index2").system));
  EXPECT_EQ(two.nu, (std::vector<int>{1, 1, 1, 1, 2}));
  EXPECT_EQ(two.row_order, (std::vector<int>{1, 1, 1, 1, 0}));
  // an algebraic unknown of index 1 beside the multiplier, and one that follows the multiplier
  const Model mixed = parse_model(
      "[dae]\nunknowns = [\"y[2]\", \"z\", \"w\", \"s\"]\n"
      "equations = [\"y[0]' = y[1] + w\", \"y[1]' = z\", \"y[1] = sin(t)\", \"w = y[0]^2\", \"s = z + w\"]\n"
      "[initial]\nunknowns = { y = [1, 0] }\n[integrate]\nmethod = \"rattle\"\n",
      "mixed.toml");
  EXPECT_EQ(analyse_dae(*symbolic(mixed.system)).nu, (std::vector<int>{1, 1, 2, 1, 2}));
}

// M p'' + G^T lambda = -K p, G p = 0 in the formulations of the mechanical systems: index and degrees of freedom.
TEST(LinearPencil, KnowsTheIndexOfEveryFormulation) {
  Eigen::Matrix3d m = Eigen::Vector3d(1, 2, 5).asDiagonal(), k;
  k << 1, 0.2, 0, 0.2, 3, 0.1, 0, 0.1, 2;
  const Eigen::RowVector3d g(1, 2, -1);
  const auto zero = [](Eigen::Index n) { return Eigen::MatrixXd::Zero(n, n).eval(); };
  for (int level = 3; level >= 1; --level) {
    Eigen::MatrixXd e = zero(7), h = zero(7);
    e.block(0, 0, 3, 3).setIdentity();
    e.block(3, 3, 3, 3) = m;
    h.block(0, 3, 3, 3) = -Eigen::Matrix3d::Identity();
    h.block(3, 0, 3, 3) = k;
    h.block(3, 6, 3, 1) = g.transpose();
    if (level == 3) h.block(6, 0, 1, 3) = g;
    if (level == 2) h.block(6, 3, 1, 3) = g;
    if (level == 1) e.block(6, 3, 1, 3) = g;
    const LinearPencil p = analyse_pencil(e, h);
    EXPECT_TRUE(p.regular);
    EXPECT_EQ(p.index, level);
    EXPECT_EQ(p.degrees_of_freedom, 7 - level);
    if (level != 3) continue;
    // the eigenvalues are +- i omega of the motions in the kernel of G
    Eigen::Matrix<double, 3, 2> basis;
    basis << 2, 1, -1, 0, 0, 1;
    const Eigen::GeneralizedSelfAdjointEigenSolver<Eigen::Matrix2d> modes(basis.transpose() * k * basis,
                                                                          basis.transpose() * m * basis);
    ASSERT_EQ(p.eigenvalues.size(), 4u);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_NEAR(p.eigenvalues[i].real(), 0, 1e-13);
      EXPECT_NEAR(std::abs(p.eigenvalues[i].imag()), std::sqrt(modes.eigenvalues()[static_cast<int>(i / 2)]), 1e-12);
    }
  }
  // GGL: index 2, four degrees of freedom
  Eigen::MatrixXd e = zero(8), h = zero(8);
  e.block(0, 0, 3, 3).setIdentity();
  e.block(3, 3, 3, 3) = m;
  h.block(0, 3, 3, 3) = -Eigen::Matrix3d::Identity();
  h.block(0, 7, 3, 1) = g.transpose();
  h.block(3, 0, 3, 3) = k;
  h.block(3, 6, 3, 1) = g.transpose();
  h.block(6, 3, 1, 3) = g;
  h.block(7, 0, 1, 3) = g;
  const LinearPencil ggl = analyse_pencil(e, h);
  EXPECT_EQ(ggl.index, 2);
  EXPECT_EQ(ggl.degrees_of_freedom, 4);
  h.row(7) = h.row(6);
  EXPECT_FALSE(analyse_pencil(e, h).regular);
}

std::string complaint(const std::string& equations, const std::string& unknowns) {
  try {
    const Model model = parse_model("[dae]\nunknowns = [" + unknowns + "]\nequations = [" + equations +
                                        "]\n[initial]\n[integrate]\nmethod = \"rattle\"\n",
                                    "m.toml");
    analyse_dae(*symbolic(model.system));
  } catch (const InputError& e) {
    return e.what();
  }
  return "";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Who asks later is given what was found first, as if it had been found for him: what others write into the graph of
// theirs is not in it.
TEST(DaeStructure, IsTheSameForEachWhoAsks) {
  for (const char* name : {"transistor", "charge-pump", "pendulum-index3", "water-tube"}) {
    SCOPED_TRACE(name);
    const auto system = symbolic(paper(name).system), alone = symbolic(paper(name).system);
    DaeStructure first = analyse_dae(*system);
    const Node size = first.jet.graph().size();
    first.jet.at(0, 9);
    const DaeStructure later = analyse_dae(*system), other = analyse_dae(*alone);
    EXPECT_GT(first.jet.graph().size(), size);
    for (const DaeStructure* s : {&later, &other}) {
      EXPECT_EQ(s->jet.graph().size(), size);
      EXPECT_NE(&s->jet.graph(), &first.jet.graph());
      EXPECT_EQ(s->equations, first.equations);
      EXPECT_EQ(s->direct, first.direct);
      EXPECT_EQ(s->combinations, first.combinations);
      EXPECT_EQ(s->blocks, first.blocks);
      EXPECT_EQ(std::tie(s->c, s->d, s->nu, s->row_order), std::tie(first.c, first.d, first.nu, first.row_order));
    }
  }
}

TEST(DaeStructure, NamesWhatIsSingular) {
  // x and y in three equations, z in none of them: structurally singular
  const std::string structural = complaint(R"("x' + y", "x - y", "x*y", "z' + w + x")", R"("x", "y", "z", "w")");
  EXPECT_TRUE(has(structural, "structurally singular")) << structural;
  EXPECT_TRUE(has(structural, "\"x*y\"")) << structural;
  EXPECT_TRUE(has(structural, "z, w")) << structural;
  // the third equation repeats the sum of the others: singular by its numbers
  const std::string numbers = complaint(R"("x' - y", "y' - z", "x' + y' - y - z")", R"("x", "y", "z")");
  EXPECT_TRUE(has(numbers, "depend on each other")) << numbers;
  EXPECT_EQ(complaint(R"("x' - y", "y' - z", "x' + 2*y' - y - z")", R"("x", "y", "z")"), "");  // a control
  const std::string over = complaint(R"("x' - y", "y - 1", "x + y")", R"("x", "y")");
  EXPECT_TRUE(has(over, "overdetermined")) << over;
  const std::string under = complaint(R"("x' - y", "w - 1")", R"("x", "y", "w")");
  EXPECT_TRUE(has(under, "underdetermined")) << under;
  EXPECT_TRUE(has(under, "x, y") && !has(under, "w,")) << under;
}

}  // namespace
}  // namespace hinge::dae_structure_test
