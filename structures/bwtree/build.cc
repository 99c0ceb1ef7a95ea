// Implements build.h: makes pages from lists of entries, and gives their memory back. A *base* has
// the sorted pairs of a page. A *delta* is the record of one change of a page (page.h).
#include "structures/bwtree/build.h"

#include <algorithm>
#include <new>

#include "structures/bwtree/cursor.h"

namespace keydrome::bwtree {
namespace {

constexpr uint32_t kSizes = 2;  // bytes of a record before its key

uint32_t record_bytes(const Pair& pair) {
  return kSizes + static_cast<uint32_t>(pair.key.size() + pair.payload.size());
}

// The largest page must be addressable by 16-bit offsets.
static_assert(sizeof(Base) +
                  (kPairsMax + 1) * (2 * Base::kHead + sizeof(uint16_t) + kSizes +
                                     KEYDROME_KEY_BYTES_MAX + KEYDROME_PAYLOAD_BYTES_MAX) <=
              UINT16_MAX);

// Copies key and payload. In pages they follow each other, and one copy is faster than two.
void copy(const Pair& pair, char* to) {
  if (!pair.key.empty() && pair.payload.data() == pair.key.data() + pair.key.size()) {
    std::memcpy(to, pair.key.data(), pair.key.size() + pair.payload.size());
    return;
  }
  std::copy(pair.payload.begin(), pair.payload.end(),
            std::copy(pair.key.begin(), pair.key.end(), to));
}

// Writes heads, values, children and records of a base.
class Writer {
 public:
  Writer(Base& base, uint32_t first_record) : base_(base), at_(first_record) {}

  void add(uint32_t index, const Pair& pair, Slot* child) {
    if (base_.has_numbers) {
      char* number = const_cast<char*>(base_.number(index));
      std::memcpy(number, pair.key.data(), Base::kHead);
      std::memcpy(number + Base::kHead, pair.payload.data(), Base::kHead);
      return;
    }
    const_cast<uint64_t*>(base_.heads())[index] =
        load_head(reinterpret_cast<const uint8_t*>(pair.key.data()),
                  static_cast<uint32_t>(pair.key.size()), base_.prefix);
    if (base_.level > 0) const_cast<Slot**>(base_.children())[index] = child;
    const_cast<uint16_t*>(base_.offsets())[index] = static_cast<uint16_t>(at_);
    add_record(pair);
  }
  // Fills the unused heads of an inner page.
  void fill() {
    auto* heads = const_cast<uint64_t*>(base_.heads());
    std::fill(heads + base_.count, heads + Base::kInnerHeads, base_.unused_head());
  }
  void add_high(const Pair& pair) {
    if (!base_.has_numbers) {
      const_cast<uint16_t*>(base_.offsets())[base_.count] = static_cast<uint16_t>(at_);
    }
    add_record(pair);
  }

 private:
  void add_record(const Pair& pair) {
    char* record = reinterpret_cast<char*>(&base_) + at_;
    record[0] = static_cast<char>(pair.key.size());
    record[1] = static_cast<char>(pair.payload.size());
    copy(pair, record + kSizes);
    at_ += record_bytes(pair);
  }

  Base& base_;
  uint32_t at_;  // where the next record begins
};

// The sizes of the pairs of a page.
struct Sizes {
  uint32_t records = 0;  // bytes of all records
  size_t longest = 0;    // bytes of the longest key
  size_t prefix = 0;     // leading bytes that all keys share; 0 if all keys are short
  bool are_numbers = true;

  Sizes(const Entries& entries, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; ++i) {
      const Pair& pair = entries.pairs[i];
      records += record_bytes(pair);
      longest = std::max(longest, pair.key.size());
      if (pair.key.size() != Base::kHead || pair.payload.size() != Base::kHead) are_numbers = false;
    }
    if (longest > Base::kHead)
      prefix = common_bytes(entries.pairs[from].key, entries.pairs[to - 1].key);
  }
};

}  // namespace

void Entries::add_all(const Page& page) {
  if (page.level == 0) {
    Cursor cursor(page, Probe{}, Only::kAll);
    for (Pair pair; cursor.next(pair);) pairs[count++] = pair;
    return;
  }
  const Base& inner = base(page);
  for (uint32_t i = 0; i < inner.count; ++i) {
    pairs[count] = inner.pair(i);
    children[count++] = inner.children()[i];
  }
}

void Entries::insert(uint32_t at, const Pair& pair, Slot* child) {
  std::copy_backward(pairs + at, pairs + count, pairs + count + 1);
  std::copy_backward(children + at, children + count, children + count + 1);
  pairs[at] = pair;
  children[at] = child;
  ++count;
}

void Entries::erase(uint32_t at) {
  std::copy(pairs + at + 1, pairs + count, pairs + at);
  std::copy(children + at + 1, children + count, children + at);
  --count;
}

Base* Builder::base(uint32_t level, const Entries& entries, uint32_t from, uint32_t to,
                    const End& end) const {
  const uint32_t count = to - from;
  const Sizes sizes(entries, from, to);
  const bool has_numbers = level == 0 && sizes.are_numbers;
  const uint32_t arrays = level > 0 ? Base::kHead * (Base::kInnerHeads + count)
                                    : (has_numbers ? Base::kNumber : Base::kHead) * count;
  const uint32_t offsets = has_numbers ? 0 : count + (end.has_high ? 1 : 0);
  const auto first_record =
      static_cast<uint32_t>(sizeof(Base) + arrays + sizeof(uint16_t) * offsets);
  const uint32_t bytes = first_record + (has_numbers ? 0 : sizes.records) +
                         (end.has_high ? record_bytes(end.high) : 0);
  void* memory = memory_.allocate(bytes, alignof(Base));
  if (memory == nullptr) return nullptr;

  Base* made = new (memory) Base{{Kind::kBase, static_cast<uint8_t>(level), 0, count},
                                 end.right,
                                 end.has_high ? head_of(end.high.key) : 0,
                                 bytes,
                                 static_cast<uint8_t>(sizes.prefix),
                                 end.has_high,
                                 has_numbers};
  Writer writer(*made, first_record);
  for (uint32_t i = from; i < to; ++i) {
    writer.add(i - from, entries.pairs[i], level > 0 ? entries.children[i] : nullptr);
  }
  if (level > 0) writer.fill();
  if (end.has_high) writer.add_high(end.high);
  return made;
}

Delta* Builder::delta(Kind kind, const Probe& probe) const {
  const Pair pair{probe.key, probe.payload};
  void* memory = memory_.allocate(Delta::bytes(pair), alignof(Delta));
  if (memory == nullptr) return nullptr;
  auto* made = new (memory) Delta{{kind, 0, 0, 0},
                                  nullptr,
                                  {},
                                  nullptr,
                                  probe.head,
                                  static_cast<uint8_t>(pair.key.size()),
                                  static_cast<uint8_t>(pair.payload.size())};
  copy(pair, reinterpret_cast<char*>(made + 1));
  return made;
}

void Delta::put_before(const Page& page) {
  next = &page;
  base = &base_of(page);
  deltas = page.deltas + 1;
  count = kind == Kind::kInsert ? page.count + 1 : page.count - 1;
  if (page.kind != Kind::kBase) std::memcpy(marks, bwtree::delta(page).marks, sizeof marks);
  marks[page.deltas] = mark_of(head);
}

Removed* Builder::removed(Slot* left, const Page* frozen) const {
  void* memory = memory_.allocate(sizeof(Removed), alignof(Removed));
  if (memory == nullptr) return nullptr;
  return new (memory) Removed{{Kind::kRemoved, frozen->level, 0, 0}, left, frozen};
}

void Builder::drop(const Page* page) const {
  while (page != nullptr) {
    const Page* next = nullptr;
    if (page->kind == Kind::kBase) {
      retire(&bwtree::base(*page), bwtree::base(*page).bytes);
    } else if (page->kind == Kind::kRemoved) {
      next = bwtree::removed(*page).frozen;
      drop_removed(page);
    } else {
      next = bwtree::delta(*page).next;
      drop_delta(&bwtree::delta(*page));
    }
    page = next;
  }
}

void Builder::drop_delta(const Delta* delta) const {
  if (delta != nullptr) retire(delta, delta->bytes());
}

void Builder::drop_removed(const Page* removed) const {
  retire(&bwtree::removed(*removed), sizeof(Removed));
}

}  // namespace keydrome::bwtree
