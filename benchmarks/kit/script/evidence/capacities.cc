// Implements capacities.h: adds up the memory that the ops (operations) of a script need at most
// for their evidence, the results of single calls.
#include "benchmarks/kit/script/evidence/capacities.h"

#include <algorithm>
#include <array>

#include "base/check.h"
#include "benchmarks/kit/format/outcome.h"
#include "benchmarks/kit/format/program_walk.h"

namespace keydrome::script {
namespace {

// A log also records retries after DEADLOCK, whose number is unknown in advance. So the log has
// room for kAttemptsRecorded attempts of each of the first kCallsWithManyAttempts calls of a
// thread, and for kMeanAttemptsRecorded attempts of each later call. The referee, which runs the
// session, touches the memory of a log when it creates the log, so a log costs memory even if it
// stays empty.
constexpr uint64_t kAttemptsRecorded = 16, kMeanAttemptsRecorded = 4;
constexpr uint64_t kCallsWithManyAttempts = 1 << 18;
constexpr uint64_t kEventsMin = 4096;
constexpr std::size_t kBarePayloadBytesMax = sizeof(Record::payload);
constexpr std::size_t kRecordedIndexesMax = 0xffff;  // Event::index has 16 bits

// Returns the largest number of library calls that one execution of the op makes without retries.
uint64_t calls_of(const format::Op& op, const Pools& pools) {
  switch (op.code) {
    case format::OpCode::kNext:
      return op.argument;
    case format::OpCode::kNextToEnd:
      return op.argument + uint64_t{1};
    case format::OpCode::kRun:
      return pools.procedures[op.payload].calls;
    case format::OpCode::kSignal:
    case format::OpCode::kWait:
    case format::OpCode::kYield:
    case format::OpCode::kStep:
    case format::OpCode::kStepDone:
    case format::OpCode::kArrive:
    case format::OpCode::kUntil:
      return 0;
    default:
      return 1;
  }
}

// Returns the capacity of a log for this many calls and their retries.
uint64_t events_of(uint64_t calls) {
  const uint64_t few = std::min(calls, kCallsWithManyAttempts);
  return std::max(kEventsMin, few * kAttemptsRecorded + (calls - few) * kMeanAttemptsRecorded);
}

// Returns true if the thread needs a trace, the memory for whole results of calls. A procedure
// (kRun) needs none, because its result is in the thread's words (format/control_word.h).
bool needs_trace(const std::vector<format::Op>& ops) {
  return std::ranges::any_of(ops, [](const format::Op& op) {
    return op.code == format::OpCode::kBareCall ||
           (op.code != format::OpCode::kRun &&
            (op.flags & (format::kEvidence | format::kEvidenceAll)) != 0);
  });
}

// Returns the greatest number of records that one execution of the op leaves in a trace.
uint64_t trace_records(const format::Op& op) {
  if (op.code == format::OpCode::kNext) return op.argument;
  if (op.code == format::OpCode::kNextToEnd) return op.argument + uint64_t{1};
  const bool is_on_index = op.code <= format::OpCode::kClose;  // create, open or close
  return is_on_index || format::is_data_call(op.code) || op.code == format::OpCode::kBareCall;
}

// The upper bounds of the size of one trace record, for string keys and for integer keys.
struct RecordBytes {
  uint64_t with_string, with_integer;
};

// Returns the sizes of the largest trace records with keys and payloads of the script. If the
// library returns longer keys or payloads, the trace may overflow. The thread then reports how many
// records it dropped.
RecordBytes longest_records(const Pools& pools) {
  const std::size_t longest_key = std::max(sizeof(int64_t), pools.varchar_keys.longest());
  std::size_t longest_text = pools.payloads.longest();
  if (!pools.procedures.empty()) longest_text = MAX_PAYLOAD_LEN - format::kTagBytes;
  return {.with_string = format::trace_record_bytes(longest_key, format::kTagBytes + longest_text),
          .with_integer =
              format::trace_record_bytes(sizeof(int64_t), format::kTagBytes + longest_text)};
}

// Returns an upper bound of the size of a thread's trace in bytes. A thread with a trace writes the
// results of all its calls, so that the player, which calls the library, does not know which of
// them are judged.
uint64_t trace_bytes(const Script& script, const std::vector<format::Op>& ops,
                     const RecordBytes& longest) {
  if (!needs_trace(ops)) return 0;
  std::array<uint32_t, format::kSlots> slots{};
  uint64_t bytes = 0;
  format::walk_program(ops, [&](const format::Step& step) {
    const format::Op& op = ops[step.op];
    if (op.code == format::OpCode::kOpen) slots[op.slot] = op.argument;
    const uint64_t records = trace_records(op);
    if (records == 0) return;
    if (op.code == format::OpCode::kBareCall) {  // the library may return any key and payload
      bytes += format::trace_record_bytes(sizeof(Key::keyval), kBarePayloadBytesMax);
      return;
    }
    const bool is_string = script.indexes.at(slots[op.slot]).type == VARCHAR;
    bytes += records * (is_string ? longest.with_string : longest.with_integer);
  });
  return bytes;
}

}  // namespace

void record_phase(Script& script, PhaseScript& phase) {
  KEYDROME_CHECK(script.indexes.size() < kRecordedIndexesMax);
  phase.log_capacity.clear();
  for (const std::vector<format::Op>& ops : phase.threads) {
    uint64_t calls = 0;
    format::walk_program(
        ops, [&](const format::Step& step) { calls += calls_of(ops[step.op], script.pools); });
    phase.log_capacity.push_back(events_of(calls));
  }
}

void set_trace_capacities(Script& script) {
  const RecordBytes longest = longest_records(script.pools);
  for (PhaseScript& phase : script.phases) {
    phase.trace_capacity_bytes.clear();
    for (const std::vector<format::Op>& ops : phase.threads)
      phase.trace_capacity_bytes.push_back(trace_bytes(script, ops, longest));
  }
}

}  // namespace keydrome::script
