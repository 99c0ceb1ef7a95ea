// Implements put() and del() of List (list.h), which add or delete a pair. A change first searches
// without locks. It then locks the nodes whose links it changes, and checks that these links are
// still those that the search has read. If they are not, the change starts again.
//
// There is no deadlock, because all threads lock a node with a larger pair before one with a
// smaller pair.
#include "structures/skiplist/list.h"

namespace keydrome::skiplist {
namespace {

// The nodes that a change has locked. The destructor unlocks them.
class Locks {
 public:
  Locks() = default;
  Locks(const Locks&) = delete;
  Locks& operator=(const Locks&) = delete;
  ~Locks() {
    while (count_ > 0) nodes_[--count_]->unlock();
  }

  // The caller passes the nodes of all levels, the lowest level first. A node that several levels
  // have in common then comes several times in a row, and is locked once.
  void take(Node* node) {
    if (count_ > 0 && nodes_[count_ - 1] == node) return;
    node->lock();
    nodes_[count_++] = node;
  }

 private:
  std::array<Node*, kHeightMax + 1> nodes_;
  uint32_t count_ = 0;
};

}  // namespace

List::Path List::search(const Probe& probe) const {
  Path path;
  Node* before = start_;
  Node* next = nullptr;
  for (uint32_t level = kHeightMax; level-- > 0;) {
    Node* const larger = next;
    next = before->next(level);
    while (next != larger && next != nullptr && compare(*next, probe) < 0) {
      before = next;
      next = before->next(level);
    }
    path.before[level] = before;
    path.next[level] = next;
  }
  return path;
}

// Sets all links of the new node before the first link to it, and then links it from the lowest to
// the highest level.
int List::put(KeydromeBytes key, KeydromeBytes payload) noexcept {
  const Probe pair = Probe::of(key, payload);
  Node* node = nullptr;
  for (SpinWait wait;; wait.once()) {
    const Path path = search(pair);
    if (path.next[0] != nullptr && compare(*path.next[0], pair) == 0) {
      if (node != nullptr) drop(node);
      return 0;
    }
    if (node == nullptr) node = make_node(pair);
    if (node == nullptr) return KEYDROME_NO_MEMORY;
    Locks locks;
    bool is_valid = true;
    for (uint32_t level = 0; level < node->height && is_valid; ++level) {
      Node* before = path.before[level];
      locks.take(before);
      is_valid = !before->marked && before->next(level) == path.next[level];
    }
    if (!is_valid) continue;
    for (uint32_t level = 0; level < node->height; ++level) {
      node->set_next(level, path.next[level]);
    }
    for (uint32_t level = 0; level < node->height; ++level) {
      path.before[level]->set_next(level, node);
    }
    return 1;
  }
}

// Unlinks the node from the highest to the lowest level, so a node that a high level contains is in
// all lower levels, too. Another thread may still be linking the node to higher levels. That thread
// holds the lock of the node's predecessor, so del() waits for this lock until all levels link the
// node.
int List::del(KeydromeBytes key, KeydromeBytes payload) noexcept {
  const Probe pair = Probe::of(key, payload);
  for (SpinWait wait;; wait.once()) {
    const Path path = search(pair);
    Node* node = path.next[0];
    if (node == nullptr || compare(*node, pair) != 0) return 0;
    {
      Locks locks;
      locks.take(node);
      if (node->marked) return 0;  // another thread has deleted it since the search
      bool is_valid = true;
      for (uint32_t level = 0; level < node->height && is_valid; ++level) {
        Node* before = path.before[level];
        locks.take(before);
        is_valid = !before->marked && before->next(level) == node;
      }
      if (!is_valid) continue;
      node->marked = true;
      for (uint32_t level = node->height; level-- > 0;) {
        path.before[level]->set_next(level, node->next(level));
      }
    }
    drop(node);
    return 1;
  }
}

}  // namespace keydrome::skiplist
