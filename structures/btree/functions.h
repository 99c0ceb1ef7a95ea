// Functions: makes the table of functions of the B+-tree for contract B, the interface of a data
// structure (keydrome/structure.h). Each file table_*.cc instantiates this template with the
// searches for one kind of processor. So two tables share no code, and the compiler may use
// different instructions in each of these files.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>

#include "structures/btree/bulk.h"
#include "structures/btree/check.h"
#include "structures/btree/erase.h"
#include "structures/btree/find.h"
#include "structures/btree/fixed/fixed.h"
#include "structures/btree/insert.h"
#include "structures/btree/memory.h"
#include "structures/btree/scan.h"
#include "structures/btree/text/text.h"
#include "structures/btree/tree.h"

namespace keydrome::btree {

template <class Search>
struct Functions {
  // Only one of the two trees has a root and is used: `fixed` if all keys have 4 or all have 8
  // bytes, otherwise `text`.
  struct Instance {
    bool is_fixed;
    uint32_t key_bytes;
    Tree<Fixed<Search>> fixed;
    Tree<Text<Search>> text;
  };
  static_assert(std::is_trivially_destructible_v<Instance>);

  static Instance& of(KeydromeStructure* instance) {
    return *reinterpret_cast<Instance*>(instance);
  }
  static const Instance& of(const KeydromeStructure* instance) {
    return *reinterpret_cast<const Instance*>(instance);
  }

  // Calls `call` with the tree that the instance uses.
  template <class Handle, class Call>
  __attribute__((always_inline)) static auto with_tree(Handle* instance, Call call) {
    auto& self = of(instance);
    return __builtin_expect(self.is_fixed, 1) ? call(self.fixed) : call(self.text);
  }

  static KeydromeStructure* make(const KeydromeEnvironment& environment, uint32_t key_bytes) {
    const Memory memory(environment);
    void* place = memory.allocate(sizeof(Instance), alignof(Instance));
    if (place == nullptr) return nullptr;
    const bool is_fixed = key_bytes == 4 || key_bytes == 8;
    auto* fixed = is_fixed ? Fixed<Search>::make(memory, 0) : nullptr;
    auto* text = is_fixed ? nullptr : Text<Search>::make(memory, 0);
    if (fixed == nullptr && text == nullptr) {
      memory.retire(place, sizeof(Instance), alignof(Instance));
      return nullptr;
    }
    return reinterpret_cast<KeydromeStructure*>(new (place) Instance{
        is_fixed, key_bytes, {memory, fixed, key_bytes}, {memory, text, key_bytes}});
  }

  // Accepts only NULL or the text "{}" as options, because a tree has no options.
  static KeydromeStructure* create(const KeydromeEnvironment* environment,
                                   const KeydromeSetup* setup) {
    if (setup->options != nullptr && std::strcmp(setup->options, "{}") != 0) return nullptr;
    return make(*environment, setup->key_bytes);
  }
  static void destroy(KeydromeStructure* instance) {
    Instance& self = of(instance);
    self.fixed.clear();
    self.text.clear();
    const Memory memory = self.fixed.memory();
    memory.retire(&self, sizeof(Instance), alignof(Instance));
  }

  static int put(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
    return with_tree(instance, [&](auto& tree) { return tree.put(key, payload); });
  }
  static int del(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
    return with_tree(instance, [&](auto& tree) { return tree.del(key, payload); });
  }
  static int scan(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload,
                  int after, KeydromeRun* run) {
    return with_tree(instance,
                     [&](auto& tree) { return tree.scan(key, payload, after != 0, *run); });
  }
  static int find(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes after,
                  KeydromeBuffer* payload) {
    return with_tree(instance, [&](auto& tree) { return tree.find(key, after, payload); });
  }
  static int find_batch(const KeydromeStructure* instance, uint32_t count,
                        KeydromeLookup* lookups) {
    with_tree(instance, [&](auto& tree) { tree.find_batch(count, lookups); });
    return 0;
  }
  static int replace(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes before,
                     KeydromeBytes now) {
    return with_tree(instance, [&](auto& tree) { return tree.replace(key, before, now); });
  }
  static int load(KeydromeStructure* instance, const KeydromeRun* run) {
    return with_tree(instance, [&](auto& tree) { return tree.load(*run); });
  }

  static KeydromeStructure* split(KeydromeStructure* instance, KeydromeBytes key,
                                  const KeydromeEnvironment* environment) {
    Instance& self = of(instance);
    KeydromeStructure* high = make(*environment, self.key_bytes);
    if (high == nullptr) return nullptr;
    const bool moved =
        self.is_fixed ? self.fixed.split(key, of(high).fixed) : self.text.split(key, of(high).text);
    if (moved) return high;
    destroy(high);
    return nullptr;
  }
  static int concat(KeydromeStructure* low, KeydromeStructure* high) {
    const int result = of(low).is_fixed ? of(low).fixed.concat(of(high).fixed)
                                        : of(low).text.concat(of(high).text);
    if (result == 0) destroy(high);
    return result;
  }

  static int check(const KeydromeStructure* instance) {
    return with_tree(instance, [](auto& tree) { return tree.check(); });
  }
  static uint64_t statistic(const KeydromeStructure* instance, uint32_t which) {
    return with_tree(instance, [&](auto& tree) { return tree.statistic(which); });
  }

  static constexpr KeydromeStructureTable kTable = {
      .version = KEYDROME_STRUCTURE_VERSION,
      .size = sizeof(KeydromeStructureTable),
      .capabilities = KEYDROME_SHARED_READS,
      .key_bytes_only = 0,
      .payload_bytes_max = 0,
      .payloads_max = 0,
      .name = "btree",
      .description = Search::kDescription,
      .create = create,
      .destroy = destroy,
      .put = put,
      .del = del,
      .scan = scan,
      .find = find,
      .find_batch = find_batch,
      .replace = replace,
      .load = load,
      .split = split,
      .concat = concat,
      .check = check,
      .statistic = statistic,
  };
};

}  // namespace keydrome::btree
