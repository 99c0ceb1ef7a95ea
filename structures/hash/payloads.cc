// Implements payloads.h: makes, copies and divides Blocks and Directories. A Block contains
// payloads of one key in order. A Directory lists the Blocks of a key with many payloads.
#include "structures/hash/payloads.h"

#include <algorithm>
#include <new>

namespace keydrome::hash {
namespace {

constexpr Content kNothing{};

Content content_of(Block* block) {
  return {reinterpret_cast<uint64_t>(block), static_cast<uint8_t>(Kind::kBlock)};
}
Content content_of(Directory* directory) {
  return {reinterpret_cast<uint64_t>(directory), static_cast<uint8_t>(Kind::kDirectory)};
}
Content inline_content(Bytes payload) {
  Content content;
  if (!payload.empty()) std::memcpy(&content.word, payload.data(), payload.size());
  content.mark = static_cast<uint8_t>(static_cast<uint32_t>(Kind::kInline) | payload.size() << 2);
  return content;
}

void copy_bytes(void* to, Bytes from) {
  if (!from.empty()) std::memcpy(to, from.data(), from.size());
}

uint32_t bytes_with(size_t key_size, size_t items, size_t payload_bytes) {
  return static_cast<uint32_t>(sizeof(Block) + key_size + items * sizeof(Item) + payload_bytes);
}

// Writes the payloads of a new Block, in order.
class Writer {
 public:
  Writer(const Memory& memory, Bytes key, uint32_t bytes) {
    void* raw = memory.allocate(bytes, alignof(Block));
    if (raw == nullptr) return;
    block_ = new (raw) Block{bytes, 0, 0, static_cast<uint8_t>(key.size())};
    at_ = reinterpret_cast<char*>(block_ + 1);
    copy_bytes(at_, key);
    at_ += key.size();
  }
  bool failed() const { return block_ == nullptr; }
  void add(Bytes payload) {
    auto* item = new (at_) Item{static_cast<uint8_t>(payload.size()), 0};
    copy_bytes(item + 1, payload);
    at_ += sizeof(Item) + payload.size();
    ++block_->count;
    ++block_->live;
  }
  Block* block() const { return block_; }

 private:
  Block* block_ = nullptr;
  char* at_ = nullptr;
};

template <class Function>
void for_each_live(const Block& block, const Function& function) {
  const Item* item = block.first();
  for (uint32_t left = block.count; left > 0; --left, item = item->next()) {
    if (!item->is_dead()) function(item->bytes());
  }
}

uint32_t live_bytes(const Block& block) {
  uint32_t bytes = 0;
  for_each_live(block, [&](Bytes payload) { bytes += static_cast<uint32_t>(payload.size()); });
  return bytes;
}

// Returns a copy of the Block without dead payloads. If `more` is not null, adds this payload.
Block* copy_with(const Memory& memory, const Block& block, Bytes key, const Bytes* more) {
  const size_t added = more == nullptr ? 0 : more->size();
  const size_t items = block.live + (more == nullptr ? 0u : 1u);
  Writer writer(memory, key, bytes_with(key.size(), items, live_bytes(block) + added));
  if (writer.failed()) return nullptr;
  for_each_live(block, [&](Bytes payload) {
    if (more != nullptr && less(*more, payload)) {
      writer.add(*more);
      more = nullptr;
    }
    writer.add(payload);
  });
  if (more != nullptr) writer.add(*more);
  return writer.block();
}

// Divides the payloads of a Block into two new Blocks without key. Returns false if out of memory.
bool divide(const Memory& memory, const Block& block, Block* (&halves)[2]) {
  uint32_t items[2] = {0, 0}, bytes[2] = {0, 0};
  const uint32_t half = live_bytes(block) / 2 + block.live;
  for_each_live(block, [&](Bytes payload) {
    const int part = bytes[0] + 2 * items[0] >= half ? 1 : 0;
    ++items[part];
    bytes[part] += static_cast<uint32_t>(payload.size());
  });
  Writer low(memory, {}, bytes_with(0, items[0], bytes[0]));
  if (low.failed()) return false;
  Writer high(memory, {}, bytes_with(0, items[1], bytes[1]));
  if (high.failed()) {
    memory.retire(low.block());
    return false;
  }
  for_each_live(block,
                [&](Bytes payload) { (low.block()->count < items[0] ? low : high).add(payload); });
  halves[0] = low.block();
  halves[1] = high.block();
  return true;
}

Directory* make_directory(const Memory& memory, uint32_t count, Bytes key, uint64_t live) {
  void* raw = memory.allocate(Directory::bytes(count, key.size()), alignof(Directory));
  if (raw == nullptr) return nullptr;
  auto* directory = new (raw) Directory{count, static_cast<uint8_t>(key.size()), live};
  for (uint32_t i = 0; i < count; ++i) new (directory->blocks() + i) std::atomic<Block*>(nullptr);
  copy_bytes(directory->blocks() + count, key);
  return directory;
}

// Copies `count` pointers from one Directory to another.
void copy_blocks(const Directory& from, uint32_t first, uint32_t count, Directory& to,
                 uint32_t place) {
  for (uint32_t i = 0; i < count; ++i) {
    Block* block = from.blocks()[first + i].load(std::memory_order_relaxed);
    to.blocks()[place + i].store(block, std::memory_order_relaxed);
  }
}

bool add_to_directory(const Memory& memory, Bytes payload, Line& line, uint32_t slot) {
  Directory& directory = *directory_of(content_at(line, slot));
  const uint32_t place = directory.place_of(payload);
  std::atomic<Block*>& pointer = directory.blocks()[place];
  Block* old = pointer.load(std::memory_order_relaxed);
  Block* grown = copy_with(memory, *old, {}, &payload);
  if (grown == nullptr) return false;
  if (grown->bytes <= kBlockBytes) {
    pointer.store(grown, std::memory_order_release);
    ++directory.live;
    memory.retire(old);
    return true;
  }
  Block* halves[2];
  const bool divided = divide(memory, *grown, halves);
  memory.retire(grown);
  if (!divided) return false;
  Directory* longer =
      make_directory(memory, directory.count + 1, directory.key(), directory.live + 1);
  if (longer == nullptr) {
    for (Block* half : halves) memory.retire(half);
    return false;
  }
  copy_blocks(directory, 0, place, *longer, 0);
  for (uint32_t i = 0; i < 2; ++i) longer->blocks()[place + i].store(halves[i]);
  copy_blocks(directory, place + 1, directory.count - place - 1, *longer, place + 2);
  line.write_content(slot, content_of(longer));
  memory.retire(old);
  memory.retire(&directory);
  return true;
}

bool add_to_block(const Memory& memory, Bytes key, Bytes payload, Line& line, uint32_t slot) {
  Block* old = block_of(content_at(line, slot));
  Block* grown = copy_with(memory, *old, key, &payload);
  if (grown == nullptr) return false;
  if (grown->bytes <= kBlockBytes) {
    line.write_content(slot, content_of(grown));
    memory.retire(old);
    return true;
  }
  Block* halves[2];
  const bool divided = divide(memory, *grown, halves);
  const uint64_t live = grown->live;
  memory.retire(grown);
  if (!divided) return false;
  Directory* directory = make_directory(memory, 2, key, live);
  if (directory == nullptr) {
    for (Block* half : halves) memory.retire(half);
    return false;
  }
  for (uint32_t i = 0; i < 2; ++i) directory->blocks()[i].store(halves[i]);
  line.write_content(slot, content_of(directory));
  memory.retire(old);
  return true;
}

Item* live_item(Block& block, Bytes payload) {
  const Item* item = block.first();
  for (uint32_t left = block.count; left > 0; --left, item = item->next()) {
    if (!item->is_dead() && item->bytes() == payload) return const_cast<Item*>(item);
  }
  return nullptr;
}

void kill(Block& block, Bytes payload) {
  live_item(block, payload)->dead.store(1, std::memory_order_release);
  --block.live;
}

// A Block is replaced by a smaller copy when half of its payloads are dead.
bool is_sparse(const Block& block) { return 2 * block.live <= block.count; }

void drop_block(const Memory& memory, uint32_t place, Line& line, uint32_t slot) {
  Directory& directory = *directory_of(content_at(line, slot));
  Directory* shorter = make_directory(memory, directory.count - 1, directory.key(), directory.live);
  if (shorter == nullptr) return;  // readers skip a Block whose payloads are all dead
  copy_blocks(directory, 0, place, *shorter, 0);
  copy_blocks(directory, place + 1, directory.count - place - 1, *shorter, place);
  line.write_content(slot, content_of(shorter));
  memory.retire(directory.blocks()[place].load(std::memory_order_relaxed));
  memory.retire(&directory);
}

uint64_t erase_from_directory(const Memory& memory, Bytes payload, Line& line, uint32_t slot) {
  Directory& directory = *directory_of(content_at(line, slot));
  const uint32_t place = directory.place_of(payload);
  std::atomic<Block*>& pointer = directory.blocks()[place];
  Block* block = pointer.load(std::memory_order_relaxed);
  kill(*block, payload);
  const uint64_t left = --directory.live;
  if (left == 0) return 0;
  if (block->live == 0) {
    drop_block(memory, place, line, slot);
  } else if (is_sparse(*block)) {
    if (Block* copy = copy_with(memory, *block, {}, nullptr); copy != nullptr) {
      pointer.store(copy, std::memory_order_release);
      memory.retire(block);
    }
  }
  return left;
}

uint64_t erase_from_block(const Memory& memory, bool narrow, Bytes payload, Line& line,
                          uint32_t slot) {
  Block* block = block_of(content_at(line, slot));
  kill(*block, payload);
  if (block->live == 0 || !is_sparse(*block)) return block->live;
  Content content = kNothing;
  if (narrow && block->live == 1) {
    for_each_live(*block, [&](Bytes last) {
      if (last.size() <= sizeof content.word) content = inline_content(last);
    });
  }
  if (content.kind() == Kind::kFree) {
    Block* copy = copy_with(memory, *block, block->key(), nullptr);
    if (copy == nullptr) return block->live;
    content = content_of(copy);
  }
  const uint64_t left = block->live;
  line.write_content(slot, content);
  memory.retire(block);
  return left;
}

bool copy_from_block(const Block& block, const Bytes* after, KeydromeBuffer& to) {
  const Item* item = block.first();
  for (uint32_t left = block.count; left > 0; --left, item = item->next()) {
    if (item->is_dead() || (after != nullptr && !less(*after, item->bytes()))) continue;
    copy_bytes(to.data, item->bytes());
    to.size = item->size;
    return true;
  }
  return false;
}

}  // namespace

uint32_t Directory::place_of(Bytes payload) const {
  uint32_t low = 0, high = count;
  while (high - low > 1) {
    const uint32_t middle = low + (high - low) / 2;
    if (less(payload, block(middle)->first()->bytes())) {
      high = middle;
    } else {
      low = middle;
    }
  }
  return low;
}

bool copy_after(const Content& content, const Bytes* after, KeydromeBuffer& to) {
  if (content.kind() == Kind::kInline) {
    const Bytes payload = inline_bytes(content);
    if (after != nullptr && !less(*after, payload)) return false;
    std::memcpy(to.data, &content.word, sizeof content.word);  // any buffer has room for 8 bytes
    to.size = content.inline_size();
    return true;
  }
  if (content.kind() == Kind::kBlock) return copy_from_block(*block_of(content), after, to);
  const Directory& directory = *directory_of(content);
  for (uint32_t i = after == nullptr ? 0 : directory.place_of(*after); i < directory.count; ++i) {
    if (copy_from_block(*directory.block(i), after, to)) return true;
  }
  return false;
}

bool contains(const Content& content, Bytes payload) {
  if (content.kind() == Kind::kInline) return inline_bytes(content) == payload;
  if (content.kind() == Kind::kBlock) return live_item(*block_of(content), payload) != nullptr;
  const Directory& directory = *directory_of(content);
  Block* block = directory.blocks()[directory.place_of(payload)].load(std::memory_order_relaxed);
  return live_item(*block, payload) != nullptr;
}

bool make(const Memory& memory, const Probe& probe, bool narrow, Bytes payload, Content& content) {
  if (narrow && payload.size() <= sizeof content.word) {
    content = inline_content(payload);
    return true;
  }
  Writer writer(memory, probe.rest, bytes_with(probe.rest.size(), 1, payload.size()));
  if (writer.failed()) return false;
  writer.add(payload);
  content = content_of(writer.block());
  return true;
}

bool add(const Memory& memory, const Probe& probe, Bytes payload, Line& line, uint32_t slot) {
  const Content content = content_at(line, slot);
  if (content.kind() == Kind::kDirectory) return add_to_directory(memory, payload, line, slot);
  if (content.kind() == Kind::kBlock) {
    return add_to_block(memory, probe.rest, payload, line, slot);
  }
  const Bytes there = inline_bytes(content);
  Writer writer(memory, {}, bytes_with(0, 2, there.size() + payload.size()));
  if (writer.failed()) return false;
  writer.add(std::min(there, payload));
  writer.add(std::max(there, payload));
  line.write_content(slot, content_of(writer.block()));
  return true;
}

uint64_t erase(const Memory& memory, bool narrow, Bytes payload, Line& line, uint32_t slot) {
  const Kind kind = content_at(line, slot).kind();
  if (kind == Kind::kInline) return 0;
  if (kind == Kind::kDirectory) return erase_from_directory(memory, payload, line, slot);
  return erase_from_block(memory, narrow, payload, line, slot);
}

void retire_content(const Memory& memory, const Content& content) {
  if (content.kind() == Kind::kBlock) memory.retire(block_of(content));
  if (content.kind() != Kind::kDirectory) return;
  Directory* directory = directory_of(content);
  for (uint32_t i = 0; i < directory->count; ++i) {
    memory.retire(directory->blocks()[i].load(std::memory_order_relaxed));
  }
  memory.retire(directory);
}

}  // namespace keydrome::hash
