// Millions of different texts, and their order: what takes longest when a set of strings is made.
//
// Not thread-safe; referee only, never inside the clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace keydrome::keysets {

// Which texts there are, without the texts: a table of half of their hashes and of their places in
// a vector, at most half full. About one cache miss for each text.
class KnownTexts {
 public:
  // For `count` texts at most.
  explicit KnownTexts(uint32_t count);

  // Whether `text` is not among `texts`, and then notes it as the one that comes next. `texts` are
  // all that were added, in that order.
  bool add(std::string_view text, const std::vector<std::string>& texts);

 private:
  struct Slot {
    uint32_t hash = 0;
    uint32_t next = 0;  // the text's place + 1; 0: empty
  };
  std::vector<Slot> slots_;
};

// Ascending, as std::sort does it; for texts without zero bytes.
void sort_texts(std::vector<std::string>& texts);

}  // namespace keydrome::keysets
