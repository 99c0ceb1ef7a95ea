// NoConcurrency: the method "none", which adds no concurrency control, so that a benchmark can time
// the structure alone. Each call goes directly to put, del, seek and next of the structure. There
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

#include <atomic>
#include <memory>
#include <string_view>

#include "runtime/concurrency/concurrency.h"
#include "runtime/concurrency/methods.h"
#include "runtime/content/content.h"
#include "runtime/index.h"

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
  struct Calls;  // a transaction, or an auto-commit call
  class OnlyClient;

  static int step(const Store& store, Cursor& cursor);
  bool may_change(const Transaction& transaction);
  void changed(Index& index) const;

  const bool thread_safe_;
  std::atomic<bool> has_client_ = false;  // true while a client exists; unused if thread_safe_
  std::atomic<bool> warned_of_thread_ = false, warned_of_change_ = false;
};

// Moves the cursor to the next pair. The structure writes the pair directly into the cursor.
// Returns the result of the structure's `next`, or -1 if the structure reports a key or payload
// that is too long. If the result is negative, step() has moved the cursor to the start.
// Precondition: the cursor's position is valid.
[[gnu::always_inline]] inline int NoConcurrency::step(const Store& store, Cursor& cursor) {
  KeydromeBuffer key{cursor.key, 0, sizeof cursor.key};
  KeydromeBuffer payload{cursor.payload, 0, sizeof cursor.payload};
  const int found = store.next(cursor.position, key, payload);
  if (found == 0) return 0;
  if (found < 0 || key.size > key.capacity || payload.size > payload.capacity) {
    cursor.reset();
    return -1;
  }
  cursor.place = Cursor::Place::kAfterPair;
  cursor.has_position = true;
  cursor.key_size = key.size;
  cursor.payload_size = payload.size;
  return 1;
}

// This function is in the header so that the compiler inlines it into the runtime. Most of the
// runtime's overhead per call is in this function.
[[gnu::always_inline]] inline ErrCode NoConcurrency::get(Transaction&, Index& index, Cursor& cursor,
                                                         KeydromeBytes key) {
  const Store& store = index.store();
  cursor.has_position = false;
  if (store.seek(cursor.position, key, kAnyPayload, 0) < 0) return FAILURE;
  const int found = step(store, cursor);
  if (found < 0) return FAILURE;
  if (found == 1 && equal(cursor.key_bytes(), key)) {
    cursor.changes = content_of(index).changes;
    return SUCCESS;
  }
  // The position is after a pair of another key, so the next read must seek.
  cursor.has_position = false;
  cursor.place = Cursor::Place::kAfterKey;
  cursor.set_key(key);
  return KEY_NOTFOUND;
}

// See methods.h.
ConcurrencyMethod none_method();

}  // namespace keydrome::runtime
