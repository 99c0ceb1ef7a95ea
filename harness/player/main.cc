// The player: the program in the jail (sandbox) that loads the library under test and runs the
// benchmark's operations on it. The referee, the trusted process outside the jail that runs the
// benchmark, commands the player over descriptor 3 (harness/protocol.h).
//
// The player shares its process with the library, so the referee checks everything that the player
// reports. The player knows no benchmark, no seed and no expected result. It has its own hidden
// copy of the C++ runtime, so that it cannot conflict with the library's copy.
//
// In verified mode another process runs the operations: the driver, which is outside the jail. The
// player then only serves calls, i.e. makes the library calls that the driver requests.
#include <dlfcn.h>

#include <cstring>
#include <optional>
#include <span>

#include "harness/calls.h"
#include "harness/player/library.h"
#include "harness/player/phases.h"
#include "harness/player/pinning.h"
#include "harness/player/referee_channel.h"
#include "harness/player/service.h"
#include "harness/player/stack_writer.h"
#include "harness/stacks.h"
#include "jail/tighten.h"

namespace keydrome {
namespace {

// Loads the unwinder before keydrome_tighten(), which forbids opening the unwinder's file. Without
// this call, pthread_exit() would try to load the unwinder later, and fail. The player is normally
// linked with the unwinder already. The call is needed only if the linker has dropped the unwinder
// as unused.
void preload_unwinder() { dlopen("libgcc_s.so.1", RTLD_NOW | RTLD_LOCAL); }

// Loads the library, then gives up rights with keydrome_tighten(). After that call, on a kernel
// with Landlock, the process can open only files below its working directory and three devices.
LoadedLibrary load_and_tighten(const Message& message) {
  const char* configuration = message.text + std::strlen(message.text) + 1;
  LoadedLibrary library = load_library(message.text, configuration);
  if (library.status != kLoadOk) return library;
  std::array<char, 512> reason{};
  if (keydrome_tighten(".", reason.data(), reason.size()) < 0) {
    library.reason = reason.data();
    const bool other_filter = library.reason == KEYDROME_TIGHTEN_OTHER_FILTER;
    library.status = other_filter ? kLoadOtherFilter : kLoadNotTightened;
  }
  return library;
}

class Player {
 public:
  void play() {
    channel_.send(MessageType::kHello, {});
    if (channel_.receive() != MessageType::kLoad) exit_now(1);
    stack_page_ = Mapping(channel_.fds()[0].get(), Mapping::Access::kShare);
    if (stack_page_.bytes().size() < sizeof(StackPage)) exit_now(1);
    install_stack_writer(reinterpret_cast<StackPage*>(stack_page_.bytes().data()));
    const bool serves = (channel_.message().flags & kLoadServes) != 0;
    if (serves) {
      slots_ = Mapping(channel_.fds()[1].get(), Mapping::Access::kShare);
    } else {
      phases_.emplace(channel_, channel_.fds()[1], channel_.fds()[2]);
    }
    channel_.fds() = {};  // the library must not receive these descriptors
    const LoadedLibrary library = load_and_tighten(channel_.message());
    channel_.send(MessageType::kLoaded, {}, library.status, library.reason);
    if (library.status != kLoadOk) exit_now(0);
    serves ? serve_phases(library.api) : play_phases(library.api);
    exit_now(0);
  }

 private:
  void play_phases(const player::IndexApi& api) {
    while (channel_.receive() == MessageType::kGo) phases_->play(api);
  }

  void serve_phases(const player::IndexApi& api) {
    const std::span bytes = slots_.bytes();
    Service service(channel_, api,
                    {reinterpret_cast<CallSlot*>(bytes.data()), bytes.size() / sizeof(CallSlot)});
    while (channel_.receive() == MessageType::kGo) {
      const Message& go = channel_.message();
      const PhaseId phase{go.nonce, go.phase};
      service.serve(phase, go.threads, call_wait(go),
                    (go.flags & kGoPinned) != 0 ? &cpus_ : nullptr);
      channel_.send(MessageType::kDone, phase);
    }
  }

  RefereeChannel channel_;
  const Cpus cpus_;
  Mapping stack_page_;
  std::optional<Phases> phases_;  // not in verified mode
  Mapping slots_;                 // only in verified mode
};

}  // namespace
}  // namespace keydrome

int main() {
  keydrome::preload_unwinder();
  static keydrome::Player player;
  player.play();
}
