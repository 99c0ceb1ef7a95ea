// The phases of a session, one after the other: what outlives a phase, and what GO brings.
//
// The player plays them against the library beside it, the driver against one in another process.
#pragma once

#include <functional>
#include <optional>

#include "base/clock.h"
#include "benchmarks/kit/event_clock.h"
#include "benchmarks/kit/index_names.h"
#include "benchmarks/kit/patience.h"
#include "benchmarks/kit/pools_view.h"
#include "harness/player/control.h"
#include "harness/player/mapping.h"
#include "harness/player/phase.h"

namespace keydrome {

class Phases {
 public:
  // Borrows the channel.
  explicit Phases(Control& control) : control_(control) {}

  // Plays the phase of the GO that the channel has just received. Does not return when that is not
  // possible: then the referee has been told why.
  void play(const IndexApi& api, const ThreadHooks& hooks = {});

 private:
  EventClock* event_clock(const Mapping& outcome);
  void open_pools(int fd, Address address);

  Control& control_;
  TickClock clock_;
  Patience patience_;
  std::optional<EventClock> event_clock_;
  Mapping pools_image_;
  PoolsView pools_;
  std::optional<IndexNames> names_;
};

}  // namespace keydrome
