// Implements dictionary.h: adds and removes pairs, and chooses the dictionary of a core.
#include "structures/delta_storage/dictionary.h"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <new>

namespace keydrome::delta_storage {

Dictionary::~Dictionary() {
  for (uint32_t position = 0; position < size_; ++position) {
    if (uses(position) != 0) set_uses(position, 0);
  }
  const uint32_t chunks = (size_ + kChunk - 1) / kChunk;
  for (uint32_t i = 0; i < chunks; ++i) memory_.retire(chunks_[i], sizeof(Chunk), alignof(Chunk));
  if (chunks_ != nullptr) {
    memory_.retire(chunks_, chunks_max_ * sizeof(Chunk*), alignof(Chunk*));
  }
}

// Makes room for one more position. Returns false if out of memory.
bool Dictionary::grow() {
  if (size_ % kChunk != 0) return true;
  const uint32_t chunks = size_ / kChunk;
  void* place = memory_.allocate(sizeof(Chunk), alignof(Chunk));
  if (place == nullptr) return false;
  if (chunks == chunks_max_ && !grow_directory()) {
    memory_.retire(place, sizeof(Chunk), alignof(Chunk));
    return false;
  }
  chunks_[chunks] = new (place) Chunk;  // add() sets entries and marks before they are read
  return true;
}

bool Dictionary::grow_directory() {
  const uint32_t more = std::max(2 * chunks_max_, 8u);
  auto** moved = static_cast<Chunk**>(memory_.allocate(more * sizeof(Chunk*), alignof(Chunk*)));
  if (moved == nullptr) return false;
  if (chunks_ != nullptr) {
    std::copy_n(chunks_, chunks_max_, moved);
    memory_.retire(chunks_, chunks_max_ * sizeof(Chunk*), alignof(Chunk*));
  }
  chunks_ = moved;
  chunks_max_ = more;
  return true;
}

uint32_t Dictionary::take_position(uint32_t positions_max) {
  if (first_free_ != kFull) {
    const uint32_t position = first_free_;
    first_free_ = chunk(position).entries[position % kChunk].value_as<uint32_t>();
    return position;
  }
  if (size_ == positions_max || !grow()) return kFull;
  return size_++;
}

uint32_t Dictionary::add(const Probe& pair, uint32_t positions_max) {
  const bool is_inline = pair.key.size() == 8 && pair.payload.size() == 8;
  Record* record = nullptr;
  if (!is_inline) {
    const Record sizes{static_cast<uint8_t>(pair.key.size()),
                       static_cast<uint8_t>(pair.payload.size())};
    void* place = memory_.allocate(sizes.bytes(), alignof(Record));
    if (place == nullptr) return kFull;
    record = new (place) Record(sizes);
    auto* bytes = reinterpret_cast<char*>(record + 1);
    std::copy(pair.key.begin(), pair.key.end(), bytes);
    std::copy(pair.payload.begin(), pair.payload.end(), bytes + pair.key.size());
  }
  const uint32_t position = take_position(positions_max);
  if (position == kFull) {
    if (record != nullptr) memory_.retire(record, record->bytes(), alignof(Record));
    return kFull;
  }
  Entry& entry = chunk(position).entries[position % kChunk];
  store_big(entry.head, pair.head);
  if (is_inline) {
    std::memcpy(entry.value, pair.payload.data(), sizeof entry.value);
  } else {
    entry.set_value(record);
  }
  chunk(position).marks[position % kChunk] = is_inline ? kInLeaf : kInLeaf | kRecord;
  return position;
}

void Dictionary::set_uses(uint32_t position, uint8_t uses) {
  uint8_t& mark = chunk(position).marks[position % kChunk];
  if (uses != 0) {
    mark = static_cast<uint8_t>((mark & kRecord) | uses);
    return;
  }
  Entry& entry = chunk(position).entries[position % kChunk];
  if (is_record(position)) {
    auto* record = entry.value_as<Record*>();
    memory_.retire(record, record->bytes(), alignof(Record));
  }
  mark = 0;
  entry.set_value(first_free_);
  first_free_ = position;
}

int Dictionary::compare(uint32_t position, const Probe& probe) const {
  const Entry& entry = chunk(position).entries[position % kChunk];
  const uint64_t head = load_big(entry.head);
  if (head != probe.head) return head < probe.head ? -1 : 1;
  const Pair own = pair(position);
  if (own.key.size() != 8 || probe.key.size() != 8) {  // keys of 8 bytes are equal to their heads
    const int keys = own.key.compare(probe.key);
    if (keys != 0) return keys;
  }
  if (probe.past_key) return -1;
  const int payloads = own.payload.compare(probe.payload);
  return payloads == 0 && probe.after ? -1 : payloads;
}

Dictionaries::Dictionaries(const StructureMemory& memory, uint32_t count)
    : memory_(memory),
      bits_(static_cast<uint32_t>(std::countr_zero(count))),
      all_(static_cast<Dictionary*>(
          memory.allocate(count * sizeof(Dictionary), alignof(Dictionary)))) {
  if (all_ == nullptr) throw std::bad_alloc();
  for (uint32_t i = 0; i < count; ++i) new (&all_[i]) Dictionary(memory);
}

Dictionaries::~Dictionaries() {
  std::destroy_n(all_, count());
  memory_.retire(all_, count() * sizeof(Dictionary), alignof(Dictionary));
}

uint32_t Dictionaries::own_number() const {
  if (bits_ == 0) return 0;
  const int core = sched_getcpu();  // -1 if the kernel cannot tell
  return static_cast<uint32_t>(std::max(core, 0)) & (count() - 1);
}

Id Dictionaries::add(const Probe& pair) {
  const uint32_t number = own_number();
  const uint32_t positions_max = kNone >> bits_;  // so that no id is kNone
  const uint32_t position = all_[number].add(pair, positions_max);
  return position == Dictionary::kFull ? kNone : position << bits_ | number;
}

}  // namespace keydrome::delta_storage
