// A bare structure (a data structure without transactions and locks) for tests: a std::set that
// declares no capabilities and can run out of memory on demand. CMakeLists.txt builds one variant
// without a fault and two variants with one fault each.
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "keydrome/structure.h"

// Tests find these functions with dlsym. The next `successes` puts and deletions succeed. After a
// call of set_structure_fail_after, all later puts and deletions fail. After a call of
// set_structure_fail_at, only one more fails. If `successes` is negative, none fails.
extern "C" __attribute__((visibility("default"))) void set_structure_fail_after(int successes);
extern "C" __attribute__((visibility("default"))) void set_structure_fail_at(int successes);

namespace {

using Pair = std::pair<std::string, std::string>;

struct SetStructure {
  std::set<Pair> pairs;
};

int g_budget = -1;
bool g_only_one = false;

// Returns true if this put or deletion must fail, as if memory had run out.
bool fails() {
  if (g_budget == 0) {
    if (g_only_one) g_budget = -1;
    return true;
  }
  if (g_budget > 0) --g_budget;
  return false;
}

SetStructure* set_of(KeydromeStructure* instance) {
  return reinterpret_cast<SetStructure*>(instance);
}
const SetStructure* set_of(const KeydromeStructure* instance) {
  return reinterpret_cast<const SetStructure*>(instance);
}

std::string text_of(KeydromeBytes bytes) {
  return bytes.size == 0 ? "" : std::string(static_cast<const char*>(bytes.data), bytes.size);
}

KeydromeStructure* create(const KeydromeEnvironment*, const char* options) {
  if (options != nullptr && std::strcmp(options, "{}") != 0) return nullptr;
  return reinterpret_cast<KeydromeStructure*>(new SetStructure);
}

void destroy(KeydromeStructure* instance) { delete set_of(instance); }

int put(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  if (fails()) return -1;
  return set_of(instance)->pairs.insert({text_of(key), text_of(payload)}).second ? 1 : 0;
}

[[maybe_unused]] int del(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  if (fails()) return -1;
  return static_cast<int>(set_of(instance)->pairs.erase({text_of(key), text_of(payload)}));
}

// A position contains an iterator of the set.
using Place = std::set<Pair>::const_iterator;
static_assert(sizeof(Place) <= sizeof(KeydromePosition));

int seek(const KeydromeStructure* instance, KeydromePosition* position, KeydromeBytes key,
         KeydromeBytes payload, int after) {
  const std::set<Pair>& pairs = set_of(instance)->pairs;
  Place place;
  if (payload.data == nullptr) {
    place = pairs.lower_bound({text_of(key), ""});
    while (after != 0 && place != pairs.end() && place->first == text_of(key)) ++place;
  } else {
    const Pair probe{text_of(key), text_of(payload)};
    place = after != 0 ? pairs.upper_bound(probe) : pairs.lower_bound(probe);
  }
  std::memcpy(position, &place, sizeof place);
  return 0;
}

void copy_out(KeydromeBuffer* buffer, const std::string& text) {
  text.copy(static_cast<char*>(buffer->data), text.size());
  buffer->size = static_cast<uint32_t>(text.size());
}

int next(const KeydromeStructure* instance, KeydromePosition* position, KeydromeBuffer* key,
         KeydromeBuffer* payload) {
  Place place;
  std::memcpy(static_cast<void*>(&place), position, sizeof place);
  if (place == set_of(instance)->pairs.end()) return 0;
  copy_out(key, place->first);
  copy_out(payload, place->second);
  ++place;
  std::memcpy(position, &place, sizeof place);
  return 1;
}

#if defined(KEYDROME_TEST_WRONG_VERSION)
constexpr uint32_t kVersion = KEYDROME_STRUCTURE_VERSION + 1;
#else
constexpr uint32_t kVersion = KEYDROME_STRUCTURE_VERSION;
#endif

#if defined(KEYDROME_TEST_WITHOUT_DEL)
constexpr auto kDel = nullptr;
#else
constexpr auto kDel = del;
#endif

constexpr KeydromeStructureTable kTable = {
    .version = kVersion,
    .capabilities = 0,
    .name = "set",
    .description = "std::set, for tests of the runtime",
    .create = create,
    .destroy = destroy,
    .put = put,
    .del = kDel,
    .seek = seek,
    .next = next,
    .get_batch = nullptr,
    .split = nullptr,
    .concat = nullptr,
    .export_run = nullptr,
    .import_run = nullptr,
    .check = nullptr,
    .statistic = nullptr,
};

}  // namespace

void set_structure_fail_after(int successes) {
  g_budget = successes;
  g_only_one = false;
}

void set_structure_fail_at(int successes) {
  g_budget = successes;
  g_only_one = true;
}

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
