// Millions of different texts: what takes longest when a set of strings is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "benchmarks/kit/rng.h"
#include "benchmarks/kit/strings.h"

namespace keydrome::keysets {

// A text is a stem and a tail, each of which is appended to what is there; together at least one
// byte and none of them zero. Of a text that was drawn already only the tail is drawn again, so
// that rare texts do not change how often a stem comes.
struct TextSource {
  std::function<void(Rng&, std::string&)> stem, tail;
};

// `count` texts, cut at `length_max` bytes, in the order in which their stems were drawn. The
// source has many more than `count`, or this takes long. Referee only, never inside the clock.
Strings distinct_texts(uint32_t count, std::size_t length_max, const TextSource& source, Rng& rng);

}  // namespace keydrome::keysets
