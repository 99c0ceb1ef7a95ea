// OrderedHash: a hash table whose buckets are in the order of the pairs. Read pair.h, code.h and
// bucket_table.h first.
//
// The root is a bucket. A bucket with more than kListMax pairs becomes a table, whose buckets may
// become tables in turn. A table is made again when it has twice or a quarter of the pairs that it
// was made for, so that each bucket holds about one pair. A table with few pairs becomes a list.
//
// Source: the entry of team clement in the SIGMOD 2009 programming contest, which had one table
// whose buckets were chosen by the first bits of key and payload (E. Reid's thesis, section 5.3.1).
//
// Thread safety: threads may call const functions at the same time, as long as no thread calls
// another function.
#pragma once

#include <cstdint>

#include "keydrome/structure_class.h"
#include "structures/hash_ordered/bucket_table.h"
#include "structures/hash_ordered/pair.h"

namespace keydrome::hash_ordered {

class OrderedHash {
 public:
  // A list with more than kListMax pairs becomes a table. A table with at most kListMin pairs
  // becomes a list.
  static constexpr uint32_t kListMax = 12, kListMin = 4;
  static constexpr uint64_t kBucketsMax = uint64_t{1} << 30;

  OrderedHash(const KeydromeEnvironment& environment, const KeydromeSetup& setup)
      : memory_(environment), mark_(setup.key_bytes == 0 ? 1 : 0) {}
  OrderedHash(const OrderedHash&) = delete;
  OrderedHash& operator=(const OrderedHash&) = delete;
  ~OrderedHash();

  // keydrome/structure_class.h calls these functions and says what they return.
  int put(KeydromeBytes key, KeydromeBytes payload) noexcept;
  int del(KeydromeBytes key, KeydromeBytes payload) noexcept;
  int scan(KeydromeBytes key, KeydromeBytes payload, bool after, KeydromeRun& run) const noexcept;
  int find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept;
  void find_batch(uint32_t count, KeydromeLookup* lookups) const noexcept;
  int check() const;
  uint64_t statistic(uint32_t which) const;

 private:
  int put_into(Bucket& bucket, const Probe& pair);
  int put_into_list(Bucket& bucket, const Probe& pair);
  int del_from(Bucket& bucket, const Probe& pair);
  int del_from_list(Bucket& bucket, const Probe& pair);
  void drop(Node* node) const { memory_.retire(node, node->bytes(), alignof(Node)); }
  void drop(BucketTable* table) const {
    memory_.retire(table, table->bytes(), alignof(BucketTable));
  }

  void make_table(Bucket& bucket) const;
  static BucketTable::Room room_for(Bucket bucket, uint64_t pairs);
  void distribute(Node* list, BucketTable& table) const;
  Node* take_out(Bucket bucket) const;
  void append(Bucket bucket, Node**& end) const;

  static uint64_t pairs_of(Bucket bucket);
  static Node* first_of(Bucket bucket);
  static Node* last_of(Bucket bucket);
  static const Node* search(Bucket bucket, const Probe& probe, bool after);
  static bool scan_from(Bucket bucket, const Probe& from, bool after, KeydromeRun& run);
  static bool scan_all(Bucket bucket, KeydromeRun& run);

  const StructureMemory memory_;
  const uint32_t mark_;  // 1 if an end mark follows each key; 0 if all keys have one size
  Bucket root_;
};

}  // namespace keydrome::hash_ordered
