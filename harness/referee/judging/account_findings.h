// Adds findings, the entries of a report that say what is wrong. They concern work that the library
// did while its time was not measured, or in threads whose origin is unknown. The input is what the
// referee, the trusted process that runs the benchmark, measured in each phase: CPU time, memory
// and threads.
#pragma once

#include "benchmarks/kit/judge/finding.h"
#include "harness/referee/session/session_result.h"

namespace keydrome {

// Adds the findings late_work, unaccounted_threads, setup_budget and kernel_work. Only setup_budget
// makes a run fail; the others are warnings. docs/reference/plan-and-report.md explains them.
void add_account_findings(const SessionResult& result, judge::Findings& findings);

}  // namespace keydrome
