// Implements scan, find and find_batch of Tree (tree.h), which change nothing.
#include <algorithm>
#include <array>

#include "structures/ttree/tree.h"

namespace keydrome::ttree {
namespace {

// A scan prefetches the record that it will read kAhead entries later. Reading a record is a cache
// miss, and several misses at the same time take little longer than one.
constexpr uint32_t kAhead = 8;

// Returns the place of the first payload that is > `after`, or >= `after` if `is_included`.
Place payload_from(const Duplicates& duplicates, std::string_view after, bool is_included) {
  const Probe probe = Probe::of(after);
  Place at = duplicates.payloads.lower_bound(probe);
  if (!is_included && at.has(probe)) at.advance();
  return at;
}

// Adds the payloads of a key from the place on. Returns false if the run is full.
bool add_from(Place at, std::string_view key, KeydromeRun& run) {
  for (; at.node != nullptr; at.advance()) {
    const std::string_view payload = at.entry().item.key();
    if (keydrome_run_add(&run, bytes_of(key), bytes_of(payload)) == 0) return false;
  }
  return true;
}

// Adds all pairs of an item, i.e. of a key with its payloads (entry.h). Returns false if the run is
// full.
bool add_all(Item item, KeydromeRun& run) {
  const Record& record = *item.record();
  if (item.has_duplicates())
    return add_from(Duplicates::of(item).payloads.first(), record.key(), run);
  return keydrome_run_add(&run, bytes_of(record.key()), bytes_of(record.payload())) != 0;
}

// Adds the pairs of the key at which a scan begins. Returns false if the run is full.
bool add_part(Item item, std::string_view payload, bool after, KeydromeRun& run) {
  const Record& record = *item.record();
  if (item.has_duplicates()) {
    return add_from(payload_from(Duplicates::of(item), payload, !after), record.key(), run);
  }
  const int order = record.payload().compare(payload);
  return (after ? order <= 0 : order < 0) || add_all(item, run);
}

// Copies the smallest payload of the item that is larger than `after`, or the smallest of all if
// after.data is NULL. Returns 1, or 0 if there is none.
int answer(Item item, KeydromeBytes after, KeydromeBuffer& to) {
  if (item.has_duplicates()) {
    const bool from_start = after.data == nullptr;
    const Place at = payload_from(Duplicates::of(item), view_of(after), from_start);
    if (at.node == nullptr) return 0;
    copy_payload(at.entry().item.key(), to);
    return 1;
  }
  const std::string_view payload = item.record()->payload();
  if (after.data != nullptr && payload <= view_of(after)) return 0;
  copy_payload(payload, to);
  return 1;
}

}  // namespace

int Tree::scan(KeydromeBytes key, KeydromeBytes payload, bool after,
               KeydromeRun& run) const noexcept {
  const Probe from = Probe::of(key);
  keydrome_run_clear(&run);
  Place at = keys_.lower_bound(from);
  if (at.has(from)) {
    const bool skips_key = payload.data == nullptr && after;
    const Item item = at.entry().item;
    if (!skips_key && !add_part(item, view_of(payload), after, run)) return 1;
    at.advance();
  }
  for (; at.node != nullptr; at.advance()) {
    if (at.index + kAhead < at.node->count) {
      at.node->entries()[at.index + kAhead].item.prefetch();
    }
    if (!add_all(at.entry().item, run)) return 1;
  }
  return 0;
}

int Tree::find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept {
  const Probe probe = Probe::of(key);
  const Place at = keys_.lower_bound(probe);
  return at.has(probe) ? answer(at.entry().item, after, payload) : 0;
}

// Runs groups of kTogether lookups level by level: while one lookup waits for memory, the others
// use the processor.
void Tree::find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept {
  constexpr uint32_t kTogether = 16;
  struct Step {
    Probe probe;
    const Node* node;
    bool is_bounded;
    uint32_t index;
  };
  std::array<Step, kTogether> steps;
  for (uint32_t begin = 0; begin < count; begin += kTogether) {
    const uint32_t group = std::min(kTogether, count - begin);
    for (uint32_t i = 0; i < group; ++i) {
      steps[i] = {Probe::of(lookups[begin + i].key), keys_.root(), false, 0};
    }
    for (bool is_moving = true; is_moving;) {
      is_moving = false;
      for (uint32_t i = 0; i < group; ++i) {
        Step& step = steps[i];
        if (step.node == nullptr || step.is_bounded) continue;
        is_moving = true;
        if (step.node->begins_after(step.probe)) {
          step.node = step.node->left;
        } else if (step.node->ends_before(step.probe)) {
          step.node = step.node->right;
        } else {
          step.is_bounded = true;
          __builtin_prefetch(step.node->entries() + step.node->count / 2);
          continue;
        }
        __builtin_prefetch(step.node);
      }
    }
    for (uint32_t i = 0; i < group; ++i) {
      Step& step = steps[i];
      if (step.node == nullptr) continue;
      step.index = step.node->lower_bound(step.probe);
      step.node->entries()[step.index].item.prefetch();
    }
    for (uint32_t i = 0; i < group; ++i) {
      const Step& step = steps[i];
      KeydromeLookup& lookup = lookups[begin + i];
      const Entry* entry = step.node == nullptr ? nullptr : step.node->entries() + step.index;
      const bool found = entry != nullptr && compare(*entry, step.probe) == 0;
      lookup.found = found ? answer(entry->item, {nullptr, 0}, lookup.payload) : 0;
    }
  }
}

}  // namespace keydrome::ttree
