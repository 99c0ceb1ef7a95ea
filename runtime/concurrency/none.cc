// Implements NoConcurrency: passes every call to the structure (the data structure of the index).
// It refuses a second thread if the structure is not thread-safe, and it refuses changes inside a
// transaction, because it could not undo them.
#include "runtime/concurrency/none.h"

#include <functional>
#include <string_view>

#include "runtime/say_once.h"

namespace keydrome::runtime {

class NoConcurrency::NoneClient final : public ClientConcurrency {
 public:
  explicit NoneClient(GracePeriods& periods) : slot_(periods) {}
  NoneClient(const NoneClient&) = delete;
  NoneClient& operator=(const NoneClient&) = delete;
  ~NoneClient() override {
    if (claim_ != nullptr) *claim_ = false;
  }

  // Sets `claimed` to true for this client. Returns false if another client has done so already.
  // The destructor of this client sets `claimed` to false again.
  bool claim(std::atomic<bool>& claimed) {
    if (claimed.exchange(true)) return false;
    claim_ = &claimed;
    return true;
  }
  Transaction& own() override { return own_; }
  Transaction& automatic() override { return automatic_; }

 private:
  std::atomic<bool>* claim_ = nullptr;
  CallSlot slot_;
  Calls own_{false, slot_};
  Calls automatic_{true, slot_};
};

std::unique_ptr<IndexConcurrency> NoConcurrency::make_index_concurrency() {
  return std::make_unique<Content>(LatchKind::kNone);
}

// The client of a thread that has ended is reused for the next thread. The runtime therefore calls
// this function a second time only while the first thread still runs.
std::unique_ptr<ClientConcurrency> NoConcurrency::make_client() {
  auto client = std::make_unique<NoneClient>(periods_);
  if (!thread_safe_ && !client->claim(has_client_)) {
    say_once(
        warned_of_thread_,
        "the calls of a second thread return FAILURE, because the concurrency \"none\" adds no "
        "locks, and the structure does not have the capability KEYDROME_THREAD_SAFE. Call "
        "from one thread only (keydrome bench: --threads 1), or use a configuration with locks "
        "(keydrome bench: for example --config exclusive).");
    return nullptr;
  }
  return client;
}

bool NoConcurrency::may_change(const Transaction& transaction) {
  if (static_cast<const Calls&>(transaction).may_change) [[likely]] {
    return true;
  }
  say_once(
      warned_of_change_,
      "a change inside a transaction returns FAILURE, because the concurrency \"none\" "
      "cannot undo the change if the transaction aborts. Make changes with auto-commit calls "
      "(ycsb: -p auto_commit=1), or use a configuration with transactions (for example --config "
      "exclusive).");
  return false;
}

// Invalidates the pairs that cursors on the index have copied in advance (content/run.h). With a
// thread-safe structure this is not necessary, because get_next drops these pairs on every call.
void NoConcurrency::changed(Index& index) const {
  if (!thread_safe_) content_of(index).changed();
}

// With a thread-safe structure, other threads may change the index at any time. The pairs that the
// cursor has copied in advance may have been deleted since. So every call drops them, and reads the
// next pair from the structure.
ErrCode NoConcurrency::get_next(Transaction& transaction, Index& index, Cursor& cursor) {
  if (thread_safe_) cursor.run.drop();
  return guarded<LatchlessRead>(transaction, [&] {
    KeydromeBytes key, payload;
    const int found = peek(content_of(index), index.store(), cursor, key, payload);
    if (found == 0) return DB_END;
    if (found < 0) return FAILURE;
    advance(cursor, key, payload);
    return SUCCESS;
  });
}

ErrCode NoConcurrency::insert(Transaction& transaction, Index& index, KeydromeBytes key,
                              KeydromeBytes payload) {
  if (!may_change(transaction)) return FAILURE;
  return guarded<LatchlessCall>(transaction, [&] {
    Store& store = index.store();
    const int put =
        store.limits_payloads() ? put_limited(store, key, payload) : store.put(key, payload);
    if (put < 0) return FAILURE;
    changed(index);
    return put == 1 ? SUCCESS : ENTRY_EXISTS;
  });
}

// Like Store::put, for a structure that holds only a few payloads of a key. A lock keeps insertions
// of the same key apart, so that no other thread inserts between the check and the put.
int NoConcurrency::put_limited(Store& store, KeydromeBytes key, KeydromeBytes payload) {
  const std::string_view text(static_cast<const char*>(key.data), key.size);
  const MutexLock guard(inserts_[std::hash<std::string_view>()(text) % inserts_.size()].value);
  return store.has_room(key, payload) ? store.put(key, payload) : -1;
}

ErrCode NoConcurrency::erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                                  KeydromeBytes payload) {
  if (!may_change(transaction)) return FAILURE;
  return guarded<LatchlessCall>(transaction, [&] {
    const int deleted = index.store().del(key, payload);
    if (deleted < 0) return FAILURE;
    changed(index);
    return deleted == 1 ? SUCCESS : ENTRY_DNE;
  });
}

ErrCode NoConcurrency::erase_key(Transaction& transaction, Index& index, KeydromeBytes key) {
  if (!may_change(transaction)) return FAILURE;
  return guarded<LatchlessCall>(transaction, [&] {
    Store& store = index.store();
    uint8_t bytes[KEYDROME_PAYLOAD_BYTES_MAX];
    KeydromeBuffer victim{bytes, 0, sizeof bytes};
    for (bool any = false;; any = true) {
      const int found = store.find(key, kAnyPayload, victim);
      if (found < 0) return FAILURE;
      if (found == 0) return any ? SUCCESS : KEY_NOTFOUND;
      if (store.del(key, {bytes, victim.size}) < 0) return FAILURE;
      changed(index);
    }
  });
}

ConcurrencyMethod none_method() {
  return {NoConcurrency::kName, false, false, false,
          [](const ConcurrencyOptions& options) -> std::unique_ptr<Concurrency> {
            return std::make_unique<NoConcurrency>(options.structure_thread_safe);
          }};
}

}  // namespace keydrome::runtime
