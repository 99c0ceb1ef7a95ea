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

// Makes a tree. Accepts only NULL or the empty object as options, because a tree has no options.
KeydromeStructure* create(const KeydromeEnvironment* environment, const KeydromeSetup* setup) {
  const char* options = setup->options;
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

int scan(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes payload, int after,
         KeydromeRun* run) {
  Probe probe = Probe::of(key, payload);
  probe.past_key = payload.data == nullptr && after != 0;
  return tree_of(instance)->scan(probe, after != 0, *run);
}

int find(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes after,
         KeydromeBuffer* payload) {
  return tree_of(instance)->find(Probe::of(key, after), after.data != nullptr, *payload);
}

int check(const KeydromeStructure* instance) { return tree_of(instance)->check(); }

uint64_t statistic(const KeydromeStructure* instance, uint32_t which) {
  return which == KEYDROME_STATISTIC_HEIGHT ? tree_of(instance)->height() : 0;
}

constexpr KeydromeStructureTable kTable = {
    .version = KEYDROME_STRUCTURE_VERSION,
    .size = sizeof(KeydromeStructureTable),
    .capabilities = KEYDROME_SHARED_READS,
    .key_bytes_only = 0,
    .payload_bytes_max = 0,
    .payloads_max = 0,
    .name = "btree",
    .description = "B+-tree with 64 slots per node, eight-byte key heads and shortest separators",
    .create = create,
    .destroy = destroy,
    .put = put,
    .del = del,
    .scan = scan,
    .find = find,
    .find_batch = nullptr,
    .replace = nullptr,
    .load = nullptr,
    .split = nullptr,
    .concat = nullptr,
    .check = check,
    .statistic = statistic,
};

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
