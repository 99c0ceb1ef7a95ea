#include "harness/player/phases.h"

namespace keydrome {

void Phases::play(const IndexApi& api, const ThreadHooks& hooks) {
  const uint64_t go_ticks = clock_.ticks();
  const Address address{control_.message().nonce, control_.message().phase};
  const UniqueFd* fd = control_.fds().data();
  if ((control_.message().flags & kGoHasPools) != 0) open_pools((fd++)->get(), address);
  Mapping round(fd[0].get(), Mapping::Access::kRead);
  Mapping outcome(fd[1].get(), Mapping::Access::kShare);
  Phase phase(control_, {.api = &api,
                         .hooks = hooks,
                         .pools = &pools_,
                         .names = &*names_,
                         .patience = &patience_,
                         .clock = &clock_,
                         .go_ticks = go_ticks,
                         .event_clock = event_clock(outcome)});
  phase.play(address, std::move(round), std::move(outcome));
}

// The clock of a recorded phase, made for the first of them.
EventClock* Phases::event_clock(const Mapping& outcome) {
  if (outcome.bytes().size() < sizeof(OutcomeHeader)) return nullptr;
  const auto* header = reinterpret_cast<const OutcomeHeader*>(outcome.bytes().data());
  if (header->spans[0].log_capacity == 0) return nullptr;
  if (!event_clock_) event_clock_.emplace();
  return &*event_clock_;
}

void Phases::open_pools(int fd, Address address) {
  pools_image_ = Mapping(fd, Mapping::Access::kRead);
  const Result<PoolsView> view = PoolsView::open(pools_image_.bytes());
  if (!view) {
    control_.send(MessageType::kDone, address, 0, kDonePlayer, view.error().message);
    leave(1);
  }
  pools_ = *view;
  names_.emplace(pools_.indexes);
}

}  // namespace keydrome
