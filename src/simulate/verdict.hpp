// What makes the result of a run doubtful. Methods say what they know by Stepper::doubts(); what every run is judged by
// is found here.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "hinge/simulate.hpp"

namespace hinge {

/// Contacts: energy created, problems not solved, momentum out of balance, bodies inside of each other.
/// `gap`: of gaps that are expressions, how far the worst was negative and what it compares with; `overlap`: how far
/// bodies were inside of each other, but for what the start was allowed.
void doubt_contacts(const System& system, const ContactStatistics& contacts, const std::pair<double, double>& gap,
                    double overlap, std::vector<Doubt>& doubts);
/// What happened at contacts, a sentence each.
std::vector<std::string> contact_remarks(const ContactStatistics& contacts);
/// Motions that the constraints allow and that have a negative kinetic energy, at a state: a mass with the wrong sign.
/// Not where momenta are the unknowns: energies of these may be anything.
std::optional<Doubt> doubt_mass(const System& system, const State& state);
/// The smallest thickness of all shapes on bodies that move; infinity where there are none.
double smallest_body(const System& system);

}  // namespace hinge
