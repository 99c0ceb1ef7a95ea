// A bare structure (a data structure without transactions and locks) for tests of limits and of
// grace periods: a sorted array of pairs that is copied at every change. CMakeLists.txt builds
// three variants. "ordered" and "unordered" hold only keys of 8 bytes, payloads of at most 8 bytes,
// and one payload per key. "any" is ordered and has no limits.
//
// Thread safety: THREAD_SAFE. A change publishes a new array and retires the old one. A read
// returns an error if the array that it reads changes, which shows that memory was freed too early.
#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>

#include "keydrome/structure.h"

// Tests find this function with dlsym. The next lookup calls `pause` while it reads.
extern "C" __attribute__((visibility("default"))) void small_structure_pause_next_find(
    void (*pause)());

namespace {

#if defined(KEYDROME_TEST_ANY)
constexpr uint32_t kKeyBytesOnly = 0, kPayloadsMax = 0;
constexpr uint32_t kKeyMax = KEYDROME_KEY_BYTES_MAX, kPayloadMax = KEYDROME_PAYLOAD_BYTES_MAX;
#else
constexpr uint32_t kKeyBytesOnly = 8, kPayloadsMax = 1;
constexpr uint32_t kKeyMax = 8, kPayloadMax = 8;
#endif

bool is_key(KeydromeBytes key) {
  return kKeyBytesOnly == 0 ? key.size <= kKeyMax : key.size == kKeyBytesOnly;
}

std::atomic<void (*)()> g_pause = nullptr;

void pause_if_wanted() {
  if (void (*pause)() = g_pause.exchange(nullptr)) pause();
}

int compare(KeydromeBytes a, KeydromeBytes b) {
  const uint32_t common = std::min(a.size, b.size);
  const int order = common == 0 ? 0 : std::memcmp(a.data, b.data, common);
  return order != 0 ? order : static_cast<int>(a.size) - static_cast<int>(b.size);
}

struct Entry {
  uint8_t key[kKeyMax];
  uint8_t payload[kPayloadMax];
  uint32_t key_size, payload_size;

  KeydromeBytes key_bytes() const { return {key, key_size}; }
  KeydromeBytes payload_bytes() const { return {payload, payload_size}; }
  bool has_key(KeydromeBytes other) const { return compare(key_bytes(), other) == 0; }
  bool is(KeydromeBytes other, KeydromeBytes value) const {
    return has_key(other) && compare(payload_bytes(), value) == 0;
  }
};

// The header of an array. The entries follow the header in memory. Both never change while the
// array exists.
struct Array {
  uint64_t magic;  // depends on `count`
  uint64_t count;

  static constexpr uint64_t kMagic = 0x5A5A5A5A5A5A5A5A;
  static size_t bytes(uint64_t count) { return sizeof(Array) + count * sizeof(Entry); }
  Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
  const Entry* begin() const { return reinterpret_cast<const Entry*>(this + 1); }
  const Entry* end() const { return begin() + count; }
  bool is_sound() const { return magic == kMagic + count; }
  // Returns the first entry that is not before the pair or, if `after` is true, the first one after
  // it. If payload.data is nullptr, it counts as the smallest payload (with `after`: the largest).
  const Entry* at(KeydromeBytes key, KeydromeBytes payload, bool after) const {
    return std::partition_point(begin(), end(), [&](const Entry& entry) {
      int order = compare(entry.key_bytes(), key);
      if (order == 0 && payload.data != nullptr) order = compare(entry.payload_bytes(), payload);
      return order < 0 || (order == 0 && after);
    });
  }
};

}  // namespace

struct KeydromeStructure {
  KeydromeEnvironment environment;
  std::atomic<Array*> array;

  Array* make(uint64_t count) const {
    void* memory = environment.allocate(environment.context, Array::bytes(count), alignof(Array));
    return memory == nullptr ? nullptr : new (memory) Array{Array::kMagic + count, count};
  }
  void drop(Array* old, uint64_t count) const {
    environment.retire(environment.context, old, Array::bytes(count), alignof(Array));
  }
};

namespace {

KeydromeStructure* create(const KeydromeEnvironment* environment, const KeydromeSetup* setup) {
  if (setup->options != nullptr && std::strcmp(setup->options, "{}") != 0) return nullptr;
  if (kKeyBytesOnly != 0 && setup->key_bytes != kKeyBytesOnly) return nullptr;
  void* place = environment->allocate(environment->context, sizeof(KeydromeStructure),
                                      alignof(KeydromeStructure));
  if (place == nullptr) return nullptr;
  auto* instance = new (place) KeydromeStructure{*environment, nullptr};
  instance->array = instance->make(0);
  if (instance->array != nullptr) return instance;
  environment->retire(environment->context, place, sizeof *instance, alignof(KeydromeStructure));
  return nullptr;
}

void destroy(KeydromeStructure* instance) {
  const KeydromeEnvironment environment = instance->environment;
  Array* array = instance->array;
  instance->drop(array, array->count);
  instance->~KeydromeStructure();
  environment.retire(environment.context, instance, sizeof *instance, alignof(KeydromeStructure));
}

// Publishes a copy of `old` with the entry inserted at `at` or, if `entry` is nullptr, without the
// entry at `at`. Returns 1 if it is published, 0 if another thread was faster, or a negative
// number for a failure.
int publish(KeydromeStructure* instance, Array* old, uint64_t at, const Entry* entry) {
  const uint64_t old_count = old->count;
  const uint64_t count = entry != nullptr ? old_count + 1 : old_count - 1;
  Array* now = instance->make(count);
  if (now == nullptr) return KEYDROME_NO_MEMORY;
  Entry* to = std::copy(old->begin(), old->begin() + at, now->entries());
  if (entry != nullptr) *to++ = *entry;
  std::copy(old->begin() + at + (entry != nullptr ? 0 : 1), old->begin() + old_count, to);
  if (instance->array.compare_exchange_strong(old, now)) {
    instance->drop(old, old_count);
    return 1;
  }
  instance->drop(now, count);
  return 0;
}

bool has_a_payload(const Array& array, KeydromeBytes key) {
  const Entry* at = array.at(key, {nullptr, 0}, false);
  return at != array.end() && at->has_key(key);
}

int put(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  if (!is_key(key) || payload.size > kPayloadMax) return -3;  // beyond the limits
  Entry entry{{}, {}, key.size, payload.size};
  if (key.size > 0) std::memcpy(entry.key, key.data, key.size);
  if (payload.size > 0) std::memcpy(entry.payload, payload.data, payload.size);
  for (;;) {
    Array* old = instance->array;
    const Entry* at = old->at(entry.key_bytes(), entry.payload_bytes(), false);
    if (at != old->end() && at->is(key, payload)) return 0;
    if (kPayloadsMax == 1 && has_a_payload(*old, key)) return -3;
    const int done = publish(instance, old, static_cast<uint64_t>(at - old->begin()), &entry);
    if (done != 0) return done;
  }
}

int del(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  if (!is_key(key) || payload.size > kPayloadMax) return -3;
  for (;;) {
    Array* old = instance->array;
    const Entry* at = std::find_if(
        old->at(key, {nullptr, 0}, false), old->end(),
        [&](const Entry& entry) { return !entry.has_key(key) || entry.is(key, payload); });
    if (at == old->end() || !at->has_key(key)) return 0;
    const int done = publish(instance, old, static_cast<uint64_t>(at - old->begin()), nullptr);
    if (done != 0) return done;
  }
}

int find(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes after,
         KeydromeBuffer* payload) {
  if (!is_key(key)) return -3;
  const Array* array = instance->array;
  pause_if_wanted();
  const Entry* at = array->at(key, after, after.data != nullptr);
  const bool found = at != array->end() && at->has_key(key);
  if (found) {
    std::memcpy(payload->data, at->payload, at->payload_size);
    payload->size = at->payload_size;
  }
  if (!array->is_sound()) return -4;
  return found ? 1 : 0;
}

#if defined(KEYDROME_TEST_UNORDERED)
constexpr uint32_t kOrder = KEYDROME_UNORDERED;
constexpr auto kScan = nullptr;
#else
constexpr uint32_t kOrder = 0;

int kScan(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload, int after,
          KeydromeRun* run) {
  if (kKeyBytesOnly != 0 && key.size != kKeyBytesOnly) return -3;
  const Array* array = instance->array;
  const Entry* at = array->at(key, payload, after != 0);
  keydrome_run_clear(run);
  int more = 0;
  for (; at != array->end() && more == 0; ++at) {
    more = 1 - keydrome_run_add(run, at->key_bytes(), at->payload_bytes());
  }
  return array->is_sound() ? more : -4;
}
#endif

constexpr KeydromeStructureTable kTable = {
    .version = KEYDROME_STRUCTURE_VERSION,
    .size = sizeof(KeydromeStructureTable),
    .capabilities = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE | kOrder,
    .key_bytes_only = kKeyBytesOnly,
    .payload_bytes_max = kKeyBytesOnly == 0 ? 0 : kPayloadMax,
    .payloads_max = kPayloadsMax,
    .name = "small",
    .description = "a sorted array with limits, for tests",
    .create = create,
    .destroy = destroy,
    .put = put,
    .del = del,
    .scan = kScan,
    .find = find,
    .find_batch = nullptr,
    .replace = nullptr,
    .load = nullptr,
    .split = nullptr,
    .concat = nullptr,
    .check = nullptr,
    .statistic = nullptr,
};

}  // namespace

void small_structure_pause_next_find(void (*pause)()) { g_pause = pause; }

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
