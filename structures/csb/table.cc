// Offers the tree through contract B (keydrome/structure.h): fills in the table of functions.
// Each function calls the corresponding function of Tree.
#include <cstring>

#include "structures/csb/tree.h"

namespace {

using keydrome::csb::Probe;
using keydrome::csb::Tree;

Tree* tree_of(KeydromeStructure* instance) { return reinterpret_cast<Tree*>(instance); }
const Tree* tree_of(const KeydromeStructure* instance) {
  return reinterpret_cast<const Tree*>(instance);
}

// Makes a tree. Accepts only NULL or the empty object as options, because a tree has no options.
KeydromeStructure* create(const KeydromeEnvironment* environment, const KeydromeSetup* setup) {
  if (setup->options != nullptr && std::strcmp(setup->options, "{}") != 0) return nullptr;
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
  Probe from = Probe::of(key, payload);
  from.past_key = payload.data == nullptr && after != 0;
  return tree_of(instance)->scan(from, after != 0, *run);
}

int find(const KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes after,
         KeydromeBuffer* payload) {
  return tree_of(instance)->find(Probe::of(key, after), after.data != nullptr, *payload);
}

int find_batch(const KeydromeStructure* instance, uint32_t count, KeydromeLookup* lookups) {
  tree_of(instance)->find_batch(count, lookups);
  return 0;
}

int replace(KeydromeStructure* instance, KeydromeBytes key, KeydromeBytes before,
            KeydromeBytes now) {
  return tree_of(instance)->replace(Probe::of(key, before), Probe::of(key, now));
}

int load(KeydromeStructure* instance, const KeydromeRun* run) {
  return tree_of(instance)->load(*run);
}

int check(const KeydromeStructure* instance) { return tree_of(instance)->check(); }

uint64_t statistic(const KeydromeStructure* instance, uint32_t which) {
  return tree_of(instance)->statistic(which);
}

constexpr KeydromeStructureTable kTable = {
    .version = KEYDROME_STRUCTURE_VERSION,
    .size = sizeof(KeydromeStructureTable),
    .capabilities = KEYDROME_SHARED_READS,
    .key_bytes_only = 0,
    .payload_bytes_max = 0,
    .payloads_max = 0,
    .name = "csb",
    .description = "CSS-tree over linked leaves, with pending splits and periodic rebuilds",
    .create = create,
    .destroy = destroy,
    .put = put,
    .del = del,
    .scan = scan,
    .find = find,
    .find_batch = find_batch,
    .replace = replace,
    .load = load,
    .split = nullptr,
    .concat = nullptr,
    .check = check,
    .statistic = statistic,
};

}  // namespace

const KeydromeStructureTable* keydrome_structure(void) { return &kTable; }
