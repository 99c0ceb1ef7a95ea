// Implements Instance: creates and destroys one data structure through its table of functions.
#include "runtime/instance/instance.h"

namespace keydrome::runtime {

std::unique_ptr<Instance> Instance::make(const KeydromeStructureTable& table, const Heap& heap,
                                         uint32_t key_bytes, const std::string& options) {
  const KeydromeSetup setup = {sizeof(KeydromeSetup), key_bytes,
                               options.empty() ? nullptr : options.c_str()};
  KeydromeStructure* structure = table.create(&heap.environment(), &setup);
  if (structure == nullptr) return nullptr;
  return std::unique_ptr<Instance>(new Instance(table, structure));
}

Instance::~Instance() { table_.destroy(structure_); }

}  // namespace keydrome::runtime
