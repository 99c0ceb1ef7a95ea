// Implements follow_phase(). During one phase, the player (the jailed process) requests the pieces
// of its programs (lists of operations) one by one. This code publishes each piece, i.e. copies it
// into memory that the player reads. It checks that each message has the nonce (random number) of
// the phase and arrives in the right order.
#include "harness/referee/session/follow_phase.h"

#include <utility>

namespace keydrome {
namespace {

// Returns what the author of the library can do about a failure of the player. `threads_max` is the
// jail's limit of threads; 0: the jail's default.
std::string advice_on(uint32_t status, uint64_t threads_max) {
  if (status == kDoneDamaged) {
    return ". They are in the library's process, so the library may have overwritten them: look "
           "for writes outside its own memory. If there are none, please report this message";
  }
  if (status != kDoneNoThread) return "";
  const std::string limit = threads_max == 0 ? "" : " is " + std::to_string(threads_max) + " and";
  return "; the jail's limit of threads (jail.processes)" + limit +
         " also counts the threads that the library starts: start fewer of them, or, in a plan of "
         "your own, raise the limit";
}

class PhaseFollower {
 public:
  PhaseFollower(Partner& partner, const Message& go, const std::string& name, PieceSupply& pieces,
                uint64_t deadline_ns)
      : partner_(partner), go_(go), name_(name), pieces_(pieces), deadline_ns_(deadline_ns) {
    for (uint32_t t = 0; t < pieces_.threads(); ++t)
      unpublished_ += pieces_.pieces(t) - pieces_.published(t);
  }

  std::optional<Stopped> until_done() {
    Message message{};
    for (;;) {
      const bool more = unpublished_ > 0;
      const MessageType type = more ? MessageType::kNeed : MessageType::kDone;
      std::optional<Stopped> stopped = partner_.expect(
          message, type, deadline_ns_, phase_text(name_) + " to end", pieces_.may_end_early());
      // DONE, the message that ends the phase, is allowed at any time if it reports a failure.
      const bool failed = message.type == MessageType::kDone && message.status != kDoneOk &&
                          (!stopped || stopped->reason == StopReason::kViolation);
      if (stopped && !failed) return stopped;
      if (message.nonce != go_.nonce || message.phase != go_.phase) {
        return Stopped{StopReason::kViolation,
                       "a message with a wrong nonce (the random number of the phase) or phase "
                       "number arrived in " +
                           phase_text(name_) +
                           "; the library must not use the socket between its process and the "
                           "referee"};
      }
      if (failed) return failure(message);
      if (message.type == MessageType::kDone) {
        unpublished_ = 0;
        return std::nullopt;
      }
      if (!is_next(message)) {
        return Stopped{StopReason::kViolation,
                       "the library's process requested operations out of order in " +
                           phase_text(name_) +
                           "; the library must not use the socket between its process and the "
                           "referee"};
      }
      pieces_.publish(message.thread);
      --unpublished_;
    }
  }

 private:
  // Returns true if the message asks for the next piece of a thread that has more pieces.
  bool is_next(const Message& message) const {
    return message.thread < pieces_.threads() &&
           message.piece == pieces_.published(message.thread) &&
           message.piece < pieces_.pieces(message.thread);
  }

  Stopped failure(Message& message) const {
    message.text[kTextBytes - 1] = '\0';
    const std::string where = " in " + phase_text(name_) + ": " + message.text;
    if (partner_.driver_spoke()) {
      return {StopReason::kNotStarted,
              "the driver, Keydrome's process that makes the calls in verified mode, failed" +
                  where + "; the library is not the cause, so repeat the run"};
    }
    if (message.status == kDoneException) {
      return {StopReason::kException,
              "a function of the library threw an exception" + where +
                  "; every function must catch its exceptions and return FAILURE"};
    }
    return {StopReason::kPlayerFailed, "the player, the program that calls the library, failed" +
                                           where +
                                           advice_on(message.status, partner_.processes_max())};
  }

  Partner& partner_;
  const Message& go_;
  const std::string& name_;
  PieceSupply& pieces_;
  const uint64_t deadline_ns_;
  // Pieces of all threads that the player has not received and can still ask for.
  uint64_t unpublished_ = 0;
};

}  // namespace

std::optional<Stopped> follow_phase(Partner& partner, const Message& go, const std::string& name,
                                    PieceSupply& pieces, uint64_t deadline_ns) {
  PhaseFollower follower(partner, go, name, pieces, deadline_ns);
  std::optional<Stopped> stopped = follower.until_done();
  if (stopped || !partner.must_finish(go.nonce)) return stopped;
  return follower.until_done();
}

}  // namespace keydrome
