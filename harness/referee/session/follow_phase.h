// Follows one phase of a session (one repetition of a benchmark). The referee (this process) begins
// the phase with the message GO. The player, the jailed process with the library, ends it with the
// message DONE. A thread of the player receives its program (list of operations) in pieces:
// whenever the player sends NEED, the referee publishes the thread's next piece.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "harness/referee/memory/piece_supply.h"
#include "harness/referee/session/partner.h"

namespace keydrome {

// Waits until the phase has ended. Returns std::nullopt if the phase ended with DONE, or the reason
// if it stopped early. In verified mode, the driver plays the programs outside the jail (sandbox),
// and both driver and player must send DONE. `go` is the GO that was sent; `name` is the phase's
// name.
std::optional<Stopped> follow_phase(Partner& partner, const Message& go, const std::string& name,
                                    PieceSupply& pieces, uint64_t deadline_ns);

}  // namespace keydrome
