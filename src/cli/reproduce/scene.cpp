// A pile of disks: pictures with force chains, and what one particle and the floor feel.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "body/body_table.hpp"
#include "cli/commands.hpp"
#include "cli/reproduce/computed_figure.hpp"
#include "cli/terminal.hpp"
#include "hinge/error.hpp"
#include "solve/index.hpp"

namespace hinge::cli {

namespace {

// Which body each number of z belongs to.
std::vector<int> bodies_of_columns(const BodyTable& table, int nz) {
  std::vector<int> body(at(nz), -1);
  for (std::size_t b = 0; b < table.places.size(); ++b) {
    const BodyPlace& p = table.places[b];
    for (int k = 0; k < table.dimension; ++k) body[at(p.v + k)] = static_cast<int>(b);
    body[at(p.spin)] = static_cast<int>(b);
  }
  return body;
}

struct Watched {
  const BodyTable& table;
  std::vector<int> body_of;
  FigureScene frame;  // the walls
  std::vector<double> times;
  std::size_t next = 0;
  std::vector<FigureScene> pictures{};
  FigureLine height{"height", {}, {}}, velocity{"velocity", {}, {}}, floor{"floor", {}, {}}, step{"step", {}, {}};
  double weight = 1;
  std::size_t particle = 0;

  double force(const ContactImpulses& c, std::size_t i) const {
    return c.impulse[at(c.contacts.dimension) * i] / c.step;
  }

  FigureScene picture(const Row& row) const {
    FigureScene s = frame;
    for (const Collider& c : table.colliders) {
      if (c.body < 0) continue;
      const Eigen::Vector3d x = table.pose(row.state->y.data(), at(c.body)).position;
      s.disks.push_back({x(0), x(1), c.shape.radius, at(c.body) == particle});
    }
    for (int i = 0; row.contacts && i < row.contacts->contacts.count; ++i) {
      const ContactList& list = row.contacts->contacts;
      const double f = force(*row.contacts, at(i));
      if (!(f > 0)) continue;
      // velocities of both bodies may stand before their spins: a body may come twice
      std::vector<int> bodies;
      std::vector<Eigen::Vector3d> ends;
      for (int k = list.first[at(i)]; k < list.first[at(i) + 1]; ++k) {
        const int body = body_of[at(list.column[at(k)])];
        if (body < 0 || std::find(bodies.begin(), bodies.end(), body) != bodies.end()) continue;
        bodies.push_back(body);
        ends.push_back(table.pose(row.state->y.data(), at(body)).position);
      }
      if (ends.size() == 1) ends.emplace_back(list.point[3 * at(i)], list.point[3 * at(i) + 1], 0);
      if (ends.size() == 2) s.forces.push_back({ends[0](0), ends[0](1), ends[1](0), ends[1](1), f});
    }
    s.strongest = weight / 20;
    return s;
  }

  // The vertical part of what walls below exert: contacts of one body whose normal points upwards.
  double floor_force(const Row& row) const {
    double sum = 0;
    for (int i = 0; row.contacts && i < row.contacts->contacts.count; ++i) {
      const ContactList& list = row.contacts->contacts;
      int first = -1, second = -1;
      for (int k = list.first[at(i)]; k < list.first[at(i) + 1]; ++k) {
        const int body = body_of[at(list.column[at(k)])];
        if (first < 0) first = body;
        if (body != first) second = body;
      }
      if (second < 0) sum += force(*row.contacts, at(i)) * std::abs(list.frame[9 * at(i) + 1]);
    }
    return sum;
  }

  void see(const Row& row) {
    const double t = row.state->t;
    const BodyPlace& p = table.places[particle];
    const double y = row.state->y[at(p.x + 1)], v = row.state->z[at(p.v + 1)];
    if (!height.y.empty()) {
      step.x.push_back(t);
      step.y.push_back(std::abs(y - height.y.back() - row.step * v));
    }
    for (FigureLine* line : {&height, &velocity, &floor}) line->x.push_back(t);
    height.y.push_back(y);
    velocity.y.push_back(v);
    floor.y.push_back(floor_force(row) / weight);
    if (next < times.size() && t >= times[next] - 1e-9) {
      pictures.push_back(picture(row));
      ++next;
    }
  }
};

double weight_of(const Model& model, const BodyTable& table, const State& state) {
  const auto evaluation = model.system->evaluation({Quantity::force});
  evaluation->at(state.t, state.y.data(), state.z.data(), state.psi.data());
  double sum = 0;
  for (const BodyPlace& p : table.places) sum -= (*evaluation)[Quantity::force][p.v + 1];
  return sum;
}

}  // namespace

void compute_scene(const SceneDefinition& scene, ComputedFigure& figure) {
  const Model model = load_model(scene.run.model, scene.run.set);
  const BodyTable* const table = bodies_of(*model.system);
  if (!table || table->dimension != 2)
    throw InputError(fmt::format("{}: a scene shows bodies in the plane, and there are none", scene.run.model));
  located(model, [&] {
    Simulation run = model.simulation_for("");
    run.on_progress([](double) { return !stop_asked(); });
    Watched watched{*table, bodies_of_columns(*table, model.system->nz()), {}, scene.times};
    if (at(scene.particle) >= table->places.size())
      throw InputError(
          fmt::format("there are {} particles; '{}' is none of them", table->places.size(), scene.particle));
    watched.particle = at(scene.particle);
    bool started = false;
    run.on_row([&](const Row& row) {
      if (!started) {
        started = true;
        watched.weight = weight_of(model, *table, *row.state);
        for (const BodyPlace& p : table->places)
          watched.frame.top = std::max(watched.frame.top, row.state->y[at(p.x + 1)]);
        for (const Collider& c : table->colliders) {
          if (c.body >= 0) continue;
          watched.frame.left = std::min(watched.frame.left, c.position(0));
          watched.frame.right = std::max(watched.frame.right, c.position(0));
        }
      }
      watched.see(row);
    });
    run.start(model.start);
    run.until(model.end);
    for (std::size_t k = 0; k < watched.pictures.size(); ++k) {
      Figure f;
      f.title = fmt::format("t = {:g}", scene.times[k]);
      f.scene = std::move(watched.pictures[k]);
      figure.panels.insert(figure.panels.begin() + static_cast<std::ptrdiff_t>(k), std::move(f));
    }
    const std::size_t first = watched.pictures.size();
    if (figure.panels.size() >= first + 2) {
      figure.panels[first].lines = {watched.height};
      figure.panels[first + 1].lines = {watched.velocity};
    }
    figure.curves = {watched.height, watched.velocity, watched.floor, watched.step};
  });
}

}  // namespace hinge::cli
