// Implements keep_books(), which computes what the rows must be after a run. It follows the
// programs of the threads and the results of their transactions.
#include "benchmarks/tatp/books.h"

#include <algorithm>
#include <cstring>
#include <tuple>

#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/words.h"

namespace keydrome::tatp {
namespace {

constexpr uint32_t kNobody = UINT32_MAX;

int64_t number_of(std::string_view bytes) {
  int64_t number = 0;
  std::memcpy(&number, bytes.data(), std::min(sizeof number, bytes.size()));
  return number;
}

// Returns the integer key that the operation passes.
int64_t key_of(const script::Pools& pools, Table table, const format::Op& op) {
  return table == kSubscriber ? pools.int32_keys[op.key] : pools.int64_keys[op.key];
}

// Knows which row of subscriber each payload belongs to, and which thread writes it.
class SubscriberRows {
 public:
  struct Owner {
    uint32_t subscriber = kNobody, thread = kNobody;  // no thread: the row was loaded
  };

  void add(uint32_t tag, Owner owner) {
    if (tag >= owners_.size()) owners_.resize(std::max<std::size_t>(tag + 1u, owners_.size() * 2));
    owners_[tag] = owner;
  }
  Owner owner(uint32_t tag) const { return tag < owners_.size() ? owners_[tag] : Owner{}; }

 private:
  std::vector<Owner> owners_;  // by tag, the unique number of a payload
};

class Bookkeeper {
 public:
  Bookkeeper(const script::Script& script, Books& books) : pools_(script.pools), books_(books) {}

  void load(std::span<const format::Op> ops) {
    auto table = kTables;
    for (const format::Op& op : ops) {
      if (op.code == format::OpCode::kOpen) table = static_cast<Table>(op.argument);
      const bool is_row = op.code == format::OpCode::kInsert &&
                          static_cast<format::Kind>(op.kind) == format::Kind::kStream;
      if (!is_row || table == kSubscriberNumber || table == kAccess) continue;
      const uint32_t row = *row_of(table, key_of(pools_, table, op), kNobody);
      std::vector<LoadedRow>& rows = books_.loaded[table];
      if (row >= rows.size()) rows.resize(row + std::size_t{1});
      rows[row] = {.tag = op.argument, .text = op.payload};
      if (table == kSubscriber) owners_.add(op.argument, {.subscriber = row});
    }
  }

  // Notes which payloads of subscribers the thread writes. Must be called for all threads before
  // run().
  void note_writes(std::span<const format::Op> ops, uint32_t thread) {
    for (const format::Op& op : ops) {
      if (op.code != format::OpCode::kRun) continue;
      if (op.payload == kUpdateSubscriberData || op.payload == kUpdateLocation)
        owners_.add(op.argument, {.subscriber = subscriber_of(op), .thread = thread});
    }
  }

  void run(std::span<const format::Op> ops, const script::ThreadResult& result, uint32_t thread) {
    thread_ = thread;
    updates(ops, result);
    results(ops, result);
    gets(ops, result);
  }

 private:
  int64_t parameter(const format::Op& op, uint32_t number) const {
    return pools_.parameters[op.key + number];
  }
  uint32_t small_parameter(const format::Op& op, uint32_t number) const {
    return static_cast<uint32_t>(parameter(op, number));
  }
  uint32_t subscriber_of(const format::Op& op) const {
    const uint32_t first = small_parameter(op, 0);  // s_id, or the number of a phone number
    return op.payload == kUpdateSubscriberData ? first - 1 : first;
  }
  // Returns the forwarding that a kInsertCallForwarding or kDeleteCallForwarding changes.
  uint32_t forwarding_of(const format::Op& op) const {
    const uint32_t start = small_parameter(op, 2) / kHoursPerStart;
    return forwarding_row(facility_row(small_parameter(op, 0), small_parameter(op, 1) - 1), start);
  }

  void change(Table table, const Change& change) { books_.changes[table].push_back(change); }

  // Adds the changes by transactions whose effects follow from whether they committed.
  void updates(std::span<const format::Op> ops, const script::ThreadResult& result) {
    updates_.clear();
    format::walk_program(ops, [&](const format::Step& step) {
      const format::Op& op = ops[step.op];
      if (op.code != format::OpCode::kRun) return;
      const bool committed = result.ends[step.transaction] == script::TransactionEnd::kCommitted;
      if (!committed && !judge::ended_as_programmed(result, step.transaction)) return;
      if (has_result(op.payload)) {
        if ((op.flags & format::kEvidence) == 0) books_.exact = false;
        return;
      }
      ++(committed ? books_.succeeded : books_.failed);
      if (op.payload == kUpdateSubscriberData) {
        const uint32_t facility = *row_of(kFacility, parameter(op, 1), books_.subscribers());
        books_.observations.push_back(
            {.transaction = kUpdateSubscriberData, .row = facility, .result = committed ? 1 : 0});
        if (committed) {
          change(kFacility, {facility, thread_, op.argument + 1, Column::kData,
                             small_parameter(op, 3), step.op});
        }
      }
      if (!committed) return;
      const bool is_bit = op.payload == kUpdateSubscriberData;
      change(kSubscriber,
             {subscriber_of(op), thread_, op.argument, is_bit ? Column::kBit : Column::kLocation,
              small_parameter(op, is_bit ? 2 : 1), step.op});
      updates_.push_back({.op = step.op, .subscriber = subscriber_of(op), .tag = op.argument});
    });
  }

  // Adds the changes by transactions whose effects follow from their results.
  void results(std::span<const format::Op> ops, const script::ThreadResult& result) {
    judge::for_each_evidence(
        ops, result, [&](const format::Step& step, std::span<const script::Evidence> records) {
          const format::Op& op = ops[step.op];
          const bool done = op.code == format::OpCode::kRun &&
                            result.ends[step.transaction] == script::TransactionEnd::kCommitted;
          if (done) book(op, step.op, number_of(records[0].payload));
        });
  }

  void book(const format::Op& op, uint64_t number, int64_t result) {
    ++(result != 0 ? books_.succeeded : books_.failed);
    const auto transaction = static_cast<Transaction>(op.payload);
    if (transaction == kGetNewDestination) {
      const uint32_t facility = *row_of(kFacility, parameter(op, 0), books_.subscribers());
      books_.observations.push_back(
          {.transaction = transaction,
           .row = forwarding_row(facility, small_parameter(op, 1) / kHoursPerStart),
           .end_hour = small_parameter(op, 2),
           .result = result});
      return;
    }
    const uint32_t row = forwarding_of(op);
    books_.observations.push_back({.transaction = transaction, .row = row, .result = result});
    // The result is untrusted, so only zero and non-zero are distinguished.
    if (result == 0) return;
    const bool inserts = transaction == kInsertCallForwarding;
    change(kForwarding, {row, thread_, inserts ? op.argument : format::kNoTag, Column::kWholeRow,
                         inserts ? small_parameter(op, 3) : 0, number});
  }

  // Checks the gets of subscribers, and counts the gets of access rows that found none.
  void gets(std::span<const format::Op> ops, const script::ThreadResult& result) {
    std::size_t update = 0;
    own_.resize(books_.subscribers());
    judge::for_each_words(
        ops, result,
        [&](const format::Step& step, std::span<const uint64_t> words,
            std::span<const uint64_t> /*rest*/) -> uint64_t {
          for (; update < updates_.size() && updates_[update].op < step.op; ++update) {
            own_[updates_[update].subscriber] = {.thread = thread_, .tag = updates_[update].tag};
          }
          const format::Op& op = ops[step.op];
          if (step.kind != format::Kind::kStream) return 0;
          const bool found = format::code_of_word(words[0]) == SUCCESS;
          ++(found || op.slot == kSubscriber ? books_.succeeded : books_.failed);
          if (op.slot != kSubscriber) return 0;
          const auto s = static_cast<uint32_t>(key_of(pools_, kSubscriber, op) - 1);
          const std::string_view reason = why_wrong(s, found, format::tag_of_word(words[0]));
          if (!reason.empty()) books_.wrong_reads.push_back({s, thread_, reason});
          return 0;
        });
  }

  // Returns why a get of subscriber s cannot have returned the row with this tag, or an empty text.
  // The judge that all benchmarks share finds reads of rows that aborted transactions wrote, or
  // that were written later.
  std::string_view why_wrong(uint32_t s, bool found, uint32_t tag) const {
    if (!found) return "found no row, although every subscriber has one";
    const SubscriberRows::Owner owner = owners_.owner(tag);
    if (owner.subscriber != s) return "returned a row that was never written for this subscriber";
    const OwnUpdate own = own_[s].thread == thread_ ? own_[s] : OwnUpdate{};
    const bool overwritten =
        own.tag != format::kNoTag && (owner.thread == kNobody || owner.thread == thread_);
    if (overwritten && own.tag != tag) {
      return "returned an old row, although the thread itself had updated the subscriber since";
    }
    return {};
  }

  struct Update {
    uint64_t op;
    uint32_t subscriber, tag;
  };
  struct OwnUpdate {
    uint32_t thread = kNobody, tag = format::kNoTag;
  };

  const script::Pools& pools_;
  Books& books_;
  SubscriberRows owners_;
  uint32_t thread_ = 0;
  std::vector<Update> updates_;  // committed updates of subscribers by the present thread
  // By subscriber: the last update that the thread named in the entry made.
  std::vector<OwnUpdate> own_;
};

}  // namespace

bool Books::is_loaded(Table table, uint32_t row) const {
  return row < loaded[table].size() && loaded[table][row].tag != format::kNoTag;
}

std::span<const Change> Books::changes_of(Table table, uint32_t row) const {
  const auto [first, last] = std::ranges::equal_range(changes[table], row, {}, &Change::row);
  return {first, last};
}

std::optional<uint32_t> row_of(Table table, int64_t key, uint32_t subscribers) {
  const int64_t hour = table == kForwarding ? key & ((1 << kHourBits) - 1) : 0;
  if (table == kForwarding) key >>= kHourBits;
  const int64_t type = table == kSubscriber ? 0 : (key & ((1 << kTypeBits) - 1)) - 1;
  const int64_t id = table == kSubscriber ? key : key >> kTypeBits;
  const bool is_key = id >= 1 && id <= subscribers && type >= 0 && type < int64_t{kTypes} &&
                      hour % kHoursPerStart == 0 && hour < kHoursMax;
  if (!is_key) return std::nullopt;
  const auto s = static_cast<uint32_t>(id - 1);
  if (table == kSubscriber) return s;
  const uint32_t facility = facility_row(s, static_cast<uint32_t>(type));
  return table == kForwarding
             ? forwarding_row(facility, static_cast<uint32_t>(hour) / kHoursPerStart)
             : facility;
}

Books keep_books(const script::Script& script, const script::Outcome& outcome, uint32_t load,
                 uint32_t run) {
  Books books;
  Bookkeeper keeper(script, books);
  for (const std::vector<format::Op>& ops : script.phases[load].threads) keeper.load(ops);
  const uint32_t subscribers = books.subscribers();
  for (const Table table : {kFacility, kForwarding}) {
    books.loaded[table].resize(std::size_t{subscribers} * rows_per_subscriber(table));
  }
  const std::vector<std::vector<format::Op>>& programs = script.phases[run].threads;
  const auto threads = static_cast<uint32_t>(outcome.phases[run].threads.size());
  for (uint32_t t = 0; t < threads; ++t) keeper.note_writes(programs[t], t);
  for (uint32_t t = 0; t < threads; ++t) {
    keeper.run(programs[t], outcome.phases[run].threads[t], t);
  }
  for (std::vector<Change>& changes : books.changes) {
    std::ranges::sort(changes, [](const Change& a, const Change& b) {
      return std::tie(a.row, a.thread, a.op) < std::tie(b.row, b.thread, b.op);
    });
  }
  return books;
}

}  // namespace keydrome::tatp
