// Implements Tree::find, and Tree::find_batch, which runs a group of lookups in turns: while one
// waits for memory, the others continue.
#include <algorithm>
#include <cstddef>

#include "structures/art/search.h"
#include "structures/art/tree.h"

namespace keydrome::art {

namespace {

constexpr uint32_t kGroup = 24;  // lookups in flight

// Returns the link from a node to the part of the tree that contains the pairs of `key`, or an
// empty link. Digits that the node skips are not compared.
Link child_for(Link node, const uint8_t* key, uint32_t key_size) {
  const uint32_t depth = node.depth();
  if (depth > key_size) return minimum(node);  // the node distinguishes payloads of one key
  if (node.kind() == Kind::kFork) {
    const auto& fork = *node.at<const Fork>();
    return depth == key_size ? fork.end : fork.rest;
  }
  if (depth == key_size) return Link();
  const Link* child = child_of(node, key[depth]);
  return child == nullptr ? Link() : *child;
}

// If the leaf has this key, copies its payload and returns 1. Otherwise returns 0.
int copy_payload(Link leaf, const uint8_t* key, uint32_t key_size, KeydromeBuffer& payload) {
  if (leaf.is_none()) return 0;
  const Pair pair = leaf.pair();
  if (pair.key_size != key_size || !equal_bytes(pair.key, key, key_size)) return 0;
  Memory::copy(static_cast<uint8_t*>(payload.data), pair.payload, pair.payload_size);
  payload.size = pair.payload_size;
  return 1;
}

// Asks for the memory that a step of a search reads: the element for `byte` of a large node, and
// otherwise the node's first two lines or the leaf.
void ask_for(Link link, uint8_t byte) {
  const auto* address = link.at<const char>();
  switch (link.kind()) {
    case Kind::kNode256:
      __builtin_prefetch(address + offsetof(Node256, children) + byte * sizeof(Link));
      return;
    case Kind::kNode48:
      __builtin_prefetch(address + offsetof(Node48, slots) + byte);
      return;
    case Kind::kNode4:
      __builtin_prefetch(address);
      __builtin_prefetch(address + sizeof(Node4) - 1);
      return;
    default:
      __builtin_prefetch(address);
      return;
  }
}

// Looks up at most kGroup keys. In every round, each search takes one step and asks for the memory
// of the next one.
void find_group(Link root, uint32_t count, KeydromeLookup* lookups) {
  Link links[kGroup];
  for (uint32_t i = 0; i < count; ++i) links[i] = root;
  for (bool more = true; more;) {
    more = false;
    for (uint32_t i = 0; i < count; ++i) {
      if (!links[i].is_node()) continue;
      const KeydromeBytes key = lookups[i].key;
      const auto* bytes = static_cast<const uint8_t*>(key.data);
      const Link next = child_for(links[i], bytes, key.size);
      links[i] = next;
      if (next.is_none()) continue;
      const bool has_digit = next.is_node() && next.depth() < key.size;
      ask_for(next, has_digit ? bytes[next.depth()] : 0);
      more |= next.is_node();
    }
  }
  for (uint32_t i = 0; i < count; ++i) {
    const KeydromeBytes key = lookups[i].key;
    lookups[i].found =
        copy_payload(links[i], static_cast<const uint8_t*>(key.data), key.size, lookups[i].payload);
  }
}

}  // namespace

int Tree::find(KeydromeBytes key, KeydromeBuffer& payload) const {
  const auto* bytes = static_cast<const uint8_t*>(key.data);
  Link link = root_;
  while (link.is_node()) link = child_for(link, bytes, key.size);
  return copy_payload(link, bytes, key.size, payload);
}

void Tree::find_batch(uint32_t count, KeydromeLookup* lookups) const {
  for (uint32_t from = 0; from < count; from += kGroup) {
    find_group(root_, std::min(kGroup, count - from), lookups + from);
  }
}

}  // namespace keydrome::art
