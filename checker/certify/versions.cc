// Implements versions.h: finds the inserter and the deleter of every record. An *element* is the
// number of a record, a *cell* the number of a key (numbering.h). A delete of all payloads of a key
// is *blind* if its transaction had not read all these payloads. VersionPass visits all calls, and
// finds what the deletes that are not blind have deleted. For records that a blind delete may have
// deleted, BlindDeletes finds the deleter by real time, or lists the possible deleters.
#include "checker/certify/versions.h"

#include <algorithm>
#include <map>

namespace keydrome::certify {

using history::Bound;
using history::Cell;
using history::Event;
using history::EventCall;
using history::EventRef;
using history::History;
using history::kAnyCursor;
using history::kNoNumber;
using history::Numbering;
using history::Transaction;
using history::Transactions;
using history::TransactionState;

namespace {

// A delete of all payloads of a key by a transaction that had not read all payloads of the key.
struct BlindDelete {
  uint32_t transaction;
  uint64_t ticks;  // when the deleteRecord call returned
};

// Finds the inserter of every element, and the element's deleter if the delete is not blind. If a
// transaction deletes all payloads of a key, VersionPass tracks which payloads the transaction saw
// before.
class VersionPass {
 public:
  VersionPass(const History& history, const Numbering& numbering, const Transactions& transactions,
              Versions& out)
      : history_(history),
        numbering_(numbering),
        transactions_(transactions),
        out_(out),
        sights_(numbering.cells.size()),
        cursors_(numbering.first_cursors.back()) {
    inserted_ticks.resize(numbering.element_cells.size());
  }

  void run() {
    for (uint32_t i = 0; i < transactions_.committed.size(); ++i) note_committed(i);
    for (const Transaction& other : transactions_.others) note_uncommitted(other);
  }

  std::map<uint32_t, std::vector<BlindDelete>> blind_deletes;  // by cell
  std::vector<uint64_t> inserted_ticks;  // by element: when its insert returned

 private:
  // The elements of a cell that a transaction has seen.
  struct Sight {
    uint32_t transaction = kNoNumber;  // the other members are valid only in this transaction
    uint32_t last_seen = kNoNumber;  // position in seen_; Seen::previous leads to earlier elements
    bool complete = false;           // true if the transaction has read all payloads of the key
  };
  struct Seen {
    uint32_t element;
    uint32_t previous;
  };
  // A cursor (numbering.h): where the next getNext continues. A cursor is *loose* if its position
  // is unknown; then the next getNext may return any record. After DB_END, getNext may start again
  // at the first record.
  struct Cursor {
    // The key of the cursor. kNoNumber if the cursor is before the first key or loose.
    uint32_t cell = kNoNumber;
    // True if a scan must return all payloads of the key before it leaves the key. False if the
    // cursor was loose when it came to the key, or if the key has no payload.
    bool owes_key = false;
    bool loose = false;
    bool ended = false;  // the last getNext returned DB_END
  };

  void note_committed(uint32_t number) {
    const Transaction& transaction = transactions_.committed[number];
    const std::vector<Bound>& bounds = numbering_.bounds[transaction.thread];
    number_ = number;
    tracks_ = deletes_a_key(transaction);
    if (tracks_) {
      std::fill(cursors_.begin(), cursors_.end(), Cursor{});
      seen_.clear();
    }
    for_each_call(history_, transaction, [&](uint32_t position, const Event& event) {
      const Bound bound = bounds[position];
      if (tracks_) track(event, bound);
      if (!succeeded(event)) return;
      const EventCall call = call_of(event);
      if (call == EventCall::kInsert) {
        set_inserter(bound.element);
        inserted_ticks[bound.element] = event.end;
      } else if (call == EventCall::kDeletePair) {
        set_deleter(bound.element, {transaction.thread, position});
      } else if (call == EventCall::kDeleteKey) {
        delete_seen(bound.cell, {transaction.thread, position});
      }
    });
  }

  bool deletes_a_key(const Transaction& transaction) const {
    bool found = false;
    for_each_call(history_, transaction, [&](uint32_t, const Event& event) {
      found |= call_of(event) == EventCall::kDeleteKey && succeeded(event);
    });
    return found;
  }

  // Follows the cursors, to find the keys of which the transaction has read every payload.
  void track(const Event& event, Bound bound) {
    const EventCall call = call_of(event);
    if (call == EventCall::kBegin || call == EventCall::kCommit) return;
    Cursor& at = cursors_[numbering_.cursor_of(event)];
    const bool inserts = call == EventCall::kInsert && succeeded(event);
    if (shows_record(event) || inserts) see(bound.element);
    switch (call) {
      case EventCall::kGet:
        at = {.cell = bound.cell, .owes_key = succeeded(event)};
        if (event.code == KEY_NOTFOUND) sight(bound.cell).complete = true;
        break;
      case EventCall::kNext:
        track_next(event, bound, at);
        break;
      case EventCall::kDeletePair:
        if (!succeeded(event)) break;
        [[fallthrough]];
      case EventCall::kOpen:
      case EventCall::kClose:
        numbering_.for_each_cursor(event.index, [&](uint32_t i) { cursors_[i] = {.loose = true}; });
        break;
      default:
        break;
    }
  }

  void track_next(const Event& event, Bound bound, Cursor& at) {
    if (bound.cell == kAnyCursor || bound.cell == at.cell) return;
    const bool starts_again = at.ended && at.cell != kNoNumber && bound.cell < at.cell;
    if (succeeded(event) && (at.loose || starts_again)) {
      at = {.cell = bound.cell, .owes_key = starts_again};
      return;
    }
    if (at.loose) return;
    if (at.owes_key) sight(at.cell).complete = true;
    if (succeeded(event)) {
      at = {.cell = bound.cell, .owes_key = true};
    } else {
      at.ended = true;
    }
  }

  Sight& sight(uint32_t cell) {
    Sight& at = sights_[cell];
    if (at.transaction != number_) at = {number_, kNoNumber, false};
    return at;
  }

  void see(uint32_t element) {
    Sight& at = sight(numbering_.element_cells[element]);
    seen_.push_back({element, at.last_seen});
    at.last_seen = static_cast<uint32_t>(seen_.size() - 1);
  }

  void delete_seen(uint32_t cell, EventRef event) {
    Sight& at = sight(cell);
    for (uint32_t i = at.last_seen; i != kNoNumber; i = seen_[i].previous) {
      if (out_.of[seen_[i].element].deleter != number_) set_deleter(seen_[i].element, event);
    }
    if (!at.complete) {
      const uint64_t ticks = history_.threads[event.thread][event.position].end;
      blind_deletes[cell].push_back({number_, ticks});
    }
    at = {number_, kNoNumber, true};
  }

  void set_inserter(uint32_t element) {
    if (out_.of[element].inserter != kNoNumber && out_.problem.empty()) {
      const Cell& cell = numbering_.cells[numbering_.element_cells[element]];
      out_.problem =
          "two committed inserts have the same payload under key " +
          key_text(history_, static_cast<uint16_t>(cell.index), static_cast<uint64_t>(cell.key)) +
          ", so it is unknown which of the two records a read returned; record a run in which "
          "every insert passes a different payload";
    }
    out_.of[element].inserter = number_;
  }

  void set_deleter(uint32_t element, EventRef event) {
    uint32_t& deleter = out_.of[element].deleter;
    if (deleter != kNoNumber) {
      out_.double_deletes.push_back({element, deleter, number_, event});
      return;
    }
    deleter = number_;
  }

  void note_uncommitted(const Transaction& transaction) {
    const bool failed = transaction.state == TransactionState::kFailed;
    for_each_call(history_, transaction, [&](uint32_t position, const Event& event) {
      const EventCall call = call_of(event);
      const bool writes = call == EventCall::kInsert || call == EventCall::kDeletePair ||
                          call == EventCall::kDeleteKey;
      if (!writes || !succeeded(event)) return;
      if (!failed) {
        out_.unfinished_writes = true;
        out_.unfinished_cells.resize(numbering_.cells.size());
        out_.unfinished_cells[numbering_.bounds[transaction.thread][position].cell] = true;
      }
      if (call == EventCall::kDeleteKey) return;
      uint8_t& notes = out_.notes[numbering_.bounds[transaction.thread][position].element];
      if (call == EventCall::kDeletePair) {
        notes |= failed ? kDeletedByFailed : 0;
      } else {
        notes |= failed ? kInsertedByFailed : kInsertedByUnfinished;
      }
    });
  }

  const History& history_;
  const Numbering& numbering_;
  const Transactions& transactions_;
  Versions& out_;
  std::vector<Sight> sights_;    // by cell
  std::vector<Cursor> cursors_;  // by number
  std::vector<Seen> seen_;
  uint32_t number_ = 0;  // number of the current transaction
  bool tracks_ = false;  // true if the current transaction deletes all payloads of a key
};

// For a given element, finds the blind deletes that can have deleted it. Real time and the reads
// that saw the element exclude the others.
class BlindDeletes {
 public:
  BlindDeletes(const Transactions& transactions, Versions& out)
      : committed_(transactions.committed), out_(out) {}

  void resolve(uint32_t element, const std::vector<BlindDelete>& deletions, uint64_t inserted_ticks,
               uint64_t last_seen) {
    const uint32_t inserter = out_.of[element].inserter;
    const Transaction& insert = committed_[inserter];
    // The earliest end of all deleting transactions that began after the inserting transaction had
    // returned. From this time on, the record certainly no longer exists.
    uint64_t dead_at = UINT64_MAX;
    for (const BlindDelete& deletion : deletions) {
      const Transaction& candidate = committed_[deletion.transaction];
      if (candidate.begin > insert.end) dead_at = std::min(dead_at, candidate.end);
    }
    std::vector<BlindDelete> possible;
    for (const BlindDelete& deletion : deletions) {
      const Transaction& candidate = committed_[deletion.transaction];
      const bool overlaps = candidate.begin <= insert.end;
      if (deletion.transaction == inserter || candidate.end < insert.begin ||
          candidate.begin > dead_at) {
        continue;
      }
      if (overlaps && candidate.end < last_seen) {
        out_.too_early.push_back({deletion.transaction, inserter});
        continue;
      }
      possible.push_back(deletion);
    }
    const bool may_live = dead_at == UINT64_MAX;
    OpenElement open{
        element, by_calls(possible, inserted_ticks, may_live), {}, margin(possible, insert.end)};
    if (open.options.size() == 1) {
      out_.of[element].deleter = open.options.front();
    } else if (!open.options.empty()) {
      out_.of[element].deleter = open.options.front();
      out_.notes[element] |= kOpenDeleter;
      out_.open.push_back(std::move(open));
    }
  }

 private:
  // Returns the options, the likeliest first. In a library whose writers wait for locks, calls take
  // effect in the order in which they return. So the first option is the delete whose call returned
  // first after the call of the insert. The order of commits would mislead: let T1 wait for a lock
  // that T2 releases while T2 commits. T1 may then commit and return before T2's commit returns.
  static std::vector<uint32_t> by_calls(std::vector<BlindDelete> possible, uint64_t inserted,
                                        bool may_live) {
    std::sort(possible.begin(), possible.end(),
              [](const BlindDelete& a, const BlindDelete& b) { return a.ticks < b.ticks; });
    const auto later =
        std::find_if(possible.begin(), possible.end(),
                     [&](const BlindDelete& deletion) { return deletion.ticks > inserted; });
    std::vector<uint32_t> options;
    for (auto at = later; at != possible.end(); ++at) options.push_back(at->transaction);
    if (may_live) options.push_back(kNoNumber);
    for (auto at = possible.begin(); at != later; ++at) options.push_back(at->transaction);
    return options;
  }

  uint64_t margin(const std::vector<BlindDelete>& possible, uint64_t insert_end) const {
    uint64_t min = UINT64_MAX;
    for (const BlindDelete& deletion : possible) {
      const uint64_t end = committed_[deletion.transaction].end;
      min = std::min(min, end > insert_end ? end - insert_end : insert_end - end);
    }
    return min;
  }

  const std::vector<Transaction>& committed_;
  Versions& out_;
};

// Fills OpenElement::readers. `open` is sorted by element.
void note_readers(const History& history, const Numbering& numbering,
                  const Transactions& transactions, std::vector<OpenElement>& open) {
  if (open.empty()) return;
  for (uint32_t reader = 0; reader < transactions.committed.size(); ++reader) {
    const Transaction& transaction = transactions.committed[reader];
    for_each_call(history, transaction, [&](uint32_t position, const Event& event) {
      if (!shows_record(event)) return;
      const uint32_t element = numbering.bounds[transaction.thread][position].element;
      const auto found = std::ranges::lower_bound(open, element, {}, &OpenElement::element);
      if (found != open.end() && found->element == element) found->readers.push_back(reader);
    });
  }
}

}  // namespace

Versions::Versions(const History& history, const Numbering& numbering,
                   const Transactions& transactions, bool readers_are_late)
    : of(numbering.element_cells.size()), notes(numbering.element_cells.size(), 0) {
  VersionPass pass(history, numbering, transactions, *this);
  pass.run();
  if (pass.blind_deletes.empty()) return;
  for (const auto& [cell, deletions] : pass.blind_deletes) {
    for (const BlindDelete& deletion : deletions) {
      blind_deleters[cell].push_back(deletion.transaction);
    }
  }
  elements_of_cell.resize(numbering.cells.size());
  for (const uint32_t cell : numbering.element_cells) ++elements_of_cell[cell];

  // By element: the latest begin of a transaction that saw the element.
  std::vector<uint64_t> last_seen(of.size(), 0);
  for (const Transaction& reader : transactions.committed) {
    if (readers_are_late) break;
    for_each_call(history, reader, [&](uint32_t position, const Event& event) {
      if (!shows_record(event)) return;
      uint64_t& seen = last_seen[numbering.bounds[reader.thread][position].element];
      seen = std::max(seen, reader.begin);
    });
  }
  BlindDeletes blind(transactions, *this);
  for (uint32_t element = 0; element < of.size(); ++element) {
    if (of[element].inserter == kNoNumber || of[element].deleter != kNoNumber) continue;
    const auto deletions = pass.blind_deletes.find(numbering.element_cells[element]);
    if (deletions != pass.blind_deletes.end()) {
      unsure.push_back(element);
      blind.resolve(element, deletions->second, pass.inserted_ticks[element], last_seen[element]);
    }
  }
  if (!readers_are_late) note_readers(history, numbering, transactions, open);
}

}  // namespace keydrome::certify
