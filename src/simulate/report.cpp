// A run's report as a short table for people.
#include <algorithm>
#include <ostream>

#include <fmt/format.h>

#include "hinge/simulate.hpp"
#include "simulate/record/recorder_vtk.hpp"
#include "system/states.hpp"

namespace hinge {

namespace {

constexpr int most_rows = 12;

void print_blocks(std::ostream& out, const char* word, const std::vector<Block>& blocks, const std::vector<double>& x) {
  int rows = 0;
  for (const Block& b : blocks) {
    const int width = b.shape.size() == 2 ? b.shape[1] : b.size();
    for (int first = 0; first < b.size(); first += width) {
      if (++rows > most_rows) {
        out << fmt::format("  {:<12} ... ({} numbers in all)\n", "", x.size());
        return;
      }
      std::string name = b.name;
      if (b.shape.size() == 2) name += fmt::format("[{}]", first / width);
      out << fmt::format("  {:<12} {:<8}", rows == 1 ? word : "", name);
      for (int k = 0; k < std::min(width, 6); ++k)
        out << fmt::format(" {:>18.12g}", x[static_cast<std::size_t>(b.first + first + k)]);
      if (width > 6) out << " ...";
      out << '\n';
    }
  }
}

void print_line(std::ostream& out, const char* what, const std::string& value) {
  out << fmt::format("  {:<34} {}\n", what, value);
}
void print_size(std::ostream& out, const char* what, double value, const std::string& note = "") {
  print_line(out, what, fmt::format("{:.2e}{}", value, note));
}

void print_pairs(std::ostream& out, const ContactStatistics& c) {
  out << "\nComplementarity pairs\n";
  print_line(out, "first of the pair zero at the end", fmt::format("{} of {}", c.loaded, c.contacts));
  print_size(out, "largest |min(a, b)|", c.complementarity);
}

void print_contacts(std::ostream& out, const ContactStatistics& c, long steps) {
  const auto line = [&](const char* what, const std::string& value) { print_line(out, what, value); };
  out << "\nContacts\n";
  line("in the last step",
       fmt::format("{} nearby, {} loaded; at most {} nearby", c.contacts, c.loaded, c.most_contacts));
  line("impacts", fmt::format("{}", c.impacts));
  constexpr std::size_t most_shown = 6;
  for (std::size_t k = 0; k < std::min(c.events.size(), most_shown); ++k)
    line(k == 0 ? "events" : "", fmt::format("t = {:<12.9g} {}", c.events[k].t, c.events[k].what));
  if (c.events.size() > most_shown) line("", fmt::format("{} more", c.events.size() - most_shown));
  line("penetration", fmt::format("{:.2e}", c.penetration));
  line("complementarity residual", fmt::format("{:.2e}   (relative, of velocities)", c.complementarity));
  line("cone violation", fmt::format("{:.2e}   (relative)", c.cone));
  if (c.momentum_balance >= 0) line("momentum balance", fmt::format("{:.2e}   (relative)", c.momentum_balance));
  line("energy lost in impacts", fmt::format("{:.6g}", c.impact_loss));
  line("energy lost in friction", fmt::format("{:.6g}", c.friction_loss));
  const double n = static_cast<double>(std::max(steps, 1L));
  line("contact problems",
       fmt::format("{:.2f} per step, {:.1f} solver iterations per step{}{}", static_cast<double>(c.solves) / n,
                   static_cast<double>(c.solver_iterations) / n, c.solver.empty() ? "" : ", last by " + c.solver,
                   c.unconverged > 0 ? fmt::format("; {} not to the tolerance", c.unconverged) : ""));
  line("time", fmt::format("search {:.3g} s, assembly {:.3g} s, solver {:.3g} s", c.search_seconds, c.assembly_seconds,
                           c.solver_seconds));
}

}  // namespace

std::string verdict_text(const Report& r) {
  if (r.sound()) return "sound\n";
  std::string text;
  if (r.status == RunStatus::failed) text = fmt::format("failed: what follows is the motion until t = {:g}\n", r.end);
  for (const Doubt& d : r.doubts) text += fmt::format("doubtful: {}: {:.3g}; {}\n", d.cause, d.value, d.remedy);
  return text;
}

std::ostream& operator<<(std::ostream& out, const Report& r) {
  out << verdict_text(r);
  if (!r.title.empty()) out << r.title << '\n';
  if (r.tolerance.given())
    out << fmt::format("{}, tolerance {:g} (relative), {:g} (absolute), t = {:g} to {:g}\n", r.method,
                       r.tolerance.relative, r.tolerance.absolute, r.start, r.end);
  else
    out << fmt::format("{}, step {:g}, t = {:g} to {:g}\n", r.method, r.step, r.start, r.end);
  for (const std::string& remark : r.remarks) out << "  " << remark << '\n';
  for (const std::string& fact : r.method_facts) out << "  " << fact << '\n';
  if (r.status != RunStatus::failed && !r.message.empty()) out << r.message << '\n';

  out << "\nFinal state\n";
  const bool odae = r.layout.kind == SystemKind::odae || r.layout.kind == SystemKind::own;
  const bool dae = r.layout.kind == SystemKind::dae;
  const auto states = count_states(r.layout);
  const auto split = [&](const char* word, const std::vector<Block>& blocks, const std::vector<double>& x,
                         const char* of_states) {
    const auto end = blocks.end() - states;
    print_blocks(out, word, {blocks.begin(), end}, x);
    print_blocks(out, of_states, {end, blocks.end()}, x);
  };
  split(dae ? "unknowns" : odae ? "y" : "position", r.layout.y, r.final.y, "integral");
  if (r.layout.kind == SystemKind::hamiltonian)
    split("momentum", r.layout.z, r.final.z, "state");
  else
    split(dae ? "derivatives" : odae ? "z" : "velocity", r.layout.z, r.final.z, "state");
  if (!r.final.psi.empty()) print_blocks(out, odae ? "psi" : "multiplier", r.layout.psi, r.final.psi);
  for (const auto& q : r.quantities) print_blocks(out, "quantity", {{q.name, q.shape, 0}}, q.value);

  if (!r.events.empty()) out << "\nEvents\n";
  for (std::size_t k = 0; k < r.events.size(); ++k) {
    if (r.events.size() > 20 && k == 10) {
      k = r.events.size() - 10;
      out << fmt::format("  ... {} more\n", r.events.size() - 20);
    }
    out << fmt::format("  {:<12} t = {:.15g}\n", r.events[k].name, r.events[k].state.t);
  }

  out << "\nConstraints, energy and momenta (largest deviation over all steps)\n";
  if (!r.has_constraints) {
    if (!r.velocity_constraint) out << (dae ? "  no algebraic equations\n" : "  no constraints\n");
  } else if (!dae) {
    print_size(out, "constraint          |g|", r.constraint);
    print_size(out, "hidden constraint   |g_t + G v|", r.hidden_constraint);
  } else {
    print_size(out, "algebraic equations |F_i(t, x)|", r.constraint);
    print_size(out, "hidden constraints  |d/dt F_i ...|", r.hidden_constraint);
  }
  if (r.velocity_constraint) print_size(out, "velocity constraint |w|", *r.velocity_constraint);
  if (r.energy_error)
    print_size(out, "energy              |H - H0|", *r.energy_error,
               fmt::format("   (energy at the end {:.10g})", *r.energy));
  if (r.discrete_energy_error)
    print_size(out, "discrete energy     |E - E0|", *r.discrete_energy_error, "   (" + r.discrete_energy + ")");
  for (const Report::Momentum& m : r.momentum_maps)
    print_size(out, fmt::format("{:<19} |{} - {}0|", "momentum", m.name, m.name).c_str(), m.error,
               fmt::format("   (at the end {:.10g})", m.value));

  if (r.contacts && r.layout.kind == SystemKind::dae)
    print_pairs(out, *r.contacts);
  else if (r.contacts)
    print_contacts(out, *r.contacts, r.steps);

  std::string errors;
  for (std::size_t k = 0; k < r.exact_error.size(); ++k)
    if (r.exact_error[k]) errors += fmt::format("  {:<34} {:.2e}\n", r.part_names[k], *r.exact_error[k]);
  if (!errors.empty()) out << fmt::format("\nError at t = {:g} against the exact solution\n", r.end) << errors;

  if (r.condition)
    out << fmt::format(
        "\nIteration matrix of the first step\n  {:<34} {:.6e}   (equations of motion times h; unknowns "
        "q1, p1 and, where they are unknown, multipliers)\n",
        "condition number, 2-norm", *r.condition);

  out << "\nCost\n";
  if (r.tolerance.given())
    out << fmt::format("  steps from {:.3g} to {:.3g}; {} rejected by the error test, {} by Newton's iteration\n",
                       r.shortest, r.longest, r.counters.rejected, r.counters.failed);
  const double steps = static_cast<double>(std::max(r.steps, 1L));
  out << fmt::format("  {} step{} in {:.3g} s: {:.3g} steps per second\n", r.steps, r.steps == 1 ? "" : "s",
                     r.wall_seconds, r.wall_seconds > 0 ? steps / r.wall_seconds : 0.0);
  out << fmt::format("  {:.2f} Newton iterations, {:.2f} factorisations, {:.1f} evaluations per step\n",
                     static_cast<double>(r.counters.iterations) / steps,
                     static_cast<double>(r.counters.factorisations) / steps,
                     static_cast<double>(r.counters.evaluations) / steps);
  if (r.counters.augmentations > 0)
    out << fmt::format("  {:.2f} augmentations per step, {:.2f} Newton iterations in each\n",
                       static_cast<double>(r.counters.augmentations) / steps,
                       static_cast<double>(r.counters.iterations) / static_cast<double>(r.counters.augmentations));
  if (is_picture_path(r.output))
    out << fmt::format("  {} pictures in {}, one for each {:.3g}; 'interval' chooses that time\n", r.recorded, r.output,
                       (r.end - r.start) / static_cast<double>(std::max(r.recorded - 1, 1L)));
  else if (!r.output.empty())
    out << fmt::format("  {} rows recorded in {}\n", r.recorded, r.output);
  return out;
}

}  // namespace hinge
