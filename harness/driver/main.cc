// The driver of verified mode: plays the benchmark's operations outside the jail (sandbox). It
// passes each call to the player, which runs the library in the jail. The calls go through call
// slots, structs in memory that driver and player share (harness/calls.h).
//
// The driver and the referee, which runs the benchmark, exchange the same messages as the player
// and the referee (harness/protocol.h). The referee trusts the driver, but not the player, which
// the library can manipulate. Operations, clock, counters, results and logs are in the driver's
// process, where the library cannot reach them. The driver does not trust what it reads from the
// call slots. It runs as user `nobody`, so that an attacker who exploits the driver gains few
// rights.
//
// usage: driver PID      PID: process id of the referee, the trusted process that runs the session;
//                        only the referee starts drivers
//                        descriptor 3: the channel to the referee
#include <grp.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <span>

#include "base/check.h"
#include "harness/calls.h"
#include "harness/driver/remote_library.h"
#include "harness/player/phases.h"
#include "harness/player/referee_channel.h"

namespace keydrome {
namespace {

constexpr uint32_t kNobody = 65534;

// Ends the process with a message if the machine refused a step of the setup.
void require(bool done, const char* step) {
  if (done) return;
  std::fprintf(stderr, "driver: cannot %s: %s; in a container, allow this system call\n", step,
               std::strerror(errno));
  exit_now(1);
}

// Makes the kernel kill this process when the referee exits. Callers must call drop_privileges()
// first, because a change of user clears the setting. If the referee has already exited, the
// process exits too.
void die_with(pid_t referee) {
  require(prctl(PR_SET_PDEATHSIG, SIGKILL) == 0,
          "ask the kernel to end this process when the referee ends (prctl with PR_SET_PDEATHSIG)");
  if (getppid() != referee) exit_now(1);
}

void drop_privileges() {
  require(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0,
          "give up the right to new privileges (prctl with PR_SET_NO_NEW_PRIVS)");
  if (geteuid() != 0) return;
  require(setgroups(0, nullptr) == 0, "drop the supplementary groups (setgroups)");
  require(setresgid(kNobody, kNobody, kNobody) == 0, "become group 65534 (setresgid)");
  require(setresuid(kNobody, kNobody, kNobody) == 0, "become user 65534 (setresuid)");
}

class Driver {
 public:
  void drive() {
    channel_.send(MessageType::kHello, {});
    if (channel_.receive() != MessageType::kLoad) exit_now(1);
    const Mapping slots(channel_.fds()[0].get(), Mapping::Access::kShare);
    slots_ = {reinterpret_cast<CallSlot*>(slots.bytes().data()),
              slots.bytes().size() / sizeof(CallSlot)};
    Phases phases(channel_, channel_.fds()[1], channel_.fds()[2]);
    channel_.send(MessageType::kLoaded, {}, kLoadOk);
    while (channel_.receive() == MessageType::kGo) {
      const CallWait wait = call_wait(channel_.message());
      phases.play(remote_api(), {.before = [&](uint32_t thread) { enter(thread, wait); },
                                 .after = [&](uint32_t thread) { threads_[thread].reset(); }});
    }
    exit_now(0);
  }

 private:
  void enter(uint32_t thread, CallWait wait) {
    KEYDROME_CHECK(thread < slots_.size());
    threads_[thread] = std::make_unique<RemoteThread>(slots_[thread], numbers_[thread], wait);
  }

  RefereeChannel channel_;
  std::span<CallSlot> slots_;
  // The number of each slot's latest call, and each thread's RemoteThread. Both arrays are indexed
  // by thread number, and each thread uses only its own elements.
  std::array<uint32_t, format::kThreadsMax> numbers_{};
  std::array<std::unique_ptr<RemoteThread>, format::kThreadsMax> threads_;
};

}  // namespace
}  // namespace keydrome

int main(int count, char** arguments) {
  if (count != 2) {
    std::fputs(
        "driver: this program needs one argument, the process id of the referee; only the "
        "referee starts it, in verified mode\n",
        stderr);
    keydrome::exit_now(2);
  }
  keydrome::drop_privileges();
  keydrome::die_with(static_cast<pid_t>(std::strtol(arguments[1], nullptr, 10)));
  static keydrome::Driver driver;
  driver.drive();
}
