// Implements random_history.h: runs random transactions on a store without concurrency control, and
// records the calls.
#include "checker/tests/random_history.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <random>
#include <set>

#include "base/hash.h"

namespace keydrome {

using history::Event;
using history::EventCall;
using history::History;
using history::kEventAutoCommit;

namespace {

using Keys = std::map<uint64_t, std::set<uint64_t>>;
using Contents = std::vector<Keys>;  // by index

struct Write {
  EventCall call;
  uint16_t index;
  uint64_t key;
  uint64_t payload;
};

struct Client {
  bool open = false;
  uint32_t calls_left = 0;
  Contents snapshot;
  std::vector<Write> writes;
  std::vector<std::optional<std::pair<uint64_t, std::set<uint64_t>>>>
      cursors;  // by index and handle: the key, and its payloads that were returned
};

// Makes one history. In half of the histories, each transaction reads a snapshot from the time of
// its begin. One call in twenty replaces the snapshot by the committed state. In the other half,
// every call reads the committed state. The store never detects conflicts, so only some histories
// are serialisable. LIMIT: this class is longer than the 200 lines that the repository allows,
// because every random call uses the same store, snapshots and clock.
class Generator {
 public:
  Generator(uint64_t seed, const RandomHistoryOptions& options)
      : random_(seed), options_(options), committed_(options.indexes), clients_(options.threads) {
    for (uint32_t i = 0; i < options.indexes; ++i) {
      history_.indexes.push_back({INT, std::string(1, static_cast<char>('A' + i))});
    }
    history_.threads.resize(options.threads);
    reads_snapshots_ = chance(2);
    forgets_writes_ = chance(8);
    leaks_ = chance(10);
    peeks_ = chance(12);
    shares_cursors_ = options.handles > 1 && chance(2);
  }

  History run() {
    uint32_t left = 2 + pick(options_.transactions - 1);
    while (true) {
      const uint32_t thread = pick(options_.threads);
      Client& client = clients_[thread];
      if (!client.open && left == 0) {
        if (std::none_of(clients_.begin(), clients_.end(),
                         [](const Client& one) { return one.open; })) {
          break;
        }
        continue;
      }
      now_ += 10 + pick(20);
      if (!client.open) {
        --left;
        start(thread);
      } else if (client.calls_left-- == 0) {
        finish(thread);
      } else {
        call(thread, false);
      }
    }
    widen();
    return std::move(history_);
  }

 private:
  void start(uint32_t thread) {
    Client& client = clients_[thread];
    if (chance(6)) {
      client.snapshot = committed_;
      client.writes.clear();
      client.cursors.assign(std::size_t{options_.indexes} * options_.handles, std::nullopt);
      call(thread, true);
      apply(client.writes, committed_);
      client.writes.clear();
      return;
    }
    client.open = true;
    client.calls_left = 1 + pick(4);
    client.snapshot = committed_;
    client.writes.clear();
    client.cursors.assign(std::size_t{options_.indexes} * options_.handles, std::nullopt);
    note(thread, {static_cast<uint8_t>(EventCall::kBegin), SUCCESS, 0, 0, 0, 0, 0});
  }

  void finish(uint32_t thread) {
    Client& client = clients_[thread];
    client.open = false;
    const bool commits = !chance(8);
    if (commits || leaks_) apply(client.writes, committed_);
    note(thread, {static_cast<uint8_t>(commits ? EventCall::kCommit : EventCall::kAbort), SUCCESS,
                  0, 0, 0, 0, 0});
  }

  void call(uint32_t thread, bool auto_commit) {
    Client& client = clients_[thread];
    Event event{};
    event.index = static_cast<uint16_t>(pick(options_.indexes));
    event.key = 1 + pick(options_.keys);
    const uint32_t handle = choose_handle(event.index);
    if (!reads_snapshots_ || chance(20)) client.snapshot = committed_;
    Contents view = client.snapshot;
    if (!(forgets_writes_ && chance(3))) apply(client.writes, view);
    if (peeks_) {
      for (const Client& other : clients_) {
        if (other.open && &other != &client) apply(other.writes, view);
      }
    }
    switch (pick(11)) {
      case 0:
      case 1:
      case 2:
        get(client, view[event.index], event);
        break;
      case 3:
      case 4:
      case 5:
        next(client, view[event.index], event);
        break;
      case 6:
      case 7:
        insert(client, view[event.index], event);
        break;
      case 8:
      case 9:
        delete_pair(client, view[event.index], event);
        break;
      default:
        delete_key(client, view[event.index], event);
        break;
    }
    if (auto_commit) event.call |= kEventAutoCommit;
    if (event.call == static_cast<uint8_t>(EventCall::kInsert) && chance(12)) event.code = DEADLOCK;
    event.call |= static_cast<uint8_t>(handle << history::kEventHandleShift);
    note(thread, event);
    if (event.code == DEADLOCK && client.open) {
      client.open = false;
      note(thread, {static_cast<uint8_t>(EventCall::kAbort), SUCCESS, 0, 0, 0, 0, 0});
    }
  }

  // Chooses the handle of the next call, and sets cursor_ to its cursor.
  uint32_t choose_handle(uint32_t index) {
    const uint32_t handle = options_.handles > 1 ? pick(options_.handles) : 0;
    cursor_ = index * options_.handles + (shares_cursors_ ? 0 : handle);
    return handle;
  }

  void get(Client& client, const Keys& keys, Event& event) {
    event.call = static_cast<uint8_t>(EventCall::kGet);
    const auto found = keys.find(event.key);
    auto& cursor = client.cursors[cursor_];
    cursor.emplace(event.key, std::set<uint64_t>{});
    if (found == keys.end()) {
      event.code = KEY_NOTFOUND;
      return;
    }
    event.payload = any_of(found->second);
    cursor->second.insert(event.payload);
  }

  void next(Client& client, const Keys& keys, Event& event) {
    event.call = static_cast<uint8_t>(EventCall::kNext);
    auto& cursor = client.cursors[cursor_];
    if (chance(60)) cursor.reset();  // a mistake: the scan starts again at the first record
    auto at = cursor ? keys.lower_bound(cursor->first) : keys.begin();
    if (cursor && at != keys.end() && at->first == cursor->first) {
      for (const uint64_t payload : at->second) {
        if (cursor->second.count(payload) != 0) continue;
        show(*cursor, at->first, payload, event);
        return;
      }
      ++at;
    }
    if (at == keys.end()) {
      event.key = 0;
      event.code = DB_END;
      if (chance(4)) cursor.reset();  // the next scan starts again at the first record
      return;
    }
    if (chance(60) && std::next(at) != keys.end()) ++at;  // a mistake: skips a key
    cursor.emplace(at->first, std::set<uint64_t>{});
    show(*cursor, at->first, any_of(at->second), event);
  }

  void show(std::pair<uint64_t, std::set<uint64_t>>& cursor, uint64_t key, uint64_t payload,
            Event& event) {
    event.key = key;
    event.payload = payload;
    cursor.second.insert(payload);
  }

  void insert(Client& client, const Keys& keys, Event& event) {
    event.call = static_cast<uint8_t>(EventCall::kInsert);
    if (chance(6) && keys.count(event.key) != 0) {
      event.payload = any_of(keys.at(event.key));
      event.code = ENTRY_EXISTS;
      return;
    }
    event.payload = hash_mix(++payloads_, 7);
    if (options_.reuses_payloads && chance(2)) {
      event.payload = hash_mix(1 + pick(payloads_), 7);
      const auto found = keys.find(event.key);
      const bool there = found != keys.end() && found->second.count(event.payload) != 0;
      if (there && !chance(8)) {
        event.code = ENTRY_EXISTS;
        return;
      }
    }
    client.writes.push_back({EventCall::kInsert, event.index, event.key, event.payload});
  }

  void delete_pair(Client& client, const Keys& keys, Event& event) {
    event.call = static_cast<uint8_t>(EventCall::kDeletePair);
    event.payload = hash_mix(1 + pick(payloads_ + 1), 7);
    const auto found = keys.find(event.key);
    if (found != keys.end() && !chance(6)) event.payload = any_of(found->second);
    if (found == keys.end() || found->second.count(event.payload) == 0) {
      event.code = chance(found == keys.end() ? 2 : 20) ? KEY_NOTFOUND : ENTRY_DNE;
      return;
    }
    client.writes.push_back({EventCall::kDeletePair, event.index, event.key, event.payload});
    for (uint32_t i = 0; i < options_.handles; ++i) {
      client.cursors[event.index * options_.handles + i].reset();
    }
  }

  void delete_key(Client& client, const Keys& keys, Event& event) {
    event.call = static_cast<uint8_t>(EventCall::kDeleteKey);
    const auto found = keys.find(event.key);
    if (found == keys.end()) {
      event.code = KEY_NOTFOUND;
      return;
    }
    if (!options_.blind_deletes) {
      // Records a deleteRecord of one pair instead of a deleteRecord of all payloads.
      event.call = static_cast<uint8_t>(EventCall::kDeletePair);
      event.payload = *found->second.begin();
      client.writes.push_back({EventCall::kDeletePair, event.index, event.key, event.payload});
      return;
    }
    client.writes.push_back({EventCall::kDeleteKey, event.index, event.key, 0});
  }

  static void apply(const std::vector<Write>& writes, Contents& contents) {
    for (const Write& write : writes) {
      Keys& keys = contents[write.index];
      if (write.call == EventCall::kInsert) {
        keys[write.key].insert(write.payload);
        continue;
      }
      const auto found = keys.find(write.key);
      if (found == keys.end()) continue;
      if (write.call == EventCall::kDeletePair) found->second.erase(write.payload);
      if (write.call == EventCall::kDeleteKey || found->second.empty()) keys.erase(found);
    }
  }

  void note(uint32_t thread, Event event) {
    event.end = ++now_;
    history_.threads[thread].push_back(event);
  }

  // Makes each call begin before the moment of its effect and end after this moment, at random
  // distances.
  void widen() {
    for (auto& events : history_.threads) {
      uint64_t before = 0;
      for (std::size_t i = 0; i < events.size(); ++i) {
        const uint64_t effect = events[i].end;
        const uint64_t limit = i + 1 < events.size() ? events[i + 1].end - 1 : UINT64_MAX;
        const uint64_t reach = pick(40);
        const uint64_t begin = std::max(before + 1, effect - std::min(effect, reach));
        events[i].end = std::min(limit, effect + pick(40));
        events[i].duration = static_cast<uint32_t>(events[i].end - std::min(begin, effect));
        before = events[i].end;
      }
    }
  }

  uint64_t any_of(const std::set<uint64_t>& payloads) {
    return *std::next(payloads.begin(), pick(static_cast<uint32_t>(payloads.size())));
  }
  uint32_t pick(uint32_t below) { return static_cast<uint32_t>(random_() % below); }
  bool chance(uint32_t one_in) { return pick(one_in) == 0; }

  std::mt19937_64 random_;
  const RandomHistoryOptions options_;
  History history_;
  Contents committed_;
  std::vector<Client> clients_;
  uint64_t now_ = 0;
  uint32_t payloads_ = 0;
  std::size_t cursor_ = 0;        // position in Client::cursors of the current call's cursor
  bool reads_snapshots_ = false;  // true: calls read a snapshot; false: the committed state
  bool forgets_writes_ = false;   // true: one call in three misses the transaction's own writes
  bool leaks_ = false;            // true: writes of aborted transactions remain
  bool shares_cursors_ = false;   // true: all handles of an index share a cursor
  bool peeks_ = false;            // true: reads see uncommitted writes of other transactions
};

}  // namespace

History random_history(uint64_t seed, const RandomHistoryOptions& options) {
  return Generator(seed, options).run();
}

uint64_t rounds(uint64_t usual) {
#ifdef KEYDROME_SANITIZED
  usual /= 5;
#endif
  const char* factor = std::getenv("KEYDROME_SOAK");
  return usual * (factor == nullptr ? 1 : std::strtoull(factor, nullptr, 10));
}

}  // namespace keydrome
