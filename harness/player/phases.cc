// Implements Phases: builds each Phase from its GO message, the descriptors of that message, and
// the state that all phases of a session share.
#include "harness/player/phases.h"

namespace keydrome {

void Phases::play(const player::IndexApi& api, const ThreadHooks& hooks) {
  const uint64_t go_ticks = clock_.ticks();
  const PhaseId id{channel_.message().nonce, channel_.message().phase};
  const UniqueFd* fd = channel_.fds().data();
  if ((channel_.message().flags & kGoHasPools) != 0) open_pools((fd++)->get(), id);
  Mapping round(fd[0].get(), Mapping::Access::kRead);
  Mapping outcome(fd[1].get(), Mapping::Access::kShare);
  Phase phase(channel_, {.api = &api,
                         .hooks = hooks,
                         .pools = &pools_,
                         .names = &*names_,
                         .retry_budget = &retry_budget_,
                         .clock = &clock_,
                         .go_ticks = go_ticks,
                         .event_clock = event_clock(outcome)});
  phase.play(id, std::move(round), std::move(outcome));
}

// Returns the clock for the timestamps of a recorded phase, or nullptr if the phase is not
// recorded. The first recorded phase creates and calibrates the clock.
player::EventClock* Phases::event_clock(const Mapping& outcome) {
  if (outcome.bytes().size() < sizeof(format::OutcomeHeader)) return nullptr;
  const auto* header = reinterpret_cast<const format::OutcomeHeader*>(outcome.bytes().data());
  if (header->spans[0].log_capacity == 0) return nullptr;
  if (!event_clock_) event_clock_.emplace();
  return &*event_clock_;
}

void Phases::open_pools(int fd, PhaseId phase) {
  pools_image_ = Mapping(fd, Mapping::Access::kRead);
  const Result<player::PoolsView> view = player::PoolsView::open(pools_image_.bytes());
  if (!view) {
    channel_.send(MessageType::kDone, phase, 0, kDonePlayer, view.error().message);
    exit_now(1);
  }
  pools_ = *view;
  names_.emplace(pools_.indexes);
}

}  // namespace keydrome
