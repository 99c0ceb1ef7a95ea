// Implements Partner: starts the jail (sandbox) with the player, the process that runs the library.
// Waits for messages until a deadline or a limit of the session (one repetition of a benchmark).
#include "harness/referee/session/partner.h"

#include <unistd.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "harness/referee/hang/thread_facts.h"
#include "harness/referee/session/verified_partner.h"

namespace keydrome {
namespace {

// Interval at which wait() samples the threads: how the scheduler treats them and, while a phase
// runs, their progress.
constexpr uint64_t kSampleEveryNs = 500 * kNsPerMs;
// A wait at the beginning of a phase first polls for this long, and only then sleeps. Waking up a
// sleeping process takes tens of microseconds, which would be most of the measured time of a short
// phase. Later waits sleep at once, because the threads may need every processor.
constexpr uint64_t kBusyNs = 100'000;

// Returns the beginning of a sentence about a wait for a message of type `type` that took too long.
// The first messages of a process arrive before the phases, and have a limit of their own.
std::string timeout_text(const JailOptions& options, MessageType type) {
  const LimitsPlan& limits = options.plan.limits;
  const bool loads = type == MessageType::kHello || type == MessageType::kLoaded;
  return "the time limit of " +
         limit_text(loads ? limits.load_timeout_ms : limits.phase_timeout_ms) + " (limits." +
         (loads ? "load_timeout_ms" : "phase_timeout_ms") + ") passed";
}

}  // namespace

std::unique_ptr<Partner> Partner::create(const JailOptions& options, uint32_t threads_max) {
  if (options.plan.verified) return std::make_unique<VerifiedPartner>(options, threads_max);
  return std::make_unique<Partner>(options);
}

Partner::Partner(const JailOptions& options)
    : options_(options),
      limits_(options.wall_ms, options.plan.jail.cpu_seconds),
      starvation_(now_ns()) {}

void Partner::set_watch(PhaseWatch* watch) {
  watch_ = watch;
  busy_until_ns_ = watch == nullptr ? 0 : now_ns() + kBusyNs;
}

std::optional<Stopped> Partner::start(const SharedMemory& memory) {
  memory_ = memory;
  Result<JailProcess> jail = JailProcess::start(options_);
  if (!jail) return Stopped{StopReason::kNotStarted, jail.error().message};
  jail_.emplace(std::move(*jail));
  Message hello{};
  std::optional<Stopped> stopped =
      expect(hello, MessageType::kHello, load_deadline_ns(),
             "the player, the program that calls the library, to start");
  begin_step();  // loading follows
  return stopped;
}

std::vector<pid_t> Partner::processes() const {
  return {getpid(), jail_ ? program_of(jail_->pid()) : 0};
}

void Partner::begin_step() { starvation_.begin_step(processes(), now_ns()); }

std::string Partner::starved(StopReason reason) {
  const uint64_t now = now_ns();
  if (reason != StopReason::kClosed) starvation_.sample(now, true);
  if (reason == StopReason::kDeadline) {
    const uint64_t step_ns = now - starvation_.step_start_ns();
    const std::string starved = starved_text(starvation_.step_kept_ns(), step_ns);
    return starved.empty() ? crowded_text(starvation_.step_crowd(), step_ns) : starved;
  }
  // The limit is either the wall time or the CPU time of the session. Other programs can be the
  // cause only of the wall time.
  if (reason == StopReason::kLimit && now < limits_.end_ns()) return "";
  const uint64_t session_ns = now - starvation_.session_start_ns();
  const std::string starved = starved_text(starvation_.session_kept_ns(), session_ns);
  return starved.empty() ? crowded_text(starvation_.session_crowd(), session_ns) : starved;
}

uint64_t Partner::load_deadline_ns() const {
  return now_ns() + options_.plan.limits.load_timeout_ms * kNsPerMs;
}

bool Partner::send_load(const Message& load) {
  const std::array<int, 3> fds{memory_.stack_page, memory_.ring, memory_.outcome};
  return jail_->send(load, fds);
}

bool Partner::send_go(const Message& go, uint32_t /*threads*/) { return jail_->send(go); }

JailProcess::Event Partner::receive(Message& message, uint64_t deadline_ns) {
  return jail_->wait(message, deadline_ns, -1, busy_until_ns_);
}

// Wakes up for the next limit and for the next sample of the threads. If a limit of the session
// passes first, sets limit_reached_ and returns kDeadline.
JailProcess::Event Partner::wait(Message& message, uint64_t deadline_ns) {
  for (;;) {
    limit_reached_ = limits_.passed(jail_->pid(), now_ns());
    if (!limit_reached_.empty()) return JailProcess::Event::kDeadline;
    const uint64_t until_ns = std::min({deadline_ns, limits_.next_ns(), now_ns() + kSampleEveryNs});
    const JailProcess::Event event = receive(message, until_ns);
    if (event != JailProcess::Event::kDeadline || until_ns == deadline_ns) return event;
    if (watch_ != nullptr) watch_->sample(now_ns());
    starvation_.sample(now_ns());
  }
}

std::optional<Stopped> Partner::expect(Message& message, MessageType type, uint64_t deadline_ns,
                                       const std::string& what, bool or_done) {
  const std::string meanwhile = " while the referee waited for " + what;
  switch (wait(message, deadline_ns)) {
    case JailProcess::Event::kClosed:
      return Stopped{StopReason::kClosed, "the player's process ended" + meanwhile};
    case JailProcess::Event::kDeadline:
      if (limit_reached_.empty()) {
        return Stopped{StopReason::kDeadline, timeout_text(options_, type) + meanwhile};
      }
      return Stopped{StopReason::kLimit, limit_reached_ + meanwhile};
    case JailProcess::Event::kMalformed:
      return Stopped{StopReason::kViolation,
                     "the library's process sent a malformed message" + meanwhile +
                         "; the library must not use the socket between its process and the "
                         "referee"};
    case JailProcess::Event::kOther:
      return Stopped{StopReason::kNotStarted,
                     "the driver, Keydrome's process that makes the calls in verified mode, ended" +
                         meanwhile + "; the library is not the cause, so repeat the run"};
    case JailProcess::Event::kMessage:
      break;
  }
  const bool done = or_done && message.type == MessageType::kDone && message.status == kDoneOk;
  if ((message.type == type || done) && in_turn()) return std::nullopt;
  return Stopped{StopReason::kViolation,
                 "a message of type " + std::to_string(static_cast<uint32_t>(message.type)) +
                     " and status " + std::to_string(static_cast<uint32_t>(message.status)) +
                     " arrived" + meanwhile + ", where a message of type " +
                     std::to_string(static_cast<uint32_t>(type)) +
                     " was due; the library must write only to files that it has opened itself, "
                     "not to the socket between its process and the referee"};
}

}  // namespace keydrome
