// Implements FindingBook, the collection of findings (violations by the library): stores each
// finding once, and copies a few of each severity into the report.
#include "benchmarks/scenarios/judge/finding_book.h"

#include "base/count_text.h"

namespace keydrome::scenarios {

void FindingBook::add(const std::string& scenario, judge::Finding finding) {
  if (!book_.try_emplace({finding.name, scenario}, kept_.size()).second) return;
  kept_.push_back(std::move(finding));
}

void FindingBook::show(judge::Findings& findings) const {
  if (!not_judged_.empty()) findings.not_judged(not_judged_);
  for (const Severity severity : {Severity::kRequired, Severity::kAdvisory}) {
    std::vector<judge::Finding> shown;
    std::size_t left_out = 0;
    for (const judge::Finding& finding : kept_) {
      if (finding.severity != severity) continue;
      shown.size() < kShownMax ? shown.push_back(finding) : void(++left_out);
    }
    if (left_out > 0) {
      shown.back().detail += "\n(not shown: " + count_text(left_out, "more finding") +
                             ", because Keydrome shows only the first " +
                             std::to_string(kShownMax) + ": correct these first)";
    }
    for (judge::Finding& finding : shown) findings.add(std::move(finding));
  }
}

}  // namespace keydrome::scenarios
