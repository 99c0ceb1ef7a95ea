// Findings from the accounts of a session: work that the library did too early or too late, and
// work by threads that are missing from the accounts.
#pragma once

#include "benchmarks/kit/judge/finding.h"
#include "harness/referee/session/session_result.h"

namespace keydrome {

// Adds the findings late_work, unaccounted_threads, setup_budget and kernel_work.
// docs/reference/plan-and-report.md explains them.
void add_account_findings(const SessionResult& result, judge::Findings& findings);

}  // namespace keydrome
