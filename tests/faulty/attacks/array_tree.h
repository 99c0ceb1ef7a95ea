// ArrayTree: a search tree of integer keys, stored level by level in an array (Eytzinger layout).
// The children of node i are nodes 2 * i and 2 * i + 1.
//
// The tree is built once from an index and finds the first payload of a key. It does not change
// when the index changes; the caller must know which keys have changed since.
//
// Thread safety: reads of several threads are safe, build() is not.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tests/faulty/honest.h"

namespace attacks {

inline constexpr size_t kBatch = 8;  // searches that find_many() makes at once

class ArrayTree {
 public:
  void build(const honest::Index& index);
  size_t size() const { return size_; }

  // Returns the first payload of the key, or nullptr if the key is missing. Each level costs one
  // cache miss if the tree is large.
  const std::string* find(int64_t key) const;

  // Finds several keys at once. On each level the processor waits for all cache misses together.
  void find_many(const std::array<int64_t, kBatch>& keys,
                 std::array<const std::string*, kBatch>& found) const;

 private:
  // Copies sorted records, from position `next` on, to the subtree of `node`. Returns the position
  // of the first record that is left.
  size_t fill(const std::vector<std::pair<int64_t, const std::string*>>& sorted, size_t next,
              size_t node);
  const std::string* payload_at(size_t leaf, int64_t key) const;

  size_t size_ = 0;
  uint32_t levels_ = 0;
  // Node 0 is unused. Nodes without a record have the largest key and no payload.
  std::vector<int64_t> keys_;
  std::vector<const std::string*> payloads_;
};

}  // namespace attacks
