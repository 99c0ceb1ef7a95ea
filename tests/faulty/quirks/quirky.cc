// A correct library with one quirk, an unusual behaviour that is permitted (quirk.h).
//
// One lock protects all data. A transaction takes the lock at its first data call and keeps it
// until it ends, so every history is serial. A thread that does not get the lock in time gets
// DEADLOCK. All later calls in its transaction return TXN_DNE until the client aborts it.
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/faulty/honest.h"
#include "tests/faulty/quirks/quirk.h"

using honest::Cursor;
using honest::OrderedKey;
using quirky::kQuirk;
using quirky::Quirk;

namespace {

constexpr bool has(Quirk quirk) { return kQuirk == quirk; }

// The position of a scan in one transaction.
struct Position {
  std::optional<Cursor> cursor;
  uint64_t transaction = 0;  // the transaction that moved the cursor

  void begin(uint64_t number) {
    if (transaction == number) return;
    *this = {};
    transaction = number;
  }
};

struct Index : honest::Index {
  const char* name = nullptr;
  Position position;  // for quirks: shared by all handles, or kept for the next handle
};

}  // namespace

struct IdxState {
  Index* index;
  Position position;
  std::thread::id owner = std::this_thread::get_id();  // only the owner uses `position`
};

struct TxnState {
  uint64_t number;
  bool holds_lock = false;
  bool dead = false;  // a call returned DEADLOCK, and the changes are undone
};

namespace {

struct Undo {
  Index* index;
  OrderedKey key;
  std::string payload;
  bool inserted;
};

// All data of the library. With the quirk static_destructors it is freed when the process ends,
// although threads of the player, the program that calls the library, may still exist.
struct Everything {
  std::mutex catalogue_lock;
  std::vector<std::unique_ptr<Index>> indexes;
  std::set<IdxState*> handles;
  std::timed_mutex data_lock;
  std::deque<Undo> undo_log;
  std::atomic<uint64_t> last_number = 0;

  ~Everything() {
    for (const auto& index : indexes) index->records.clear();
    for (IdxState* handle : handles) delete handle;
  }
};

Everything& everything() {
  if (has(Quirk::static_destructors)) {
    static Everything destroyed;
    return destroyed;
  }
  static Everything* const kept = new Everything;
  return *kept;
}

thread_local TxnState* own = nullptr;

bool take_lock() {
  if (has(Quirk::never_waits)) return everything().data_lock.try_lock();
  const std::chrono::milliseconds timeout(has(Quirk::locks_for_80_ms) ? 80 : 5);
  return everything().data_lock.try_lock_for(timeout);
}

ErrCode misused(ErrCode code) {
  if (has(Quirk::misuse_crashes)) abort();
  return has(Quirk::misuse_succeeds) ? SUCCESS : code;
}

bool is_open(IdxState* handle) {
  const std::scoped_lock guard(everything().catalogue_lock);
  return everything().handles.contains(handle);
}

void drop(Index& index, const OrderedKey& key, const std::string& payload) {
  const auto found = index.records.find(key);
  if (found == index.records.end()) return;
  found->second.erase(payload);
  if (found->second.empty()) index.records.erase(found);
}

void roll_back() {
  std::deque<Undo>& log = everything().undo_log;
  for (auto entry = log.rbegin(); entry != log.rend(); ++entry) {
    if (entry->inserted) {
      drop(*entry->index, entry->key, entry->payload);
    } else {
      entry->index->records[entry->key].insert(entry->payload);
    }
  }
  log.clear();
}

// Notes a change for roll_back().
void note(Undo undo) {
  constexpr std::size_t kNotesMax = 10'000;
  std::deque<Undo>& log = everything().undo_log;
  log.push_back(std::move(undo));
  if (has(Quirk::forgets_old_changes) && log.size() > kNotesMax) log.pop_front();
}

// Returns the bytes of an index's name that count.
std::string name_of(const char* name) {
  constexpr std::size_t kRequired = 63;
  const std::string whole = name;
  if (has(Quirk::long_names_crash) && whole.size() > kRequired) abort();
  return has(Quirk::cuts_names) ? whole.substr(0, kRequired) : whole;
}

// Returns true if the commit of the thread's open transaction must fail.
bool commit_fails() {
  thread_local unsigned commits = 0;
  return has(Quirk::third_commit_deadlocks) && ++commits % 3 == 0;
}

// True if the next attempt of this thread must succeed, because its last one failed on purpose.
thread_local bool spared = false;

// Returns true if the thread's call on records must fail.
bool call_fails() {
  thread_local unsigned calls = 0;
  if (!has(Quirk::twelfth_call_deadlocks) || spared || ++calls % 12 != 0) return false;
  spared = true;
  return true;
}

// Undoes the changes of the transaction and releases the lock. The transaction stays open.
void kill(TxnState* txn) {
  if (txn->holds_lock) {
    roll_back();
    everything().data_lock.unlock();
  }
  txn->holds_lock = false;
  txn->dead = true;
}

void end(TxnState* txn) {
  if (txn->holds_lock) everything().data_lock.unlock();
  own = nullptr;
  delete txn;
}

// Permission to access data during one call, on the handle and in the transaction of the call.
class Access {
 public:
  Access(IdxState* handle, TxnState* txn) : code_(enter(handle, txn)) {}
  ~Access() {
    if (!unlocks_) return;
    if (code_ == SUCCESS) spared = false;
    everything().undo_log.clear();
    everything().data_lock.unlock();
  }
  Access(const Access&) = delete;
  Access& operator=(const Access&) = delete;

  bool granted() const { return code_ == SUCCESS; }
  ErrCode code() const { return code_; }
  TxnState* transaction() const { return joined_; }

 private:
  // LIMIT: this function has more branches than the repository allows, because each rule and each
  // quirk is one branch.
  ErrCode enter(IdxState* handle, TxnState* txn) {
    if (!is_open(handle)) return refused(DB_DNE);
    if (txn != nullptr && txn != own) return refused(TXN_DNE);
    if (txn == nullptr && own != nullptr) {
      if (has(Quirk::auto_commit_fails)) return FAILURE;
      if (has(Quirk::auto_commit_joins)) txn = own;
    }
    joined_ = txn;
    if (txn != nullptr && txn->dead) {
      return has(Quirk::failure_after_deadlock) ? FAILURE : TXN_DNE;
    }
    const bool fails = call_fails();
    if (fails && txn != nullptr) kill(txn);
    if (fails) return DEADLOCK;
    if (txn != nullptr && txn->holds_lock) return SUCCESS;
    const bool taken = take_lock();
    if (txn == nullptr) unlocks_ = taken;
    if (txn != nullptr) (taken ? txn->holds_lock : txn->dead) = true;
    return taken ? SUCCESS : DEADLOCK;
  }
  static ErrCode refused(ErrCode code) {
    const ErrCode answer = misused(code);
    return answer == SUCCESS ? KEY_NOTFOUND : answer;  // there is no record to return
  }

  bool unlocks_ = false;
  TxnState* joined_ = nullptr;
  ErrCode code_;
};

// Returns the position that the transaction's scans on this handle use.
Position& position_of(IdxState* handle, TxnState* txn) {
  Position& position =
      has(Quirk::handles_share_cursors) ? handle->index->position : handle->position;
  position.begin(txn->number);
  return position;
}

void write(Record* record, const OrderedKey& key, KeyType type, const std::string& payload) {
  record->key = honest::to_key(key, type);
  std::memcpy(record->payload, payload.data(), payload.size());
  if (!has(Quirk::no_terminator)) record->payload[payload.size()] = '\0';
}

// Copies the first pair after the cursor, or the first pair of all if there is none, and moves the
// cursor to this pair. Returns false if there is no such pair.
bool advance(const Index& index, std::optional<Cursor>& cursor, Record* record) {
  auto at = cursor ? index.records.lower_bound(cursor->key) : index.records.begin();
  auto pair = at == index.records.end() ? std::set<std::string>::iterator() : at->second.begin();
  if (cursor && at != index.records.end() && at->first == cursor->key) {
    const bool before = !cursor->payload && has(Quirk::misses_stop_before);
    if (cursor->payload) pair = at->second.upper_bound(*cursor->payload);
    if ((!cursor->payload && !before) || pair == at->second.end()) {
      if (++at != index.records.end()) pair = at->second.begin();
    }
  }
  if (at == index.records.end()) return false;
  cursor = Cursor{at->first, *pair};
  write(record, at->first, index.type, *pair);
  return true;
}

bool open_file(std::size_t number) {
  const std::string name = "index-" + std::to_string(number);
  const int file = open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  return file >= 0 && ::write(file, "x", 1) == 1;
}

void remove(Index& index, const OrderedKey& key, const std::string& payload) {
  drop(index, key, payload);
  note({&index, key, payload, false});
}

}  // namespace

extern "C" {

ErrCode create(KeyType type, char* name) {
  Everything& all = everything();
  const std::scoped_lock guard(all.catalogue_lock);
  for (const auto& index : all.indexes) {
    if (name_of(index->name) == name_of(name)) return DB_EXISTS;
  }
  for (unsigned long i = 0; i < quirky::kStaticBytes; i += 4096) quirky::kStaticData[i] = 1;
  constexpr std::size_t kReserved = std::size_t{4} << 30;
  // The block is never freed, as in entries that keep their indexes until the process ends.
  if (has(Quirk::reserves_4_gib) && std::malloc(kReserved) == nullptr) return FAILURE;
  if (has(Quirk::file_for_each_index) && !open_file(all.indexes.size())) return FAILURE;
  auto index = std::make_unique<Index>();
  index->type = type;
  index->name = has(Quirk::keeps_names) ? name : strdup(name);
  all.indexes.push_back(std::move(index));
  return SUCCESS;
}

ErrCode openIndex(const char* name, IdxState** idxState) {
  Everything& all = everything();
  const std::scoped_lock guard(all.catalogue_lock);
  for (const auto& index : all.indexes) {
    if (name_of(index->name) != name_of(name)) continue;
    if (own != nullptr && has(Quirk::opening_resets_cursors)) {
      for (IdxState* handle : all.handles) {
        const bool mine = handle->owner == std::this_thread::get_id();
        if (mine && handle->index == index.get()) handle->position.cursor.reset();
      }
    }
    *idxState = new IdxState{index.get(), {}};
    if (has(Quirk::reopening_keeps_cursor)) (*idxState)->position = index->position;
    all.handles.insert(*idxState);
    return SUCCESS;
  }
  return DB_DNE;
}

ErrCode closeIndex(IdxState* idxState) {
  if (!is_open(idxState)) return misused(DB_DNE);
  const std::scoped_lock guard(everything().catalogue_lock);
  if (has(Quirk::reopening_keeps_cursor)) idxState->index->position = idxState->position;
  everything().handles.erase(idxState);
  delete idxState;
  return SUCCESS;
}

ErrCode beginTransaction(TxnState** txn) {
  if (own != nullptr) {
    if (!has(Quirk::no_txn_exists)) return TXN_EXISTS;
    *txn = own;
    return SUCCESS;
  }
  own = new TxnState{++everything().last_number};
  *txn = own;
  return SUCCESS;
}

ErrCode abortTransaction(TxnState* txn) {
  if (txn == nullptr || txn != own) return misused(TXN_DNE);
  const bool dead = txn->dead;
  if (txn->holds_lock) roll_back();
  end(txn);
  return dead && has(Quirk::abort_is_deadlock) ? DEADLOCK : SUCCESS;
}

ErrCode commitTransaction(TxnState* txn) {
  if (txn == nullptr || txn != own) return misused(TXN_DNE);
  if (txn->dead) {
    if (has(Quirk::dead_commit_ends)) end(txn);
    return has(Quirk::failure_after_deadlock) ? FAILURE : TXN_DNE;
  }
  if (commit_fails()) {
    kill(txn);
    return DEADLOCK;
  }
  spared = false;
  if (txn->holds_lock) everything().undo_log.clear();
  end(txn);
  return SUCCESS;
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  const Access access(idxState, txn);
  if (!access.granted()) return access.code();
  const OrderedKey key = honest::to_ordered(record->key);
  const auto found = idxState->index->records.find(key);
  const bool hit = found != idxState->index->records.end();
  if (access.transaction() != nullptr) {
    Position& position = position_of(idxState, access.transaction());
    position.cursor = Cursor{key, hit ? std::optional(*found->second.begin()) : std::nullopt};
  }
  if (!hit) return KEY_NOTFOUND;
  write(record, key, idxState->index->type, *found->second.begin());
  return SUCCESS;
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  const Access access(idxState, txn);
  if (!access.granted()) return access.code();
  std::optional<Cursor> start;
  if (access.transaction() == nullptr || txn == nullptr) {
    return advance(*idxState->index, start, record) ? SUCCESS : DB_END;
  }
  Position& position = position_of(idxState, access.transaction());
  if (advance(*idxState->index, position.cursor, record)) return SUCCESS;
  if (has(Quirk::restarts_after_end)) position.cursor.reset();
  return DB_END;
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  const Access access(idxState, txn);
  if (!access.granted()) return access.code();
  const OrderedKey key = honest::to_ordered(*k);
  if (has(Quirk::writes_keys) && k->type != VARCHAR) {
    std::memset(reinterpret_cast<char*>(&k->keyval) + sizeof k->keyval.intkey, 0,
                sizeof k->keyval - sizeof k->keyval.intkey);
  }
  if (!idxState->index->records[key].insert(payload).second) return ENTRY_EXISTS;
  note({idxState->index, key, payload, true});
  return SUCCESS;
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  const Access access(idxState, txn);
  if (!access.granted()) return access.code();
  Index& index = *idxState->index;
  const OrderedKey key = honest::to_ordered(record->key);
  const auto found = index.records.find(key);
  const std::string payload = record->payload;
  if (found == index.records.end()) {
    return !payload.empty() && has(Quirk::missing_key_is_entry) ? ENTRY_DNE : KEY_NOTFOUND;
  }
  if (payload.empty()) {
    const std::set<std::string> all = found->second;
    for (const std::string& each : all) remove(index, key, each);
    return SUCCESS;
  }
  if (!found->second.contains(payload)) return has(Quirk::delete_code) ? KEY_NOTFOUND : ENTRY_DNE;
  remove(index, key, payload);
  if (has(Quirk::exact_delete_moves) && access.transaction() != nullptr) {
    Position& position = position_of(idxState, access.transaction());
    position.cursor = Cursor{key, payload};
  }
  return SUCCESS;
}

}  // extern "C"
