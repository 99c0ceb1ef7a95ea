// Implements NoConcurrency: passes every call to the structure (the data structure of the index).
// It refuses a second thread if the structure is not thread-safe, and it refuses changes inside a
// transaction, because it could not undo them.
#include "runtime/concurrency/none.h"

#include <cstdio>

namespace keydrome::runtime {

namespace {

void print_once(std::atomic<bool>& printed, const char* text) {
  if (!printed.exchange(true)) std::fprintf(stderr, "keydrome runtime: %s\n", text);
}

}  // namespace

struct NoConcurrency::Calls : Transaction {
  explicit Calls(bool change) : may_change(change) {}
  const bool may_change;
};

class NoConcurrency::OnlyClient final : public ClientConcurrency {
 public:
  OnlyClient() = default;
  OnlyClient(const OnlyClient&) = delete;
  OnlyClient& operator=(const OnlyClient&) = delete;
  ~OnlyClient() override {
    if (claim_ != nullptr) *claim_ = false;
  }

  // Sets `claimed` to true for this client. Returns false if another client has already done so.
  // The destructor sets `claimed` back to false.
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

std::unique_ptr<IndexConcurrency> NoConcurrency::make_index_concurrency() {
  return std::make_unique<Content>(LatchKind::kNone);
}

// The client of a thread that has ended is reused for the next thread. The runtime therefore calls
// this function a second time only while the first thread still runs.
std::unique_ptr<ClientConcurrency> NoConcurrency::make_client() {
  auto client = std::make_unique<OnlyClient>();
  if (!thread_safe_ && !client->claim(has_client_)) {
    print_once(
        warned_of_thread_,
        "a second thread has made a call; its calls return FAILURE, because the structure is not "
        "KEYDROME_THREAD_SAFE and concurrency \"none\" adds no latch. Use one thread "
        "(--threads 1), or a configuration with another concurrency.");
    return nullptr;
  }
  return client;
}

bool NoConcurrency::may_change(const Transaction& transaction) {
  if (static_cast<const Calls&>(transaction).may_change) [[likely]] {
    return true;
  }
  print_once(
      warned_of_change_,
      "a change inside a transaction returns FAILURE, because concurrency \"none\" could not "
      "undo it. Make changes with auto-commit calls (ycsb: -p auto_commit=1), or use a "
      "configuration with another concurrency.");
  return false;
}

// Makes the runs of all cursors on the index invalid. With a thread-safe structure this is not
// necessary, because get_next scans on every call.
void NoConcurrency::changed(Index& index) const {
  if (!thread_safe_) ++content_of(index).changes;
}

// With a thread-safe structure, other threads may change the index at any time. So every call scans
// one pair: a pair from an older run may have been deleted.
ErrCode NoConcurrency::get_next(Transaction&, Index& index, Cursor& cursor) {
  if (thread_safe_) cursor.run.drop();
  KeydromeBytes key, payload;
  const int found = peek(content_of(index), index.store(), cursor, key, payload);
  if (found == 0) return DB_END;
  if (found < 0) return FAILURE;
  advance(cursor, key, payload);
  return SUCCESS;
}

ErrCode NoConcurrency::insert(Transaction& transaction, Index& index, KeydromeBytes key,
                              KeydromeBytes payload) {
  if (!may_change(transaction)) return FAILURE;
  const int put = index.store().put(key, payload);
  if (put < 0) return FAILURE;
  changed(index);
  return put == 1 ? SUCCESS : ENTRY_EXISTS;
}

ErrCode NoConcurrency::erase_pair(Transaction& transaction, Index& index, KeydromeBytes key,
                                  KeydromeBytes payload) {
  if (!may_change(transaction)) return FAILURE;
  const int deleted = index.store().del(key, payload);
  if (deleted < 0) return FAILURE;
  changed(index);
  return deleted == 1 ? SUCCESS : ENTRY_DNE;
}

ErrCode NoConcurrency::erase_key(Transaction& transaction, Index& index, KeydromeBytes key) {
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

ConcurrencyMethod none_method() {
  return {NoConcurrency::kName, false,
          [](const ConcurrencyOptions& options) -> std::unique_ptr<Concurrency> {
            return std::make_unique<NoConcurrency>(options.structure_thread_safe);
          }};
}

}  // namespace keydrome::runtime
