// Every solver of contact problems: one line each.
#include <fmt/format.h>

#include "solve/contact/pyramid.hpp"
#include "solve/contact/solver.hpp"
#include "solve/contact/solvers.hpp"

namespace hinge {

namespace {

// What solvers say of problems that they cannot treat; empty where they can.

std::string round_cones(const ContactProblem& p) {
  if (p.friction == FrictionModel::polyhedral && p.dimension == 3)
    return "it works with round friction cones, not with pyramids; take lemke, newton-fb or exact friction";
  return "";
}

std::string symmetric(const ContactProblem& p) {
  if (asymmetry(p) > 1e-3) return "W is not symmetric; take block-gauss-seidel, newton-ac or (for an LCP) lemke";
  return "";
}

std::string convex(const ContactProblem& p) {
  const std::string why = round_cones(p);
  return why.empty() ? symmetric(p) : why;
}

// Of the contacts' rows.
std::string positive_contacts(const ContactProblem& p) {
  const std::string why = round_cones(p);
  if (!why.empty() || p.matrix_free()) return why;
  const Eigen::VectorXd diagonal = p.W.diagonal();
  for (int k = 0; k < p.contact_rows(); ++k)
    if (!(diagonal[k] > 0))
      return fmt::format("W({0}, {0}) = {1} is not positive; take lemke or newton-fb", k, diagonal[k]);
  return "";
}

// A bilateral row that is empty says nothing; one that has entries and no diagonal cannot be solved by itself.
std::string positive_diagonal(const ContactProblem& p) {
  const std::string why = positive_contacts(p);
  if (!why.empty() || p.matrix_free()) return why;
  for (int k = p.contacts() * p.dimension; k < p.rows(); ++k) {
    if (p.W.coeff(k, k) > 0) continue;
    for (SparseRows::InnerIterator entry(p.W, k); entry; ++entry)
      if (entry.value() != 0)
        return fmt::format("bilateral row {0} has entries and W({1}, {1}) = 0; take newton-ac",
                           k - p.contacts() * p.dimension, k);
  }
  return "";
}

std::string lcp(const ContactProblem& p) {
  if (!lcp_like(p))
    return "it solves LCPs, and round friction cones are none; take block-gauss-seidel or polyhedral friction";
  return "";
}

constexpr int dense_limit = 4000;

// LCPs that are built as dense matrices.
std::string dense_lcp(const ContactProblem& p) {
  const std::string why = lcp(p);
  if (!why.empty()) return why;
  if (const auto size = pyramid_rows(p) + p.bilateral; size > dense_limit)
    return fmt::format("its LCP is a dense matrix, and {} rows are more than {}; take {}", size, dense_limit,
                       p.dimension == 1                       ? "interior-point or newton-fb"
                       : p.dimension == 2 || p.frictionless() ? "block-gauss-seidel"
                                                              : "fewer facets, or exact friction");
  return "";
}

// Plain LCPs stay sparse.
std::string newton_lcp(const ContactProblem& p) { return p.dimension == 1 ? "" : dense_lcp(p); }

std::string plain_lcp(const ContactProblem& p) {
  if (p.dimension > 1) return "it solves LCPs without friction; take cone-interior-point";
  return "";
}

std::string cones(const ContactProblem& p) {
  const std::string why = convex(p);
  if (!why.empty() || p.matrix_free() || p.rows() <= dense_limit) return why;
  return fmt::format("without H and M its system is dense, and {} rows are more than {}; take block-gauss-seidel",
                     p.rows(), dense_limit);
}

}  // namespace

const std::vector<SolverEntry>& registered_contact_solvers() {
  static const std::vector<SolverEntry> solvers = {
      {{"auto", "chooses, and falls back", "everything", "docs/contact.md"},
       [](const ContactProblem&) { return std::string(); },
       nullptr},
      {{"lemke", "lexicographic complementary pivoting", "LCP, 2D friction, pyramids; up to 4000 rows",
        "Cottle, Pang, Stone 1992"},
       dense_lcp,
       solve_lemke},
      {{"jacobi", "projected Gauss-Jacobi", "round cones, LCP; symmetric W", "Cottle, Pang, Stone 1992"},
       convex,
       solve_projected_jacobi},
      {{"gauss-seidel", "one projection per contact", "round cones, LCP; positive diagonal", "Tasora, Anitescu 2011"},
       positive_diagonal,
       solve_projected_gauss_seidel},
      {{"sor", "the same, over-relaxed by 1.3", "round cones, LCP; positive diagonal", "Cottle, Pang, Stone 1992"},
       positive_diagonal,
       solve_projected_sor},
      {{"block-gauss-seidel", "contact after contact, each solved exactly", "round cones, LCP; positive diagonal",
        "Jourdan, Alart, Jean 1998; Daviet et al. 2011"},
       positive_diagonal,
       solve_block_gauss_seidel},
      {{"apgd", "Nesterov's accelerated projected gradient", "round cones, LCP; symmetric W", "Mazhar et al. 2015"},
       convex,
       solve_accelerated_gradient},
      {{"spectral-gradient", "Barzilai-Borwein projected gradient", "round cones, LCP; symmetric W",
        "Birgin, Martinez, Raydan 2000"},
       convex,
       solve_spectral_gradient},
      {{"newton-fb", "semismooth Newton, Fischer-Burmeister", "LCP, 2D friction, pyramids; any W",
        "De Luca, Facchinei, Kanzow 1996"},
       newton_lcp,
       solve_newton_fischer_burmeister},
      {{"newton-ac", "semismooth Newton, Alart-Curnier", "round cones, LCP; any W with positive diagonal",
        "Alart, Curnier 1991"},
       positive_contacts,
       solve_newton_alart_curnier},
      {{"interior-point", "Mehrotra's predictor-corrector", "LCP; positive semidefinite", "Mehrotra 1992"},
       plain_lcp,
       solve_interior_point},
      {{"cone-interior-point", "interior points on second-order cones", "round cones, LCP; symmetric W",
        "Alizadeh, Goldfarb 2003"},
       cones,
       solve_cone_interior_point},
      {{"admm", "alternating directions, adaptive penalty", "round cones, LCP; symmetric W", "Boyd et al. 2011"},
       convex,
       solve_admm},
  };
  return solvers;
}

const SolverEntry& contact_solver(std::string_view name) {
  for (const SolverEntry& s : registered_contact_solvers())
    if (s.info.name == name) return s;
  std::string names;
  for (const SolverEntry& s : registered_contact_solvers()) names += (names.empty() ? "" : ", ") + s.info.name;
  throw InputError(fmt::format("there is no contact solver '{}'; there are {}", name, names));
}

std::vector<ContactSolverInfo> contact_solvers() {
  std::vector<ContactSolverInfo> list;
  for (const SolverEntry& s : registered_contact_solvers()) list.push_back(s.info);
  return list;
}

std::string refusal(const ContactProblem& problem, std::string_view solver) {
  return contact_solver(solver).refuses(problem);
}

}  // namespace hinge
