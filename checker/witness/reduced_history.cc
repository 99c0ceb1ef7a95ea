// Implements reduced_history.h: builds a small history from chosen calls of a recorded history and
// from the inserts and deletes that these calls depend on. A record that was inserted before all
// chosen transactions is an *initial* record; the small history inserts it at its beginning.
#include "checker/witness/reduced_history.h"

#include <algorithm>

#include "checker/history/calls.h"
#include "checker/history/transactions.h"

namespace keydrome::witness {

using history::Event;
using history::EventCall;
using history::EventRef;
using history::History;
using history::kEventAutoCommit;
using history::Transaction;
using history::Transactions;
using history::TransactionSpan;
using history::TransactionState;

namespace {

// Returns true if the call returned, deleted or inserted one particular record.
bool has_record(const Event& event) {
  return shows_record(event) || (call_of(event) == EventCall::kInsert && succeeded(event));
}

}  // namespace

TransactionIndex::TransactionIndex(const History& history) : by_thread_(history.threads.size()) {
  const Transactions transactions = split_into_transactions(history);
  for (const auto* list : {&transactions.committed, &transactions.others}) {
    for (const Transaction& one : *list) by_thread_[one.thread].push_back(span_of(one));
  }
  for (auto& spans : by_thread_) std::ranges::sort(spans, {}, &TransactionSpan::first);
}

std::optional<TransactionSpan> TransactionIndex::of(const History& history, EventRef ref) const {
  const bool alone = is_auto_commit(history.threads[ref.thread][ref.position]);
  const std::vector<TransactionSpan>& spans = by_thread_[ref.thread];
  auto at = std::ranges::upper_bound(spans, ref.position, {}, &TransactionSpan::first);
  while (at != spans.begin()) {
    --at;
    // Skip spans of the other kind: an auto-committed call may be inside the span of an open
    // transaction, but does not belong to this transaction.
    if (at->auto_commit != alone) continue;
    if (at->last >= ref.position) return *at;
    return std::nullopt;
  }
  return std::nullopt;
}

ReducedHistory::ReducedHistory(const History& whole) : whole_(whole), index_(whole) {
  work_.indexes = whole.indexes;
  work_.varchar_keys = whole.varchar_keys;
  work_.timestamp_slack = whole.timestamp_slack;
  work_.ticks_per_s = whole.ticks_per_s;
}

ReducedHistory::RecordId ReducedHistory::record_of(const Event& event) {
  return {event.index, event.key, event.payload};
}

std::set<ReducedHistory::RecordId> ReducedHistory::records_of(
    const std::vector<ReducedTransaction>& transactions) const {
  std::set<RecordId> records;
  for (const ReducedTransaction& one : transactions) {
    for (const uint32_t at : one.calls) {
      const Event& call = event({one.span.thread, at});
      if (has_record(call)) records.insert(record_of(call));
    }
  }
  return records;
}

void ReducedHistory::find_writes(const std::vector<ReducedTransaction>& transactions) {
  const std::set<RecordId> records = records_of(transactions);
  std::set<KeyId> keys;
  for (const RecordId& record : records) keys.insert({record.index, record.key});
  for (uint32_t thread = 0; thread < whole_.threads.size(); ++thread) {
    for (uint32_t at = 0; at < whole_.threads[thread].size(); ++at) {
      const Event& event = whole_.threads[thread][at];
      if (!succeeded(event)) continue;
      const EventCall call = call_of(event);
      const RecordId id = record_of(event);
      const EventRef ref{thread, at};
      if (call == EventCall::kInsert && records.contains(id)) inserts_[id].push_back(ref);
      if (call == EventCall::kDeletePair && records.contains(id)) pair_deletes_[id].push_back(ref);
      if (call == EventCall::kDeleteKey && keys.contains({id.index, id.key})) {
        key_deletes_[{id.index, id.key}].push_back(ref);
      }
    }
  }
}

void ReducedHistory::build(const std::vector<ReducedTransaction>& transactions,
                           const std::set<EventRef>& dropped) {
  kept_.clear();
  chosen_.clear();
  deletes_.clear();
  dropped_ = dropped;
  begin_ = UINT64_MAX;
  end_ = 0;
  for (const ReducedTransaction& one : transactions) {
    kept_[id_of(one.span)] = one;
    chosen_.insert(id_of(one.span));
    begin_ = std::min(begin_, one.span.begin_ticks);
    end_ = std::max(end_, one.span.end_ticks);
  }
  std::vector<RecordId> initial;
  for (const RecordId& record : records_of(transactions)) {
    if (add_inserter(record)) initial.push_back(record);
    add_deleters(record);
  }
  write_threads(initial);
}

// Adds the insert of a record. If the insert had committed before all chosen transactions began,
// adds nothing and returns true, because the record is then an initial record.
bool ReducedHistory::add_inserter(const RecordId& record) {
  const auto inserts = inserts_.find(record);
  if (inserts == inserts_.end()) return false;
  // Prefers an insert that committed. If none committed, takes the latest insert.
  std::optional<EventRef> best;
  for (const EventRef& ref : inserts->second) {
    const std::optional<TransactionSpan> span = index_.of(whole_, ref);
    if (!span || span->begin_ticks > end_) continue;
    const bool committed = span->state == TransactionState::kCommitted;
    if (committed && span->end_ticks < begin_ && !chosen_.contains(id_of(*span))) return true;
    if (committed || !best || event(*best).end < event(ref).end) best = ref;
    if (committed) break;
  }
  if (best) add_write(*best, /*is_delete=*/false);
  return false;
}

// Adds the deletes of a record that overlap the chosen transactions in time.
void ReducedHistory::add_deleters(const RecordId& record) {
  const auto add = [&](const std::vector<EventRef>& refs) {
    for (const EventRef& ref : refs) {
      const std::optional<TransactionSpan> span = index_.of(whole_, ref);
      if (!span || span->begin_ticks > end_ || span->end_ticks < begin_) continue;
      add_write(ref, /*is_delete=*/true);
    }
  };
  const auto pairs = pair_deletes_.find(record);
  if (pairs != pair_deletes_.end()) add(pairs->second);
  const auto keys = key_deletes_.find({record.index, record.key});
  if (keys != key_deletes_.end()) add(keys->second);
}

void ReducedHistory::add_write(EventRef ref, bool is_delete) {
  const std::optional<TransactionSpan> span = index_.of(whole_, ref);
  if (!span || dropped_.contains(ref)) return;
  auto [at, is_new] = kept_.try_emplace(id_of(*span), ReducedTransaction{*span, {}});
  if (is_new) at->second.calls = {span->first, span->last};
  const bool added = at->second.calls.insert(ref.position).second;
  if (is_delete && (added || span->auto_commit)) deletes_.push_back(ref);
}

// Copies the kept calls with their timestamps, so that the real-time order remains the same.
void ReducedHistory::write_threads(const std::vector<RecordId>& initial) {
  work_.threads.assign(whole_.threads.size() + 1, {});
  work_.unknown_keys.clear();
  std::vector<std::set<uint32_t>> calls(whole_.threads.size());
  for (const auto& [id, one] : kept_) calls[id.first].insert(one.calls.begin(), one.calls.end());
  positions_.assign(whole_.threads.size(), {});
  uint64_t first = UINT64_MAX;
  for (uint32_t thread = 0; thread < calls.size(); ++thread) {
    for (const uint32_t at : calls[thread]) {
      const Event& event = whole_.threads[thread][at];
      first = std::min(first, begin_of(event, at > 0 ? whole_.threads[thread][at - 1].end : 0));
      const auto position = static_cast<uint32_t>(work_.threads[thread].size());
      const bool is_unknown = call_of(event) == EventCall::kNext && has_unknown_key(whole_, event);
      if (is_unknown) work_.unknown_keys.push_back({thread, position, 0});
      positions_[thread][at] = position;
      work_.threads[thread].push_back(event);
    }
  }
  write_initial(initial, first);
}

// Inserts the initial records on the last thread at ticks 0, 1, 2 and so on. `first` is the begin
// of the first kept call. If `first` is too early for these inserts, all other calls move to later
// ticks.
void ReducedHistory::write_initial(const std::vector<RecordId>& initial, uint64_t first) {
  const uint64_t room = initial.size() + 1;
  if (first < room) {
    for (auto& events : work_.threads) {
      for (Event& event : events) event.end += room;
    }
  }
  uint64_t now = 0;
  for (const RecordId& record : initial) {
    work_.threads.back().push_back(
        {.call = static_cast<uint8_t>(EventCall::kInsert) | kEventAutoCommit,
         .code = SUCCESS,
         .index = record.index,
         .duration = 0,
         .key = record.key,
         .payload = record.payload,
         .end = now++});
  }
}

}  // namespace keydrome::witness
