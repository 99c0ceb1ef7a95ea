// Defines a validation at commit that is too weak. Several mutants (libraries with one deliberate
// fault) use it instead of Buffered::validate.
#pragma once

#include "runtime/content/content.h"
#include "runtime/content/overlay.h"

namespace keydrome::runtime {

// Checks only what a transaction writes: that the pairs to insert are missing and the pairs to
// delete exist. `next_committed(index, position, pair)` is Buffered::next_committed for the newest
// content.
template <class Running, class Next>
ErrCode only_writes_are_valid(const Running& transaction, Next&& next_committed) {
  for (size_t at = 0; at < transaction.used; ++at) {
    const auto& use = *transaction.uses[at];
    const ReadLatch latch(content_of(*use.index).latch);
    const bool valid = use.overlay.for_each([&](const Overlay::StoredPair& written, bool inserted) {
      KeydromePosition position;
      Pair pair;
      seek(use.index->store(), position, {written.key_bytes(), written.payload_bytes(), false});
      const bool exists = next_committed(*use.index, position, pair) == 1 &&
                          equal(pair.key(), written.key_bytes()) &&
                          equal(pair.payload(), written.payload_bytes());
      return exists != inserted;
    });
    if (!valid) return DEADLOCK;
  }
  return SUCCESS;
}

}  // namespace keydrome::runtime
