// Exports the adaptive radix tree through contract B, the interface of a data structure
// (keydrome/structure.h): fills in the table of functions. Each function calls the corresponding
// function of Tree.
#include <cstring>

#include "structures/art/tree.h"

namespace {

using keydrome::art::Pair;
using keydrome::art::Tree;

Tree* tree_of(KeydromeStructure* instance) { return reinterpret_cast<Tree*>(instance); }
const Tree* tree_of(const KeydromeStructure* instance) {
  return reinterpret_cast<const Tree*>(instance);
}

// Accepts only NULL or the text "{}" as options, because a tree has no options.
KeydromeStructure* create(const KeydromeEnvironment* environment, const KeydromeSetup* setup) {
  const char* options = setup->options;
  if (options != nullptr && std::strcmp(options, "{}") != 0) return nullptr;
  return reinterpret_cast<KeydromeStructure*>(Tree::create(*environment));
}

void destroy(KeydromeStructure* instance) { Tree::destroy(tree_of(instance)); }

int put(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  return tree_of(instance)->put(Pair::of(key, payload));
}

int del(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  return tree_of(instance)->del(Pair::of(key, payload));
}

int scan(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload, int after,
         KeydromeRun* run) {
  Pair from = Pair::of(key, payload);
  from.past_key = payload.data == nullptr && after != 0;
  return tree_of(instance)->scan(from, after != 0, *run);
}

int find(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes after,
         KeydromeBuffer* payload) {
  if (after.data == nullptr) return tree_of(instance)->find(key, *payload);
  return tree_of(instance)->find_after(Pair::of(key, after), *payload);
}

int find_batch(const KeydromeStructure* instance, uint32_t count, KeydromeLookup* lookups) {
  tree_of(instance)->find_batch(count, lookups);
  return 0;
}

int replace(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes before,
            KeydromeBytes now) {
  return tree_of(instance)->replace(Pair::of(key, before), Pair::of(key, now));
}

int check(const KeydromeStructure* instance) { return tree_of(instance)->check(); }

uint64_t statistic(const KeydromeStructure* instance, uint32_t which) {
  switch (which) {
    case KEYDROME_STATISTIC_HEIGHT:
      return tree_of(instance)->height();
    case KEYDROME_STATISTIC_NODES:
      return tree_of(instance)->nodes();
    case KEYDROME_STATISTIC_SLOTS:
      return tree_of(instance)->slots();
    case KEYDROME_STATISTIC_SLOTS_USED:
      return tree_of(instance)->slots_used();
    default:
      return 0;
  }
}

constexpr KeydromeStructureTable kTable = {
    .version = KEYDROME_STRUCTURE_VERSION,
    .size = sizeof(KeydromeStructureTable),
    .capabilities = KEYDROME_SHARED_READS | KEYDROME_THREAD_SAFE,
    .key_bytes_only = 0,
    .payload_bytes_max = 0,
    .payloads_max = 0,
    .name = "art",
    .description = "adaptive radix tree with four kinds of nodes and optimistic path compression",
    .create = create,
    .destroy = destroy,
    .put = put,
    .del = del,
    .scan = scan,
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
