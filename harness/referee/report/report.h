// Makes the report of one session (one repetition of a benchmark with one library) as JSON
// (harness/schema/report.v1.schema.json).
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "benchmarks/kit/judge/finding.h"
#include "benchmarks/kit/workload/parameters.h"
#include "benchmarks/kit/workload/workload.h"
#include "harness/referee/judging/verdict.h"
#include "harness/referee/plan/plan.h"
#include "harness/referee/session/session_result.h"

namespace keydrome {

// When the steps of a session began, by now_ns(). Judging ends in make_report(), because computing
// the metrics is a part of judging.
struct StepStarts {
  uint64_t session_ns = 0;  // reading the plan, the JSON file that describes the session
  uint64_t generating_ns = 0, playing_ns = 0, judging_ns = 0;
};

// The inputs of make_report(). References are borrowed for the call.
struct ReportInputs {
  const Plan& plan;
  const workload::ParameterValues& parameters;  // including defaults and overrides
  const script::Script& script;
  const workload::Workload* workload;  // nullptr if nothing was played
  const SessionResult& result;
  const judge::Findings& findings;
  RunVerdict verdict;
  Json machine;  // result of machine_facts() before the session
  // The memory that the referee (this process) would need, as estimated before the session; 0 if
  // nothing was played.
  uint64_t referee_estimate_bytes = 0;
  StepStarts starts = {};
};

Json make_report(const ReportInputs& inputs);

}  // namespace keydrome
