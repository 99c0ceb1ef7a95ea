#include "runtime/control/none.h"

#include <cstdio>

namespace keydrome::runtime {

namespace {

void tell_once(std::atomic<bool>& told, const char* text) {
  if (!told.exchange(true)) std::fprintf(stderr, "keydrome runtime: %s\n", text);
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
