// Implements evidence.h: assigns each record of a thread's trace to the op that left it. A record
// is the result of one call, the trace is the list of a thread's records, and an op is an operation
// of the thread's program.
#include "benchmarks/kit/judge/evidence.h"

namespace keydrome::judge {
namespace {

// Returns true if an execution of the op leaves evidence: records of the trace, or the result of a
// procedure (a list of instructions that computes the arguments of its calls).
bool leaves_evidence(const format::Op& op) {
  return op.code == format::OpCode::kBareCall ||
         (op.flags & (format::kEvidence | format::kEvidenceAll)) != 0;
}

// Returns the largest number of trace records that one execution of the op leaves. A scan to the
// end may leave fewer.
uint64_t records_max(const format::Op& op) {
  if ((op.flags & format::kEvidenceAll) == 0) return 1;
  if (op.code == format::OpCode::kNext) return op.argument;
  return op.code == format::OpCode::kNextToEnd ? op.argument + uint64_t{1} : 1;
}

// Returns true for ops that the player (the process that calls the library) executes even in a
// transaction that it gives up. The player creates, opens and closes indexes as programmed in any
// case.
bool always_runs(format::OpCode code) {
  return code == format::OpCode::kCreate || code == format::OpCode::kOpen ||
         code == format::OpCode::kClose;
}

// The results of the final scan are stored as numbers (script/evidence/trace.h). kMade: the reader
// makes the strings (key and payload) from these numbers. kNotMade: the strings stay empty.
enum class Strings : uint8_t { kMade, kNotMade };

// Reads the records that one execution of an op left. Returns false if the next records belong to
// another op.
bool read_records(script::EvidenceReader& trace, const format::Op& op, const format::Step& step,
                  const std::function<void(const script::Evidence&)>& add, Strings strings) {
  const bool has_round = op.code != format::OpCode::kBareCall;
  for (uint64_t left = records_max(op); left > 0; --left) {
    script::Evidence record{};
    const bool exists = strings == Strings::kMade ? trace.next(record) : trace.next_number(record);
    if (!exists || record.op != step.op) return false;
    if (has_round && record.repetition >> 32 != step.round) return false;
    add(record);
    if (op.code == format::OpCode::kNextToEnd && record.code != SUCCESS) break;
  }
  return true;
}

// Gives the results of procedures as evidence.
class ProcedureReader {
 public:
  explicit ProcedureReader(std::span<const script::ProcedureResult> results) : rest_(results) {}

  // Reads the result of the kRun with this number. Returns false if there is none.
  bool read(uint64_t op, const std::function<void(const script::Evidence&)>& add) {
    while (!rest_.empty() && rest_.front().op < op) rest_ = rest_.subspan(1);
    if (rest_.empty() || rest_.front().op != op) return false;
    const int64_t& number = rest_.front().number;
    add({.op = op,
         .repetition = 0,
         .code = SUCCESS,
         .key = {},
         .payload = {reinterpret_cast<const char*>(&number), sizeof number}});
    return true;
  }

 private:
  std::span<const script::ProcedureResult> rest_;
};

}  // namespace

bool ended_as_programmed(const script::ThreadResult& result, uint64_t transaction) {
  const script::TransactionEnd end = result.ends[transaction];
  return end == script::TransactionEnd::kCommitted || end == script::TransactionEnd::kAborted;
}

namespace {

// For each execution of an op that left evidence, calls begin(step), then add(record) for each
// record, and then end(step). The strings of the records are valid until end(step) has returned.
// Returns false if the evidence cannot come from an execution of this program.
template <typename Begin, typename End>
bool follow_evidence(std::span<const format::Op> ops, const script::ThreadResult& result,
                     Begin&& begin, const std::function<void(const script::Evidence&)>& add,
                     End&& end, Strings strings) {
  script::EvidenceReader trace(result.trace);
  ProcedureReader procedures(result.results);
  bool fits = true;
  format::walk_program(ops, [&](const format::Step& step) {
    const format::Op& op = ops[step.op];
    if (!fits || !leaves_evidence(op)) return;
    if (step.transaction != format::kNoTransaction && !always_runs(op.code) &&
        !ended_as_programmed(result, step.transaction)) {
      return;
    }
    begin(step);
    fits = op.code == format::OpCode::kRun ? procedures.read(step.op, add)
                                           : read_records(trace, op, step, add, strings);
    if (fits) end(step);
    trace.release();
  });
  script::Evidence extra{};
  return fits && !trace.next(extra) && !trace.damaged();
}

}  // namespace

bool for_each_evidence(
    std::span<const format::Op> ops, const script::ThreadResult& result,
    const std::function<void(const format::Step&, std::span<const script::Evidence>)>& visit) {
  std::vector<script::Evidence> records;
  return follow_evidence(
      ops, result, [&](const format::Step&) { records.clear(); },
      [&](const script::Evidence& record) { records.push_back(record); },
      [&](const format::Step& step) { visit(step, records); }, Strings::kMade);
}

bool for_each_record(std::span<const format::Op> ops, const script::ThreadResult& result,
                     const std::function<void(const format::Step&)>& begin,
                     const std::function<void(const script::Evidence&)>& add) {
  return follow_evidence(ops, result, begin, add, [](const format::Step&) {}, Strings::kNotMade);
}

}  // namespace keydrome::judge
