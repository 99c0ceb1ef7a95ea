// The driver of verified mode: plays the programs as the player does, but outside of the jail, with
// the library in the player's process behind shared memory (harness/calls.h).
//
// It has the player's conversation with the referee (harness/protocol.h) and is trusted: programs,
// clock, counters, evidence and logs lie here, where the library cannot reach. What comes from the
// slots is not trusted. It runs as nobody, so that a mistake in it is worth little.
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <memory>
#include <span>

#include "base/check.h"
#include "harness/calls.h"
#include "harness/driver/remote_library.h"
#include "harness/player/control.h"
#include "harness/player/phases.h"

namespace keydrome {
namespace {

constexpr uint32_t kNobody = 65534;

// After the privileges are gone: changing the user clears this signal. The referee may have ended
// before the first line here.
void die_with(pid_t referee) {
  KEYDROME_CHECK(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0);
  if (getppid() != referee) leave(1);
}

void drop_privileges() {
  KEYDROME_CHECK(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
  if (geteuid() != 0) return;
  KEYDROME_CHECK(setgroups(0, nullptr) == 0);
  KEYDROME_CHECK(setresgid(kNobody, kNobody, kNobody) == 0);
  KEYDROME_CHECK(setresuid(kNobody, kNobody, kNobody) == 0);
}

class Driver {
 public:
  void drive() {
    control_.send(MessageType::kHello, {});
    if (control_.receive() != MessageType::kLoad) leave(1);
    const Mapping slots(control_.fds()[0].get(), Mapping::Access::kShare);
    slots_ = {reinterpret_cast<CallSlot*>(slots.bytes().data()),
              slots.bytes().size() / sizeof(CallSlot)};
    control_.send(MessageType::kLoaded, {}, 0, kLoadWell);
    while (control_.receive() == MessageType::kGo) {
      const CallWait wait = call_wait(control_.message());
      phases_.play(remote_api(), {.before = [&](uint32_t thread) { enter(thread, wait); },
                                  .after = [&](uint32_t thread) { threads_[thread].reset(); }});
    }
    leave(0);
  }

 private:
  void enter(uint32_t thread, CallWait wait) {
    KEYDROME_CHECK(thread < slots_.size());
    threads_[thread] = std::make_unique<RemoteThread>(slots_[thread], numbers_[thread], wait);
  }

  Control control_;
  Phases phases_{control_};
  std::span<CallSlot> slots_;
  // By thread, each touched by that thread alone.
  std::array<uint32_t, kThreadsMax> numbers_{};
  std::array<std::unique_ptr<RemoteThread>, kThreadsMax> threads_;
};

}  // namespace
}  // namespace keydrome

// The referee passes its process number, for the case that it is gone already.
int main(int count, char** arguments) {
  if (count != 2) keydrome::leave(2);
  keydrome::drop_privileges();
  keydrome::die_with(static_cast<pid_t>(std::strtol(arguments[1], nullptr, 10)));
  static keydrome::Driver driver;
  driver.drive();
}
