#include "expression/lane_code.hpp"

namespace hinge {

const NativeCode* LaneCode::code() {
  std::call_once(once_, [this] {
    if (native_use() == NativeUse::off) return;
    const TapePlan plan(graph_, outputs_, TapePlan::Order::as_found);  // as the code for one point
    const TapePlaces places(graph_, blocks_, outputs_, plan);
    native_.compile(graph_, plan, outputs_, places, 4);
  });
  return native_.code.get();
}

}  // namespace hinge
