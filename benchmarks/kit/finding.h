// Findings: what a check found wrong, in words for a person.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "checker/severity.h"

namespace keydrome {

struct Finding {
  std::string suite;  // the benchmark that found it
  std::string name;   // stable, [a-z][a-z0-9_]*
  Severity severity = Severity::kRequired;
  std::string detail;  // one or two sentences: what was expected, what came, where
  Json witness = {};   // what shows it, as report.v1.schema.json says; null where there is none
};

// Collects findings. A broken library breaks the same promise thousands of times: each name keeps
// its first few examples, and the last kept one says how many more there were. Not thread-safe.
class Findings {
 public:
  static constexpr std::size_t kExamplesPerName = 5;

  // `suite` is used for findings that name none.
  explicit Findings(std::string suite = "") : suite_(std::move(suite)) {}

  void required(std::string name, std::string detail) {
    add({.suite = suite_,
         .name = std::move(name),
         .severity = Severity::kRequired,
         .detail = std::move(detail)});
  }
  void advisory(std::string name, std::string detail) {
    add({.suite = suite_,
         .name = std::move(name),
         .severity = Severity::kAdvisory,
         .detail = std::move(detail)});
  }

  // The judge could not judge, for instance because a log was full. Then nothing was found wrong,
  // and the run does not pass either.
  void not_judged(std::string reason) { not_judged_ = std::move(reason); }
  const std::string& not_judged_reason() const { return not_judged_; }  // empty: judged

  void add(Finding finding) {
    if (finding.suite.empty()) finding.suite = suite_;
    std::size_t& count = counts_[{finding.suite, finding.name}];
    if (finding.severity == Severity::kRequired) failed_ = true;
    if (++count <= kExamplesPerName) kept_.push_back(std::move(finding));
  }

  // The kept examples in the order they were found.
  std::vector<Finding> list() const;

  // How often a finding of that name was made, in all suites.
  std::size_t count(const std::string& name) const {
    std::size_t total = 0;
    for (const auto& [key, count] : counts_) total += key.second == name ? count : 0;
    return total;
  }

  // Makes every finding so far a warning.
  void demote();

  bool empty() const { return kept_.empty(); }
  // Whether there is a required finding.
  bool failed() const { return failed_; }

 private:
  std::string suite_;
  std::vector<Finding> kept_;
  std::map<std::pair<std::string, std::string>, std::size_t> counts_;
  std::string not_judged_;
  bool failed_ = false;
};

}  // namespace keydrome
