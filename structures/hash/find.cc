// Implements find() and find_batch() of Table (table.h). They take no lock, and write nothing that
// another thread reads.
#include <algorithm>
#include <bit>
#include <cstring>

#include "structures/hash/table.h"

namespace keydrome::hash {
namespace {

bool is_unchanged(const Line& home, uint32_t version) {
  // Relaxed is enough, because the loads before this one are acquire loads.
  return home.version.load(std::memory_order_relaxed) == version;
}

}  // namespace

// Searches a bucket for the key of the probe, and copies its payload. Returns kAgain if another
// thread has changed the bucket since `version` was read.
//
// Compares all keys of a line without branches. The processor cannot predict in which slot a key
// is, and after a wrong prediction the lookup would no longer overlap with the next one.
//
// Follows the pointer of an entry only after a check of the version. Without this check, `mark` and
// `word` may come from different entries. The pointer leads to a Block or Directory, which store
// payloads (payloads.h). They never move, and the runtime keeps their memory until this call ends.
Table::Answer Table::try_read(const Line& home, uint32_t version, const Probe& probe,
                              const Bytes* after, KeydromeBuffer& payload) const {
  for (const Line* line = &home; line != nullptr; line = line->read_next()) {
    const uint32_t marks = line->read_marks();
    for (uint32_t matches = line->matches(probe.word); matches != 0; matches &= matches - 1) {
      const auto slot = static_cast<uint32_t>(std::countr_zero(matches));
      const Content content{line->read_word(slot), Line::mark_in(marks, slot)};
      if (content.kind() == Kind::kFree) break;  // all further slots are free
      if (!is_unchanged(home, version)) return Answer::kAgain;
      if (!narrow_ && key_at(content) != probe.rest) continue;
      const bool found = copy_after(content, after, payload);
      // An inline payload needs no second check, because it was copied before the first check.
      if (content.kind() != Kind::kInline && !is_unchanged(home, version)) return Answer::kAgain;
      return found ? Answer::kFound : Answer::kNone;
    }
  }
  return is_unchanged(home, version) ? Answer::kNone : Answer::kAgain;
}

bool Table::read(const Probe& probe, const Bytes* after, KeydromeBuffer& payload) const {
  for (SpinWait wait;; wait.once()) {
    const uint64_t bucket = bucket_of(probe.hash, buckets());
    const Line* home = home_of(bucket);
    const uint32_t version = home->version.load(std::memory_order_acquire);
    if ((version & Line::kLocked) != 0) continue;
    const Answer answer = try_read(*home, version, probe, after, payload);
    if (answer == Answer::kFound) return true;
    // A split may have moved the key before the version was read. Such a split had already
    // published the new number of buckets, so the bucket of the hash is then another one.
    if (answer == Answer::kNone && bucket_of(probe.hash, buckets()) == bucket) return false;
  }
}

// Handles the most frequent read with few instructions: the payload of the key is in the entry
// itself. Returns false if this is not the case, or if another thread changes the bucket. Also
// searches the further lines of the bucket: when the table is full, just before it grows, they have
// one key in nine.
[[gnu::always_inline]] inline bool Table::read_inline(uint64_t word,
                                                      KeydromeBuffer& payload) const {
  const Line* home = home_of(bucket_of(Probe::hash_of_word(word), buckets()));
  const uint32_t version = home->version.load(std::memory_order_acquire);
  const Line* line = home;
  uint32_t matches = line->matches(word);
  while (matches == 0) {
    line = line->read_next();
    if (line == nullptr) return false;
    matches = line->matches(word);
  }
  const auto slot = static_cast<uint32_t>(std::countr_zero(matches));
  const Content content{line->read_word(slot), Line::mark_in(line->read_marks(), slot)};
  if (content.kind() != Kind::kInline || (version & Line::kLocked) != 0 ||
      !is_unchanged(*home, version)) {
    return false;
  }
  // every buffer has room for 8 bytes
  std::memcpy(payload.data, &content.word, sizeof content.word);
  payload.size = content.inline_size();
  return true;
}

// Has few instructions, so that the processor works on several lookups at the same time.
int Table::find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept {
  if (narrow_ && after.data == nullptr && key.size == sizeof(uint64_t) &&
      read_inline(Probe::word_of(key), payload)) {
    return 1;
  }
  return find_any(key, after, payload);
}

[[gnu::noinline]] int Table::find_any(KeydromeBytes key, KeydromeBytes after,
                                      KeydromeBuffer& payload) const {
  const Probe probe = Probe::of(key, narrow_);
  const Bytes larger_than = view_of(after);
  return read(probe, after.data == nullptr ? nullptr : &larger_than, payload) ? 1 : 0;
}

// Prefetches the home lines (the first lines of the buckets) of several keys, and then their Blocks
// (payloads.h), so that the cache misses of several lookups overlap.
void Table::find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept {
  constexpr uint32_t kInFlight = 24;
  Probe probes[kInFlight];
  const Line* homes[kInFlight];
  for (uint32_t begin = 0; begin < count; begin += kInFlight) {
    const uint32_t group = std::min(kInFlight, count - begin);
    const uint64_t known = buckets();
    for (uint32_t i = 0; i < group; ++i) {
      probes[i] = Probe::of(lookups[begin + i].key, narrow_);
      homes[i] = home_of(bucket_of(probes[i].hash, known));
      __builtin_prefetch(homes[i]);
    }
    for (uint32_t i = 0; i < group && !narrow_; ++i) {
      for (uint32_t slot = 0; slot < Line::kSlots; ++slot) {
        if (homes[i]->read_key(slot) == probes[i].word) {
          __builtin_prefetch(reinterpret_cast<const void*>(homes[i]->read_word(slot)));
        }
      }
    }
    for (uint32_t i = 0; i < group; ++i) {
      KeydromeLookup& lookup = lookups[begin + i];
      const bool found = (narrow_ && read_inline(probes[i].word, lookup.payload)) ||
                         read(probes[i], nullptr, lookup.payload);
      lookup.found = found ? 1 : 0;
    }
  }
}

}  // namespace keydrome::hash
