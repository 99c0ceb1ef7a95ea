// Implements parts of list.h: makes and destroys the list, and reads it.
#include "structures/skiplist/list.h"

#include <bit>
#include <new>

#include "base/hash.h"

namespace keydrome::skiplist {
namespace {

// Returns the number of links of a node: at least 2 with probability 1/4, at least 3 with 1/16, and
// so on. The number depends only on the pair, so threads need not share a generator of random
// numbers.
uint32_t height_of(const Probe& pair) {
  const uint64_t hash = hash_mix(hash_bytes(pair.key), hash_bytes(pair.payload));
  constexpr uint64_t kLowest = uint64_t{1} << 2 * (kHeightMax - 1);
  return 1 + static_cast<uint32_t>(std::countr_zero(hash | kLowest)) / 2;
}

}  // namespace

List::List(const KeydromeEnvironment& environment, const KeydromeSetup&)
    : memory_(environment),
      start_(static_cast<Node*>(memory_.allocate(Node::bytes(kHeightMax, 0, 0), alignof(Node)))) {
  if (start_ == nullptr) throw std::bad_alloc();
  new (start_) Node(Probe{}, kHeightMax);
}

List::~List() {
  for (Node* node = start_; node != nullptr;) {
    Node* next = node->next();
    drop(node);
    node = next;
  }
}

Node* List::make_node(const Probe& pair) const {
  const uint32_t height = height_of(pair);
  void* memory =
      memory_.allocate(Node::bytes(height, pair.key.size(), pair.payload.size()), alignof(Node));
  return memory == nullptr ? nullptr : new (memory) Node(pair, height);
}

// Returns the first node >= the probe, or > the probe if `after` is true. Compares no node twice:
// if the next node of a level is also that of the level above, it is known to be larger.
//
// The search may pass nodes that other threads have deleted. The links of such nodes no longer
// change. Let L be the last node before the result. If L was in the list when the search read the
// link of L, the result was right at that moment. Otherwise it was right when L was deleted.
Node* List::first(const Probe& probe, bool after) const {
  const int before_most = after ? 0 : -1;
  const Node* before = start_;
  Node* next = nullptr;
  for (uint32_t level = kHeightMax; level-- > 0;) {
    Node* const larger = next;
    next = before->next(level);
    while (next != larger && next != nullptr && compare(*next, probe) <= before_most) {
      before = next;
      next = before->next(level);
    }
  }
  return next;
}

int List::scan(KeydromeBytes key, KeydromeBytes payload, bool after,
               KeydromeRun& run) const noexcept {
  keydrome_run_clear(&run);
  const Probe from = Probe::of(key, payload, payload.data == nullptr && after);
  for (const Node* node = first(from, after); node != nullptr; node = node->next()) {
    __builtin_prefetch(node->next());
    if (keydrome_run_add(&run, bytes_of(node->key()), bytes_of(node->payload())) == 0) return 1;
  }
  return 0;
}

int List::find(KeydromeBytes key, KeydromeBytes after, KeydromeBuffer& payload) const noexcept {
  const Probe probe = Probe::of(key, after);
  const Node* node = first(probe, after.data != nullptr);
  if (node == nullptr || compare_keys(*node, probe) != 0) return 0;
  copy_payload(node->payload(), payload);
  return 1;
}

}  // namespace keydrome::skiplist
