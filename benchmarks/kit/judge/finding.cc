// Implements the longer functions of Findings, which collects the problems that the checks of a run
// found. Also contains a text that several judges use in their findings.
#include "benchmarks/kit/judge/finding.h"

#include <algorithm>

namespace keydrome::judge {

std::string inconsistent_log_text(const std::string& problem) {
  return "the recorded calls are inconsistent: " + problem;
}

std::string full_recording_text(const std::string& recording) {
  return "the library returned DEADLOCK so often that " + recording +
         " is full, which proves no error; but to be judged, the library must return DEADLOCK less "
         "often, or wait before returning it";
}

void Findings::explain(std::string_view name, std::string_view text) {
  for (Finding& finding : kept_) {
    if (finding.name != name) continue;
    finding.detail.insert(std::min(finding.detail.find('\n'), finding.detail.size()), text);
  }
}

void Findings::demote(std::string_view except) {
  failed_ = false;
  for (Finding& finding : kept_) {
    if (finding.name != except) finding.severity = Severity::kAdvisory;
    failed_ = failed_ || finding.severity == Severity::kRequired;
  }
}

void Findings::add_part(const Findings& part) {
  for (const Finding& finding : part.kept_) add(finding);
  for (const auto& [name, count] : part.counts_) {
    if (count > kExamplesPerName) counts_[name] += count - kExamplesPerName;
  }
  failed_ = failed_ || part.failed_;
  if (!part.not_judged_.empty()) not_judged_ = part.not_judged_;
}

std::vector<Finding> Findings::list() const {
  std::vector<Finding> findings = kept_;
  std::map<std::pair<std::string, std::string>, std::size_t> seen;
  for (Finding& finding : findings) {
    const std::pair<std::string, std::string> name{finding.suite, finding.name};
    const std::size_t total = counts_.at(name);
    if (++seen[name] == kExamplesPerName && total > kExamplesPerName) {
      finding.detail +=
          " (and " + std::to_string(total - kExamplesPerName) + " more findings like this)";
    }
  }
  return findings;
}

}  // namespace keydrome::judge
