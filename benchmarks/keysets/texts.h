// Generates millions of different random texts. This is the slowest step in making a set of string
// keys.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "benchmarks/kit/script/strings.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome::keysets {

// Generates a text as a random stem followed by a random tail. Both functions append to their
// argument. Together they must append at least one byte, and no zero bytes. If a text repeats an
// earlier one, only its tail is chosen again, so that repetitions do not change the frequencies of
// the stems.
struct TextSource {
  std::function<void(workload::Rng&, std::string&)> stem, tail;
};

// Returns `count` different texts, truncated to `length_max` bytes, in the order of generation. The
// source should be able to generate many more than `count` different texts. Otherwise the function
// takes long, because it repeats its attempts until it has found enough.
// Only the referee, the process that generates the operations, uses this function, and never in a
// timed phase.
script::Strings distinct_texts(uint32_t count, std::size_t length_max, const TextSource& source,
                               workload::Rng& rng);

}  // namespace keydrome::keysets
