// One instance of a bare structure and the environment it lives in.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "keydrome/structure.h"

namespace keydrome::runtime {

// Memory from the process's allocator, counted. Frees at once: no configuration so far lets readers
// run beside a writer. Thread-safe.
class HeapEnvironment {
 public:
  HeapEnvironment();
  HeapEnvironment(const HeapEnvironment&) = delete;
  HeapEnvironment& operator=(const HeapEnvironment&) = delete;

  const KeydromeEnvironment& interface() const { return interface_; }
  uint64_t bytes() const { return bytes_; }

 private:
  static void* allocate(void* context, size_t size, size_t alignment);
  static void retire(void* context, void* memory, size_t size, size_t alignment);

  KeydromeEnvironment interface_;
  std::atomic<uint64_t> bytes_ = 0;
};

class Instance {
 public:
  // nullptr when the structure refuses (memory or options). `options` is JSON text; empty means
  // none.
  static std::unique_ptr<Instance> make(const KeydromeStructureTable& table,
                                        const std::string& options);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  // What the table's functions are called with, under its rules on threads.
  KeydromeStructure* structure() const { return structure_; }
  // 0 when the structure keeps no such statistic.
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
