// Iterates over a thread's evidence together with its program. Evidence is the result of a single
// call, which the player, the process that calls the library, copies into its outcome
// (format/outcome.h). The judges use these functions to find the op (the operation of the program)
// that each result belongs to.
//
// Thread safety: pure functions.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "benchmarks/kit/format/program_walk.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::judge {

// Calls visit(step, records) for every execution of an op that left evidence, in program order. Ops
// of failed transactions left no evidence. Returns false if the evidence cannot come from an
// execution of this program. The caller must then not trust the outcome.
bool for_each_evidence(
    std::span<const format::Op> ops, const script::ThreadResult& result,
    const std::function<void(const format::Step&, std::span<const script::Evidence>)>& visit);

// For every execution of an op that left evidence, calls begin(step), and then add(record) for each
// record. Needs no memory for the records, of which the final scan has millions. A record with
// `inserted` has no strings: the numbers in `inserted` identify its key and payload.
bool for_each_record(std::span<const format::Op> ops, const script::ThreadResult& result,
                     const std::function<void(const format::Step&)>& begin,
                     const std::function<void(const script::Evidence&)>& add);

// Returns true if the transaction committed or aborted as programmed. Only then do its effects and
// its evidence count.
bool ended_as_programmed(const script::ThreadResult& result, uint64_t transaction);

}  // namespace keydrome::judge
