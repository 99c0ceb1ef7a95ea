// Implements VerifiedPartner, which plays one repetition of a benchmark in verified mode. The
// driver, a trusted process outside the jail (sandbox), plays the operations and collects the
// results, where the library cannot reach them. The player in the jail makes the library calls that
// the driver requests.
//
// This file starts the driver, sends each message to the driver or the player, and waits for a
// message from the process whose turn it is.
#include "harness/referee/session/verified_partner.h"

#include <algorithm>
#include <array>

#include "harness/calls.h"
#include "harness/referee/machine/cpus.h"

namespace keydrome {
namespace {

// Returns how many threads may wait by polling. In verified mode each thread has two sides: one in
// the driver and one in the player. Polling is faster than sleeping only if each side has a CPU.
std::size_t cpu_pairs(const std::string& cpus_of_the_jail) {
  const std::size_t pairs = usable_cpu_count() / 2;
  if (cpus_of_the_jail.empty()) return pairs;
  const Result<std::vector<int>> inside = parse_cpu_list(cpus_of_the_jail);
  return inside ? std::min(pairs, inside->size()) : 0;
}

}  // namespace

VerifiedPartner::VerifiedPartner(const JailOptions& options, uint32_t threads_max)
    : Partner(options),
      threads_max_(threads_max),
      spinning_threads_max_(cpu_pairs(options.plan.jail.cpus)) {}

std::optional<Stopped> VerifiedPartner::start(const SharedMemory& memory) {
  if (std::optional<Stopped> stopped = Partner::start(memory)) return stopped;
  Result<SharedRegion> slots = SharedRegion::create(threads_max_ * sizeof(CallSlot));
  if (!slots) return Stopped{StopReason::kNotStarted, slots.error().message};
  slots_.emplace(std::move(*slots));
  Result<DriverProcess> driver = DriverProcess::start(options().plan.driver);
  if (!driver) return Stopped{StopReason::kNotStarted, driver.error().message};
  driver_.emplace(std::move(*driver));
  drivers_turn_ = true;
  std::optional<Stopped> stopped = start_driver();
  drivers_turn_ = false;
  return stopped;
}

std::optional<Stopped> VerifiedPartner::start_driver() {
  Message message{};
  if (auto stopped =
          expect(message, MessageType::kHello, load_deadline_ns(), "the driver to start")) {
    return stopped;
  }
  const std::array<int, 3> fds{slots_->fd(), memory().ring, memory().outcome};
  driver_->send(make_message(MessageType::kLoad), fds);
  return expect(message, MessageType::kLoaded, load_deadline_ns(), "the driver to map its memory");
}

bool VerifiedPartner::send_load(const Message& load) {
  Message serving = load;
  serving.flags |= kLoadServes;
  const std::array<int, 2> fds{memory().stack_page, slots_->fd()};
  return jail()->send(serving, fds);
}

bool VerifiedPartner::send_go(const Message& go, uint32_t threads) {
  const uint32_t spin = threads <= spinning_threads_max_ ? kGoSpin : 0;
  Message serve = go;
  serve.flags |= spin;
  serve.threads = threads;
  Message play = go;
  play.flags = spin;  // no kGoPinned: only threads that call the library are bound to a CPU
  player_done_.reset();
  drivers_turn_ = true;
  return jail()->send(serve) && driver_->send(play);
}

bool VerifiedPartner::must_finish(uint64_t nonce) {
  if (!drivers_turn_) return false;
  drivers_turn_ = false;
  return player_done_ != nonce;
}

std::vector<pid_t> VerifiedPartner::processes() const {
  std::vector<pid_t> processes = Partner::processes();
  if (driver_) processes.push_back(driver_->pid());
  return processes;
}

JailProcess::Event VerifiedPartner::receive(Message& message, uint64_t deadline_ns) {
  for (;;) {
    const int driver = drivers_turn_ ? driver_->descriptor() : -1;
    const JailProcess::Event event = jail()->wait(message, deadline_ns, driver, busy_until_ns());
    driver_spoke_ = event == JailProcess::Event::kOther;
    if (driver_spoke_) {
      return driver_->receive(message) == Receive::kMessage ? JailProcess::Event::kMessage
                                                            : JailProcess::Event::kOther;
    }
    const bool done = event == JailProcess::Event::kMessage && message.type == MessageType::kDone &&
                      message.status == kDoneOk;
    if (!drivers_turn_ || !done || player_done_) return event;
    player_done_ = message.nonce;
  }
}

}  // namespace keydrome
