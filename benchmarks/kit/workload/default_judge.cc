// Implements the defaults of Workload's virtual functions: a complete session is judged by its
// script alone.
#include "benchmarks/kit/judge/judge.h"
#include "benchmarks/kit/workload/workload.h"

namespace keydrome::workload {

// A workload that plays traces keeps the pointer, so the parameter is no reference.
// NOLINTNEXTLINE(performance-unnecessary-value-param)
bool Workload::play_trace(std::shared_ptr<const TraceFile> /*trace*/) { return false; }

void Workload::adapt_phase(script::Script& /*script*/, uint32_t /*phase*/,
                           const script::Outcome& /*so_far*/) const {}

void Workload::judge(const script::Script& script, const script::Outcome& outcome,
                     judge::Findings& findings) const {
  judge::judge_script(script, outcome, findings);
}

void Workload::examine(const script::Script& script, const judge::Played& played,
                       judge::Findings& findings) const {
  if (played.ending.complete) judge(script, played.outcome, findings);
}

bool Workload::has_misused(uint32_t /*phase*/, uint64_t /*op*/) const { return false; }

void Workload::judge_memory(const script::Script& /*script*/, const script::Outcome& /*outcome*/,
                            std::span<const PhaseMeasures> /*phases*/,
                            judge::Findings& /*findings*/) const {}

std::optional<judge::Throughput> Workload::throughput(const script::Script& /*script*/,
                                                      const script::Outcome& /*outcome*/) const {
  return std::nullopt;
}

void Workload::measure(const script::Script& /*script*/, const script::Outcome& /*outcome*/,
                       std::span<const PhaseMeasures> /*phases*/, Metrics& /*metrics*/) const {}

}  // namespace keydrome::workload
