// Implements parts of table.h: makes and destroys the table, locks buckets, and changes entries.
#include "structures/hash/table.h"

#include <new>

namespace keydrome::hash {

Table::Table(const KeydromeEnvironment& environment, const KeydromeSetup& setup)
    : memory_(environment), narrow_(setup.key_bytes > 0 && setup.key_bytes <= sizeof(uint64_t)) {
  if (!has_segment(0)) throw std::bad_alloc();
  for (uint64_t bucket = 0; bucket < kFirstBuckets; ++bucket) new (home_of(bucket)) Line;
  buckets_.store(kFirstBuckets, std::memory_order_release);
}

Table::~Table() {
  for (uint64_t bucket = 0; bucket < buckets(); ++bucket) {
    Line* home = home_of(bucket);
    for (Line* line = home; line != nullptr;) {
      for (uint32_t slot = 0; slot < Line::used(line->read_marks()); ++slot) {
        retire_content(memory_, content_at(*line, slot));
      }
      Line* next = line->next.load(std::memory_order_relaxed);
      if (line != home) memory_.retire(line, sizeof(Line), alignof(Line));
      line = next;
    }
  }
  for (uint32_t segment = 0; segment < kSegments; ++segment) {
    if (segments_[segment].load(std::memory_order_relaxed) == 0) continue;
    Line* lines = home_of(first_of(segment));
    memory_.retire(lines, size_of(segment) * sizeof(Line), alignof(Line));
  }
}

Bytes Table::key_at(const Content& content) const {
  return content.kind() == Kind::kBlock ? block_of(content)->key() : directory_of(content)->key();
}

// Locks the bucket of a hash. While the function waits for the lock, a split may move the hash to
// another bucket. So, once it has the lock, the function checks the number of the bucket again.
// After this check the hash stays in the bucket until unlock(), because a split must lock the
// bucket, too.
Table::Locked Table::lock(uint64_t hash) const {
  for (SpinWait wait;; wait.once()) {
    const uint64_t bucket = bucket_of(hash, buckets());
    Line* home = home_of(bucket);
    uint32_t version = home->version.load(std::memory_order_relaxed);
    if ((version & Line::kLocked) != 0) continue;
    // Pairs with the release in unlock().
    if (!home->version.compare_exchange_weak(version, version | Line::kLocked,
                                             std::memory_order_acquire,
                                             std::memory_order_relaxed)) {
      continue;
    }
    if (bucket_of(hash, buckets()) == bucket) return {home, version};
    unlock({home, version}, false);
  }
}

// If nothing has changed, restores the old version, so that readers need not repeat. After a
// change, an exchange takes the place of a store: the processor completes all earlier stores before
// it, and so before the next load of this thread. Otherwise two threads could each change a bucket,
// and each could then miss the change of the other.
void Table::unlock(const Locked& locked, bool changed) {
  if (changed) {
    locked.home->version.exchange(locked.version + 2, std::memory_order_seq_cst);
  } else {
    locked.home->version.store(locked.version, std::memory_order_release);
  }
}

Table::Place Table::locate(const Locked& locked, const Probe& probe) const {
  for (Line* line = locked.home; line != nullptr; line = line->next.load()) {
    const uint32_t used = Line::used(line->read_marks());
    for (uint32_t slot = 0; slot < used; ++slot) {
      if (line->read_key(slot) != probe.word) continue;
      if (narrow_ || key_at(content_at(*line, slot)) == probe.rest) return {line, slot};
    }
  }
  return {};
}

// Adds an entry to a bucket. Returns false if out of memory.
bool Table::append(Line* home, uint64_t key, const Content& content) {
  Line* last = home;
  while (Line* next = last->next.load(std::memory_order_relaxed)) last = next;
  const uint32_t used = Line::used(last->read_marks());
  if (used < Line::kSlots) {
    last->write(used, key, content);
    return true;
  }
  void* raw = memory_.allocate(sizeof(Line), alignof(Line));
  if (raw == nullptr) return false;
  Line* line = new (raw) Line;
  line->write(0, key, content);
  last->next.store(line, std::memory_order_release);
  return true;
}

// Removes an entry. The last entry of the bucket takes its slot, so that used slots come first.
void Table::remove(Line* home, const Place& place) {
  Line* before = nullptr;
  Line* last = home;
  while (Line* next = last->next.load(std::memory_order_relaxed)) {
    before = last;
    last = next;
  }
  const uint32_t slot = Line::used(last->read_marks()) - 1;
  if (last != place.line || slot != place.slot) {
    place.line->write(place.slot, last->read_key(slot), content_at(*last, slot));
  }
  if (slot > 0 || last == home) {
    last->write_content(slot, {});
    return;
  }
  before->next.store(nullptr, std::memory_order_release);
  memory_.retire(last, sizeof(Line), alignof(Line));
}

void Table::count(uint64_t hash, int64_t difference) {
  stripes_[hash >> 58].value.fetch_add(difference, std::memory_order_relaxed);
}
static_assert(sizeof(uint64_t) * 8 - 58 == 6,
              "the top 6 bits of a hash select one of 64 stripes, the counters of entries");

int Table::insert(const Locked& locked, const Probe& probe, Bytes payload) {
  Content content;
  if (!make(memory_, probe, narrow_, payload, content)) return KEYDROME_NO_MEMORY;
  if (append(locked.home, probe.word, content)) return 1;
  retire_content(memory_, content);
  return KEYDROME_NO_MEMORY;
}

int Table::put(KeydromeBytes key, KeydromeBytes bytes) noexcept {
  const Bytes payload = view_of(bytes);
  const Probe probe = Probe::of(key, narrow_);
  const Locked locked = lock(probe.hash);
  const Place place = locate(locked, probe);
  int result = 0;
  if (place.line == nullptr) {
    result = insert(locked, probe, payload);
    unlock(locked, result == 1);
    if (result != 1) return result;
    count(probe.hash, 1);
    grow(probe.hash);
    return 1;
  }
  if (!contains(content_at(*place.line, place.slot), payload)) {
    const bool added = add(memory_, probe, payload, *place.line, place.slot);
    result = added ? 1 : KEYDROME_NO_MEMORY;
  }
  unlock(locked, result == 1);
  return result;
}

int Table::del(KeydromeBytes key, KeydromeBytes bytes) noexcept {
  const Bytes payload = view_of(bytes);
  const Probe probe = Probe::of(key, narrow_);
  const Locked locked = lock(probe.hash);
  const Place place = locate(locked, probe);
  if (place.line == nullptr || !contains(content_at(*place.line, place.slot), payload)) {
    unlock(locked, false);
    return 0;
  }
  if (erase(memory_, narrow_, payload, *place.line, place.slot) == 0) {
    const Content content = content_at(*place.line, place.slot);
    remove(locked.home, place);
    retire_content(memory_, content);
    count(probe.hash, -1);
  }
  unlock(locked, true);
  return 1;
}

int Table::replace(KeydromeBytes key, KeydromeBytes before_bytes,
                   KeydromeBytes now_bytes) noexcept {
  const Bytes before = view_of(before_bytes);
  const Bytes now = view_of(now_bytes);
  const Probe probe = Probe::of(key, narrow_);
  const Locked locked = lock(probe.hash);
  const Place place = locate(locked, probe);
  const auto content = [&] { return content_at(*place.line, place.slot); };
  int result = 1;
  if (place.line == nullptr || !contains(content(), before)) {
    result = 0;
  } else if (contains(content(), now)) {
    result = 2;
  } else if (const Content old = content();
             old.kind() == Kind::kInline ||
             (old.kind() == Kind::kBlock && block_of(old)->live == 1)) {
    Content made;
    if (make(memory_, probe, narrow_, now, made)) {
      place.line->write_content(place.slot, made);
      retire_content(memory_, old);
    } else {
      result = KEYDROME_NO_MEMORY;
    }
  } else if (add(memory_, probe, now, *place.line, place.slot)) {
    erase(memory_, narrow_, before, *place.line, place.slot);
  } else {
    result = KEYDROME_NO_MEMORY;
  }
  unlock(locked, result == 1);
  return result;
}

}  // namespace keydrome::hash
