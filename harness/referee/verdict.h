// From facts to a verdict: the one place that decides how a session ended.
//
// Pure functions. Missing output never decides anything, and neither does an exit code of the
// program: a session passes only when the whole protocol was played and the judge found nothing
// required.
#pragma once

#include <string>

#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/replay.h"
#include "harness/referee/run.h"

namespace keydrome {

struct RunVerdict {
  std::string name;    // passed, failed, crashed, ... (report.v1.schema.json)
  std::string reason;  // one sentence; empty when passed
};

// Adds the findings that the facts themselves are, such as a broken protocol or a clock that was
// tampered with.
void add_fact_findings(const RunFacts& facts, Findings& findings);

RunVerdict decide(const RunFacts& facts, const Findings& findings,
                  const std::string& required_level);

// How the session ended, as far as its workload may know.
Ending ending_of(const RunFacts& facts);

// The verdict of an instance that never decides: what the library did is a warning in `findings`,
// and the session has passed. What is no fault of the library stays.
RunVerdict as_warning(RunVerdict verdict, Findings& findings);

// full, weak or none; none when the jail did not say.
std::string jail_level(const JailEnd& jail);

}  // namespace keydrome
