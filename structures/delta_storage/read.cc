// Implements find() and scan() of Tree (tree.h), which read payloads of a key or pairs in order.
#include "structures/delta_storage/tree.h"

namespace keydrome::delta_storage {

int Tree::find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept {
  Probe probe = Probe::at(key, after);
  probe.after = after.data != nullptr;
  uint32_t index = 0;
  const Leaf* leaf = locate(probe, index);
  while (leaf != nullptr && index == leaf->count) {
    leaf = leaf->next;
    index = 0;
  }
  if (leaf == nullptr) return 0;
  const Pair pair = dictionaries_.pair(leaf->ids[index]);
  if (pair.key != probe.key) return 0;
  copy_payload(pair.payload, payload);
  return 1;
}

int Tree::scan(KeydromeBytes key, KeydromeBytes payload, bool after,
               KeydromeRun& run) const noexcept {
  Probe probe = Probe::at(key, payload);
  probe.after = after;
  probe.past_key = after && payload.data == nullptr;
  keydrome_run_clear(&run);
  uint32_t index = 0;
  for (const Leaf* leaf = locate(probe, index); leaf != nullptr; leaf = leaf->next) {
    for (; index < leaf->count; ++index) {
      const Pair pair = dictionaries_.pair(leaf->ids[index]);
      if (keydrome_run_add(&run, bytes_of(pair.key), bytes_of(pair.payload)) == 0) return 1;
    }
    index = 0;
  }
  return 0;
}

}  // namespace keydrome::delta_storage
