// Implements change.h.
#include "structures/art/change.h"

#include <cstring>

#include "structures/art/search.h"

namespace keydrome::art {

namespace {

// Calls `function` with a reference to the node.
template <class Function>
auto with_node(Link node, Function&& function) {
  switch (node.kind()) {
    case Kind::kNode4:
      return function(*node.at<Node4>());
    case Kind::kNode16:
      return function(*node.at<Node16>());
    case Kind::kNode48:
      return function(*node.at<Node48>());
    default:
      return function(*node.at<Node256>());
  }
}

// Repeats the largest byte in the unused elements (node.h).
template <uint32_t kSize>
void fill_unused(SortedNode<kSize>& node) {
  for (uint32_t i = node.count; i < kSize; ++i) node.bytes[i] = node.bytes[node.count - 1];
}

template <uint32_t kSize>
void add(SortedNode<kSize>& node, uint8_t byte, Link child) {
  uint32_t at = node.count;
  for (; at > 0 && node.bytes[at - 1] > byte; --at) {
    node.bytes[at] = node.bytes[at - 1];
    node.children[at] = node.children[at - 1];
  }
  node.bytes[at] = byte;
  node.children[at] = child;
  ++node.count;
  fill_unused(node);
}

void add(Node48& node, uint8_t byte, Link child) {
  uint32_t at = node.count;  // usually empty, because children are rarely deleted
  if (!node.children[at].is_none()) {
    at = 0;
    while (!node.children[at].is_none()) ++at;
  }
  node.children[at] = child;
  node.slots[byte] = static_cast<uint8_t>(at + 1);
  ++node.count;
}

void add(Node256& node, uint8_t byte, Link child) {
  node.children[byte] = child;
  ++node.count;
}

template <uint32_t kSize>
void remove(SortedNode<kSize>& node, uint8_t byte) {
  --node.count;
  for (uint32_t i = index_of(node, byte); i < node.count; ++i) {
    node.bytes[i] = node.bytes[i + 1];
    node.children[i] = node.children[i + 1];
  }
  node.children[node.count] = Link();
  if (node.count > 0) fill_unused(node);
}

void remove(Node48& node, uint8_t byte) {
  node.children[node.slots[byte] - 1] = Link();
  node.slots[byte] = 0;
  --node.count;
}

void remove(Node256& node, uint8_t byte) {
  node.children[byte] = Link();
  --node.count;
}

template <uint32_t kSize, class Function>
void for_each_child(const SortedNode<kSize>& node, Function&& function) {
  for (uint32_t i = 0; i < node.count; ++i) function(node.bytes[i], node.children[i]);
}

template <class Function>
void for_each_child(const Node48& node, Function&& function) {
  for (uint32_t byte = 0; byte < 256; ++byte) {
    const uint32_t slot = node.slots[byte];
    if (slot != 0) function(static_cast<uint8_t>(byte), node.children[slot - 1]);
  }
}

template <class Function>
void for_each_child(const Node256& node, Function&& function) {
  for (uint32_t byte = 0; byte < 256; ++byte) {
    if (!node.children[byte].is_none()) function(static_cast<uint8_t>(byte), node.children[byte]);
  }
}

void append(Node256& node, uint8_t byte, Link child) { add(node, byte, child); }
void append(Node48& node, uint8_t byte, Link child) { add(node, byte, child); }

// `byte` is larger than those of the node.
template <uint32_t kSize>
void append(SortedNode<kSize>& node, uint8_t byte, Link child) {
  node.bytes[node.count] = byte;
  node.children[node.count++] = child;
}

template <class From, class To>
Link copy_to(Memory& memory, Link node) {
  const Link copy = memory.make_node<To>(node.depth());
  if (copy.is_none()) return copy;
  auto& to = *copy.at<To>();
  for_each_child(*node.at<const From>(),
                 [&to](uint8_t byte, Link child) { append(to, byte, child); });
  if constexpr (To::kCapacity <= Node16::kCapacity) fill_unused(to);
  return copy;
}

}  // namespace

uint32_t child_count(Link node) {
  return with_node(node, [](const auto& it) { return uint32_t{it.count}; });
}

bool is_full(Link node) {
  return with_node(node, [](const auto& it) { return it.count == it.kCapacity; });
}

void add_child(Link node, uint8_t byte, Link child) {
  with_node(node, [=](auto& it) { add(it, byte, child); });
}

void remove_child(Link node, uint8_t byte) {
  with_node(node, [=](auto& it) { remove(it, byte); });
}

Link only_child(Link node) {
  uint32_t position = 0;
  return next_child(node, position);
}

Link grown(Memory& memory, Link node) {
  switch (node.kind()) {
    case Kind::kNode4:
      return copy_to<Node4, Node16>(memory, node);
    case Kind::kNode16:
      return copy_to<Node16, Node48>(memory, node);
    default:
      return copy_to<Node48, Node256>(memory, node);
  }
}

bool is_sparse(Link node) {
  switch (node.kind()) {
    case Kind::kNode4:
      return false;
    case Kind::kNode16:
      return node.at<Node16>()->count <= kShrink16;
    case Kind::kNode48:
      return node.at<Node48>()->count <= kShrink48;
    default:
      return node.at<Node256>()->count <= kShrink256;
  }
}

Link shrunk(Memory& memory, Link node) {
  switch (node.kind()) {
    case Kind::kNode16:
      return copy_to<Node16, Node4>(memory, node);
    case Kind::kNode48:
      return copy_to<Node48, Node16>(memory, node);
    default:
      return copy_to<Node256, Node48>(memory, node);
  }
}

}  // namespace keydrome::art
