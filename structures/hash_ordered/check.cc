// Implements check() and statistic() of OrderedHash (ordered_hash.h). check() tests the invariants
// of the ordered hash table, and statistic() counts tables and buckets.
#include <algorithm>

#include "structures/hash_ordered/ordered_hash.h"

namespace keydrome::hash_ordered {
namespace {

// Checks a bucket and all that it holds. README.md lists the invariants with their numbers.
class Checker {
 public:
  // Returns the number of the first broken invariant, or 0. Adds the number of pairs to `pairs`.
  int check(Bucket bucket, uint64_t& pairs) {
    return bucket.is_table() ? check_table(*bucket.table(), pairs) : check_list(bucket, pairs);
  }

 private:
  int check_list(Bucket bucket, uint64_t& pairs) {
    for (const Node* node = bucket.list(); node != nullptr; node = node->next) {
      if (before_ != nullptr && compare(*before_, node->probe()) >= 0) return 1;
      before_ = node;
      ++pairs;
    }
    return 0;
  }

  int check_table(const BucketTable& table, uint64_t& pairs) {
    uint64_t found = 0;
    for (uint32_t i = 0; i < table.buckets(); ++i) {
      const Bucket bucket = table.at(i);
      if (bucket.empty() != (table.occupied(i) != i)) return 4;
      for (const Node* node = bucket.is_table() ? nullptr : bucket.list(); node != nullptr;
           node = node->next) {
        if (table.bucket_of(node->probe()) != i) return 2;
      }
      if (const int broken = check(bucket, found)) return broken;
    }
    if (found != table.pairs) return 3;
    pairs += found;
    return 0;
  }

  const Node* before_ = nullptr;  // the last node that was checked
};

struct Shape {
  uint64_t height = 0, tables = 0, slots = 0, used = 0;
};

void measure(Bucket bucket, uint64_t depth, Shape& shape) {
  shape.height = std::max(shape.height, depth);
  if (!bucket.is_table()) return;
  const BucketTable& table = *bucket.table();
  ++shape.tables;
  shape.slots += table.buckets();
  for (uint32_t i = table.occupied(0); i < table.buckets(); i = table.occupied(i + 1)) {
    ++shape.used;
    measure(table.at(i), depth + 1, shape);
  }
}

}  // namespace

int OrderedHash::check() const {
  uint64_t pairs = 0;
  return Checker().check(root_, pairs);
}

uint64_t OrderedHash::statistic(uint32_t which) const {
  Shape shape;
  measure(root_, root_.empty() ? 0 : 1, shape);
  switch (which) {
    case KEYDROME_STATISTIC_HEIGHT:
      return shape.height;
    case KEYDROME_STATISTIC_NODES:
      return shape.tables;
    case KEYDROME_STATISTIC_SLOTS:
      return shape.slots;
    case KEYDROME_STATISTIC_SLOTS_USED:
      return shape.used;
    default:
      return 0;
  }
}

}  // namespace keydrome::hash_ordered
