// Collects the findings of all scenarios (short scripts of API calls) of one repetition of the
// benchmark, and shows only a few of them.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/kit/judge/finding.h"

namespace keydrome::scenarios {

// Keeps only the first finding of each name and scenario, because a broken library usually fails in
// every run of a scenario. Not thread-safe.
class FindingBook {
 public:
  static constexpr std::size_t kShownMax = 5;  // findings of each severity

  bool knows(const std::string& name, const std::string& scenario) const {
    return book_.contains({name, scenario});
  }
  void add(const std::string& scenario, judge::Finding finding);
  void not_judged(std::string reason) { not_judged_ = std::move(reason); }
  // Adds the first kShownMax findings of each severity. The last of these findings gives the number
  // of omitted findings.
  void show(judge::Findings& findings) const;

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> book_;  // value: position in `kept_`
  std::vector<judge::Finding> kept_;
  std::string not_judged_;  // reason why some runs could not be judged
};

}  // namespace keydrome::scenarios
