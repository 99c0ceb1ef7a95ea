// Implements build.h: makes leaves, pages and nodes of the adaptive radix tree, and frees subtrees.
#include "structures/art/build.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>

#include "structures/art/page.h"
#include "structures/art/pairs.h"
#include "structures/art/search.h"

namespace keydrome::art {

namespace {

// A new page, whose records are still to be written.
class NewPage {
 public:
  // `record_bytes` is the size of all records together.
  NewPage(const Memory& memory, uint32_t count, bool uniform, uint32_t record_bytes)
      : count_(count),
        uniform_(uniform),
        bytes_(Memory::page_bytes(Page::records_at(count, uniform) + record_bytes)),
        memory_(memory.allocate_pairs(bytes_)) {
    if (memory_ != nullptr) new (memory_) std::atomic<uint32_t>(0);
  }

  bool has_memory() const { return memory_ != nullptr; }
  Link link() const { return Link::page(memory_, count_, uniform_, bytes_); }
  uint8_t* tags() const { return memory_ + Page::kTagsAt; }
  uint8_t* records() const { return memory_ + Page::records_at(count_, uniform_); }

  void set_offset(uint32_t index, uint32_t at) const {
    if (uniform_) return;
    const auto offset = static_cast<uint16_t>(at);
    std::memcpy(memory_ + Page::offsets_at(count_) + index * sizeof offset, &offset, sizeof offset);
  }
  // Writes the record and tag of a pair. The record begins at byte `at`.
  void set(uint32_t index, uint32_t at, const Pair& pair) const {
    set_offset(index, at);
    tags()[index] = tag_of(pair.key, pair.key_size);
    uint8_t* to = records() + at;
    to[0] = static_cast<uint8_t>(pair.key_size);
    to[1] = static_cast<uint8_t>(pair.payload_size);
    copy_bytes(to + kRecordHead, pair.key, pair.key_size);
    copy_bytes(to + kRecordHead + pair.key_size, pair.payload, pair.payload_size);
  }

 private:
  uint32_t count_;
  bool uniform_;
  uint32_t bytes_;
  uint8_t* memory_;
};

// Copies tags in chunks of 16 bytes, so it may also copy up to 15 bytes after the tags. Both pages
// are long enough for this (Page::matches), and the caller overwrites the bytes after the tags in
// the new page.
void copy_tags(uint8_t* to, const uint8_t* from, uint32_t count) {
  for (uint32_t at = 0; at < count; at += kChunk) copy_chunk(to + at, from + at);
}

template <uint32_t kSize>
void fill(SortedNode<kSize>& node, const Children& children) {
  const uint32_t count = children.count;
  node.live = static_cast<uint8_t>(count);
  node.count = static_cast<uint8_t>(count);
  for (uint32_t i = 0; i < kSize; ++i) node.bytes[i] = children.bytes[std::min(i, count - 1)];
  for (uint32_t i = 0; i < count; ++i) node.children[i].store(children.links[i]);
}

void fill(Node48& node, const Children& children) {
  node.live = static_cast<uint8_t>(children.count);
  node.count = static_cast<uint8_t>(children.count);
  for (uint32_t i = 0; i < children.count; ++i) {
    node.children[i].store(children.links[i]);
    node.index[children.bytes[i]].store(static_cast<uint8_t>(i + 1), std::memory_order_relaxed);
  }
}

void fill(Node256& node, const Children& children) {
  node.live = static_cast<uint16_t>(children.count);
  for (uint32_t i = 0; i < children.count; ++i) {
    node.children[children.bytes[i]].store(children.links[i]);
  }
}

template <class Node>
Link make_filled(const Memory& memory, uint32_t depth, const Children& children) {
  const Link node = memory.make_node<Node>(depth);
  if (!node.is_none()) fill(*node.at<Node>(), children);
  return node;
}

// Makes a fork (node.h) at `depth`. The pairs before index `end` have the end mark at this depth,
// and the other pairs have a byte.
Link make_fork(const Memory& memory, const PairList& list, uint32_t depth, uint32_t end) {
  const Link first = make_pairs(memory, list.pairs, end);
  if (first.is_none()) return first;
  const Link rest = make_pairs(memory, list.pairs + end, list.count - end);
  const Link fork = rest.is_none() ? rest : memory.make_node<Fork>(depth);
  if (fork.is_none()) {
    memory.drop(first);
    if (!rest.is_none()) memory.drop(rest);
    return fork;
  }
  fork.at<Fork>()->end.store(first);
  fork.at<Fork>()->rest.store(rest);
  return fork;
}

}  // namespace

void PairList::append(Link link, uint32_t live) {
  if (link.kind() == Kind::kWords) {
    uint8_t slots[kPagePairs];
    const uint32_t more = Words(link).sort(live, slots);
    for (uint32_t i = 0; i < more; ++i) pairs[count++] = Words(link).pair(slots[i]);
    return;
  }
  for (; live != 0; live &= live - 1) {
    const auto index = static_cast<uint32_t>(std::countr_zero(live));
    pairs[count++] = link.kind() == Kind::kPage ? Page(link).pair(index) : leaf_pair(link);
  }
}

bool PairList::insert(const Pair& pair) {
  uint32_t at = count;
  int order = 1;
  while (at > 0 && (order = compare(pair, pairs[at - 1])) < 0) --at;
  if (order == 0) return false;
  std::copy_backward(pairs + at, pairs + count, pairs + count + 1);
  pairs[at] = pair;
  ++count;
  return true;
}

bool PairList::fits_page() const {
  uint32_t bytes = Page::records_at(count, false);
  for (uint32_t i = 0; i < count; ++i) bytes += record_size(pairs[i]);
  return count <= kPagePairs && bytes <= kPageBytes;
}

Link make_leaf(const Memory& memory, const Pair& pair) {
  uint8_t* bytes = memory.allocate_pairs(Memory::leaf_bytes(pair.key_size + pair.payload_size));
  if (bytes == nullptr) return Link();
  copy_bytes(bytes, pair.key, pair.key_size);
  copy_bytes(bytes + pair.key_size, pair.payload, pair.payload_size);
  return Link::leaf(bytes, pair.key_size, pair.payload_size);
}

namespace {

Link make_words(const Memory& memory, const Pair* pairs, uint32_t count) {
  const Link page = memory.make_words(Words::slots_for(count));
  if (page.is_none()) return page;
  for (uint32_t i = 0; i < count; ++i) {
    Words(page).add(word_at(pairs[i].key), word_at(pairs[i].payload));
  }
  return page;
}

}  // namespace

Link make_pairs(const Memory& memory, const Pair* pairs, uint32_t count) {
  if (count == 1) return make_leaf(memory, pairs[0]);
  if (std::all_of(pairs, pairs + count, is_word_pair)) return make_words(memory, pairs, count);
  bool uniform = true;
  uint32_t record_bytes = 0;
  for (uint32_t i = 0; i < count; ++i) {
    record_bytes += record_size(pairs[i]);
    uniform &= have_equal_sizes(pairs[i], pairs[0]);
  }
  const NewPage page(memory, count, uniform, record_bytes);
  if (!page.has_memory()) return Link();
  uint32_t at = 0;
  for (uint32_t i = 0; i < count; at += record_size(pairs[i++])) page.set(i, at, pairs[i]);
  return page.link();
}

Link make_page_with(const Memory& memory, Link old, uint32_t index, const Pair& pair) {
  const Page page(old);
  const uint32_t count = old.page_pairs();
  const bool uniform = old.is_uniform() && have_equal_sizes(pair, page.pair(0));
  const uint32_t size = record_size(pair);
  const uint32_t end = page.end(count - 1);
  const uint32_t at = index == count ? end : page.offset(index);
  const NewPage fresh(memory, count + 1, uniform, end + size);
  if (!fresh.has_memory()) return Link();
  copy_tags(fresh.tags(), page.tags(), index);
  copy_tags(fresh.tags() + index + 1, page.tags() + index, count - index);
  if (!uniform) {
    for (uint32_t i = 0; i < index; ++i) fresh.set_offset(i, page.offset(i));
    for (uint32_t i = index; i < count; ++i) fresh.set_offset(i + 1, page.offset(i) + size);
  }
  copy_records(fresh.records(), page.records(), at);
  fresh.set(index, at, pair);
  copy_records(fresh.records() + at + size, page.records() + at, end - at);
  return fresh.link();
}

Link make_words_with(const Memory& memory, Link old, const Pair& pair) {
  uint32_t live = live_of(old);
  const auto count = static_cast<uint32_t>(std::popcount(live));
  const Link page = memory.make_words(Words::slots_for(count + 1));
  if (page.is_none()) return page;
  const Words to(page);
  for (; live != 0; live &= live - 1) {
    const auto slot = static_cast<uint32_t>(std::countr_zero(live));
    const Pair stored = old.kind() == Kind::kWords ? Words(old).pair(slot) : leaf_pair(old);
    to.add(word_at(stored.key), word_at(stored.payload));
  }
  to.add(word_at(pair.key), word_at(pair.payload));
  return page;
}

Link make_subtree(const Memory& memory, const PairList& list) {
  const uint32_t depth = difference(list.pairs[0], list.pairs[list.count - 1]);
  const auto group_end = [&](uint32_t from) {
    uint32_t to = from + 1;
    while (to < list.count && list.pairs[to].digit(depth) == list.pairs[from].digit(depth)) ++to;
    return to;
  };
  if (list.pairs[0].digit(depth) == kEnd) return make_fork(memory, list, depth, group_end(0));
  Children children;
  Link node{};
  for (uint32_t from = 0; from < list.count;) {
    const uint32_t to = group_end(from);
    const Link child = make_pairs(memory, list.pairs + from, to - from);
    if (child.is_none()) break;
    children.add(static_cast<uint8_t>(list.pairs[from].digit(depth)), child);
    from = to;
    node = from < list.count ? Link() : make_node_of(memory, depth, children);
  }
  if (node.is_none()) {
    for (uint32_t i = 0; i < children.count; ++i) memory.drop(children.links[i]);
  }
  return node;
}

void collect_children(Link node, Children& children) {
  const auto collect_sorted = [&](const auto& sorted) {
    for (uint32_t i = 0; i < sorted.count; ++i) {
      const Link child = sorted.children[i].load();
      if (!child.is_none()) children.add(sorted.bytes[i], child);
    }
  };
  if (node.kind() == Kind::kNode4) return collect_sorted(*node.at<const Node4>());
  if (node.kind() == Kind::kNode16) return collect_sorted(*node.at<const Node16>());
  uint32_t position = 0;
  for (Link child; !(child = next_child(node, position)).is_none();) {
    children.add(static_cast<uint8_t>(position - 1), child);
  }
}

void insert_child(Children& children, uint8_t byte, Link link) {
  uint32_t at = children.count++;
  for (; at > 0 && children.bytes[at - 1] > byte; --at) {
    children.bytes[at] = children.bytes[at - 1];
    children.links[at] = children.links[at - 1];
  }
  children.bytes[at] = byte;
  children.links[at] = link;
}

void remove_child(Children& children, uint8_t byte) {
  uint32_t at = 0;
  while (children.bytes[at] != byte) ++at;
  --children.count;
  for (; at < children.count; ++at) {
    children.bytes[at] = children.bytes[at + 1];
    children.links[at] = children.links[at + 1];
  }
}

Link make_node_of(const Memory& memory, uint32_t depth, const Children& children) {
  if (children.count <= Node4::kCapacity) return make_filled<Node4>(memory, depth, children);
  if (children.count <= Node16::kCapacity) return make_filled<Node16>(memory, depth, children);
  if (children.count <= Node48::kCapacity) return make_filled<Node48>(memory, depth, children);
  return make_filled<Node256>(memory, depth, children);
}

// The recursion is at most kPathMax levels deep.
void drop_subtree(const Memory& memory, Link link) {
  if (link.is_none()) return;
  if (link.is_node()) {
    uint32_t position = 0;
    for (Link child; !(child = next_child(link, position)).is_none();) {
      drop_subtree(memory, child);
    }
  }
  memory.drop(link);
}

}  // namespace keydrome::art
