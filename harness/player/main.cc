// The player: runs inside the jail beside the library under test, and does what the referee says
// over descriptor 3 (harness/protocol.h).
//
// It knows no benchmark, no seed and no answer, and nobody believes it: all that counts is checked
// outside. It is linked with its own copies of the C++ runtime, hidden, so that it cannot interfere
// with the library's.
#include <dlfcn.h>

#include <cstring>
#include <optional>

#include "base/clock.h"
#include "harness/player/control.h"
#include "harness/player/library.h"
#include "harness/player/phase.h"
#include "harness/player/stack_writer.h"
#include "jail/tighten.h"

namespace keydrome {
namespace {

// pthread_exit opens it on demand, and no file can be opened once the jail is tight. The player
// itself needs it too, so this costs nothing; it says so in case the linker finds that out.
void preload_unwinder() { dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL); }

// The working directory is the only place where the library may open files from now on.
LoadedLibrary load_and_tighten(const Message& message) {
  const char* configuration = message.text + std::strlen(message.text) + 1;
  LoadedLibrary library = load_library(message.text, configuration);
  if (library.status != kLoadWell) return library;
  std::array<char, 256> reason{};
  if (keydrome_tighten(".", reason.data(), reason.size()) < 0) {
    library.status = kLoadNotTightened;
    library.reason = reason.data();
  }
  return library;
}

class Player {
 public:
  void play() {
    control_.send(MessageType::kHello, {});
    if (control_.receive() != MessageType::kLoad) leave(1);
    stack_page_ = Mapping(control_.fds()[0].get(), Mapping::Access::kShare);
    if (stack_page_.bytes().size() < sizeof(StackPage)) leave(1);
    install_stack_writer(reinterpret_cast<StackPage*>(stack_page_.bytes().data()));
    const LoadedLibrary library = load_and_tighten(control_.message());
    control_.send(MessageType::kLoaded, {}, 0, library.status, library.reason);
    if (library.status != kLoadWell) leave(0);
    while (control_.receive() == MessageType::kGo) play_phase(library.api);
    leave(0);
  }

 private:
  void play_phase(const IndexApi& api) {
    const uint64_t go_ticks = clock_.ticks();
    const Address address{control_.message().nonce, control_.message().phase};
    const UniqueFd* fd = control_.fds().data();
    if ((control_.message().flags & kGoHasPools) != 0) open_pools((fd++)->get(), address);
    Mapping round(fd[0].get(), Mapping::Access::kRead);
    Mapping outcome(fd[1].get(), Mapping::Access::kShare);
    Phase phase(control_, {.api = &api,
                           .pools = &pools_,
                           .names = &*names_,
                           .patience = &patience_,
                           .clock = &clock_,
                           .go_ticks = go_ticks,
                           .event_clock = event_clock(outcome)});
    phase.play(address, std::move(round), std::move(outcome));
  }

  // The clock of a recorded phase, made for the first of them.
  EventClock* event_clock(const Mapping& outcome) {
    if (outcome.bytes().size() < sizeof(OutcomeHeader)) return nullptr;
    const auto* header = reinterpret_cast<const OutcomeHeader*>(outcome.bytes().data());
    if (header->spans[0].log_capacity == 0) return nullptr;
    if (!event_clock_) event_clock_.emplace();
    return &*event_clock_;
  }

  void open_pools(int fd, Address address) {
    pools_image_ = Mapping(fd, Mapping::Access::kRead);
    const Result<PoolsView> view = PoolsView::open(pools_image_.bytes());
    if (!view) {
      control_.send(MessageType::kDone, address, 0, kDonePlayer, view.error().message);
      leave(1);
    }
    pools_ = *view;
    names_.emplace(pools_.indexes);
  }

  Control control_;
  Mapping stack_page_;
  TickClock clock_;
  Patience patience_;
  std::optional<EventClock> event_clock_;
  Mapping pools_image_;
  PoolsView pools_;
  std::optional<IndexNames> names_;
};

}  // namespace
}  // namespace keydrome

int main() {
  keydrome::preload_unwinder();
  static keydrome::Player player;
  player.play();
}
