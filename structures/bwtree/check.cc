// Implements check() and statistic() of Tree (tree.h): checks the invariants of the tree, and
// counts pages. No other call may run meanwhile. A *slot* points to a page. An *entry* of an inner
// page is a child with its lower bound (page.h).
#include <functional>

#include "structures/bwtree/cursor.h"
#include "structures/bwtree/tree.h"

namespace keydrome::bwtree {
namespace {

enum Broken {
  kWrongLevel = 1,  // a page links to a page of another level, or to a removed page
  kWrongOrder,      // the pairs of a page do not ascend, or are outside its bounds
  kWrongEnd,        // a page has a link but no upper bound, or an upper bound but no link
  kWrongHead,       // the keys do not share the prefix, or a head (page.h) does not fit its key
  kWrongCount,      // the number of pairs or deltas is wrong, or too large
  kWrongChild       // an entry of a parent does not have the lower bound of its child
};

// Calls `visit` for all slots of the level that begins with `slot`, with the page's lower bound,
// until a call returns a number other than 0. Returns this number.
int for_level(const Slot* slot, const std::function<int(const Slot&, const Pair&)>& visit) {
  Pair low{};
  while (slot != nullptr) {
    if (const int broken = visit(*slot, low); broken != 0) return broken;
    const Base& contents = base_of(*slot->page.load());
    if (contents.has_high) low = contents.high();
    slot = contents.right;
  }
  return 0;
}

int broken_heads(const Base& contents) {
  for (uint32_t i = 0; i < contents.count; ++i) {
    const std::string_view key = contents.pair(i).key;
    if (contents.pair(0).key.substr(0, contents.prefix) != key.substr(0, contents.prefix)) {
      return kWrongHead;
    }
    const uint64_t head = load_head(reinterpret_cast<const uint8_t*>(key.data()),
                                    static_cast<uint32_t>(key.size()), contents.prefix);
    if (contents.head(i) != head) return kWrongHead;
  }
  for (uint32_t i = contents.count; contents.level > 0 && i < Base::kInnerHeads; ++i) {
    if (contents.head(i) != contents.unused_head()) return kWrongHead;
  }
  return contents.has_high && contents.high_head != head_of(contents.high().key) ? kWrongHead : 0;
}

int broken_order(const Entries& entries, const Base& contents, const Pair& low) {
  for (uint32_t i = 0; i < entries.count; ++i) {
    const Pair& pair = entries.pairs[i];
    if (i == 0 ? compare(pair, low) < 0 : compare(entries.pairs[i - 1], pair) >= 0) {
      return kWrongOrder;
    }
    if (contents.has_high && compare(pair, contents.high()) >= 0) return kWrongOrder;
  }
  return 0;
}

int broken_deltas(const Page& page) {
  uint32_t deltas = 0;
  for (const Page* at = &page; at->kind != Kind::kBase; at = delta(*at).next) {
    const Page& older = *delta(*at).next;
    const uint32_t step = at->kind == Kind::kInsert ? older.count + 1 : older.count - 1;
    if (at->count != step || at->deltas != older.deltas + 1) return kWrongCount;
    if (delta(*at).base != &base_of(page)) return kWrongCount;
    if (delta(*at).head != head_of(delta(*at).pair().key)) return kWrongHead;
    ++deltas;
  }
  return deltas != page.deltas || deltas > kDeltasMax ? kWrongCount : 0;
}

int broken_page(const Page& page, const Pair& low, uint32_t level) {
  if (page.is_removed() || page.level != level) return kWrongLevel;
  const Base& contents = base_of(page);
  if (contents.count > kPairsMax || (level > 0 && contents.count == 0)) return kWrongCount;
  if (contents.has_high != (contents.right != nullptr)) return kWrongEnd;
  if (const int broken = broken_heads(contents); broken != 0) return broken;
  if (const int broken = broken_deltas(page); broken != 0) return broken;
  Entries entries;
  entries.add_all(page);
  return entries.count != page.count ? kWrongCount : broken_order(entries, contents, low);
}

// Checks that the children of a level are pages of the level below, in order, and that each entry
// of a parent is the lower bound of its child. A page may have no entry in its parent if memory ran
// out during its split.
int broken_children(const Slot* leftmost) {
  const Slot* below = base(*leftmost->page.load()).children()[0];
  Pair below_low{};
  return for_level(leftmost, [&](const Slot& slot, const Pair& low) -> int {
    const Base& parent = base(*slot.page.load());
    if (compare(parent.pair(0), low) != 0) return kWrongChild;
    for (uint32_t i = 0; i < parent.count; ++i) {
      const Slot* child = parent.children()[i];
      while (below != child) {
        const Base& passed = base_of(*below->page.load());
        if (passed.right == nullptr) return kWrongChild;
        below_low = passed.high();
        below = passed.right;
      }
      if (compare(parent.pair(i), below_low) != 0) return kWrongChild;
    }
    return 0;
  });
}

}  // namespace

int Tree::check() const {
  const Slot* leftmost = &root_;
  for (uint32_t level = root_.page.load()->level;; --level) {
    const int broken = for_level(leftmost, [&](const Slot& slot, const Pair& low) {
      return broken_page(*slot.page.load(), low, level);
    });
    if (broken != 0) return broken;
    if (level == 0) return 0;
    if (const int wrong = broken_children(leftmost); wrong != 0) return wrong;
    leftmost = base(*leftmost->page.load()).children()[0];
  }
}

uint64_t Tree::statistic(uint32_t which) const {
  uint64_t pages = 0;
  uint64_t used = 0;
  const Slot* leftmost = &root_;
  const uint32_t height = root_.page.load()->level + 1;
  for (uint32_t level = height; level-- > 0;) {
    for_level(leftmost, [&](const Slot& slot, const Pair&) {
      ++pages;
      used += slot.page.load()->count;
      return 0;
    });
    if (level > 0) leftmost = base(*leftmost->page.load()).children()[0];
  }
  switch (which) {
    case KEYDROME_STATISTIC_HEIGHT:
      return height;
    case KEYDROME_STATISTIC_NODES:
      return pages;
    case KEYDROME_STATISTIC_SLOTS:
      return pages * kPairsMax;
    case KEYDROME_STATISTIC_SLOTS_USED:
      return used;
    default:
      return 0;
  }
}

}  // namespace keydrome::bwtree
