// What is said of a run at its end.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "simulate/reference.hpp"
#include "simulate/run.hpp"
#include "simulate/verdict.hpp"

namespace hinge {

Report Run::report() {
  Report r;
  r.title = recording.output.title;
  r.status = status_;
  r.message = message_;
  r.start = options.start;
  r.end = state_.t;
  r.step = options.step;
  r.steps = steps_;
  r.wall_seconds = wall_seconds_;
  r.final = state_;
  r.layout = system->layout();
  if (!ends_) ends_ = system->evaluation({Quantity::velocity, Quantity::momentum});
  const Evaluation& ends = *ends_;
  ends_->at(state_.t, state_.y.data(), state_.z.data(), state_.psi.data());
  r.velocity.assign(ends[Quantity::velocity], ends[Quantity::velocity] + system->ny());
  r.momentum.assign(ends[Quantity::momentum], ends[Quantity::momentum] + system->nz());
  watch.report(r, stepper_.get());
  r.condition = condition_;
  r.quantities = recording.quantities.at(state_, stepper_->contact_impulses());
  r.events = events.occurred();
  r.output = recording.output.path.empty() ? recording.picture_path : recording.output.path;
  r.recorded = recording.rows();
  report_method(r);
  report_error(r);
  report_doubts(r);
  return r;
}

const std::vector<std::string>& Run::warnings() {
  if (!warnings_) warnings_ = method.warnings ? method.warnings(*system) : std::vector<std::string>{};
  return *warnings_;
}

void Run::report_method(Report& r) {
  r.method = method.description;
  r.order = method.order;
  if (!facts_) {
    facts_ = method.facts;
    if (method.system_facts)
      for (std::string& fact : method.system_facts(*system)) facts_->push_back(std::move(fact));
  }
  r.method_facts = *facts_;
  r.warnings = warnings();
  r.counters = work();
  r.rejected = r.counters.rejected + r.counters.failed;
  r.contacts = contacts();
  r.remarks = start_remarks_;
  for (const std::string& remark : earlier_.remarks) r.remarks.push_back(remark);
  for (std::string& remark : stepper_->remarks()) r.remarks.push_back(std::move(remark));
  if (r.contacts)
    for (std::string& remark : contact_remarks(*r.contacts)) r.remarks.push_back(std::move(remark));
  if (const double depth = watch.overlap().depth(); depth > 0)
    r.remarks.push_back(fmt::format(
        "bodies began inside of each other by up to {:.3g}, as `overlap` allows; energy that positions gain "
        "while they are pushed apart is excused as far as forces have it along such ways",
        depth));
  if (!stepper_->chooses_steps()) return;
  r.tolerance = options.tolerance;
  r.shortest = steps_ > 0 ? std::min(shortest_, longest_) : 0;
  r.longest = longest_;
}

Counters Run::work() const {
  Counters sum = earlier_.work;
  sum += stepper_->counters();
  return sum;
}

std::optional<ContactStatistics> Run::contacts() const {
  const ContactStatistics* now = stepper_->contact_statistics();
  if (!now || !earlier_.has_contacts) return now ? std::optional(*now) : std::nullopt;
  ContactStatistics sum = earlier_.contacts;
  sum += *now;
  return sum;
}

// One list, whoever finds a reason.
void Run::report_doubts(Report& r) {
  watch.doubts(steps_, r.doubts);
  dae_.doubts(r.doubts);
  compare_tolerances(r.doubts);
  compare_steps(r.doubts);
  if (flown_over_ > 0)
    r.doubts.push_back(
        {fmt::format("steps fly over {} that is narrower than they are long, first at t = {:.6g}; "
                     "steps of this kind",
                     system->structure().is_dae ? "something in the equations" : "a force", first_flown_over_),
         static_cast<double>(flown_over_), "take a shorter step, or give a tolerance"});
  if (r.contacts)
    doubt_contacts(*system, *r.contacts, watch.worst_gap(gaps_.ways()), watch.overlap().beyond(r.contacts->penetration),
                   r.doubts);
  gaps_.doubts(r.doubts);
  if (r.contacts) watch.doubt_losses(r.contacts->impact_loss + r.contacts->friction_loss, r.doubts);
  events.doubts(r.doubts);
  recording.quantities.doubts(r.doubts);
  for (Doubt& doubt : so_far().doubts) r.doubts.push_back(std::move(doubt));
}

void Run::report_error(Report& r) const {
  if (exact.empty()) return;
  const Reference reference = evaluate_exact(*system, exact, state_.t);
  r.exact_error = errors_against(reference, *system, state_);
  r.part_names = part_names(r.layout, reference.second);
  for (auto& error : r.exact_error)
    if (error && !std::isfinite(*error)) error.reset();  // the solution is not defined at this time
}

}  // namespace hinge
