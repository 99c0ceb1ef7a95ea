// Implements Tree::scan of the adaptive radix tree, which copies pairs into a run, the caller's
// buffer (KeydromeRun). A *stretch* is a leaf or page with pairs of the scan (walk.h).
#include <algorithm>
#include <utility>

#include "structures/art/tree.h"
#include "structures/art/walk.h"

namespace keydrome::art {

namespace {

// Appends one pair like keydrome_run_add, but copies eight bytes without a call.
bool add_to_run(KeydromeRun& run, const Pair& pair) {
  const uint32_t size = record_size(pair);
  if (run.pairs == run.limit || size > run.capacity - run.size) return false;
  auto* to = static_cast<uint8_t*>(run.data) + run.size;
  to[0] = static_cast<uint8_t>(pair.key_size);
  to[1] = static_cast<uint8_t>(pair.payload_size);
  copy_bytes(to + kRecordHead, pair.key, pair.key_size);
  copy_bytes(to + kRecordHead + pair.key_size, pair.payload, pair.payload_size);
  run.size += size;
  ++run.pairs;
  return true;
}

// Appends `count` records of a page without dead pairs by one copy. Returns false if they do not
// all fit.
bool add_records(KeydromeRun& run, const Page& page, uint32_t from, uint32_t count) {
  const uint32_t begin = page.offset(from);
  const uint32_t size = page.end(from + count - 1) - begin;
  if (size > run.capacity - run.size) return false;
  copy_records(static_cast<uint8_t*>(run.data) + run.size, page.records() + begin, size);
  run.size += size;
  run.pairs += count;
  return true;
}

constexpr uint32_t kWordRecord = kRecordHead + 2 * kWordBytes;

void write_words(uint8_t* to, uint64_t key, uint64_t payload) {
  constexpr uint8_t kSizes[kRecordHead] = {kWordBytes, kWordBytes};
  std::memcpy(to, kSizes, kRecordHead);
  std::memcpy(to + kRecordHead, &key, kWordBytes);
  std::memcpy(to + kRecordHead + kWordBytes, &payload, kWordBytes);
}

// Appends the pair of a word leaf. Returns false if it does not fit.
bool add_word_leaf(KeydromeRun& run, Link leaf) {
  if (run.pairs == run.limit || kWordRecord > run.capacity - run.size) return false;
  write_words(static_cast<uint8_t*>(run.data) + run.size, word_at(leaf.at<const uint8_t>()),
              word_payload(leaf).load(std::memory_order_acquire));
  run.size += kWordRecord;
  ++run.pairs;
  return true;
}

// Appends the pairs of a word page. Returns false if they do not all fit.
bool add_words(KeydromeRun& run, const Words& words) {
  uint8_t slots[kPagePairs];
  const uint32_t wanted = words.sort(words.live(), slots);
  const uint32_t room = (run.capacity - run.size) / kWordRecord;
  const uint32_t count = std::min({wanted, run.limit - run.pairs, room});
  auto* to = static_cast<uint8_t*>(run.data) + run.size;
  for (uint32_t i = 0; i < count; ++i, to += kWordRecord) {
    write_words(to, words.key(slots[i]), words.payload(slots[i]));
  }
  run.size += count * kWordRecord;
  run.pairs += count;
  return count == wanted;
}

// Appends the live pairs of a stretch. Returns false if the run is full before the end of the
// stretch.
bool add_stretch(KeydromeRun& run, const Stretch& stretch, const Walk& walk) {
  if (!stretch.first && stretch.link.kind() == Kind::kWords) {
    return add_words(run, Words(stretch.link));
  }
  if (!stretch.first && is_word_leaf(stretch.link)) return add_word_leaf(run, stretch.link);
  const Pairs pairs(stretch.link);
  const uint32_t count = pairs.count();
  const uint32_t live = pairs.live();
  const uint32_t from = walk.first_in(stretch, pairs);
  if (stretch.link.kind() == Kind::kPage && live == UINT32_MAX >> (32 - count)) {
    const uint32_t wanted = std::min(count - from, run.limit - run.pairs);
    if (wanted > 0 && add_records(run, Page(stretch.link), from, wanted)) {
      return from + wanted == count;
    }
  }
  for (uint32_t i = from; i < count; ++i) {
    if ((live >> i & 1) != 0 && !add_to_run(run, pairs[i])) return false;
  }
  return true;
}

}  // namespace

// Each page is in another part of memory. A scan that read pages one by one would wait for memory
// at each page. So the scan collects and prefetches the next group of pages before it reads the
// current group.
int Tree::scan(const Pair& from, bool after, KeydromeRun& run) const {
  constexpr uint32_t kGroup = 8;
  Stretch groups[2][kGroup];
  Stretch* now = groups[0];
  Stretch* soon = groups[1];
  keydrome_run_clear(&run);
  Walk walk(root_, from, after);
  uint32_t count = walk.collect(now, kGroup, run.limit);
  while (count > 0) {
    uint32_t pairs = 0;
    for (uint32_t i = 0; i < count; ++i) pairs += likely_pairs(now[i].link);
    const uint32_t left = run.limit - run.pairs;
    uint32_t following = pairs < left ? walk.collect(soon, kGroup, left - pairs) : 0;
    for (uint32_t i = 0; i < count; ++i) {
      if (!add_stretch(run, now[i], walk)) return 1;
    }
    if (run.pairs == run.limit) return 1;
    // `pairs` is an estimate, so the scan may need more pages than it has collected.
    if (following == 0) following = walk.collect(soon, kGroup, run.limit - run.pairs);
    std::swap(now, soon);
    count = following;
  }
  return 0;
}

}  // namespace keydrome::art
