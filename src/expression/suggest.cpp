#include "expression/suggest.hpp"

#include <algorithm>
#include <utility>

namespace hinge {

namespace {

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return lower;
}

/// Edits (insert, delete, replace, swap neighbours) from `a` to `b`.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), previous(b.size() + 1), current(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) previous[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    current[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = previous[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, replaced});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        current[j] = std::min(current[j], before[j - 2] + 1);
    }
    std::swap(before, previous);
    std::swap(previous, current);
  }
  return previous[b.size()];
}

// What other programs and papers call it; the first that is known counts.
struct OtherName {
  std::string_view name, ours;
};
constexpr OtherName other_names[] = {
    {"dt", "step"},
    {"h", "step"},
    {"timestep", "step"},
    {"time_step", "step"},
    {"t_end", "end"},
    {"tmax", "end"},
    {"t_max", "end"},
    {"stop", "end"},
    {"stop_time", "end"},
    {"duration", "end"},
    {"rtol", "tolerance"},
    {"atol", "tolerance"},
    {"simulation", "integrate"},
    {"solver", "integrate"},
    {"kinetic_energy", "kinetic"},
    {"potential_energy", "potential"},
    {"damping", "dissipation"},
    {"variables", "coordinates"},
    {"variables", "unknowns"},
    {"position", "unknowns"},
    {"unknowns", "position"},
    {"coordinates", "position"},
    {"position", "point"},
    {"location", "point"},
    {"anchor", "point"},
    {"torque", "motor"},
    {"actuator", "motor"},
    {"velocity", "speed"},
    {"angular_velocity", "speed"},
    {"k", "stiffness"},
    {"c", "damping"},
    {"d", "damping"},
    {"rest_length", "length"},
    {"mu", "friction"},
    {"e", "restitution"},
    {"size", "box"},
    {"when", "root"},
    {"condition", "root"},
    {"function", "root"},
    {"trigger", "root"},
    {"terminate", "stop"},
    {"world", "ground"},
    {"hinge", "revolute"},
    {"pin", "revolute"},
    {"pivot", "revolute"},
    {"slider", "prismatic"},
    {"translational", "prismatic"},
    {"ball", "spherical"},
    {"weld", "fixed"},
    {"rigid", "fixed"},
    {"cardan", "universal"},
    {"hooke", "universal"},
    {"time", "t"},
    {"ln", "log"},
    {"rk4", "explicit"},
    {"rk45", "explicit"},
    {"ode45", "explicit"},
    {"dopri5", "explicit"},
    {"dop853", "explicit"},
    {"euler", "symplectic-euler"},
    {"verlet", "rattle"},
    {"leapfrog", "rattle"},
    {"newmark", "generalized-alpha"},
    {"hht", "generalized-alpha"},
    {"ode15s", "bdf"},
    {"ida", "bdf"},
    {"dassl", "bdf"},
    {"cvode", "bdf"},
    {"lsoda", "auto"},
    {"radau5", "radau"},
};

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  const std::string lower = lower_case(name);
  for (const std::string& candidate : known)
    if (lower_case(candidate) == lower) return candidate;

  // bodies is body
  if (lower.ends_with("ies"))
    for (const std::string& candidate : known)
      if (lower_case(candidate) == lower.substr(0, lower.size() - 3) + "y") return candidate;

  const std::size_t allowed = std::max<std::size_t>(1, name.size() / 3);
  std::size_t best = allowed + 1;
  const std::string* nearest = nullptr;
  for (const std::string& candidate : known) {
    const std::size_t longer = std::max(name.size(), candidate.size());
    if (longer - std::min(name.size(), candidate.size()) > allowed) continue;
    const std::size_t distance = edit_distance(name, candidate);
    // x is not a misspelt y: something of the name must be left.
    if (distance < best && distance < longer) {
      best = distance;
      nearest = &candidate;
    }
  }
  if (nearest) return *nearest;
  for (const OtherName& other : other_names)
    if (lower == other.name && std::find(known.begin(), known.end(), other.ours) != known.end())
      return std::string(other.ours);
  return {};
}

}  // namespace hinge
