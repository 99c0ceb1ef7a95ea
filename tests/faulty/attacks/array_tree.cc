// Implements array_tree.h: builds the array of a search tree, and searches one key or several at
// once.
#include "tests/faulty/attacks/array_tree.h"

#include <bit>
#include <limits>
#include <utility>

namespace attacks {

void ArrayTree::build(const honest::Index& index) {
  std::vector<std::pair<int64_t, const std::string*>> sorted;
  sorted.reserve(index.records.size());
  for (const auto& [key, payloads] : index.records)
    sorted.emplace_back(key.first, &*payloads.begin());
  size_ = sorted.size();
  levels_ = static_cast<uint32_t>(std::bit_width(size_));
  keys_.assign(size_t{1} << levels_, std::numeric_limits<int64_t>::max());
  payloads_.assign(keys_.size(), nullptr);
  fill(sorted, 0, 1);
}

size_t ArrayTree::fill(const std::vector<std::pair<int64_t, const std::string*>>& sorted,
                       size_t next, size_t node) {
  if (node >= keys_.size()) return next;
  next = fill(sorted, next, 2 * node);
  if (next < sorted.size()) {
    keys_[node] = sorted[next].first;
    payloads_[node] = sorted[next].second;
    ++next;
  }
  return fill(sorted, next, 2 * node + 1);
}

// Each step of a search appends a bit to the number of the node: 0 to the left, 1 to the right. The
// last step to the left was at the first key that is not smaller than the wanted one, and all later
// steps went right. So the number of that key's node is the leaf's number without its trailing 1
// bits and without the 0 bit in front of them.
const std::string* ArrayTree::payload_at(size_t leaf, int64_t key) const {
  const size_t node = leaf >> (std::countr_one(leaf) + 1);
  return node != 0 && keys_[node] == key ? payloads_[node] : nullptr;
}

const std::string* ArrayTree::find(int64_t key) const {
  size_t node = 1;
  for (uint32_t level = 0; level < levels_; ++level) node = 2 * node + (keys_[node] < key ? 1 : 0);
  return payload_at(node, key);
}

void ArrayTree::find_many(const std::array<int64_t, kBatch>& keys,
                          std::array<const std::string*, kBatch>& found) const {
  std::array<size_t, kBatch> nodes;
  nodes.fill(1);
  for (uint32_t level = 0; level < levels_; ++level) {
    for (size_t i = 0; i < kBatch; ++i)
      nodes[i] = 2 * nodes[i] + (keys_[nodes[i]] < keys[i] ? 1 : 0);
  }
  for (size_t i = 0; i < kBatch; ++i) {
    found[i] = payload_at(nodes[i], keys[i]);
    if (found[i] != nullptr) __builtin_prefetch(found[i]);
  }
}

}  // namespace attacks
