// Defines a check at commit that is too weak, because it ignores what the transaction has read.
// Several mutants (libraries with one deliberate fault) use it instead of the runtime's
// Buffered::validate.
#pragma once

#include "runtime/content/content.h"
#include "runtime/content/overlay.h"

namespace keydrome::runtime {

// Checks only what a transaction writes: that the pairs to insert are missing and the pairs to
// delete exist. `sees(index, key, payload)` returns true if the pair is committed now; callers pass
// Buffered::sees.
template <class Running, class Sees>
ErrCode only_writes_are_valid(const Running& transaction, Sees&& sees) {
  for (size_t at = 0; at < transaction.used; ++at) {
    const auto& use = *transaction.uses[at];
    const ReadLatch latch(content_of(*use.index).latch);
    const bool valid = use.overlay.for_each([&](const Overlay::StoredPair& written, bool inserted) {
      const KeydromeBytes key = written.key_bytes();
      const KeydromeBytes payload = written.payload_bytes();
      Pair pair;
      const bool exists = read_first(use.index->store(), {key, payload, false}, pair) == 1 &&
                          equal(pair.key(), key) && equal(pair.payload(), payload) &&
                          sees(*use.index, key, payload);
      return exists != inserted;
    });
    if (!valid) return DEADLOCK;
  }
  return SUCCESS;
}

}  // namespace keydrome::runtime
