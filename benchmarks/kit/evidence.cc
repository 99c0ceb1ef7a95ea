#include "benchmarks/kit/evidence.h"

namespace keydrome {
namespace {

bool leaves_evidence(const Op& op) {
  return op.code == OpCode::kMark || op.code == OpCode::kBareCall ||
         (op.flags & (kEvidence | kEvidenceAll)) != 0;
}

// How many records the op leaves; a scan to the end leaves as many as it takes until it ends.
uint64_t records_max(const Op& op) {
  if ((op.flags & kEvidenceAll) == 0) return 1;
  if (op.code == OpCode::kNext) return op.argument;
  return op.code == OpCode::kNextToEnd ? op.argument + uint64_t{1} : 1;
}

// Handles are opened and closed even in a transaction that is given up.
bool always_runs(OpCode code) {
  return code == OpCode::kCreate || code == OpCode::kOpen || code == OpCode::kClose;
}

}  // namespace

bool ended_as_programmed(const ThreadResult& result, uint64_t transaction) {
  const TransactionEnd end = result.ends[transaction];
  return end == TransactionEnd::kCommitted || end == TransactionEnd::kAborted;
}

bool for_each_evidence(std::span<const Op> ops, const ThreadResult& result,
                       const std::function<void(const Step&, std::span<const Evidence>)>& visit) {
  TraceReader trace(result.trace);
  std::vector<Evidence> records;
  bool fits = true;
  walk_program(ops, [&](const Step& step) {
    const Op& op = ops[step.op];
    if (!fits || !leaves_evidence(op)) return;
    if (step.transaction != kNoTransaction && !always_runs(op.code) &&
        !ended_as_programmed(result, step.transaction)) {
      return;
    }
    records.clear();
    const uint64_t wanted = records_max(op);
    while (fits && records.size() < wanted) {
      Evidence record{};
      fits = trace.next(record) && record.op == step.op &&
             (op.code == OpCode::kMark || op.code == OpCode::kBareCall ||
              record.repetition >> 32 == step.round);
      if (fits) records.push_back(record);
      if (op.code == OpCode::kNextToEnd && record.code != SUCCESS) break;
    }
    if (fits) visit(step, records);
  });
  Evidence extra{};
  return fits && !trace.next(extra) && !trace.damaged();
}

}  // namespace keydrome
