// The part of the judge that looks at evidence: single reads, scans, repeated reads, what deletes
// say they found, and the final scan.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "benchmarks/kit/evidence.h"
#include "benchmarks/kit/judge.h"
#include "benchmarks/kit/payload_tag.h"

namespace keydrome {
namespace {

constexpr uint64_t kEndOfIndex = UINT64_MAX;

struct ReadRecord {
  uint32_t rank = 0;
  uint32_t tag = 0;
  bool operator==(const ReadRecord&) const = default;
  bool operator<(const ReadRecord& other) const {
    return rank != other.rank ? rank < other.rank : tag < other.tag;
  }
};

// A get with the getNext calls after it, or getNext calls from the start of the index.
struct ReadGroup {
  uint32_t index = 0;
  uint8_t slot = 0;
  Moment reader;
  Kind kind = Kind::kStream;
  bool open = false;      // may still grow
  bool found = false;     // the get succeeded
  uint64_t from = 0;      // rank of the key that get asked for; 0: from the start
  bool from_key = false;  // there was a get
  bool at_end = false;    // DB_END came
  bool sound = true;      // its records can be taken for all that there are
  std::vector<ReadRecord> records;

  // All records with from <= rank < covered_to() were read.
  uint64_t covered_to() const {
    if (at_end) return kEndOfIndex;
    if (from_key && !found && records.empty()) return from + 1;
    return records.empty() ? from : records.back().rank;
  }
};

class ReadJudge {
 public:
  ReadJudge(const Script& script, const KeyRanks& ranks, const Ledger& ledger, Findings& findings)
      : script_(script), ranks_(ranks), ledger_(ledger), findings_(findings) {}

  void judge_thread(const Outcome& outcome, uint32_t phase, uint32_t thread) {
    const PhaseScript& script = script_.phases[phase];
    ops_ = script.threads[thread];
    slots_at_ = 0;
    slots_ = {};
    const ThreadResult& result = outcome.phases[phase].threads[thread];
    const bool fits =
        for_each_evidence(ops_, result, [&](const Step& step, std::span<const Evidence> records) {
          visit(step, records, {phase, thread, step.op, step.transaction});
        });
    close_group();
    end_transaction();
    if (!fits) {
      findings_.required("outcome_mismatch", "phase " + script.name + ", thread " +
                                                 std::to_string(thread) +
                                                 ": the evidence does not fit the program");
    }
  }

 private:
  void visit(const Step& step, std::span<const Evidence> records, const Moment& moment) {
    const Op& op = ops_[step.op];
    follow_slots(step.op);
    if (step.transaction != transaction_) {
      close_group();
      end_transaction();
      transaction_ = step.transaction;
    }
    if (op.code == OpCode::kRun) return close_group();  // a result that its workload judges
    const bool continues = group_.open && group_.slot == op.slot && adjacent(last_op_, step);
    last_op_ = step.op;
    if (op.code == OpCode::kGet) {
      close_group();
      start_group(op, step, moment);
      group_.from = ranks_.rank(script_.indexes[group_.index].type, op.key);
      group_.from_key = true;
      group_.found = records[0].code == SUCCESS;
      add(records[0]);
    } else if (op.code == OpCode::kNext || op.code == OpCode::kNextToEnd) {
      if (!continues) {
        close_group();
        start_group(op, step, moment);
      }
      if ((op.flags & kEvidenceAll) == 0 || (!continues && !fresh_cursor(step)))
        group_.sound = false;
      for (const Evidence& record : records) add(record);
    } else {
      close_group();  // a write may move the cursor
      if (is_data_call(op.code)) judge_write(op, records[0], moment);
    }
  }

  // Whether the answer of an insert or a delete can be right.
  void judge_write(const Op& op, const Evidence& evidence, const Moment& moment) {
    const uint32_t index = slots_[op.slot];
    const KeyType type = script_.indexes[index].type;
    const bool inserts = op.code == OpCode::kInsert;
    const Change change{.index = index,
                        .rank = ranks_.rank(type, op.key),
                        .tag = op.argument,
                        .text = op.payload,
                        .moment = moment,
                        .what = inserts                         ? Change::What::kInsert
                                : op.code == OpCode::kDeleteKey ? Change::What::kDeleteKey
                                                                : Change::What::kDeletePair};
    const bool succeeded = evidence.code == SUCCESS;
    const std::optional<std::string> reason = inserts ? ledger_.why_wrong_insert(change, !succeeded)
                                                      : ledger_.why_wrong_delete(change, succeeded);
    if (!reason) return;
    findings_.required(inserts ? "wrong_insert" : "wrong_delete",
                       "index " + script_.indexes[index].name + ", " + ledger_.describe(moment) +
                           ": " + op_text(op) + " of key " + ranks_.text(type, change.rank) +
                           " answered " + code_text(evidence.code) + ", but " + *reason);
  }

  // Keeps track of which index each slot stands for; evidence comes in program order.
  void follow_slots(uint64_t op) {
    if (op < slots_at_) return;  // a repeated body
    for (; slots_at_ <= op; ++slots_at_) {
      if (ops_[slots_at_].code == OpCode::kOpen)
        slots_[ops_[slots_at_].slot] = ops_[slots_at_].argument;
    }
  }

  // Nothing but getNext calls lies between; a write may move the cursor.
  bool adjacent(uint64_t last, const Step& step) const { return step.op == last + 1; }

  // getNext right after begin reads from the start of the index.
  bool fresh_cursor(const Step& step) const {
    return step.op > 0 && ops_[step.op - 1].code == OpCode::kBegin;
  }

  void start_group(const Op& op, const Step& step, const Moment& moment) {
    group_ = ReadGroup{};
    group_.open = true;
    group_.index = slots_[op.slot];
    group_.slot = op.slot;
    group_.reader = moment;
    group_.kind = step.kind;
  }

  std::string where(const ReadGroup& group) const {
    return "index " + script_.indexes[group.index].name + ", " + ledger_.describe(group.reader) +
           ": ";
  }

  void add(const Evidence& evidence) {
    if (group_.at_end) return;  // what getNext gives after DB_END is not judged here
    if (evidence.code != SUCCESS) {
      group_.at_end = evidence.code == DB_END;
      if (evidence.code != DB_END && evidence.code != KEY_NOTFOUND) group_.sound = false;
      return;
    }
    const KeyType type = script_.indexes[group_.index].type;
    const std::optional<uint32_t> rank = ranks_.find(type, evidence.key);
    if (!rank && ledger_.has_computed_keys(group_.index)) return add_computed(evidence);
    if (!rank) {
      return findings_.required("impossible_record",
                                where(group_) + "a record with a key that nobody used");
    }
    const std::optional<std::string> reason =
        ledger_.why_impossible(group_.index, *rank, evidence.payload, group_.reader);
    if (reason) {
      findings_.required("impossible_record", where(group_) + "read a record under key " +
                                                  ranks_.text(type, *rank) +
                                                  " that cannot be there: " + *reason);
      return;
    }
    const ReadRecord record{.rank = *rank, .tag = read_tag(evidence.payload).value_or(0)};
    const bool backwards = group_.records.empty() ? record.rank < group_.from
                                                  : record.rank < group_.records.back().rank;
    if (backwards) {
      group_.sound = false;
      findings_.required("scan_order", where(group_) + "getNext went backwards to key " +
                                           ranks_.text(type, *rank));
    }
    if (group_.from_key && !group_.found && record.rank == group_.from) {
      findings_.required("unrepeatable_read", where(group_) + "getNext gave a record under key " +
                                                  ranks_.text(type, *rank) +
                                                  ", which the get before it did not find");
    }
    group_.records.push_back(record);
  }

  // A record under a key that only a procedure can have computed.
  void add_computed(const Evidence& evidence) {
    const std::optional<std::string> reason =
        ledger_.why_not_computed(evidence.payload, group_.reader);
    if (!reason) return;
    findings_.required("impossible_record", where(group_) +
                                                "read a record under a computed key that cannot "
                                                "be there: " +
                                                *reason);
  }

  void close_group() {
    if (!group_.open) return;
    group_.open = false;
    if (!group_.sound) return;
    std::vector<ReadRecord> sorted = group_.records;
    std::sort(sorted.begin(), sorted.end());
    const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
    if (twice != sorted.end()) {
      findings_.required("duplicate_record",
                         where(group_) + "a record under key " + key_text(*twice) + " came twice");
    }
    for (const Change& change : ledger_.changes(group_.index, group_.from, group_.covered_to())) {
      const ReadRecord record{.rank = change.rank, .tag = change.tag};
      if (change.what != Change::What::kInsert || !ledger_.must_see(change, group_.reader))
        continue;
      if (std::binary_search(sorted.begin(), sorted.end(), record)) continue;
      findings_.required("missing_record", where(group_) + "the record under key " +
                                               key_text(record) + " that " +
                                               ledger_.describe(change.moment) +
                                               " inserted and nobody deleted was not found");
    }
    group_.records = std::move(sorted);
    if (group_.kind == Kind::kCanary) repeated_.push_back(std::move(group_));
  }

  std::string key_text(const ReadRecord& record) const {
    return ranks_.text(script_.indexes[group_.index].type, record.rank);
  }

  // The reads of one transaction without writes of its own must agree.
  void end_transaction() {
    for (const ReadGroup& a : repeated_) {
      for (const ReadGroup& b : repeated_) compare(a, b);
    }
    repeated_.clear();
  }

  // What `a` read must be in `b` as far as `b` covers it.
  void compare(const ReadGroup& a, const ReadGroup& b) {
    if (&a == &b || a.index != b.index) return;
    const uint64_t to = b.covered_to();
    for (const ReadRecord& record : a.records) {
      if (record.rank < b.from || record.rank >= to) continue;
      if (std::binary_search(b.records.begin(), b.records.end(), record)) continue;
      findings_.required("unrepeatable_read",
                         where(b) + "a record under key " +
                             ranks_.text(script_.indexes[b.index].type, record.rank) +
                             " was there in one read and not in another of the same transaction");
      return;
    }
  }

  const Script& script_;
  const KeyRanks& ranks_;
  const Ledger& ledger_;
  Findings& findings_;
  std::span<const Op> ops_;
  std::array<uint32_t, kSlots> slots_{};
  uint64_t slots_at_ = 0;
  uint64_t last_op_ = 0;
  uint64_t transaction_ = kNoTransaction;
  ReadGroup group_;
  std::vector<ReadGroup> repeated_;
};

}  // namespace

void judge_reads(const Script& script, const KeyRanks& ranks, const Outcome& outcome,
                 Findings& findings) {
  const Ledger ledger(script, ranks, outcome);
  ReadJudge judge(script, ranks, ledger, findings);
  for (uint32_t phase = 0; phase < outcome.phases.size(); ++phase) {
    const auto threads = static_cast<uint32_t>(script.phases[phase].threads.size());
    for (uint32_t thread = 0; thread < threads; ++thread)
      judge.judge_thread(outcome, phase, thread);
  }
}

}  // namespace keydrome
