// FindingBook: the findings of all scenarios of a session.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/kit/finding.h"

namespace keydrome::scenarios {

// Collects the findings of all scenarios. A broken library breaks the same promise in every run:
// one finding for each name and scenario is kept, the first. Not thread-safe.
class FindingBook {
 public:
  static constexpr std::size_t kShownMax = 5;  // of each severity

  bool knows(const std::string& name, const std::string& scenario) const {
    return book_.contains({name, scenario});
  }
  void add(const std::string& scenario, Finding finding);
  void not_judged(std::string reason) { not_judged_ = std::move(reason); }
  // Hands over the first ones; the last says how many more there were.
  void show(Findings& findings) const;

 private:
  std::map<std::pair<std::string, std::string>, std::size_t> book_;  // place in `kept_`
  std::vector<Finding> kept_;
  std::string not_judged_;  // why some runs could not be judged
};

}  // namespace keydrome::scenarios
