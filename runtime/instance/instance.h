// Instance: one instance of a bare structure (a data structure without transactions and locks),
// with the memory allocator that the runtime passes to it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "keydrome/structure.h"

namespace keydrome::runtime {

// The memory allocator of an instance: allocates with malloc and counts the bytes. Thread-safe.
class HeapEnvironment {
 public:
  HeapEnvironment();
  HeapEnvironment(const HeapEnvironment&) = delete;
  HeapEnvironment& operator=(const HeapEnvironment&) = delete;

  const KeydromeEnvironment& interface() const { return interface_; }
  uint64_t bytes() const { return bytes_; }

 private:
  static void* allocate(void* context, size_t size, size_t alignment);
  // Frees the memory at once, although structure.h promises to wait for concurrent readers. This is
  // safe if a latch or lock keeps readers and writers apart. The configuration `bare` has neither,
  // so under `bare` a thread-safe structure must not rely on the promise.
  static void retire(void* context, void* memory, size_t size, size_t alignment);

  KeydromeEnvironment interface_;
  std::atomic<uint64_t> bytes_ = 0;
};

class Instance {
 public:
  // Returns nullptr if the structure's `create` fails: out of memory, or wrong options. `options`
  // is JSON text; empty means none.
  static std::unique_ptr<Instance> make(const KeydromeStructureTable& table,
                                        const std::string& options);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  // Returns the first argument for the functions of the structure's table. structure.h says which
  // calls may run in parallel.
  KeydromeStructure* structure() const { return structure_; }
  // Returns one of the structure's statistics, or 0 if the structure has no statistics.
  uint64_t statistic(uint32_t which) const;
  uint64_t allocated_bytes() const { return environment_->bytes(); }

 private:
  Instance(const KeydromeStructureTable& table, std::unique_ptr<HeapEnvironment> environment,
           KeydromeStructure* structure)
      : table_(table), environment_(std::move(environment)), structure_(structure) {}

  const KeydromeStructureTable& table_;
  std::unique_ptr<HeapEnvironment> environment_;
  KeydromeStructure* structure_;
};

}  // namespace keydrome::runtime
