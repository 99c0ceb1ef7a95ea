// Implements Instance: creates and destroys one data structure through its table of functions, and
// counts the bytes that it allocates.
#include "runtime/instance/instance.h"

#include <algorithm>
#include <cstdlib>

namespace keydrome::runtime {

HeapEnvironment::HeapEnvironment() : interface_{this, allocate, retire, 0} {}

void* HeapEnvironment::allocate(void* context, size_t size, size_t alignment) {
  void* memory = nullptr;
  if (alignment <= alignof(std::max_align_t)) {
    memory = std::malloc(size);  // several times as fast as posix_memalign
  } else if (posix_memalign(&memory, alignment, size) != 0) {
    memory = nullptr;
  }
  if (memory != nullptr) static_cast<HeapEnvironment*>(context)->bytes_ += size;
  return memory;
}

void HeapEnvironment::retire(void* context, void* memory, size_t size, size_t) {
  static_cast<HeapEnvironment*>(context)->bytes_ -= size;
  std::free(memory);
}

std::unique_ptr<Instance> Instance::make(const KeydromeStructureTable& table,
                                         const std::string& options) {
  auto environment = std::make_unique<HeapEnvironment>();
  KeydromeStructure* structure =
      table.create(&environment->interface(), options.empty() ? nullptr : options.c_str());
  if (structure == nullptr) return nullptr;
  return std::unique_ptr<Instance>(new Instance(table, std::move(environment), structure));
}

Instance::~Instance() { table_.destroy(structure_); }

uint64_t Instance::statistic(uint32_t which) const {
  return table_.statistic == nullptr ? 0 : table_.statistic(structure_, which);
}

}  // namespace keydrome::runtime
