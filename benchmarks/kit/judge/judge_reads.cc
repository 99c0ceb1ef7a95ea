// Implements judge_reads(): judges the evidence, the results of single calls that the player
// returned. It checks reads, scans, repeated reads, the results of inserts and deletes, and the
// final scan.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/judge.h"

namespace keydrome::judge {
namespace {

constexpr uint64_t kEndOfIndex = UINT64_MAX;  // a rank that is larger than any other

// A record that a read returned: the rank of its key in key order, and the tag (number) of its
// payload.
struct ReadRecord {
  uint32_t rank = 0;
  uint32_t tag = 0;
  bool operator==(const ReadRecord&) const = default;
  bool operator<(const ReadRecord& other) const {
    return rank != other.rank ? rank < other.rank : tag < other.tag;
  }
};

// A sequence of reads that covers a range of keys: a get with the getNext calls after it, or
// getNext calls from the start of the index.
struct ReadGroup {
  uint32_t index = 0;
  uint8_t slot = 0;
  Moment reader;
  format::Kind kind = format::Kind::kStream;
  bool open = false;      // more getNext calls may be added
  bool found = false;     // the get found a record
  uint64_t from = 0;      // rank of the requested key; 0 if the group begins at the first key
  bool from_key = false;  // the group begins with a get
  bool at_end = false;    // DB_END was returned
  bool sound = true;      // the records are complete for the covered keys
  std::vector<ReadRecord> records;

  // Returns the end of the covered range: the group read all records with from <= rank <
  // covered_to().
  uint64_t covered_to() const {
    if (at_end) return kEndOfIndex;
    if (from_key && !found && records.empty()) return from + 1;
    return records.empty() ? from : records.back().rank;
  }
};

// Writes parts of the texts of findings: where a read was made, and the key of a record.
class ReadNames {
 public:
  ReadNames(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected)
      : script_(script), ranks_(ranks), expected_(expected) {}

  std::string where(const ReadGroup& group) const {
    return "index " + script_.indexes[group.index].name + ", " + expected_.describe(group.reader) +
           ": ";
  }
  std::string key(uint32_t index, uint32_t rank) const {
    return ranks_.text(script_.indexes[index].type, rank);
  }

 private:
  const script::Script& script_;
  const KeyRanks& ranks_;
  const ExpectedState& expected_;
};

// Compares the reads of one canary with each other. A canary is an extra transaction that reads the
// same keys twice.
class RepeatedReads {
 public:
  RepeatedReads(const ReadNames& names, Findings& findings) : names_(names), findings_(findings) {}

  // Adds a group of reads. REQUIRES: the records of the group are sorted.
  void add(ReadGroup group) { groups_.push_back(std::move(group)); }

  // Compares every group with every other group, and then removes all groups.
  void compare() {
    for (const ReadGroup& a : groups_) {
      for (const ReadGroup& b : groups_) compare(a, b);
    }
    groups_.clear();
  }

 private:
  // Adds a finding if `b` lacks a record of `a` whose key is in the range that `b` covers.
  void compare(const ReadGroup& a, const ReadGroup& b) {
    if (&a == &b || a.index != b.index) return;
    const uint64_t to = b.covered_to();
    for (const ReadRecord& record : a.records) {
      if (record.rank < b.from || record.rank >= to) continue;
      if (std::binary_search(b.records.begin(), b.records.end(), record)) continue;
      findings_.required("unrepeatable_read",
                         names_.where(b) + "a record under key " +
                             names_.key(b.index, record.rank) +
                             " was returned by one read and missing in another read of the same "
                             "transaction");
      return;
    }
  }

  const ReadNames& names_;
  Findings& findings_;
  std::vector<ReadGroup> groups_;
};

// Judges the results of inserts and deletes.
class WriteJudge {
 public:
  WriteJudge(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected,
             Findings& findings)
      : script_(script), ranks_(ranks), expected_(expected), findings_(findings) {}

  // Adds a finding if the result of a write to `index` is impossible.
  void judge(const format::Op& op, uint32_t index, const script::Evidence& evidence,
             const Moment& moment) {
    const KeyType type = script_.indexes[index].type;
    const bool inserts = op.code == format::OpCode::kInsert;
    const Change change{.index = index,
                        .rank = ranks_.rank(type, op.key),
                        .tag = op.argument,
                        .text = op.payload,
                        .moment = moment,
                        .what = inserts ? Change::What::kInsert
                                : op.code == format::OpCode::kDeleteKey
                                    ? Change::What::kDeleteKey
                                    : Change::What::kDeletePair};
    const bool succeeded = evidence.code == SUCCESS;
    const std::optional<std::string> reason = inserts
                                                  ? expected_.why_wrong_insert(change, !succeeded)
                                                  : expected_.why_wrong_delete(change, succeeded);
    if (!reason) return;
    findings_.required(inserts ? "wrong_insert" : "wrong_delete",
                       "index " + script_.indexes[index].name + ", " + expected_.describe(moment) +
                           ": " + op_text(op) + " of key " + ranks_.text(type, change.rank) +
                           " returned " + code_text(evidence.code) + ", but " + *reason);
  }

 private:
  const script::Script& script_;
  const KeyRanks& ranks_;
  const ExpectedState& expected_;
  Findings& findings_;
};

// Judges the evidence of all threads, one thread after the other.
class ReadJudge {
 public:
  ReadJudge(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected,
            Findings& findings)
      : script_(script),
        ranks_(ranks),
        expected_(expected),
        findings_(findings),
        names_(script, ranks, expected),
        repeated_(names_, findings),
        writes_(script, ranks, expected, findings) {}

  void judge_thread(const script::Outcome& outcome, uint32_t phase, uint32_t thread) {
    const script::PhaseScript& script = script_.phases[phase];
    ops_ = script.threads[thread];
    slots_at_ = 0;
    slots_ = {};
    const script::ThreadResult& result = outcome.phases[phase].threads[thread];
    const bool fits = for_each_evidence(
        ops_, result, [&](const format::Step& step, std::span<const script::Evidence> records) {
          visit(step, records, {phase, thread, step.op, step.transaction});
        });
    close_group();
    repeated_.compare();
    if (!fits) {
      findings_.required("outcome_mismatch",
                         "phase " + script.name + ", thread " + std::to_string(thread) +
                             ": the player's evidence does not fit the program, so the library's "
                             "process must have changed it");
    }
  }

 private:
  void visit(const format::Step& step, std::span<const script::Evidence> records,
             const Moment& moment) {
    const format::Op& op = ops_[step.op];
    follow_slots(step.op);
    if (step.transaction != transaction_) {
      close_group();
      repeated_.compare();
      transaction_ = step.transaction;
    }
    if (op.code == format::OpCode::kRun) return close_group();  // the workload judges the result
    const bool continues = group_.open && group_.slot == op.slot && adjacent(last_op_, step);
    last_op_ = step.op;
    if (op.code == format::OpCode::kGet) {
      close_group();
      start_group(op, step, moment);
      group_.from = ranks_.rank(script_.indexes[group_.index].type, op.key);
      group_.from_key = true;
      group_.found = records[0].code == SUCCESS;
      add(records[0]);
    } else if (op.code == format::OpCode::kNext || op.code == format::OpCode::kNextToEnd) {
      if (!continues) {
        close_group();
        start_group(op, step, moment);
      }
      if ((op.flags & format::kEvidenceAll) == 0 || (!continues && !fresh_cursor(step)))
        group_.sound = false;
      for (const script::Evidence& record : records) add(record);
    } else {
      close_group();  // a write may move the cursor
      if (format::is_data_call(op.code)) writes_.judge(op, slots_[op.slot], records[0], moment);
    }
  }

  // Tracks which index each slot (handle) refers to, up to this op. The evidence comes in program
  // order.
  void follow_slots(uint64_t op) {
    if (op < slots_at_) return;  // the op is repeated
    for (; slots_at_ <= op; ++slots_at_) {
      if (ops_[slots_at_].code == format::OpCode::kOpen)
        slots_[ops_[slots_at_].slot] = ops_[slots_at_].argument;
    }
  }

  // Returns true if this op directly follows the op `last`. An op in between may have moved the
  // cursor.
  bool adjacent(uint64_t last, const format::Step& step) const { return step.op == last + 1; }

  // Returns true if the op directly follows a begin. A getNext then reads from the start of the
  // index.
  bool fresh_cursor(const format::Step& step) const {
    return step.op > 0 && ops_[step.op - 1].code == format::OpCode::kBegin;
  }

  void start_group(const format::Op& op, const format::Step& step, const Moment& moment) {
    group_ = ReadGroup{};
    group_.open = true;
    group_.index = slots_[op.slot];
    group_.slot = op.slot;
    group_.reader = moment;
    group_.kind = step.kind;
  }

  void add(const script::Evidence& evidence) {
    if (group_.at_end) return;  // results after DB_END are not judged
    if (evidence.code != SUCCESS) {
      group_.at_end = evidence.code == DB_END;
      if (evidence.code != DB_END && evidence.code != KEY_NOTFOUND) group_.sound = false;
      return;
    }
    const KeyType type = script_.indexes[group_.index].type;
    const std::optional<uint32_t> rank = ranks_.find(type, evidence.key);
    if (!rank && expected_.has_computed_keys(group_.index)) return add_computed(evidence);
    if (!rank) {
      return findings_.required(
          "impossible_record",
          names_.where(group_) + "read a record with a key that no operation used");
    }
    const std::optional<std::string> reason =
        expected_.why_impossible(group_.index, *rank, evidence.payload, group_.reader);
    if (reason) {
      findings_.required("impossible_record", names_.where(group_) + "read a record under key " +
                                                  ranks_.text(type, *rank) +
                                                  " that cannot exist: " + *reason);
      return;
    }
    const ReadRecord record{.rank = *rank, .tag = format::read_tag(evidence.payload).value_or(0)};
    const bool backwards = group_.records.empty() ? record.rank < group_.from
                                                  : record.rank < group_.records.back().rank;
    if (backwards) {
      group_.sound = false;
      findings_.required(
          "scan_order",
          names_.where(group_) +
              "getNext must return keys in ascending order, but it went backwards to key " +
              ranks_.text(type, *rank));
    }
    if (group_.from_key && !group_.found && record.rank == group_.from) {
      findings_.required("unrepeatable_read",
                         names_.where(group_) + "getNext returned a record under key " +
                             ranks_.text(type, *rank) + ", which the previous get did not find");
    }
    group_.records.push_back(record);
  }

  // Checks a record under a key that only a procedure can have computed.
  void add_computed(const script::Evidence& evidence) {
    const std::optional<std::string> reason =
        expected_.why_not_computed(evidence.payload, group_.reader);
    if (!reason) return;
    findings_.required("impossible_record", names_.where(group_) +
                                                "read a record under a computed key that cannot "
                                                "exist: " +
                                                *reason);
  }

  // Ends the current group of reads and compares it with the expected state.
  void close_group() {
    if (!group_.open) return;
    group_.open = false;
    if (!group_.sound) return;
    std::vector<ReadRecord> sorted = group_.records;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      findings_.required("duplicate_record", names_.where(group_) +
                                                 "a scan returned a record under key " +
                                                 key_text(*twice) + " twice");
    }
    for (const Change& change : expected_.changes(group_.index, group_.from, group_.covered_to())) {
      const ReadRecord record{.rank = change.rank, .tag = change.tag};
      if (change.what != Change::What::kInsert || !expected_.must_see(change, group_.reader))
        continue;
      if (std::binary_search(sorted.begin(), sorted.end(), record)) continue;
      findings_.required("missing_record",
                         names_.where(group_) + "did not find the record under key " +
                             key_text(record) + " that " + expected_.describe(change.moment) +
                             " had inserted and no transaction had deleted");
    }
    group_.records = std::move(sorted);
    if (group_.kind == format::Kind::kCanary) repeated_.add(std::move(group_));
  }

  std::string key_text(const ReadRecord& record) const {
    return names_.key(group_.index, record.rank);
  }

  const script::Script& script_;
  const KeyRanks& ranks_;
  const ExpectedState& expected_;
  Findings& findings_;
  std::span<const format::Op> ops_;
  std::array<uint32_t, format::kSlots> slots_{};
  uint64_t slots_at_ = 0;
  uint64_t last_op_ = 0;
  uint64_t transaction_ = format::kNoTransaction;
  ReadGroup group_;
  const ReadNames names_;
  RepeatedReads repeated_;
  WriteJudge writes_;
};

}  // namespace

void judge_reads(const script::Script& script, const KeyRanks& ranks,
                 const script::Outcome& outcome, Findings& findings) {
  const ExpectedState expected(script, ranks, outcome);
  ReadJudge judge(script, ranks, expected, findings);
  for (uint32_t phase = 0; phase < outcome.phases.size(); ++phase) {
    const auto threads = static_cast<uint32_t>(script.phases[phase].threads.size());
    for (uint32_t thread = 0; thread < threads; ++thread)
      judge.judge_thread(outcome, phase, thread);
  }
}

}  // namespace keydrome::judge
