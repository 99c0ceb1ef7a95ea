// Offers the B+-tree through contract B (keydrome/structure.h): fills in the table of functions.
// Each function calls the corresponding function of Tree.
#include <cstring>

#include "structures/btree/tree.h"

namespace {

using keydrome::btree::Probe;
using keydrome::btree::Tree;

Tree* tree_of(KeydromeStructure* instance) { return reinterpret_cast<Tree*>(instance); }
const Tree* tree_of(const KeydromeStructure* instance) {
  return reinterpret_cast<const Tree*>(instance);
}

// Makes a tree. Accepts only NULL or the empty object as `options`, because a tree has no options.
KeydromeStructure* create(const KeydromeEnvironment* environment, const char* options) {
  if (options != nullptr && std::strcmp(options, "{}") != 0) return nullptr;
  return reinterpret_cast<KeydromeStructure*>(Tree::create(*environment));
}

void destroy(KeydromeStructure* instance) { Tree::destroy(tree_of(instance)); }

int put(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  return tree_of(instance)->put(Probe::of(key, payload));
}

int del(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload) {
  return tree_of(instance)->del(Probe::of(key, payload));
}

int seek(const KeydromeStructure* instance, KeydromePosition* position, KeydromeBytes key,
         KeydromeBytes payload, int after) {
  Probe probe = Probe::of(key, payload);
  probe.past_key = payload.data == nullptr && after != 0;
  tree_of(instance)->seek(*position, probe, after != 0);
  return 0;
}

int next(const KeydromeStructure* instance, KeydromePosition* position, KeydromeBuffer* key,
         KeydromeBuffer* payload) {
  return tree_of(instance)->next(*position, *key, *payload);
}

int check(const KeydromeStructure* instance) { return tree_of(instance)->check(); }

uint64_t statistic(const KeydromeStructure* instance, uint32_t which) {
  switch (which) {
    case KEYDROME_STATISTIC_PAIRS:
      return tree_of(instance)->pairs();
    case KEYDROME_STATISTIC_BYTES:
      return tree_of(instance)->bytes();
    case KEYDROME_STATISTIC_HEIGHT:
      return tree_of(instance)->height();
    default:
      return 0;
  }
}

constexpr KeydromeStructureTable kTable = {
    .version = KEYDROME_STRUCTURE_VERSION,
    .capabilities = KEYDROME_SHARED_READS,
    .name = "btree",
    .description = "B+-tree with 64 slots per node, eight-byte key heads and shortest separators",
    .create = create,
    .destroy = destroy,
    .put = put,
    .del = del,
    .seek = seek,
    .next = next,
    .get_batch = nullptr,
    .split = nullptr,
    .concat = nullptr,
    .export_run = nullptr,
    .import_run = nullptr,
    .check = check,
    .statistic = statistic,
};

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
