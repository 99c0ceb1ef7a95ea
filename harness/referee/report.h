// The report: what one session showed (schema/report.v1.schema.json).
#pragma once

#include <string>

#include "base/json.h"
#include "base/result.h"
#include "benchmarks/kit/finding.h"
#include "benchmarks/kit/parameters.h"
#include "benchmarks/kit/workload.h"
#include "harness/referee/plan.h"
#include "harness/referee/run.h"
#include "harness/referee/verdict.h"

namespace keydrome {

// Everything that a report is made of. References are borrowed for the call.
struct ReportInputs {
  const Plan& plan;
  const ParameterValues& parameters;  // as resolved
  const Script& script;
  const Workload* workload;  // null: nothing was played
  const RunFacts& facts;
  const Findings& findings;
  RunVerdict verdict;
  Json machine;  // an object
};

Json make_report(const ReportInputs& inputs);

// A file that appears complete or not at all.
class AtomicFile {
 public:
  // Opens a temporary file beside `path`, so that a report that cannot be written is known before
  // the session starts.
  static Result<AtomicFile> create(const std::string& path);
  AtomicFile(AtomicFile&& other) noexcept;
  AtomicFile& operator=(AtomicFile&&) = delete;
  // Removes the temporary file unless commit() succeeded.
  ~AtomicFile();

  // Writes `text`, and puts the file in its place.
  Result<void> commit(const std::string& text);

 private:
  AtomicFile(UniqueFd fd, std::string path, std::string temporary);

  UniqueFd fd_;
  std::string path_;
  std::string temporary_;
};

}  // namespace keydrome
