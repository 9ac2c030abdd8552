// Ctrl-C, as far as contact solvers are concerned.
#pragma once

namespace hinge {

/// From now on every contact solver of this program asks it now and then, from its own thread; true ends it, with the
/// best r found so far.
void stop_contact_solvers_if(bool (*asked)());

}  // namespace hinge
