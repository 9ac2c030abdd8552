#include "cli/json.hpp"

namespace hinge::cli {

namespace {

using Json = nlohmann::ordered_json;

Json block_json(const std::vector<int>& shape, const double* x) {
  if (shape.empty()) return *x;
  Json list = Json::array();
  const std::vector<int> inner(shape.begin() + 1, shape.end());
  int width = 1;
  for (const int extent : inner) width *= extent;
  for (int k = 0; k < shape[0]; ++k) list.push_back(block_json(inner, x + k * width));
  return list;
}

Json blocks_json(const std::vector<Block>& blocks, const std::vector<Block>& names, const std::vector<double>& x) {
  Json object = Json::object();
  for (std::size_t k = 0; k < blocks.size(); ++k)
    object[names[k].name] = block_json(blocks[k].shape, x.data() + blocks[k].first);
  return object;
}

Json final_json(const Report& r) {
  const Layout& l = r.layout;
  Json f;
  f["t"] = r.final.t;
  if (l.kind == SystemKind::odae || l.kind == SystemKind::own) {
    f["y"] = blocks_json(l.y, l.y, r.final.y);
    f["z"] = blocks_json(l.z, l.z, r.final.z);
  } else {
    f["position"] = blocks_json(l.y, l.y, r.final.y);
    f["velocity"] = blocks_json(l.y, l.y, r.velocity);
    f["momentum"] = blocks_json(l.z, l.kind == SystemKind::hamiltonian ? l.z : l.y, r.momentum);
  }
  f["multiplier"] = r.final.psi;
  if (!r.quantities.empty()) {
    Json q = Json::object();
    for (const auto& item : r.quantities) q[item.name] = block_json(item.shape, item.value.data());
    f["quantities"] = q;
  }
  return f;
}

}  // namespace

Json to_json(const Report& r, const std::string& method_name) {
  Json j;
  j["title"] = r.title;
  j["method"] = {{"name", method_name}, {"order", r.order > 0 ? Json(r.order) : Json()}, {"description", r.method}};
  if (!r.method_facts.empty()) j["method"]["facts"] = r.method_facts;
  j["status"] = r.status == RunStatus::finished ? "finished" : r.status == RunStatus::stopped ? "stopped" : "failed";
  if (!r.message.empty()) j["message"] = r.message;
  if (!r.warnings.empty()) j["warnings"] = r.warnings;
  j["time"] = {{"start", r.start}, {"end", r.end}, {"step", r.step}, {"steps", r.steps}, {"rejected", r.rejected}};
  j["final"] = final_json(r);
  Json d;
  d["constraint"] = r.constraint;
  d["hidden_constraint"] = r.hidden_constraint;
  if (r.energy_error) d["energy_error"] = *r.energy_error;
  d["newton_iterations"] = r.counters.iterations;
  if (r.counters.linear_iterations > 0) d["linear_iterations"] = r.counters.linear_iterations;
  d["evaluations"] = r.counters.evaluations;
  d["factorisations"] = r.counters.factorisations;
  j["diagnostics"] = d;
  if (!r.output.empty()) j["output"] = {{"file", r.output}, {"rows", r.recorded}};
  j["wall_seconds"] = r.wall_seconds;
  return j;
}

}  // namespace hinge::cli
