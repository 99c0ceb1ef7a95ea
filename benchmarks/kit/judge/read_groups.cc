// Implements ReadGroups: finds records that a group of reads missed, returned twice, or returned in
// the wrong order. A group is a get with the getNext calls after it, or a series of getNext calls
// without a get.
#include "benchmarks/kit/judge/read_groups.h"

#include <algorithm>
#include <utility>

#include "keydrome/index.h"

namespace keydrome::judge {

void ReadGroups::begin(const Reader& reader) {
  close();
  std::vector<ReadRecord> records = std::move(group_.records);  // keeps its memory
  records.clear();
  group_ = Group{.reader = reader, .records = std::move(records)};
  open_ = true;
}

void ReadGroups::start_at(const Reader& reader, uint64_t rank, bool found) {
  begin(reader);
  group_.from = rank;
  group_.from_key = true;
  group_.found = found;
}

void ReadGroups::start(const Reader& reader, bool complete) {
  begin(reader);
  group_.complete = complete;
}

void ReadGroups::add_code(uint32_t code) {
  if (group_.at_end) return;
  group_.at_end = code == DB_END;
  if (code != DB_END && code != KEY_NOTFOUND) group_.complete = false;
}

void ReadGroups::add(const ReadRecord& record) {
  const uint32_t before =
      group_.records.empty() ? static_cast<uint32_t>(group_.from) : group_.records.back().rank;
  if (record.rank < before) {
    group_.complete = false;
    report("scan_order", "getNext must return keys in ascending order, but returned key " +
                             key_text(record.rank) + " after key " + key_text(before));
  }
  if (group_.from_key && !group_.found && record.rank == group_.from) {
    report("unrepeatable_read", "getNext returned a record under key " + key_text(record.rank) +
                                    ", but the get before it, in the same transaction, had not "
                                    "found this key");
  }
  group_.records.push_back(record);
}

void ReadGroups::close() {
  if (!open_) return;
  open_ = false;
  if (!group_.complete) return;
  std::vector<ReadRecord>& records = group_.records;
  if (!std::is_sorted(records.begin(), records.end())) std::sort(records.begin(), records.end());
  const auto twice = std::adjacent_find(records.begin(), records.end());
  if (twice != records.end()) {
    report("duplicate_record",
           "a scan returned the same record under key " + key_text(twice->rank) + " twice");
  }
  if (group_.covered_to() == group_.from) {  // true for most gets
    keep_for_comparison();
    return;
  }
  // The inserts come in the order of their ranks. `at` moves forward with them, so most records are
  // found there, without a search.
  auto at = records.begin();
  // Sorting has only changed the order of records with equal ranks, because the ranks were
  // ascending. So covered_to() is the same as before.
  expected_->for_each_required(
      group_.reader.index, group_.from, group_.covered_to(), group_.reader.moment,
      [&](const Change& insert) {
        const ReadRecord record{.rank = insert.rank, .tag = insert.tag};
        while (at != records.end() && at->rank < record.rank) ++at;
        if (at != records.end() && *at == record) return;
        if (std::binary_search(at, records.end(), record)) return;
        report("missing_record", "a read did not find the record under key " +
                                     key_text(record.rank) + " that " +
                                     expected_->describe(insert.moment) +
                                     " had inserted. No transaction had deleted this record");
      });
  keep_for_comparison();
}

// If the group belongs to a canary, an extra transaction that reads the same keys twice, keeps the
// group until the transaction ends.
void ReadGroups::keep_for_comparison() {
  if (group_.reader.kind == format::Kind::kCanary)
    groups_.push_back(std::exchange(group_, Group{}));
}

void ReadGroups::end_transaction() {
  close();
  for (const Group& a : groups_) {
    for (const Group& b : groups_) compare(a, b);
  }
  groups_.clear();
}

// Reports a violation if `b` lacks a record of `a` whose key is in the range that `b` covers.
void ReadGroups::compare(const Group& a, const Group& b) {
  if (&a == &b || a.reader.index != b.reader.index) return;
  const uint64_t to = b.covered_to();
  for (const ReadRecord& record : a.records) {
    if (record.rank < b.from || record.rank >= to) continue;
    if (std::binary_search(b.records.begin(), b.records.end(), record)) continue;
    group_.reader = b.reader;
    report("unrepeatable_read", "a record under key " + key_text(record.rank) +
                                    " was returned by one read but not by another read of the "
                                    "same transaction");
    return;
  }
}

void ReadGroups::report(const std::string& name, const std::string& what) {
  findings_->required(name, "index " + script_->indexes[group_.reader.index].name + ", " +
                                expected_->describe(group_.reader.moment) + ": " + what);
}

std::string ReadGroups::key_text(uint32_t rank) const {
  return ranks_->text(script_->indexes[group_.reader.index].type, rank);
}

}  // namespace keydrome::judge
