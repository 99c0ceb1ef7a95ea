// Implements follow_phase(): sends the requested rounds during one phase, and checks nonce and
// order of each message.
#include "harness/referee/session/follow_phase.h"

#include <utility>

namespace keydrome {
namespace {

class PhaseFollower {
 public:
  PhaseFollower(Partner& partner, const Message& go, const std::string& name, RoundSupply& rounds,
                uint64_t deadline_ns)
      : partner_(partner), go_(go), name_(name), rounds_(rounds), deadline_ns_(deadline_ns) {}

  std::optional<Stopped> until_done() {
    Message message{};
    for (;;) {
      const bool more = rounds_.sent() < rounds_.rounds();
      const MessageType type = more ? MessageType::kNeed : MessageType::kDone;
      std::optional<Stopped> stopped =
          partner_.expect(message, type, deadline_ns_, "phase " + name_ + " to end");
      // A DONE that reports a failure is allowed at any time.
      const bool failed = message.type == MessageType::kDone && message.status != kDoneOk &&
                          (!stopped || stopped->reason == StopReason::kViolation);
      if (stopped && !failed) return stopped;
      if (message.nonce != go_.nonce || message.phase != go_.phase) {
        return Stopped{StopReason::kViolation,
                       "a message with a wrong nonce (the random number of the phase) or phase "
                       "number arrived in phase " +
                           name_};
      }
      if (failed) return failure(message);
      if (!more) return std::nullopt;
      if (message.round + 1 != rounds_.sent()) {
        return Stopped{StopReason::kViolation,
                       "the player requested a round out of order in phase " + name_};
      }
      if ((stopped = send_next_round())) return stopped;
    }
  }

 private:
  std::optional<Stopped> send_next_round() {
    Message message = make_message(MessageType::kRound);
    message.nonce = go_.nonce;
    message.phase = go_.phase;
    message.round = rounds_.sent();
    const Result<UniqueFd> round = rounds_.take();
    if (!round) return Stopped{StopReason::kNotStarted, round.error().message};
    if (!partner_.send_round(message, round->get())) {
      return Stopped{StopReason::kClosed, "the player ended in phase " + name_};
    }
    if (const Result<void> built = rounds_.build_ahead(); !built) {
      return Stopped{StopReason::kNotStarted, built.error().message};
    }
    return std::nullopt;
  }

  Stopped failure(Message& message) const {
    message.text[kTextBytes - 1] = '\0';
    const std::string where = " in phase " + name_ + ": " + message.text;
    if (partner_.driver_spoke()) return {StopReason::kNotStarted, "the driver failed" + where};
    if (message.status == kDoneException) {
      return {StopReason::kException, "an exception left the library" + where};
    }
    return {StopReason::kPlayerFailed, "the player failed" + where};
  }

  Partner& partner_;
  const Message& go_;
  const std::string& name_;
  RoundSupply& rounds_;
  const uint64_t deadline_ns_;
};

}  // namespace

std::optional<Stopped> follow_phase(Partner& partner, const Message& go, const std::string& name,
                                    RoundSupply& rounds, uint64_t deadline_ns) {
  PhaseFollower follower(partner, go, name, rounds, deadline_ns);
  std::optional<Stopped> stopped = follower.until_done();
  if (stopped || !partner.must_finish(go.nonce)) return stopped;
  return follower.until_done();
}

}  // namespace keydrome
