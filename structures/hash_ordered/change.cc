// Implements parts of ordered_hash.h: put, del, and the growth and shrinking of tables.
#include <algorithm>
#include <new>

#include "structures/hash_ordered/ordered_hash.h"

namespace keydrome::hash_ordered {

int OrderedHash::put(KeydromeBytes key, KeydromeBytes payload) noexcept {
  return put_into(root_, Probe::of(key, payload));
}

int OrderedHash::del(KeydromeBytes key, KeydromeBytes payload) noexcept {
  return del_from(root_, Probe::of(key, payload));
}

// The depth of the recursion is the number of nested tables. Compared with the table around it, a
// nested table either has a range of codes that is at least kListMax times smaller, or a longer
// prefix. So the depth is at most about 500, and 2 or 3 with random keys.
int OrderedHash::put_into(Bucket& bucket, const Probe& pair) {
  if (!bucket.is_table()) return put_into_list(bucket, pair);
  BucketTable& table = *bucket.table();
  const uint32_t number = table.bucket_of(pair);
  const int result = put_into(table.at(number), pair);
  if (result != 1) return result;
  table.note(number);
  if (++table.pairs >= 2 * table.pairs_made) make_table(bucket);
  return result;
}

int OrderedHash::put_into_list(Bucket& bucket, const Probe& pair) {
  uint32_t size = 1;
  Node* before = nullptr;
  Node* next = bucket.list();
  for (; next != nullptr; before = next, next = next->next, ++size) {
    const int order = compare(*next, pair);
    if (order == 0) return 0;
    if (order > 0) break;
  }
  const size_t bytes = Node::bytes(pair.key.size(), pair.payload.size());
  void* memory = memory_.allocate(bytes, alignof(Node));
  if (memory == nullptr) return KEYDROME_NO_MEMORY;
  auto* node = new (memory)
      Node{next, static_cast<uint8_t>(pair.key.size()), static_cast<uint8_t>(pair.payload.size())};
  pair.key.copy(node->data(), pair.key.size());
  pair.payload.copy(node->data() + pair.key.size(), pair.payload.size());
  if (before == nullptr) {
    bucket = Bucket(node);
  } else {
    before->next = node;
  }
  for (; next != nullptr; next = next->next) ++size;
  if (size > kListMax) make_table(bucket);
  return 1;
}

int OrderedHash::del_from(Bucket& bucket, const Probe& pair) {
  if (!bucket.is_table()) return del_from_list(bucket, pair);
  BucketTable& table = *bucket.table();
  const uint32_t number = table.bucket_of(pair);
  const int result = del_from(table.at(number), pair);
  if (result != 1) return result;
  table.note(number);
  if (--table.pairs <= kListMin) {
    bucket = Bucket(take_out(bucket));
  } else if (4 * table.pairs <= table.pairs_made) {
    make_table(bucket);
  }
  return result;
}

int OrderedHash::del_from_list(Bucket& bucket, const Probe& pair) {
  Node* before = nullptr;
  for (Node* node = bucket.list(); node != nullptr; before = node, node = node->next) {
    const int order = compare(*node, pair);
    if (order < 0) continue;
    if (order > 0) return 0;
    if (before == nullptr) {
      bucket = Bucket(node->next);
    } else {
      before->next = node->next;
    }
    drop(node);
    return 1;
  }
  return 0;
}

// Puts the pairs of the bucket into a new table. If there is no memory for the table, the bucket
// stays as it is. Its lists are then too long, so searches take more time.
void OrderedHash::make_table(Bucket& bucket) const {
  const uint64_t pairs = pairs_of(bucket);
  const Node& reference = *first_of(bucket);
  const auto division = BucketTable::Division::of(reference.probe(), last_of(bucket)->probe(),
                                                  mark_, room_for(bucket, pairs));
  void* memory =
      memory_.allocate(BucketTable::bytes(division, reference.probe()), alignof(BucketTable));
  if (memory == nullptr) return;
  BucketTable* table = BucketTable::make(memory, division, reference.probe());
  table->pairs = table->pairs_made = pairs;
  distribute(take_out(bucket), *table);
  bucket = Bucket(table);
}

uint64_t OrderedHash::pairs_of(Bucket bucket) {
  if (bucket.is_table()) return bucket.table()->pairs;
  uint64_t pairs = 0;
  for (const Node* node = bucket.list(); node != nullptr; node = node->next) ++pairs;
  return pairs;
}

// Returns the size of a new table: one bucket for each pair. If the last bucket of the old table
// has more than a quarter of the pairs, keys seem to be ascending. The new table then gets as many
// buckets again for larger keys. Without them, all new pairs would go to its last bucket. The same
// is true for descending keys and the first bucket.
BucketTable::Room OrderedHash::room_for(Bucket bucket, uint64_t pairs) {
  BucketTable::Room room{.buckets = static_cast<uint32_t>(std::min(pairs, kBucketsMax))};
  if (!bucket.is_table()) return room;
  const BucketTable& old = *bucket.table();
  const auto is_large = [&](Bucket end) {
    return end.is_table() && end.table()->pairs > pairs / 4;
  };
  room.below = is_large(old.at(0));
  room.above = is_large(old.at(old.buckets() - 1));
  return room;
}

// Distributes a list of nodes in ascending order to the buckets of an empty table.
void OrderedHash::distribute(Node* list, BucketTable& table) const {
  while (list != nullptr) {
    const uint32_t number = table.bucket_of(list->probe());
    Bucket& bucket = table.at(number);
    bucket = Bucket(list);
    table.note(number);
    uint32_t size = 1;
    Node* last = list;
    while (last->next != nullptr && table.bucket_of(last->next->probe()) == number) {
      last = last->next;
      ++size;
    }
    list = last->next;
    last->next = nullptr;
    if (size > kListMax) make_table(bucket);
  }
}

// Returns the nodes of the bucket as a list in ascending order, and frees its tables. The caller
// must then overwrite the bucket, which may still point to a freed table.
Node* OrderedHash::take_out(Bucket bucket) const {
  Node* first = nullptr;
  Node** end = &first;
  append(bucket, end);
  return first;
}

// Appends the nodes of the bucket to a list, and sets `end` to the link of its last node.
void OrderedHash::append(Bucket bucket, Node**& end) const {
  if (!bucket.is_table()) {
    *end = bucket.list();
    while (*end != nullptr) end = &(*end)->next;
    return;
  }
  BucketTable& table = *bucket.table();
  for (uint32_t i = table.occupied(0); i < table.buckets(); i = table.occupied(i + 1)) {
    append(table.at(i), end);
  }
  drop(&table);
}

}  // namespace keydrome::hash_ordered
