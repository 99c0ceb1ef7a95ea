// Stage: runs several actors on one concurrency control, one call at a time, as a test's script
// says. A concurrency control is the part of the runtime that isolates transactions.
//
// Each actor is a client in a thread of its own. The stage passes a call to an actor, and waits
// until the call has returned or the actor waits for a lock. The lock manager counts waiting
// threads, so the stage needs no timeouts, and a script always runs in the same way. Every call is
// recorded with timestamps of a logical clock. The checker then searches for a serial order that
// explains all results.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "checker/history/history.h"
#include "runtime/concurrency/concurrency.h"
#include "runtime/tests/recorded_client.h"

namespace keydrome::runtime {

class Stage {
 public:
  // The indexes belong to the concurrency control. The indexes and the concurrency control must
  // outlive the stage.
  Stage(Concurrency& concurrency, ClientIndexes indexes, size_t actors);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  // Passes the call to an actor that is not waiting. Returns when every actor is idle or waits for
  // a lock. After a transaction has failed, its remaining calls are skipped until the next begin.
  void step(size_t actor, const Call& call);
  // Returns true if the actor's last call has not returned yet.
  bool waits(size_t actor);
  // Returns the result of the actor's last call. Precondition: the actor is not waiting.
  ErrCode result(size_t actor) const;
  // Plays a script such as "1:b 2:@g5 1:c". Each word is ACTOR:CALL (see parse_call). An actor
  // whose call still waits makes its next call when that call has returned. If every actor with
  // calls left waits for another one, the function calls std::abort.
  void play(const std::string& script);
  // Runs one transaction, in which the actor reads the stage's two indexes completely. No actor may
  // be waiting.
  void scan_all(size_t actor);

  // Returns the recorded calls. No actor may be waiting.
  history::History history() const;

 private:
  struct Actor;

  void run(Actor& actor);
  void settle();

  Concurrency& concurrency_;
  const ClientIndexes indexes_;
  std::atomic<uint64_t> clock_ = 1;
  std::atomic<uint64_t> busy_ = 0;  // number of actors whose call has not returned
  std::vector<std::unique_ptr<Actor>> actors_;
};

}  // namespace keydrome::runtime
