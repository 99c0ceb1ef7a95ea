// A std::set as a structure of contract B (keydrome/structure.h), with only the required functions.
// README.md says how to compile it.
#include <cstring>
#include <memory_resource>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "keydrome/structure.h"

namespace {

// All memory of the set comes from the environment.
struct Memory final : std::pmr::memory_resource {
  explicit Memory(const KeydromeEnvironment& given) : environment(given) {}
  void* do_allocate(size_t size, size_t alignment) override {
    void* memory = environment.allocate(environment.context, size, alignment);
    return memory != nullptr ? memory : throw std::bad_alloc();
  }
  void do_deallocate(void* memory, size_t size, size_t alignment) override {
    environment.retire(environment.context, memory, size, alignment);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }
  const KeydromeEnvironment& environment;
};

using Pair = std::pair<std::pmr::string, std::pmr::string>;  // key and payload
using View = std::pair<std::string_view, std::string_view>;

struct Order {  // by key and then by payload; std::string_view compares bytes as memcmp does
  using is_transparent = void;
  bool operator()(const auto& a, const auto& b) const {
    return View(a.first, a.second) < View(b.first, b.second);
  }
};

std::string_view view(KeydromeBytes bytes) {
  return {static_cast<const char*>(bytes.data), bytes.size};
}
KeydromeBytes bytes(const std::pmr::string& text) {
  return {text.data(), static_cast<uint32_t>(text.size())};
}

}  // namespace

struct KeydromeStructure {
  explicit KeydromeStructure(const KeydromeEnvironment& environment) : memory(environment) {}
  Memory memory;
  std::pmr::set<Pair, Order> pairs{&memory};
};

namespace {

KeydromeStructure* create(const KeydromeEnvironment* environment, const KeydromeSetup* setup) {
  if (setup->options != nullptr && std::strcmp(setup->options, "{}") != 0) return nullptr;
  void* place = environment->allocate(environment->context, sizeof(KeydromeStructure),
                                      alignof(KeydromeStructure));
  return place == nullptr ? nullptr : new (place) KeydromeStructure(*environment);
}

void destroy(KeydromeStructure* set) {
  const KeydromeEnvironment& environment = set->memory.environment;
  set->~KeydromeStructure();
  environment.retire(environment.context, set, sizeof *set, alignof(KeydromeStructure));
}

int put(KeydromeStructure* set, KeydromeBytes key, KeydromeBytes payload) try {
  return set->pairs.emplace(view(key), view(payload)).second ? 1 : 0;
} catch (const std::bad_alloc&) {
  return KEYDROME_NO_MEMORY;  // no exception may leave a function of the table
}

int del(KeydromeStructure* set, KeydromeBytes key, KeydromeBytes payload) {
  const auto found = set->pairs.find(View(view(key), view(payload)));
  if (found == set->pairs.end()) return 0;
  set->pairs.erase(found);
  return 1;
}

int scan(const KeydromeStructure* set, KeydromeBytes key, KeydromeBytes payload, int after,
         KeydromeRun* run) {
  View from(view(key), view(payload));
  auto pair = after != 0 ? set->pairs.upper_bound(from) : set->pairs.lower_bound(from);
  if (after != 0 && payload.data == nullptr) {  // after all payloads of the key
    while (pair != set->pairs.end() && pair->first == from.first) ++pair;
  }
  keydrome_run_clear(run);
  for (; pair != set->pairs.end(); ++pair) {
    if (keydrome_run_add(run, bytes(pair->first), bytes(pair->second)) == 0) return 1;
  }
  return 0;
}

constexpr KeydromeStructureTable kTable = [] {
  KeydromeStructureTable table{};  // no limits, and the optional functions are absent
  table.version = KEYDROME_STRUCTURE_VERSION;
  table.size = sizeof table;
  table.capabilities = KEYDROME_SHARED_READS;
  table.name = "student";
  table.description = "std::set of pairs";
  table.create = create;
  table.destroy = destroy;
  table.put = put;
  table.del = del;
  table.scan = scan;
  return table;
}();

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
