// NoConcurrency: the method "none", which adds no concurrency control, so that a benchmark can time
// the structure alone. Each call goes directly to put, del, find and scan of the structure. There
// is no latch, no lock, no undo log and no buffer for writes.
//
// A transaction may read, because a scan needs a cursor. A change inside a transaction returns
// FAILURE, because an abort could not undo the change. An auto-commit call (a call without a
// transaction) is one operation of the structure. The exception is the deletion of a whole key,
// which is one operation per payload. If one of these operations fails, the payloads before it stay
// deleted.
//
// Threads: KEYDROME_THREAD_SAFE (structure.h) is a capability that a structure may declare. A
// structure without it serves one client thread at a time, and the calls of any other thread return
// FAILURE. A structure with it serves all threads at once. Two reads of one transaction may then
// see changes that other threads made between the reads.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string_view>

#include "base/cache_line.h"
#include "base/thread_annotations.h"
#include "runtime/concurrency/concurrency.h"
#include "runtime/concurrency/methods.h"
#include "runtime/content/content.h"
#include "runtime/index.h"
#include "runtime/instance/grace.h"

namespace keydrome::runtime {

class NoConcurrency final : public Concurrency {
 public:
  static constexpr std::string_view kName = "none";

  explicit NoConcurrency(bool thread_safe) : thread_safe_(thread_safe) {}

  std::unique_ptr<IndexConcurrency> make_index_concurrency() override;
  // Returns nullptr for a second thread unless the structure is thread-safe.
  std::unique_ptr<ClientConcurrency> make_client() override;

  ErrCode begin(Transaction&) override { return SUCCESS; }
  ErrCode commit(Transaction&) override { return SUCCESS; }
  ErrCode abort(Transaction&) override { return SUCCESS; }

  ErrCode get(Transaction& transaction, Index& index, Cursor& cursor, KeydromeBytes key) override;
  ErrCode get_next(Transaction& transaction, Index& index, Cursor& cursor) override;
  ErrCode insert(Transaction& transaction, Index& index, KeydromeBytes key,
                 KeydromeBytes payload) override;
  ErrCode erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                     KeydromeBytes payload) override;
  ErrCode erase_key(Transaction& transaction, Index& index, KeydromeBytes key) override;

  Json statistics() const override { return Json::Object{}; }

 private:
  class NoneClient;
  // A transaction, or an auto-commit call.
  struct Calls : Transaction {
    Calls(bool change, CallSlot& used) : may_change(change), slot(used) {}
    const bool may_change;
    CallSlot& slot;
  };

  template <class Guard, class Call>
  ErrCode guarded(Transaction& transaction, Call&& call);
  bool may_change(const Transaction& transaction);
  void changed(Index& index) const;
  int put_limited(Store& store, KeydromeBytes key, KeydromeBytes payload);

  const bool thread_safe_;
  std::atomic<bool> has_client_ = false;  // true while a client exists; unused if thread_safe_
  std::atomic<bool> warned_of_thread_ = false, warned_of_change_ = false;
  GracePeriods periods_;                   // unused unless thread_safe_
  std::array<Padded<Mutex>, 64> inserts_;  // locks of put_limited(), by hash of the key
};

// Runs a call on the structure. No latch keeps the calls of a thread-safe structure apart, so the
// memory that it retires is freed after a grace period (grace.h). `Guard` is LatchlessCall or
// LatchlessRead.
template <class Guard, class Call>
[[gnu::always_inline]] inline ErrCode NoConcurrency::guarded(Transaction& transaction,
                                                             Call&& call) {
  if (!thread_safe_) return call();
  const Guard latchless(static_cast<Calls&>(transaction).slot);
  return call();
}

// This function is in the header so that the compiler inlines it into the runtime. Most of the
// runtime's overhead per call is in this function.
[[gnu::always_inline]] inline ErrCode NoConcurrency::get(Transaction& transaction, Index& index,
                                                         Cursor& cursor, KeydromeBytes key) {
  cursor.run.drop();
  return guarded<LatchlessRead>(transaction, [&]() __attribute__((always_inline)) {
    return find_key(index.store(), cursor, key);
  });
}

// Returns the entry of this method for the table of methods (methods.h).
ConcurrencyMethod none_method();

}  // namespace keydrome::runtime
