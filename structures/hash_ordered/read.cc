// Implements parts of ordered_hash.h: searches, scans, and the destructor.
#include <algorithm>
#include <array>

#include "structures/hash_ordered/ordered_hash.h"

namespace keydrome::hash_ordered {

OrderedHash::~OrderedHash() {
  for (Node* node = take_out(root_); node != nullptr;) {
    Node* next = node->next;
    drop(node);
    node = next;
  }
}

Node* OrderedHash::first_of(Bucket bucket) {
  while (bucket.is_table()) bucket = bucket.table()->at(bucket.table()->occupied(0));
  return bucket.list();
}

Node* OrderedHash::last_of(Bucket bucket) {
  while (bucket.is_table()) bucket = bucket.table()->at(bucket.table()->last_occupied());
  Node* node = bucket.list();
  while (node->next != nullptr) node = node->next;
  return node;
}

// Returns the first node >= the probe, or > the probe if `after` is true; nullptr if there is none.
const Node* OrderedHash::search(Bucket bucket, const Probe& probe, bool after) {
  if (!bucket.is_table()) {
    const Node* node = bucket.list();
    const int before_most = after ? 0 : -1;
    while (node != nullptr && compare(*node, probe) <= before_most) node = node->next;
    return node;
  }
  const BucketTable& table = *bucket.table();
  const uint32_t number = table.bucket_of(probe);
  if (const Node* node = search(table.at(number), probe, after)) return node;
  const uint32_t next = table.occupied(number + 1);
  return next == table.buckets() ? nullptr : first_of(table.at(next));
}

// Adds the pairs of the bucket to the run. Returns false if one does not fit.
bool OrderedHash::scan_all(Bucket bucket, KeydromeRun& run) {
  if (bucket.is_table()) {
    const BucketTable& table = *bucket.table();
    for (uint32_t i = table.occupied(0); i < table.buckets(); i = table.occupied(i + 1)) {
      if (!scan_all(table.at(i), run)) return false;
    }
    return true;
  }
  for (const Node* node = bucket.list(); node != nullptr; node = node->next) {
    __builtin_prefetch(node->next);
    if (keydrome_run_add(&run, bytes_of(node->key()), bytes_of(node->payload())) == 0) return false;
  }
  return true;
}

// Adds the pairs of the bucket that are >= `from`, or > `from` if `after` is true. Returns false if
// one does not fit.
bool OrderedHash::scan_from(Bucket bucket, const Probe& from, bool after, KeydromeRun& run) {
  if (!bucket.is_table())
    return scan_all(Bucket(const_cast<Node*>(search(bucket, from, after))), run);
  const BucketTable& table = *bucket.table();
  const uint32_t number = table.bucket_of(from);
  if (!scan_from(table.at(number), from, after, run)) return false;
  for (uint32_t i = table.occupied(number + 1); i < table.buckets(); i = table.occupied(i + 1)) {
    if (!scan_all(table.at(i), run)) return false;
  }
  return true;
}

int OrderedHash::scan(KeydromeBytes key, KeydromeBytes payload, bool after,
                      KeydromeRun& run) const noexcept {
  keydrome_run_clear(&run);
  const Probe from = Probe::of(key, payload, payload.data == nullptr && after);
  return scan_from(root_, from, after, run) ? 0 : 1;
}

int OrderedHash::find(KeydromeBytes key, KeydromeBytes after,
                      KeydromeBuffer& payload) const noexcept {
  const Probe probe = Probe::of(key, after);
  const Node* node = search(root_, probe, after.data != nullptr);
  if (node == nullptr || compare_keys(*node, probe) != 0) return 0;
  copy_payload(node->payload(), payload);
  return 1;
}

// The cache misses of several lookups overlap: first those for the buckets of the root table, and
// then those for the nodes or tables that the buckets point to.
void OrderedHash::find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept {
  constexpr uint32_t kGroup = 16;
  std::array<const Bucket*, kGroup> buckets{};
  for (uint32_t first = 0; first < count; first += kGroup) {
    const uint32_t size = std::min(kGroup, count - first);
    for (uint32_t i = 0; i < size && root_.is_table(); ++i) {
      const Probe probe = Probe::of(lookups[first + i].key, {});
      buckets.at(i) = &root_.table()->at(root_.table()->bucket_of(probe));
      __builtin_prefetch(buckets.at(i));
    }
    for (uint32_t i = 0; i < size && root_.is_table(); ++i) {
      __builtin_prefetch(buckets.at(i)->address());
    }
    for (uint32_t i = 0; i < size; ++i) {
      KeydromeLookup& lookup = lookups[first + i];
      lookup.found = find(lookup.key, {}, lookup.payload);
    }
  }
}

}  // namespace keydrome::hash_ordered
