// Runs the timed loops of structure_bench, the program that times data structures. A subject is one
// of the things that this program compares (subject.h).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "structures/bench/keys.h"
#include "structures/bench/subject.h"

namespace keydrome::bench {

using Subjects = std::vector<std::unique_ptr<Subject>>;

struct Plan {
  uint32_t rounds = 5;
  uint64_t operations = 300'000;     // operations of a timed loop; a loop of scans has 1/30 of them
  uint32_t threads = 2;              // number of threads in the loops with several threads
  std::vector<std::string> loops{};  // the names of the loops to run after "insert"; empty: all
};

// The names of all loops but "insert".
inline constexpr std::array<std::string_view, 9> kLoops = {
    "lookup",         "chained",         "zipf",         "batch", "scan", "lookup_threads_1",
    "lookup_threads", "mixed_threads_1", "mixed_threads"};

// Measures all subjects in one process. First loads each subject 1 to 7 times, or once if the plan
// has one round; these are the times of the loop "insert". Then, in each round, every subject runs
// each of the other loops that its Abilities and the plan allow. Each loop gets new keys, because
// keys that another loop has just used would be in the processor's caches. Only the scans of a
// round use the same keys for all subjects, so that their results can be compared. Returns {"NAME":
// {"LOOP": [ns per operation in each load or round]}}. Aborts if a subject returns a wrong result.
Json measure(const Subjects& subjects, const Keys& keys, const Plan& plan);

}  // namespace keydrome::bench
