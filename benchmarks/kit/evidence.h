// Going through a thread's evidence beside its program.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "benchmarks/kit/outcome_reader.h"
#include "benchmarks/kit/program_walk.h"
#include "benchmarks/kit/workload.h"

namespace keydrome {

// Calls visit(step, records) for every execution of an op that left evidence, in program order. Ops
// of transactions that failed left none. False when the trace is not what that program can have
// written: the outcome cannot be trusted.
bool for_each_evidence(std::span<const Op> ops, const ThreadResult& result,
                       const std::function<void(const Step&, std::span<const Evidence>)>& visit);

// Whether the transaction ended as its program says, so that its effects and evidence count.
bool ended_as_programmed(const ThreadResult& result, uint64_t transaction);

}  // namespace keydrome
