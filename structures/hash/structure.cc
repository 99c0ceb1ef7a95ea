// Offers the hash table through contract B (keydrome/structure.h): fills in the table of functions.
#include <cstring>

#include "structures/hash/table.h"

namespace {

using keydrome::hash::Bytes;
using keydrome::hash::Line;
using keydrome::hash::Table;
using keydrome::hash::view;

Table* table_of(KeydromeStructure* instance) { return reinterpret_cast<Table*>(instance); }
const Table* table_of(const KeydromeStructure* instance) {
  return reinterpret_cast<const Table*>(instance);
}

// Accepts only NULL or the empty object as `options`, because the table has none.
KeydromeStructure* create(const KeydromeEnvironment* environment, const KeydromeSetup* setup) {
  if (setup->options != nullptr && std::strcmp(setup->options, "{}") != 0) return nullptr;
  const bool narrow = setup->key_bytes > 0 && setup->key_bytes <= sizeof(uint64_t);
  return reinterpret_cast<KeydromeStructure*>(Table::create(*environment, narrow));
}

void destroy(KeydromeStructure* instance) { Table::destroy(table_of(instance)); }

int put(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  return table_of(instance)->put(key, view(payload));
}

int del(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  return table_of(instance)->del(key, view(payload));
}

int find(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes after,
         KeydromeBuffer* payload) {
  const Bytes bytes = view(after);
  return table_of(instance)->find(key, after.data == nullptr ? nullptr : &bytes, *payload);
}

int find_batch(const KeydromeStructure* instance, uint32_t count, KeydromeLookup* lookups) {
  table_of(instance)->find_batch(count, lookups);
  return 0;
}

int replace(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes before,
            KeydromeBytes now) {
  return table_of(instance)->replace(key, view(before), view(now));
}

int check(const KeydromeStructure* instance) { return table_of(instance)->check(); }

uint64_t statistic(const KeydromeStructure* instance, uint32_t which) {
  switch (which) {
    case KEYDROME_STATISTIC_HEIGHT:
      return 1;
    case KEYDROME_STATISTIC_NODES:
      return table_of(instance)->lines();
    case KEYDROME_STATISTIC_SLOTS:
      return table_of(instance)->lines() * Line::kSlots;
    case KEYDROME_STATISTIC_SLOTS_USED:
      return table_of(instance)->entries();
    default:
      return 0;
  }
}

constexpr KeydromeStructureTable kTable = {
    .version = KEYDROME_STRUCTURE_VERSION,
    .size = sizeof(KeydromeStructureTable),
    .capabilities = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE | KEYDROME_UNORDERED,
    .key_bytes_only = 0,
    .payload_bytes_max = 0,
    .payloads_max = 0,
    .name = "hash",
    .description = "concurrent hash table with buckets of one cache line, which grows by splitting",
    .create = create,
    .destroy = destroy,
    .put = put,
    .del = del,
    .scan = nullptr,
    .find = find,
    .find_batch = find_batch,
    .replace = replace,
    .load = nullptr,
    .split = nullptr,
    .concat = nullptr,
    .check = check,
    .statistic = statistic,
};

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
