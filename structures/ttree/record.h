// Defines Record, a stored pair, and Probe, a key that a call looks for.
//
// Thread safety: a record never changes after it has been made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "keydrome/structure_class.h"
#include "structures/common/big_endian.h"

namespace keydrome::ttree {

// A key that a call looks for. The bytes must stay valid during the call.
struct Probe {
  uint64_t head;
  std::string_view key;

  static Probe of(std::string_view key) { return {head_of(key), key}; }
  static Probe of(KeydromeBytes key) { return of(view_of(key)); }
};

// A pair. In memory, the bytes of the key and then those of the payload follow the two sizes.
// Records are aligned, because the lowest bit of a pointer to a record has a meaning (entry.h).
struct alignas(2) Record {
  uint8_t key_size;
  uint8_t payload_size;

  std::string_view key() const { return {reinterpret_cast<const char*>(this + 1), key_size}; }
  std::string_view payload() const { return {key().data() + key_size, payload_size}; }
  size_t bytes() const { return sizeof(Record) + key_size + payload_size; }

  // Returns nullptr if out of memory.
  static Record* make(const StructureMemory& memory, std::string_view key,
                      std::string_view payload) {
    const Record sizes{static_cast<uint8_t>(key.size()), static_cast<uint8_t>(payload.size())};
    void* place = memory.allocate(sizes.bytes(), alignof(Record));
    if (place == nullptr) return nullptr;
    auto* record = new (place) Record(sizes);
    auto* bytes = reinterpret_cast<char*>(record + 1);
    if (!key.empty()) std::memcpy(bytes, key.data(), key.size());
    if (!payload.empty()) std::memcpy(bytes + key.size(), payload.data(), payload.size());
    return record;
  }
  void drop(const StructureMemory& memory) { memory.retire(this, bytes(), alignof(Record)); }
};

}  // namespace keydrome::ttree
