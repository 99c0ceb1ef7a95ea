// Judges the threads of a session on several CPUs. The findings (the problems in the report) and
// their order are the same as if the threads were judged one after the other.
//
// Thread safety: several threads call `judge` at the same time, each call with a Findings object of
// its own.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.h"
#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/script/outcome_reader.h"
#include "benchmarks/kit/script/script.h"

namespace keydrome::judge {

// Calls judge(phase, thread, findings) for each thread of certain phases that were played. If
// `verifies` is true, they are the phases that scan all records at the end. Otherwise they are all
// other phases.
template <typename Judge>
void judge_threads(const script::Script& script, const script::Outcome& outcome, Findings& findings,
                   bool verifies, Judge&& judge) {
  std::vector<std::pair<uint32_t, uint32_t>> threads;
  for (uint32_t phase = 0; phase < outcome.phases.size(); ++phase) {
    if (script.phases[phase].verifies != verifies) continue;
    for (uint32_t thread = 0; thread < script.phases[phase].threads.size(); ++thread)
      threads.emplace_back(phase, thread);
  }
  std::vector<Findings> parts(threads.size(), findings.for_part());
  in_parallel(threads.size(),
              [&](std::size_t i) { judge(threads[i].first, threads[i].second, parts[i]); });
  for (const Findings& part : parts) findings.add_part(part);
}

}  // namespace keydrome::judge
