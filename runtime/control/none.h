// No concurrency control: the calls as straight as they go onto put, del, seek and next of the
// structure, to see it alone. No latch, no lock, no undo log, no buffered writes.
//
// What it cannot do it says: a transaction may read, because a scan needs a cursor, but a change
// inside one answers FAILURE, since nothing could take it back. So no abort ever pretends. An
// auto-commit call is one operation of the structure, except the deletion of a whole key, which is
// one for each of its payloads; when one of them fails, those before it have gone.
//
// Threads: a structure without KEYDROME_THREAD_SAFE has one client thread at a time; the calls of
// another one beside it answer FAILURE. With it, all call at once, and two calls of a transaction
// may see the changes of others between them.
#pragma once

#include <atomic>
#include <memory>

#include "runtime/control/content.h"
#include "runtime/control/control.h"
#include "runtime/index.h"

namespace keydrome::runtime {

class NoControl final : public Control {
 public:
  explicit NoControl(bool thread_safe) : thread_safe_(thread_safe) {}

  std::unique_ptr<IndexControl> make_index_control() override;
  // nullptr for a second thread beside the first that the structure does not bear.
  std::unique_ptr<ControlSession> make_session() override;

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
  class Client;

  static int step(const Store& store, Cursor& cursor);
  bool may_change(const Transaction& transaction);
  void changed(Index& index) const;

  const bool thread_safe_;
  std::atomic<bool> has_client_ = false;  // while its session lives
  std::atomic<bool> told_of_thread_ = false, told_of_change_ = false;
};

// Moves the cursor, whose position is good, straight onto the next pair: what `next` of the
// structure answers, or -1 when that makes no sense. After a negative answer the cursor is at the
// start.
[[gnu::always_inline]] inline int NoControl::step(const Store& store, Cursor& cursor) {
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

// In the header for the runtime to inline: beside the structure's work this is most of what a
// contender pays.
[[gnu::always_inline]] inline ErrCode NoControl::get(Transaction&, Index& index, Cursor& cursor,
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
  // The position is behind another pair: the next read seeks.
  cursor.has_position = false;
  cursor.place = Cursor::Place::kAfterKey;
  cursor.set_key(key);
  return KEY_NOTFOUND;
}

}  // namespace keydrome::runtime
