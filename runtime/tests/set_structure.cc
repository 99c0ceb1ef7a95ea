// A bare structure (a data structure without transactions and locks) for tests: a std::set that
// declares no capabilities and can run out of memory on demand. CMakeLists.txt builds five
// variants: one without a fault, two whose function table has another size, and two with one fault
// each.
#include <cstddef>
#include <cstring>
#include <set>
#include <string>
#include <utility>

#include "keydrome/structure.h"

// Tests find these functions with dlsym. The next `successes` changes (puts, deletions and
// replacements) succeed. After a call of set_structure_fail_after, all later changes fail. After a
// call of set_structure_fail_at, only the first later change fails. If `successes` is negative, no
// change fails.
extern "C" __attribute__((visibility("default"))) void set_structure_fail_after(int successes);
extern "C" __attribute__((visibility("default"))) void set_structure_fail_at(int successes);
// Returns the number of successful replacements.
extern "C" __attribute__((visibility("default"))) int set_structure_replaced(void);

namespace {

using Pair = std::pair<std::string, std::string>;

struct SetStructure {
  std::set<Pair> pairs;
};

int g_budget = -1;
bool g_only_one = false;
int g_replaced = 0;

// Returns true if this change must fail, as if memory had run out.
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

KeydromeBytes bytes_of(const std::string& text) {
  return {text.data(), static_cast<uint32_t>(text.size())};
}

KeydromeStructure* create(const KeydromeEnvironment*, const KeydromeSetup* setup) {
  const char* options = setup->options;
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

int replace(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes before,
            KeydromeBytes now) {
  if (fails()) return -1;
  std::set<Pair>& pairs = set_of(instance)->pairs;
  const auto old = pairs.find({text_of(key), text_of(before)});
  if (old == pairs.end()) return 0;
  if (!pairs.insert({text_of(key), text_of(now)}).second) return 2;
  pairs.erase(old);
  ++g_replaced;
  return 1;
}

int scan(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload, int after,
         KeydromeRun* run) {
  const std::set<Pair>& pairs = set_of(instance)->pairs;
  auto place = pairs.lower_bound({text_of(key), text_of(payload)});
  const auto passed = [&](const Pair& pair) {
    return pair.first == text_of(key) &&
           (payload.data == nullptr || pair.second == text_of(payload));
  };
  while (after != 0 && place != pairs.end() && passed(*place)) ++place;
  keydrome_run_clear(run);
  for (; place != pairs.end(); ++place) {
    if (keydrome_run_add(run, bytes_of(place->first), bytes_of(place->second)) == 0) return 1;
  }
  return 0;
}

#if defined(KEYDROME_TEST_WRONG_VERSION)
constexpr uint32_t kVersion = KEYDROME_STRUCTURE_VERSION + 1;
#else
constexpr uint32_t kVersion = KEYDROME_STRUCTURE_VERSION;
#endif

#if defined(KEYDROME_TEST_CUT)  // a table of an older header, which ends after `find`
constexpr uint32_t kSize = offsetof(KeydromeStructureTable, find_batch);
#elif defined(KEYDROME_TEST_LONGER)  // a table of a newer header, which has more functions
constexpr uint32_t kSize = sizeof(KeydromeStructureTable) + 64;
#else
constexpr uint32_t kSize = sizeof(KeydromeStructureTable);
#endif

#if defined(KEYDROME_TEST_WITHOUT_DEL)
constexpr auto kDel = nullptr;
#else
constexpr auto kDel = del;
#endif

constexpr KeydromeStructureTable kTable = {
    .version = kVersion,
    .size = kSize,
    .capabilities = 0,
    .key_bytes_only = 0,
    .payload_bytes_max = 0,
    .payloads_max = 0,
    .name = "set",
    .description = "std::set, for tests of the runtime",
    .create = create,
    .destroy = destroy,
    .put = put,
    .del = kDel,
    .scan = scan,
    .find = nullptr,
    .find_batch = nullptr,
    .replace = replace,
    .load = nullptr,
    .split = nullptr,
    .concat = nullptr,
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

int set_structure_replaced(void) { return g_replaced; }

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
