// Implements Phases: plays each phase of a session (one repetition of a benchmark). All phases
// share memory and clocks. The referee, the process that runs the session, begins a phase with the
// message GO. GO has the number of the phase, and its nonce, a random number.
#include "harness/player/phases.h"

namespace keydrome {

Phases::Phases(RefereeChannel& channel, const UniqueFd& ring, const UniqueFd& outcome)
    : channel_(channel),
      ring_memory_(ring.get(), Mapping::Access::kRead),
      outcome_(outcome.get(), Mapping::Access::kShare),
      ring_(ring_memory_.bytes()) {
  if (ring_memory_.bytes().size() < sizeof(RingHeader) ||
      outcome_.bytes().size() < sizeof(format::OutcomeHeader)) {
    exit_now(1);
  }
  ring_memory_.seal();
  outcome_.seal();
}

void Phases::play(const player::IndexApi& api, const ThreadHooks& hooks) {
  const uint64_t go_ticks = clock_.ticks();
  const PhaseId id{channel_.message().nonce, channel_.message().phase};
  if (!names_) open_session(id);
  Phase phase(channel_, id,
              {.api = &api,
               .hooks = hooks,
               .ring = &ring_,
               .outcome = outcome_.bytes(),
               .pools = &pools_,
               .names = &*names_,
               .retry_budget = &retry_budget_,
               .clock = &clock_,
               .go_ticks = go_ticks,
               .event_clock = event_clock(),
               .pins = (channel_.message().flags & kGoPinned) != 0 ? &cpus_ : nullptr});
  phase.play();
}

// If the calls of the phase are logged (recorded), returns the clock for their timestamps.
// Otherwise returns nullptr. The first recorded phase creates and calibrates the clock.
player::EventClock* Phases::event_clock() {
  const auto* header = reinterpret_cast<const format::OutcomeHeader*>(outcome_.bytes().data());
  if (header->spans[0].log_capacity == 0) return nullptr;
  if (!event_clock_) event_clock_.emplace();
  return &*event_clock_;
}

void Phases::open_session(PhaseId phase) {
  const Result<player::PoolsView> view = player::PoolsView::open(ring_.session());
  if (!view) {
    channel_.send(MessageType::kDone, phase, kDonePlayer, view.error().message);
    exit_now(1);
  }
  pools_ = *view;
  names_.emplace(pools_.indexes);
}

}  // namespace keydrome
