// Implements Instance: creates and destroys one data structure through its table of functions, and
// provides its memory.
#include "runtime/instance/instance.h"

#include <cstddef>
#include <cstdlib>

namespace keydrome::runtime {

namespace {

void* allocate(void*, size_t size, size_t alignment) {
  if (alignment <= alignof(std::max_align_t)) {
    return std::malloc(size);  // several times as fast as posix_memalign
  }
  void* memory = nullptr;
  return posix_memalign(&memory, alignment, size) == 0 ? memory : nullptr;
}

// Frees the memory at once, although structure.h promises to wait for concurrent readers. This is
// safe if a latch or lock keeps readers and writers apart. The configuration `bare` has neither, so
// under `bare` a thread-safe structure must not rely on the promise.
void retire(void*, void* memory, size_t, size_t) { std::free(memory); }

constexpr KeydromeEnvironment kHeap = {sizeof(KeydromeEnvironment), 0, nullptr, allocate, retire};

}  // namespace

std::unique_ptr<Instance> Instance::make(const KeydromeStructureTable& table, uint32_t key_bytes,
                                         const std::string& options) {
  const KeydromeSetup setup = {sizeof(KeydromeSetup), key_bytes,
                               options.empty() ? nullptr : options.c_str()};
  KeydromeStructure* structure = table.create(&kHeap, &setup);
  if (structure == nullptr) return nullptr;
  return std::unique_ptr<Instance>(new Instance(table, structure));
}

Instance::~Instance() { table_.destroy(structure_); }

}  // namespace keydrome::runtime
