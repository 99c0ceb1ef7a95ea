// A bare structure (a data structure without transactions and locks) for tests of limits and of
// grace periods: a sorted array of pairs that is copied at every change. It holds only keys of 8
// bytes, payloads of at most 8 bytes, and one payload per key. CMakeLists.txt builds an ordered and
// an unordered variant.
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

constexpr uint32_t kBytesMax = 8;

std::atomic<void (*)()> g_pause = nullptr;

void pause_if_wanted() {
  if (void (*pause)() = g_pause.exchange(nullptr)) pause();
}

struct Entry {
  uint8_t key[kBytesMax];
  uint8_t payload[kBytesMax];
  uint32_t payload_size;

  KeydromeBytes key_bytes() const { return {key, kBytesMax}; }
  KeydromeBytes payload_bytes() const { return {payload, payload_size}; }
};

// An array of entries, which follow it in memory. It never changes.
struct Array {
  uint64_t magic;  // depends on `count`
  uint64_t count;

  static constexpr uint64_t kMagic = 0x5A5A5A5A5A5A5A5A;
  static size_t bytes(uint64_t count) { return sizeof(Array) + count * sizeof(Entry); }
  Entry* entries() { return reinterpret_cast<Entry*>(this + 1); }
  const Entry* begin() const { return reinterpret_cast<const Entry*>(this + 1); }
  const Entry* end() const { return begin() + count; }
  bool is_sound() const { return magic == kMagic + count; }
};

bool key_is_less(const Entry& entry, KeydromeBytes key) {
  return std::memcmp(entry.key, key.data, kBytesMax) < 0;
}

bool has_key(const Entry& entry, KeydromeBytes key) {
  return std::memcmp(entry.key, key.data, kBytesMax) == 0;
}

int compare(KeydromeBytes a, KeydromeBytes b) {
  const uint32_t common = std::min(a.size, b.size);
  const int order = common == 0 ? 0 : std::memcmp(a.data, b.data, common);
  return order != 0 ? order : static_cast<int>(a.size) - static_cast<int>(b.size);
}

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
  if (setup->key_bytes != kBytesMax) return nullptr;
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
// entry at `at`. Returns 1, 0 if another thread was faster, or a negative number.
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

int put(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  if (key.size != kBytesMax || payload.size > kBytesMax) return -3;  // beyond the limits
  Entry entry{{}, {}, payload.size};
  std::memcpy(entry.key, key.data, kBytesMax);
  if (payload.size > 0) std::memcpy(entry.payload, payload.data, payload.size);
  for (;;) {
    Array* old = instance->array;
    const Entry* at = std::lower_bound(old->begin(), old->end(), key, key_is_less);
    if (at != old->end() && has_key(*at, key)) {
      return compare(at->payload_bytes(), payload) == 0 ? 0 : -3;  // a second payload
    }
    const int done = publish(instance, old, static_cast<uint64_t>(at - old->begin()), &entry);
    if (done != 0) return done;
  }
}

int del(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  if (key.size != kBytesMax || payload.size > kBytesMax) return -3;
  for (;;) {
    Array* old = instance->array;
    const Entry* at = std::lower_bound(old->begin(), old->end(), key, key_is_less);
    if (at == old->end() || !has_key(*at, key) || compare(at->payload_bytes(), payload) != 0) {
      return 0;
    }
    const int done = publish(instance, old, static_cast<uint64_t>(at - old->begin()), nullptr);
    if (done != 0) return done;
  }
}

int find(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes after,
         KeydromeBuffer* payload) {
  if (key.size != kBytesMax) return -3;
  const Array* array = instance->array;
  pause_if_wanted();
  const Entry* at = std::lower_bound(array->begin(), array->end(), key, key_is_less);
  const bool found = at != array->end() && has_key(*at, key) &&
                     (after.data == nullptr || compare(at->payload_bytes(), after) > 0);
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
  if (key.size != kBytesMax) return -3;
  const Array* array = instance->array;
  const Entry* at = std::lower_bound(array->begin(), array->end(), key, key_is_less);
  if (at != array->end() && has_key(*at, key)) {
    const int order = payload.data == nullptr ? after * -1 : compare(at->payload_bytes(), payload);
    if (order < 0 || (order == 0 && after != 0)) ++at;
  }
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
    .key_bytes_only = kBytesMax,
    .payload_bytes_max = kBytesMax,
    .payloads_max = 1,
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
