// Implements find(), find_batch() and scan() of Tree (tree.h), which change nothing. node.h defines
// marks, fingerprints (`print`) and the flag that divides() reads.
#include <algorithm>

#include "structures/fptree/tree.h"

namespace keydrome::fptree {
namespace {

// Orders the slots of a leaf by their pairs.
class ByPair {
 public:
  ByPair(const Leaf& leaf, bool narrow) : leaf_(leaf), narrow_(narrow) {}

  bool operator()(uint8_t a, uint8_t b) const {
    const Entry& first = leaf_.entries[a];
    const Entry& second = leaf_.entries[b];
    if (first.head != second.head) return first.head < second.head;
    if (!narrow_) {
      const int order = record_of(first)->key().compare(record_of(second)->key());
      if (order != 0) return order < 0;
    }
    return payload_of(first, leaf_.mark(a)) < payload_of(second, leaf_.mark(b));
  }

 private:
  const Leaf& leaf_;
  const bool narrow_;
};

// Returns the entry of the key if it is the only one with its fingerprint, and all payloads of the
// leaf have eight bytes. Otherwise returns nullptr, which says nothing about the key. REQUIRES: a
// narrow tree. Most lookups need only these few instructions, so the processor can begin with the
// next lookup while this one waits for memory.
[[gnu::always_inline]] inline const Entry* only_candidate(const Leaf& leaf, const Probe& probe,
                                                          uint8_t print) {
  const uint64_t found = leaf.matching(print);
  const bool is_one_bit = found != 0 && (found & (found - 1)) == 0;
  if (!is_one_bit || !leaf.is_plain()) return nullptr;
  const Entry& entry = leaf.entries[static_cast<uint32_t>(std::countr_zero(found))];
  return entry.head == probe.head ? &entry : nullptr;
}

}  // namespace

// Returns the entry of the smallest pair with the key of the probe, and stores its mark in `mark`.
// If `after` is true, ignores pairs whose payload is not larger than that of the probe. Returns
// nullptr if there is no such pair.
const Entry* Tree::answer(const Leaf& leaf, const Probe& probe, uint8_t print, bool after,
                          uint8_t& mark) const {
  const Entry* best = nullptr;
  for (uint64_t left = leaf.matching(print); left != 0; left &= left - 1) {
    const auto slot = static_cast<uint32_t>(std::countr_zero(left));
    const Entry& entry = leaf.entries[slot];
    if (compare_keys(entry, probe, narrow_) != 0) continue;
    const Bytes payload = payload_of(entry, leaf.mark(slot));
    if (after && payload <= probe.payload) continue;
    if (best == nullptr || payload < payload_of(*best, mark)) {
      best = &entry;
      mark = leaf.mark(slot);
    }
  }
  if (best != nullptr || !leaf.divides() || leaf.next == nullptr) return best;
  // The next leaf may have further payloads of the key. No leaf is empty, so the smallest of them
  // is in that leaf.
  const Leaf& next = *leaf.next;
  for_each_slot(next.matching(print), [&](uint32_t slot) {
    const Entry& entry = next.entries[slot];
    if (compare_keys(entry, probe, narrow_) != 0) return;
    if (best == nullptr || payload_of(entry, next.mark(slot)) < payload_of(*best, mark)) {
      best = &entry;
      mark = next.mark(slot);
    }
  });
  return best;
}

int Tree::find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept {
  const Probe probe = Probe::of(key, after);
  const uint8_t print = probe.print(narrow_);
  const Leaf& leaf = *locate(probe);
  leaf.ask_home(print);
  if (narrow_ && after.data == nullptr) {
    if (const Entry* only = only_candidate(leaf, probe, print)) {
      copy_payload(payload_of(*only, kInlineBytes), payload);
      return 1;
    }
  }
  uint8_t mark = 0;
  const Entry* entry = answer(leaf, probe, print, after.data != nullptr, mark);
  if (entry == nullptr) return 0;
  copy_payload(payload_of(*entry, mark), payload);
  return 1;
}

// Runs groups of kTogether lookups level by level: while one lookup waits for memory, the others
// use the processor.
void Tree::find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept {
  constexpr uint32_t kTogether = 16;
  struct Step {
    Probe probe;
    const void* node;
    uint8_t print;
  };
  std::array<Step, kTogether> steps;
  for (uint32_t begin = 0; begin < count; begin += kTogether) {
    const uint32_t group = std::min(kTogether, count - begin);
    for (uint32_t i = 0; i < group; ++i) {
      steps[i].probe = Probe::of(lookups[begin + i].key, {nullptr, 0});
      steps[i].print = steps[i].probe.print(narrow_);
      steps[i].node = root_;
    }
    for (uint32_t level = height_; level > 0; --level) {
      for (uint32_t i = 0; i < group; ++i) {
        const auto* inner = static_cast<const Inner*>(steps[i].node);
        steps[i].node = inner->children[inner->child_for(steps[i].probe, narrow_)];
        __builtin_prefetch(steps[i].node);
      }
    }
    for (uint32_t i = 0; i < group; ++i) {
      const auto* leaf = static_cast<const Leaf*>(steps[i].node);
      const uint64_t found = leaf->matching(steps[i].print);
      const auto slot = static_cast<uint32_t>(std::countr_zero(found));
      if (found != 0) __builtin_prefetch(&leaf->entries[slot]);
    }
    for (uint32_t i = 0; i < group; ++i) {
      KeydromeLookup& lookup = lookups[begin + i];
      uint8_t mark = 0;
      const Entry* entry = answer(*static_cast<const Leaf*>(steps[i].node), steps[i].probe,
                                  steps[i].print, false, mark);
      lookup.found = entry != nullptr ? 1 : 0;
      if (entry != nullptr) copy_payload(payload_of(*entry, mark), lookup.payload);
    }
  }
}

// Sorts the pairs of a leaf, copies them, and continues with the next leaf.
int Tree::scan(KeydromeBytes key, KeydromeBytes payload, bool after,
               KeydromeRun& run) const noexcept {
  Probe probe = Probe::of(key, payload);
  probe.past_key = after && payload.data == nullptr;
  keydrome_run_clear(&run);
  bool all = false;  // true if all pairs of the leaf belong to the scan
  for (const Leaf* leaf = locate(probe); leaf != nullptr; leaf = leaf->next, all = true) {
    std::array<uint8_t, Leaf::kSlots> order;
    uint32_t count = 0;
    for_each_slot(leaf->slots(), [&](uint32_t slot) {
      const int place = all ? 1 : compare(leaf->entries[slot], leaf->mark(slot), probe, narrow_);
      if (place > 0 || (place == 0 && !after)) order[count++] = static_cast<uint8_t>(slot);
    });
    const uint32_t wanted = std::min(count, run.limit - run.pairs);
    std::partial_sort(order.begin(), order.begin() + wanted, order.begin() + count,
                      ByPair(*leaf, narrow_));
    for (uint32_t i = 0; i < wanted; ++i) {
      const Entry& entry = leaf->entries[order[i]];
      const uint64_t head = __builtin_bswap64(entry.head);
      const KeydromeBytes found =
          narrow_ ? KeydromeBytes{&head, key_bytes_} : bytes_of(record_of(entry)->key());
      if (keydrome_run_add(&run, found, bytes_of(payload_of(entry, leaf->mark(order[i])))) == 0) {
        return 1;
      }
    }
    if (run.pairs == run.limit) return 1;
  }
  return 0;
}

}  // namespace keydrome::fptree
