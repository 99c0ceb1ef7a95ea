#include "runtime/control/none.h"

#include <cstdio>

#include "runtime/control/content.h"
#include "runtime/index.h"

namespace keydrome::runtime {

namespace {

void tell_once(std::atomic<bool>& told, const char* text) {
  if (!told.exchange(true)) std::fprintf(stderr, "keydrome runtime: %s\n", text);
}

// Moves the cursor, whose position is good, straight onto the next pair: what `next` of the
// structure answers, or -1 when that makes no sense. After a negative answer the cursor is at the
// start.
int step(const Store& store, Cursor& cursor) {
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

}  // namespace

struct NoControl::Calls : Transaction {
  explicit Calls(bool change) : may_change(change) {}
  const bool may_change;
};

class NoControl::Client final : public ControlSession {
 public:
  Client() = default;
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() override {
    if (claim_ != nullptr) *claim_ = false;
  }

  // False when another client has claimed it already.
  bool claim(std::atomic<bool>& claimed) {
    if (claimed.exchange(true)) return false;
    claim_ = &claimed;
    return true;
  }
  Transaction& own() override { return own_; }
  Transaction& automatic() override { return automatic_; }

 private:
  std::atomic<bool>* claim_ = nullptr;
  Calls own_{false};
  Calls automatic_{true};
};

std::unique_ptr<IndexControl> NoControl::make_index_control() {
  return std::make_unique<Content>(LatchKind::kNone);
}

// A thread that has ended leaves its session to the next one, so this is called again only for a
// thread beside another.
std::unique_ptr<ControlSession> NoControl::make_session() {
  auto client = std::make_unique<Client>();
  if (!thread_safe_ && !client->claim(has_client_)) {
    tell_once(told_of_thread_,
              "a second thread calls beside the first, and every call of it answers FAILURE: the "
              "structure is not KEYDROME_THREAD_SAFE and control \"none\" adds no latch. Use one "
              "thread (--threads 1), or a configuration with another control.");
    return nullptr;
  }
  return client;
}

bool NoControl::may_change(const Transaction& transaction) {
  if (static_cast<const Calls&>(transaction).may_change) [[likely]] {
    return true;
  }
  tell_once(told_of_change_,
            "a change inside a transaction answers FAILURE: control \"none\" could not take it "
            "back. Make changes by auto-commit calls (ycsb: -p auto_commit=1), or use a "
            "configuration with another control.");
  return false;
}

// Positions are not good any more. With several threads none is ever kept.
void NoControl::changed(Index& index) const {
  if (!thread_safe_) ++content_of(index).changes;
}

ErrCode NoControl::get(Transaction&, Index& index, Cursor& cursor, KeydromeBytes key) {
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

ErrCode NoControl::get_next(Transaction&, Index& index, Cursor& cursor) {
  const Store& store = index.store();
  if (thread_safe_) cursor.has_position = false;
  if (refresh(content_of(index), store, cursor) < 0) return FAILURE;
  const int found = step(store, cursor);
  if (found == 0) return DB_END;
  return found == 1 ? SUCCESS : FAILURE;
}

ErrCode NoControl::insert(Transaction& transaction, Index& index, KeydromeBytes key,
                          KeydromeBytes payload) {
  if (!may_change(transaction)) return FAILURE;
  const int put = index.store().put(key, payload);
  if (put < 0) return FAILURE;
  changed(index);
  return put == 1 ? SUCCESS : ENTRY_EXISTS;
}

ErrCode NoControl::erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                              KeydromeBytes payload) {
  if (!may_change(transaction)) return FAILURE;
  const int deleted = index.store().del(key, payload);
  if (deleted < 0) return FAILURE;
  changed(index);
  return deleted == 1 ? SUCCESS : ENTRY_DNE;
}

ErrCode NoControl::erase_key(Transaction& transaction, Index& index, KeydromeBytes key) {
  if (!may_change(transaction)) return FAILURE;
  Store& store = index.store();
  Pair victim;
  bool any = false;
  for (;;) {
    const int found = read_first(store, before_key(key), victim);
    if (found < 0) return FAILURE;
    if (found == 0 || !equal(victim.key(), key)) return any ? SUCCESS : KEY_NOTFOUND;
    if (store.del(victim.key(), victim.payload()) < 0) return FAILURE;
    changed(index);
    any = true;
  }
}

}  // namespace keydrome::runtime
