// Finding: one problem that a check found in a run, with a text that explains it. The class
// Findings collects all findings of a run for the report.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/json.h"
#include "checker/severity.h"

namespace keydrome::judge {

struct Finding {
  std::string suite;  // the benchmark that found it
  std::string name;   // stable identifier, [a-z][a-z0-9_]*
  Severity severity = Severity::kRequired;
  std::string detail;  // one or two sentences: where it happened, what was expected, what happened
  Json witness = {};   // the proof (harness/schema/report.v1.schema.json), or null if there is none
};

// Returns the detail of a finding about a log of calls that contradicts itself. `problem` says what
// is wrong with the log, and what to do.
std::string inconsistent_log_text(const std::string& problem);

// Returns why calls cannot be judged if repeated attempts have filled `recording`, such as "the
// recording of a thread".
std::string full_recording_text(const std::string& recording);

// Collects findings. A faulty library often violates the same rule thousands of times. So only the
// first kExamplesPerName findings of each name are kept. In list(), the text of the last of these
// gives the number of findings that were not kept. Not thread-safe.
class Findings {
 public:
  static constexpr std::size_t kExamplesPerName = 5;

  // `suite` is the default for findings without a suite.
  explicit Findings(std::string suite = "") : suite_(std::move(suite)) {}

  // Adds a required finding: the run fails.
  void required(std::string name, std::string detail) {
    add({.suite = suite_,
         .name = std::move(name),
         .severity = Severity::kRequired,
         .detail = std::move(detail)});
  }
  // Adds an advisory finding, which is shown as a warning: the run can still pass.
  void advisory(std::string name, std::string detail) {
    add({.suite = suite_,
         .name = std::move(name),
         .severity = Severity::kAdvisory,
         .detail = std::move(detail)});
  }

  // Records that the judge could not decide, for example because a log was full. Such a run neither
  // passes nor fails.
  void not_judged(std::string reason) { not_judged_ = std::move(reason); }
  const std::string& not_judged_reason() const { return not_judged_; }  // empty: judged

  // Adds a finding of any severity.
  void add(Finding finding) {
    if (finding.suite.empty()) finding.suite = suite_;
    std::size_t& count = counts_[{finding.suite, finding.name}];
    if (finding.severity == Severity::kRequired) failed_ = true;
    if (++count <= kExamplesPerName) kept_.push_back(std::move(finding));
  }

  // Returns an object without findings and with the same suite, for a part of the run that another
  // thread judges.
  Findings for_part() const { return Findings(suite_); }
  // Adds all findings of a part, as if they had been added to this object one by one.
  void add_part(const Findings& part);

  // Returns the findings that were kept, in the order in which they were added.
  std::vector<Finding> list() const;

  // Returns how many findings with this name were added, over all suites.
  std::size_t count(const std::string& name) const {
    std::size_t total = 0;
    for (const auto& [key, count] : counts_) total += key.second == name ? count : 0;
    return total;
  }

  // Adds `text` to the end of the first line of each finding with this name.
  void explain(std::string_view name, std::string_view text);

  // Turns every finding so far into a warning, except those with the name `except`. If no required
  // finding has this name, the run can pass.
  void demote(std::string_view except = {});

  bool empty() const { return kept_.empty(); }
  // Returns true if a required finding was added and not demoted since.
  bool failed() const { return failed_; }

 private:
  std::string suite_;
  std::vector<Finding> kept_;
  std::map<std::pair<std::string, std::string>, std::size_t> counts_;
  std::string not_judged_;
  bool failed_ = false;
};

}  // namespace keydrome::judge
