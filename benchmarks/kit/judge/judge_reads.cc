// Implements judge_reads(): judges the final scan, which reads all records at the end of a run. The
// player, the process that calls the library, reports these records with their whole keys and
// texts. An op is one operation of a thread's program, and a slot is a thread's variable for an
// open handle. A rank is the position of a key in key order. A tag is the unique number at the
// beginning of a payload.
#include <array>
#include <optional>
#include <string>

#include "base/check.h"
#include "benchmarks/kit/format/payload_tag.h"
#include "benchmarks/kit/judge/evidence.h"
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/judge/judge_threads.h"
#include "benchmarks/kit/judge/read_groups.h"

namespace keydrome::judge {
namespace {

// Judges the evidence of a thread. Evidence is the records that the thread reported. The expected
// state (expected_state.h) says whether a record can exist. The member groups_ checks that the
// records are in order and that none is missing. Use each object once.
class ReadJudge {
 public:
  ReadJudge(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected,
            Findings& findings)
      : script_(script),
        ranks_(ranks),
        expected_(expected),
        findings_(findings),
        groups_(script, ranks, expected, findings) {}

  void judge_thread(const script::Outcome& outcome, uint32_t phase, uint32_t thread) {
    const script::PhaseScript& script = script_.phases[phase];
    ops_ = script.threads[thread];
    const script::ThreadResult& result = outcome.phases[phase].threads[thread];
    const bool fits = for_each_record(
        ops_, result,
        [&](const format::Step& step) { begin(step, {phase, thread, step.op, step.transaction}); },
        [&](const script::Evidence& record) {
          if (scans_) add(record);
        });
    groups_.end_transaction();
    if (!fits) {
      findings_.required(
          "outcome_mismatch",
          phase_text(script) + ", thread " + std::to_string(thread) +
              ": the results in Keydrome's recording do not fit the calls of this thread. Keydrome "
              "keeps this recording in the library's process, so the library must have "
              "overwritten it: look for writes outside the library's own memory");
    }
  }

 private:
  // Begins an op (operation) with evidence. Only the records of scans to the end are judged.
  void begin(const format::Step& step, const Moment& moment) {
    const format::Op& op = ops_[step.op];
    follow_slots(step.op);
    scans_ = op.code == format::OpCode::kNextToEnd && (op.flags & format::kEvidenceAll) != 0;
    if (!scans_) return groups_.close();
    // A getNext directly after a begin reads from the start of the index.
    const bool fresh = step.op > 0 && ops_[step.op - 1].code == format::OpCode::kBegin;
    groups_.start({.index = slots_[op.slot], .slot = op.slot, .moment = moment, .kind = step.kind},
                  fresh);
  }

  // Tracks which index each slot (handle) refers to, up to this op. The evidence comes in program
  // order.
  void follow_slots(uint64_t op) {
    for (; slots_at_ <= op; ++slots_at_) {
      if (ops_[slots_at_].code == format::OpCode::kOpen)
        slots_[ops_[slots_at_].slot] = ops_[slots_at_].argument;
    }
  }

  // Checks that the record can exist, and adds it to the current group, the records of one scan.
  void add(const script::Evidence& evidence) {
    if (groups_.at_end()) return;
    if (evidence.code != SUCCESS) return groups_.add_code(evidence.code);
    const uint32_t index = groups_.reader().index;
    const KeyType type = script_.indexes[index].type;
    if (evidence.inserted != nullptr) return add_inserted(evidence);
    const std::optional<uint32_t> rank = ranks_.find(type, evidence.key, last_rank_);
    if (!rank && expected_.has_computed_keys(index)) return add_computed(type, evidence);
    if (!rank) {
      return groups_.report("impossible_record", "a scan returned a record under key " +
                                                     KeyRanks::text_of(type, evidence.key) +
                                                     ", which was never passed to the library");
    }
    last_rank_ = *rank;
    add_possible({.rank = *rank, .tag = format::read_tag(evidence.payload).value_or(0)},
                 expected_.why_impossible(index, *rank, evidence.payload, groups_.reader().moment));
  }

  // Checks a record that some op inserts. The record is wrong if the op inserts it into another
  // index, or if it must have been deleted before the scan.
  void add_inserted(const script::Evidence& evidence) {
    const uint32_t index = groups_.reader().index;
    // copy_trace() (script/evidence/trace.h) also followed the program, so it found the same type.
    KEYDROME_CHECK(script_.indexes[index].type == evidence.inserted_type);
    const script::InsertedRecord& record = *evidence.inserted;
    last_rank_ = ranks_.rank(evidence.inserted_type, record.key);
    add_possible({.rank = last_rank_, .tag = record.tag},
                 expected_.why_impossible(index, last_rank_, record.tag, record.text,
                                          groups_.reader().moment));
  }

  // Adds the record to the current group. If the record cannot exist, `reason` says why, and a
  // finding is added instead.
  void add_possible(const ReadRecord& record, const std::optional<std::string>& reason) {
    if (!reason) return groups_.add(record);
    report_impossible(groups_.key_text(record.rank), *reason);
  }

  // A procedure computes keys from earlier reads. Checks a record under a key that only a procedure
  // can have used.
  void add_computed(KeyType type, const script::Evidence& evidence) {
    const std::optional<uint32_t> tag = format::read_tag(evidence.payload);
    const std::optional<std::string> reason =
        tag ? expected_.why_not_computed(*tag, groups_.reader().moment)
            : "the record's payload does not begin with 8 letters from A to P, as every inserted "
              "payload does";
    if (!reason) return;
    report_impossible(KeyRanks::text_of(type, evidence.key), *reason);
  }

  void report_impossible(const std::string& key, const std::string& reason) {
    groups_.report("impossible_record",
                   "a scan returned a record under key " + key + " that cannot exist: " + reason);
  }

  const script::Script& script_;
  const KeyRanks& ranks_;
  const ExpectedState& expected_;
  Findings& findings_;
  std::span<const format::Op> ops_;
  std::array<uint32_t, format::kSlots> slots_{};
  uint64_t slots_at_ = 0;
  bool scans_ = false;      // the present op is a scan to the end
  uint32_t last_rank_ = 0;  // of the last record that was found
  ReadGroups groups_;
};

}  // namespace

void judge_reads(const script::Script& script, const KeyRanks& ranks, const ExpectedState& expected,
                 const script::Outcome& outcome, Findings& findings) {
  const auto judge = [&](uint32_t phase, uint32_t thread, Findings& found) {
    ReadJudge(script, ranks, expected, found).judge_thread(outcome, phase, thread);
  };
  judge_threads(script, outcome, findings, /*verifies=*/true, judge);
}

}  // namespace keydrome::judge
