// Implements check() and statistic() of the hash table: checks all invariants, and counts lines and
// entries. A bucket is a chain of lines, each with up to three entries (line.h).
#include "structures/hash/table.h"

namespace keydrome::hash {
namespace {

enum Broken {
  kLeftLocked = 1,  // a version is odd
  kGap,             // a line before the last one of its chain is not full, or the last one is empty
  kWrongBucket,     // an entry is in a bucket that its hash does not belong to
  kKeyTwice,        // a bucket has two entries of one key
  kWrongCount,      // the sum of the counters (stripes_) is not the number of entries
  kWrongOrder,      // the payloads of a key are not ascending
  kWrongLive        // a Block or Directory (payloads.h) has a wrong number of live payloads
};

// Visits the payloads of a key, and compares each with the previous one.
class Walk {
 public:
  bool over(const Block& block) {
    uint32_t live = 0;
    const Item* item = block.first();
    for (uint32_t left = block.count; left > 0; --left, item = item->next()) {
      if (has_last_ && !less(last_, item->bytes())) return false;
      last_ = item->bytes();
      has_last_ = true;
      live += item->is_dead() ? 0 : 1;
    }
    live_ += live;
    counts_fit_ = counts_fit_ && live == block.live;
    return true;
  }
  uint64_t live() const { return live_; }
  bool counts_fit() const { return counts_fit_; }

 private:
  Bytes last_;
  bool has_last_ = false;
  bool counts_fit_ = true;
  uint64_t live_ = 0;
};

}  // namespace

int Table::check_content(const Content& content) const {
  if (content.kind() == Kind::kInline) return 0;
  Walk walk;
  if (content.kind() == Kind::kBlock) {
    if (!walk.over(*block_of(content))) return kWrongOrder;
    return walk.counts_fit() && walk.live() > 0 ? 0 : kWrongLive;
  }
  const Directory& directory = *directory_of(content);
  for (uint32_t i = 0; i < directory.count; ++i) {
    if (!walk.over(*directory.block(i))) return kWrongOrder;
  }
  return walk.counts_fit() && walk.live() == directory.live && walk.live() > 0 ? 0 : kWrongLive;
}

int Table::check_bucket(uint64_t bucket, uint64_t& entries) const {
  Line* home = home_of(bucket);
  const uint32_t version = home->version.load();
  if ((version & Line::kLocked) != 0) return kLeftLocked;
  for (Line* line = home; line != nullptr; line = line->next.load()) {
    const uint32_t used = Line::used(line->read_marks());
    if (line->next.load() != nullptr && used < Line::kSlots) return kGap;
    if (line != home && used == 0) return kGap;
    for (uint32_t slot = 0; slot < used; ++slot, ++entries) {
      const Content content = content_at(*line, slot);
      const uint64_t hash = hash_at(*line, slot);
      if (bucket_of(hash, buckets()) != bucket) return kWrongBucket;
      const Probe probe{hash, line->read_key(slot), narrow_ ? Bytes() : key_at(content)};
      const Place place = locate({home, version}, probe);
      if (place.line != line || place.slot != slot) return kKeyTwice;
      if (const int broken = check_content(content); broken != 0) return broken;
    }
  }
  return 0;
}

int Table::check() const {
  uint64_t entries = 0;
  for (uint64_t bucket = 0; bucket < buckets(); ++bucket) {
    if (const int broken = check_bucket(bucket, entries); broken != 0) return broken;
  }
  int64_t counted = 0;
  for (const auto& stripe : stripes_) counted += stripe.value.load();
  return counted == static_cast<int64_t>(entries) ? 0 : kWrongCount;
}

uint64_t Table::lines() const {
  uint64_t found = 0;
  for (uint64_t bucket = 0, all = buckets(); bucket < all; ++bucket) {
    for (const Line* line = home_of(bucket); line != nullptr; line = line->read_next()) ++found;
  }
  return found;
}

uint64_t Table::entries() const {
  int64_t counted = 0;
  for (const auto& stripe : stripes_) counted += stripe.value.load(std::memory_order_relaxed);
  return static_cast<uint64_t>(counted < 0 ? 0 : counted);
}

uint64_t Table::statistic(uint32_t which) const {
  switch (which) {
    case KEYDROME_STATISTIC_HEIGHT:
      return 1;
    case KEYDROME_STATISTIC_NODES:
      return lines();
    case KEYDROME_STATISTIC_SLOTS:
      return lines() * Line::kSlots;
    case KEYDROME_STATISTIC_SLOTS_USED:
      return entries();
    default:
      return 0;
  }
}

}  // namespace keydrome::hash
