// The player: runs inside the jail beside the library under test, and does what the referee says
// over descriptor 3 (harness/protocol.h).
//
// It knows no benchmark, no seed and no answer, and nobody believes it: all that counts is checked
// outside. It is linked with its own copies of the C++ runtime, hidden, so that it cannot interfere
// with the library's.
#include <dlfcn.h>

#include <cstring>
#include <span>

#include "harness/calls.h"
#include "harness/player/control.h"
#include "harness/player/library.h"
#include "harness/player/phases.h"
#include "harness/player/service.h"
#include "harness/player/stack_writer.h"
#include "harness/stacks.h"
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
    const bool serves = (control_.message().flags & kLoadServes) != 0;
    if (serves) slots_ = Mapping(control_.fds()[1].get(), Mapping::Access::kShare);
    const LoadedLibrary library = load_and_tighten(control_.message());
    control_.send(MessageType::kLoaded, {}, 0, library.status, library.reason);
    if (library.status != kLoadWell) leave(0);
    serves ? serve_phases(library.api) : play_phases(library.api);
    leave(0);
  }

 private:
  void play_phases(const IndexApi& api) {
    Phases phases(control_);
    while (control_.receive() == MessageType::kGo) phases.play(api);
  }

  void serve_phases(const IndexApi& api) {
    const std::span bytes = slots_.bytes();
    Service service(control_, api,
                    {reinterpret_cast<CallSlot*>(bytes.data()), bytes.size() / sizeof(CallSlot)});
    while (control_.receive() == MessageType::kGo) {
      const Message& go = control_.message();
      const Address phase{go.nonce, go.phase};
      service.serve(phase, go.threads, call_wait(go));
      control_.send(MessageType::kDone, phase);
    }
  }

  Control control_;
  Mapping stack_page_;
  Mapping slots_;  // in verified mode
};

}  // namespace
}  // namespace keydrome

int main() {
  keydrome::preload_unwinder();
  static keydrome::Player player;
  player.play();
}
