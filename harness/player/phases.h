// Plays the phases of a session (one repetition of a benchmark), such as create, populate and test.
// Keeps what all phases use: the ring (memory with the operations, harness/ring.h), the outcome
// (memory for the results), the names of the indexes, and the clocks.
//
// Two programs use Phases. The player runs in the jail (sandbox) and has the library under test in
// its own process. The driver, which plays the phases in verified mode, runs outside the jail and
// reaches the library in the player (driver/remote_library.h).
#pragma once

#include <functional>
#include <optional>
#include <span>

#include "base/clock.h"
#include "base/unique_fd.h"
#include "benchmarks/kit/player/event_clock.h"
#include "benchmarks/kit/player/index_names.h"
#include "benchmarks/kit/player/pools_view.h"
#include "benchmarks/kit/player/retry_budget.h"
#include "harness/player/mapping.h"
#include "harness/player/phase.h"
#include "harness/player/pinning.h"
#include "harness/player/referee_channel.h"

namespace keydrome {

class Phases {
 public:
  // Maps the ring and the outcome, which all phases use, and fixes the mappings (mseal) so that the
  // library cannot replace them. Exits the process if it cannot map them. `channel` must outlive
  // the object.
  Phases(RefereeChannel& channel, const UniqueFd& ring, const UniqueFd& outcome);

  // Plays the phase that begins with the message GO, which the channel has just received. After an
  // error play() sends the message DONE with the reason and does not return.
  void play(const player::IndexApi& api, const ThreadHooks& hooks = {});

 private:
  player::EventClock* event_clock();
  void open_session(PhaseId phase);

  RefereeChannel& channel_;
  const Mapping ring_memory_, outcome_;
  const RingView ring_;
  const Cpus cpus_;
  TickClock clock_;
  player::RetryBudget retry_budget_;
  std::optional<player::EventClock> event_clock_;
  player::PoolsView pools_;
  std::optional<player::IndexNames> names_;
};

}  // namespace keydrome
