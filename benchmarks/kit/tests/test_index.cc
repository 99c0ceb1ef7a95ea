// Implements the index library for tests, with faults that can be switched on (test_index.h): an
// ordered set of (key, payload) pairs per index, one mutex, and undo functions for aborts.
#include "benchmarks/kit/tests/test_index.h"

#include <atomic>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace keydrome::testing {
namespace {

using Pair = std::pair<std::string, std::string>;  // encoded key, payload
using Records = std::set<Pair>;

struct Index {
  KeyType type = SHORT;
  Records records;
};

// The position of a handle in its index: before the first record, at a record, or after a key.
struct Cursor {
  enum class At { kStart, kRecord, kAfterKey } at = At::kStart;
  Pair place;
};

struct Library {
  Faults faults;
  // Guards everything below. A transaction holds it from begin to end, except with the fault
  // no_isolation.
  std::mutex mutex;
  std::map<std::string, Index> indexes;
  std::string newest;  // the last inserted key, until a get asks for it
  std::atomic<uint32_t> inserts{0}, gets{0}, nexts{0}, calls{0};
};

std::unique_ptr<Library> library;
thread_local bool holds_lock = false;

// Returns the lowest `bytes` bytes of the value, the highest byte first.
std::string big_endian(uint64_t value, int bytes) {
  std::string text;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    text += static_cast<char>(value >> shift);
  return text;
}

// Returns a string for the key. The order of such strings is the order of the keys.
std::string encode(const Key& key, KeyType type) {
  if (type == VARCHAR) return key.keyval.charkey;
  if (type == SHORT) return big_endian(static_cast<uint32_t>(key.keyval.shortkey) ^ 0x80000000u, 4);
  return big_endian(static_cast<uint64_t>(key.keyval.intkey) ^ (uint64_t{1} << 63), 8);
}

// Writes the key that encode() returned as `text` to `key`.
void decode(const std::string& text, KeyType type, Key& key) {
  key.type = type;
  if (type == VARCHAR) {
    std::memcpy(key.keyval.charkey, text.c_str(), text.size() + 1);
    return;
  }
  uint64_t value = 0;
  for (const char byte : text) value = value << 8 | static_cast<uint8_t>(byte);
  if (type == SHORT) {
    key.keyval.shortkey = static_cast<int32_t>(static_cast<uint32_t>(value) ^ 0x80000000u);
  } else {
    key.keyval.intkey = static_cast<int64_t>(value ^ (uint64_t{1} << 63));
  }
}

// Returns a number that is no ErrCode, as a careless C library might.
ErrCode odd_code() {
  constexpr uint32_t kOdd = 77;
  ErrCode code = FAILURE;
  static_assert(sizeof code == sizeof kOdd);
  std::memcpy(&code, &kOdd, sizeof code);
  return code;
}

// Returns true if an encoded key may belong to a stripe, a check on keys of one thread. Such a key
// is a negative integer, the empty string, or a string that begins with '!'.
bool in_stripes(const std::string& key, KeyType type) {
  if (type == VARCHAR) return key.empty() || key[0] == '!';
  return static_cast<uint8_t>(key[0]) < 0x80;
}

// Returns true on every nth call.
bool every(std::atomic<uint32_t>& counter, uint32_t n) {
  return n != 0 && (counter.fetch_add(1) + 1) % n == 0;
}

}  // namespace
}  // namespace keydrome::testing

struct IdxState {
  keydrome::testing::Index* index = nullptr;
  uint64_t number = 0;  // number of the transaction that the cursor belongs to
  keydrome::testing::Cursor cursor;
};

struct TxnState {
  uint64_t number = 0;
  bool doomed = false;  // true after DEADLOCK: the transaction can only be aborted
  // For each change: true if it was a delete, and a function that undoes it.
  std::vector<std::pair<bool, std::function<void()>>> undo;
};

namespace keydrome::testing {
namespace {

std::atomic<uint64_t> next_number{1};

// All open handles. The library owns them, because a program may end without closing its handles.
std::mutex handles_mutex;
std::map<IdxState*, std::unique_ptr<IdxState>> open_handles;  // guarded by handles_mutex

// Holds the lock during one call if the thread's transaction does not hold it already.
class CallLock {
 public:
  CallLock() : mine_(!holds_lock) {
    if (mine_) library->mutex.lock();
  }
  ~CallLock() {
    if (mine_) library->mutex.unlock();
  }
  CallLock(const CallLock&) = delete;
  CallLock& operator=(const CallLock&) = delete;

 private:
  bool mine_;
};

// Returns true if the call must return DEADLOCK.
bool deadlock(TxnState* transaction) {
  if (transaction == nullptr) return false;
  transaction->doomed =
      transaction->doomed || every(library->calls, library->faults.deadlock_every);
  return transaction->doomed;
}

// Returns the cursor of a handle. A new transaction begins with a new cursor.
Cursor& cursor_of(IdxState* state, TxnState* transaction) {
  const uint64_t number = transaction == nullptr ? next_number++ : transaction->number;
  if (state->number != number) state->cursor = Cursor{};
  state->number = number;
  return state->cursor;
}

ErrCode create_index(KeyType type, char* name) {
  const CallLock lock;
  if (library->faults.success_only) return SUCCESS;
  return library->indexes.try_emplace(name, Index{.type = type, .records = {}}).second ? SUCCESS
                                                                                       : DB_EXISTS;
}

ErrCode open_index(const char* name, IdxState** state) {
  const CallLock lock;
  if (library->faults.success_only) return SUCCESS;
  const auto found = library->indexes.find(name);
  if (found == library->indexes.end()) return DB_DNE;
  auto handle =
      std::make_unique<IdxState>(IdxState{.index = &found->second, .number = 0, .cursor = {}});
  *state = handle.get();
  const std::lock_guard guard(handles_mutex);
  open_handles.emplace(*state, std::move(handle));
  return SUCCESS;
}

ErrCode close_index(IdxState* state) {
  const std::lock_guard guard(handles_mutex);
  open_handles.erase(state);
  return SUCCESS;
}

ErrCode begin(TxnState** transaction) {
  if (library->faults.success_only) return SUCCESS;
  if (every(library->calls, library->faults.deadlock_every)) return DEADLOCK;
  if (!library->faults.no_isolation) {
    library->mutex.lock();
    holds_lock = true;
  }
  *transaction = new TxnState{.number = next_number++, .doomed = false, .undo = {}};
  return SUCCESS;
}

void end(TxnState* transaction) {
  delete transaction;
  if (!holds_lock) return;
  holds_lock = false;
  library->mutex.unlock();
}

ErrCode abort_transaction(TxnState* transaction) {
  if (library->faults.success_only) return SUCCESS;
  {
    const CallLock lock;
    for (auto change = transaction->undo.rbegin(); change != transaction->undo.rend(); ++change) {
      const bool kept =
          library->faults.keeps_aborted || (library->faults.loses_aborted_deletes && change->first);
      if (!kept) change->second();
    }
  }
  end(transaction);
  return SUCCESS;
}

ErrCode commit_transaction(TxnState* transaction) {
  if (library->faults.success_only) return SUCCESS;
  if (deadlock(transaction)) return DEADLOCK;
  end(transaction);
  return SUCCESS;
}

// Returns true for the first get of the last inserted key, if the library misses it.
bool is_missed_once(const std::string& key) {
  return library->faults.misses_new_once && std::exchange(library->newest, "") == key;
}

ErrCode get_record(IdxState* state, TxnState* transaction, Record* record) {
  if (library->faults.success_only) return SUCCESS;
  const CallLock lock;
  if (deadlock(transaction)) return DEADLOCK;
  if (every(library->gets, library->faults.odd_code_every)) return odd_code();
  const std::string key = encode(record->key, state->index->type);
  Cursor& cursor = cursor_of(state, transaction);
  const auto found = state->index->records.lower_bound({key, ""});
  const bool is_stripe = in_stripes(key, state->index->type);
  if (found == state->index->records.end() || found->first != key ||
      (library->faults.misses_everything && !is_stripe) || is_missed_once(key)) {
    cursor = {.at = Cursor::At::kAfterKey, .place = {key, ""}};
    return KEY_NOTFOUND;
  }
  cursor = {.at = Cursor::At::kRecord, .place = *found};
  std::memcpy(record->payload, found->second.c_str(), found->second.size() + 1);
  return SUCCESS;
}

// Returns the record after the cursor.
Records::const_iterator following(const Records& records, const Cursor& cursor) {
  switch (cursor.at) {
    case Cursor::At::kStart:
      return records.begin();
    case Cursor::At::kRecord:
      return records.upper_bound(cursor.place);
    default:
      return records.lower_bound({cursor.place.first + std::string(1, 0), ""});
  }
}

ErrCode get_next(IdxState* state, TxnState* transaction, Record* record) {
  if (library->faults.success_only) return SUCCESS;
  const CallLock lock;
  if (deadlock(transaction)) return DEADLOCK;
  const Records& records = state->index->records;
  Cursor& cursor = cursor_of(state, transaction);
  const bool stay =
      cursor.at == Cursor::At::kRecord && every(library->nexts, library->faults.repeats_every);
  auto next = stay ? records.find(cursor.place) : following(records, cursor);
  if (next != records.end() && every(library->nexts, library->faults.skips_every)) ++next;
  if (library->faults.unordered && cursor.at != Cursor::At::kStart) {
    if (next != records.begin()) --next;
    if (next != records.begin()) --next;
  }
  if (library->faults.wraps_around && next == records.end()) next = records.begin();
  if (next == records.end()) return DB_END;
  cursor = {.at = Cursor::At::kRecord, .place = *next};
  decode(next->first, state->index->type, record->key);
  std::memcpy(record->payload, next->second.c_str(), next->second.size() + 1);
  return SUCCESS;
}

ErrCode insert_record(IdxState* state, TxnState* transaction, Key* key, const char* payload) {
  if (library->faults.success_only) return SUCCESS;
  const CallLock lock;
  if (deadlock(transaction)) return DEADLOCK;
  const Faults& faults = library->faults;
  const uint32_t number = library->inserts.fetch_add(1) + 1;
  const auto hit = [number](uint32_t n) { return n != 0 && number % n == 0; };
  Pair pair{encode(*key, state->index->type), payload};
  Records& records = state->index->records;
  if (hit(faults.fails_every)) return FAILURE;
  if (hit(faults.drops_every)) return SUCCESS;
  if (hit(faults.changes_payload_every) && !pair.second.empty())
    pair.second.back() = pair.second.back() == 'x' ? 'y' : 'x';
  if (hit(faults.wrong_key_every) && !records.empty()) pair.first = records.begin()->first;
  if (!records.insert(pair).second) return faults.accepts_duplicates ? SUCCESS : ENTRY_EXISTS;
  if (faults.misses_new_once) library->newest = pair.first;
  if (transaction != nullptr)
    transaction->undo.emplace_back(false, [&records, pair] { records.erase(pair); });
  return SUCCESS;
}

// Returns the stored pairs of the key with this payload. If the payload is empty, returns all pairs
// of the key.
std::vector<Pair> matching(const Records& records, const std::string& key,
                           const std::string& payload) {
  std::vector<Pair> found;
  for (auto at = records.lower_bound({key, ""}); at != records.end() && at->first == key; ++at) {
    if (payload.empty() || at->second == payload) found.push_back(*at);
  }
  return found;
}

ErrCode delete_record(IdxState* state, TxnState* transaction, Record* record) {
  if (library->faults.success_only) return SUCCESS;
  const CallLock lock;
  if (deadlock(transaction)) return DEADLOCK;
  const std::string key = encode(record->key, state->index->type);
  Records& records = state->index->records;
  const bool whole_key = record->payload[0] == 0;
  const std::vector<Pair> gone = matching(records, key, record->payload);
  if (gone.empty()) {
    if (library->faults.deletes_missing) return SUCCESS;
    return whole_key ? KEY_NOTFOUND : ENTRY_DNE;
  }
  if (library->faults.keeps_deleted && whole_key) return SUCCESS;
  for (const Pair& pair : gone) {
    records.erase(pair);
    if (transaction != nullptr)
      transaction->undo.emplace_back(true, [&records, pair] { records.insert(pair); });
  }
  const bool denies = library->faults.denies_deletes && !in_stripes(key, state->index->type);
  return denies ? KEY_NOTFOUND : SUCCESS;
}

}  // namespace

player::IndexApi test_index(const Faults& faults) {
  open_handles.clear();
  library = std::make_unique<Library>();
  library->faults = faults;
  return {.create = create_index,
          .openIndex = open_index,
          .closeIndex = close_index,
          .beginTransaction = begin,
          .abortTransaction = abort_transaction,
          .commitTransaction = commit_transaction,
          .get = get_record,
          .getNext = get_next,
          .insertRecord = insert_record,
          .deleteRecord = delete_record};
}

}  // namespace keydrome::testing
