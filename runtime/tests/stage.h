// Several sessions on one control, stepped one call at a time, and what they saw.
//
// Each session is a thread. A call is handed to it, and the stage waits until it has come back or
// the session is asleep in a lock: the lock manager says how many are, so no time is measured and a
// script always runs the same way. Every call is recorded with stamps of a logical clock; the
// checker then searches a serial order that explains all answers.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "checker/history.h"
#include "runtime/control/control.h"
#include "runtime/tests/client.h"

namespace keydrome::runtime {

class Stage {
 public:
  // The indexes were made by the control. They and the control outlive the stage.
  Stage(Control& control, ClientIndexes indexes, size_t sessions);
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage();

  // Hands the call to a session that is not waiting, and returns when everything stands still. The
  // calls of a transaction that has failed are passed over until the next begin.
  void step(size_t session, const Call& call);
  // The call that the session was handed last has not come back.
  bool waits(size_t session);
  // The newest answer of a session that does not wait.
  ErrCode answer(size_t session) const;
  // "1:b 2:@g5 1:c": steps in this order. A session that waits gets its further calls as soon as it
  // has come back. Calls std::abort when sessions wait for ever.
  void play(const std::string& script);
  // One transaction of the session that reads both indexes from end to end. No session waits.
  void scan_all(size_t session);

  // What was recorded. No session waits.
  History history() const;

 private:
  struct Session;

  void run(Session& session);
  void settle();

  Control& control_;
  const ClientIndexes indexes_;
  std::atomic<uint64_t> clock_ = 1;
  std::atomic<uint64_t> busy_ = 0;  // sessions whose call has not come back
  std::vector<std::unique_ptr<Session>> sessions_;
};

}  // namespace keydrome::runtime
