// Implements synthetic_history.h: makes histories of a correct library without running a library.
#include "checker/bench/synthetic_history.h"

#include <algorithm>
#include <queue>
#include <random>
#include <span>

#include "base/hash.h"
#include "checker/history/calls.h"

namespace keydrome {

using history::Event;
using history::EventCall;
using history::History;

namespace {

// Returns a word of 24 bytes for the number of a key. Words sort like their numbers.
std::string word_of(uint32_t key) {
  std::string digits = std::to_string(key);
  return "key " + std::string(20 - digits.size(), '0') + digits;
}

// Makes one history: applies the transactions of all threads to a store in memory, and records the
// results. LIMIT: this class is longer than the 200 lines that the repository allows, because every
// call of a transaction uses the same store, clock and cursors.
class Synthesizer {
 public:
  explicit Synthesizer(const SyntheticOptions& options)
      : options_(options),
        random_(options.seed),
        cells_(std::size_t{options.indexes} * options.keys) {
    history_.threads.resize(options.threads);
    for (uint32_t i = 0; i < options.indexes; ++i) {
      history_.indexes.push_back({options.type, "synthetic" + std::to_string(i)});
    }
    for (uint32_t key = 0; key < options.keys; ++key) {
      const bool is_word = options.type == VARCHAR;
      if (is_word) history_.varchar_keys.push_back(word_of(key));
      names_.push_back(is_word ? hash_bytes(word_of(key)) : key);
    }
  }

  History run() {
    std::priority_queue<Next, std::vector<Next>, std::greater<>> queue;
    const auto plan = [&](uint32_t thread, uint64_t free_from) {
      const uint64_t begin = free_from + 1 + pick(500);
      const uint64_t end = begin + 2000 + pick(6000);
      queue.push({begin + 1 + pick(static_cast<uint32_t>(end - begin - 1)), begin, end, thread});
    };
    for (uint32_t thread = 0; thread < options_.threads; ++thread) plan(thread, 1);
    for (uint32_t done = 0; done < options_.transactions;) {
      const Next next = queue.top();
      queue.pop();
      const bool commits = pick(50) != 0;
      done += commits ? 1 : 0;
      plan(next.thread, transact(next, commits));
    }
    read_back();
    return std::move(history_);
  }

 private:
  // The next transaction of a thread. It takes effect at `moment`, between its begin and its end.
  struct Next {
    uint64_t moment;
    uint64_t begin;
    uint64_t end;
    uint32_t thread;
    bool operator>(const Next& other) const { return moment > other.moment; }
  };
  struct Undo {
    std::size_t cell;
    uint64_t payload;
    bool inserted;
  };

  // Runs a transaction and returns the time at which it ends. The data calls of the transaction run
  // one after the other from `moment` on. Other transactions make no data calls during this time,
  // so no transaction sees an uncommitted write. The begin call lasts until the first data call.
  // The commit or abort lasts from the last data call to the end of the transaction.
  uint64_t transact(const Next& next, bool commits) {
    events_ = &history_.threads[next.thread];
    const std::size_t first = events_->size();
    undo_.clear();
    note(EventCall::kBegin, SUCCESS, 0, 0, 0);
    const bool only_reads = pick(100) < 30;
    while (events_->size() - first <= options_.operations) operate(only_reads);
    note(commits ? EventCall::kCommit : EventCall::kAbort, SUCCESS, 0, 0, 0);
    if (!commits) {
      for (; !undo_.empty(); undo_.pop_back()) take_back(undo_.back());
    }
    now_ = std::max(now_, next.moment);
    uint64_t before = next.begin;
    for (std::size_t i = first; i < events_->size(); ++i) {
      const bool ends = i + 1 == events_->size();
      Event& event = (*events_)[i];
      now_ += 2;
      event.end = ends ? std::max(now_, next.end) : now_;
      event.duration = static_cast<uint32_t>(event.end - before - (i == first ? 0 : 1));
      before = event.end;
    }
    last_end_ = std::max(last_end_, before);
    return before;
  }

  // Reads all records in a last transaction of the first thread.
  void read_back() {
    events_ = history_.threads.data();
    const std::size_t first = events_->size();
    note(EventCall::kBegin, SUCCESS, 0, 0, 0);
    const auto indexes = static_cast<uint16_t>(options_.indexes);
    for (uint16_t index = 0; index < indexes; ++index) {
      uint32_t key = 0;
      shown_ = 0;
      while (next(index, key)) {
      }
    }
    note(EventCall::kCommit, SUCCESS, 0, 0, 0);
    for (std::size_t i = first; i < events_->size(); ++i) (*events_)[i].end = last_end_ += 2;
  }

  void operate(bool only_reads) {
    const auto index = static_cast<uint16_t>(pick(options_.indexes));
    const uint32_t key = pick(options_.keys);
    const uint32_t kind = pick(only_reads ? 55 : 100);
    if (kind < 30) {
      get(index, key);
    } else if (kind < 55) {
      get(index, key);
      scan(index, key, 1 + pick(3));
    } else if (kind < 77) {
      insert(index, key);
    } else if (kind < 91) {
      delete_pair(index, key);
    } else if (options_.blind_deletes) {
      delete_key(index, key);
    } else {
      get(index, key);
      scan_key(index, key);
      delete_key(index, key);
    }
  }

  void get(uint16_t index, uint32_t key) {
    const std::vector<uint64_t>& records = cell(index, key);
    if (records.empty()) {
      note(EventCall::kGet, KEY_NOTFOUND, index, names_[key], 0);
    } else {
      note(EventCall::kGet, SUCCESS, index, names_[key], records[0]);
    }
    shown_ = 1;
  }

  // Makes one getNext call from the cursor at `key`, which has returned shown_ records of this key.
  // Returns false at the end of the index.
  bool next(uint16_t index, uint32_t& key) {
    while (shown_ >= cell(index, key).size()) {
      if (++key == options_.keys) {
        note(EventCall::kNext, DB_END, index, 0, 0);
        return false;
      }
      shown_ = 0;
    }
    note(EventCall::kNext, SUCCESS, index, names_[key], cell(index, key)[shown_++]);
    return true;
  }

  void scan(uint16_t index, uint32_t key, uint32_t steps) {
    while (steps-- > 0 && next(index, key)) {
    }
  }

  // Makes getNext calls from the cursor at `key` until one returns a larger key or DB_END.
  void scan_key(uint16_t index, uint32_t key) {
    uint32_t at = key;
    while (at == key && next(index, at)) {
    }
  }

  void insert(uint16_t index, uint32_t key) {
    const uint64_t payload = hash_mix(++payloads_, options_.seed);
    cell(index, key).push_back(payload);
    undo_.push_back({place(index, key), payload, true});
    note(EventCall::kInsert, SUCCESS, index, names_[key], payload);
  }

  void delete_pair(uint16_t index, uint32_t key) {
    std::vector<uint64_t>& records = cell(index, key);
    if (records.empty()) {
      // Passes a number that is no payload of the history: payloads are hashes (hash_mix).
      note(EventCall::kDeletePair, ENTRY_DNE, index, names_[key], payloads_);
      return;
    }
    const uint64_t payload = records.back();
    records.pop_back();
    undo_.push_back({place(index, key), payload, false});
    note(EventCall::kDeletePair, SUCCESS, index, names_[key], payload);
  }

  void delete_key(uint16_t index, uint32_t key) {
    std::vector<uint64_t>& records = cell(index, key);
    note(EventCall::kDeleteKey, records.empty() ? KEY_NOTFOUND : SUCCESS, index, names_[key], 0);
    for (; !records.empty(); records.pop_back()) {
      undo_.push_back({place(index, key), records.back(), false});
    }
  }

  void take_back(const Undo& undo) {
    if (undo.inserted) {
      std::erase(cells_[undo.cell], undo.payload);
    } else {
      cells_[undo.cell].push_back(undo.payload);
    }
  }

  void note(EventCall call, uint8_t code, uint16_t index, uint64_t key, uint64_t payload) {
    events_->push_back({static_cast<uint8_t>(call), code, index, 0, key, payload, 0});
  }

  std::size_t place(uint16_t index, uint32_t key) const {
    return std::size_t{index} * options_.keys + key;
  }
  std::vector<uint64_t>& cell(uint16_t index, uint32_t key) { return cells_[place(index, key)]; }
  uint32_t pick(uint32_t below) { return static_cast<uint32_t>((random_() >> 32) * below >> 32); }

  const SyntheticOptions options_;
  std::mt19937_64 random_;
  History history_;
  std::vector<uint64_t> names_;               // by key: its value in Event::key
  std::vector<std::vector<uint64_t>> cells_;  // by index and key: the payloads
  std::vector<Event>* events_ = nullptr;
  std::vector<Undo> undo_;
  std::size_t shown_ = 0;  // number of records of the current key that the cursor has returned
  uint64_t payloads_ = 0;  // number of payloads that were inserted so far
  uint64_t now_ = 0;       // end of the last data call
  uint64_t last_end_ = 0;  // latest end of all transactions
};

}  // namespace

History with_stale_readers(const History& history, uint64_t delay_ticks) {
  History stale = history;
  stale.threads.clear();
  for (const std::vector<Event>& events : history.threads) {
    std::vector<Event> in_time, late;
    for (std::size_t first = 0, i = 0; i < events.size(); ++i) {
      if (call_of(events[i]) != EventCall::kCommit && call_of(events[i]) != EventCall::kAbort) {
        continue;
      }
      const std::span<const Event> transaction(&events[first], i + 1 - first);
      const bool reads =
          std::all_of(transaction.begin(), transaction.end(), [](const Event& event) {
            return !is_data_call(call_of(event)) || call_of(event) <= EventCall::kNext;
          });
      std::vector<Event>& to = reads ? late : in_time;
      to.insert(to.end(), transaction.begin(), transaction.end());
      first = i + 1;
    }
    for (Event& event : late) event.end += delay_ticks;
    stale.threads.push_back(std::move(in_time));
    stale.threads.push_back(std::move(late));
  }
  return stale;
}

History synthetic_history(const SyntheticOptions& options) { return Synthesizer(options).run(); }

}  // namespace keydrome
