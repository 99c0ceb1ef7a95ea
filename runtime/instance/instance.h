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

// Calls are the table's, with its rules on threads.
class Instance {
 public:
  // nullptr when the structure refuses (memory or options). `options` is JSON text; empty means
  // none.
  static std::unique_ptr<Instance> make(const KeydromeStructureTable& table,
                                        const std::string& options);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  int put(KeydromeBytes key, KeydromeBytes payload) { return table_.put(structure_, key, payload); }
  int del(KeydromeBytes key, KeydromeBytes payload) { return table_.del(structure_, key, payload); }
  int seek(KeydromePosition& position, KeydromeBytes key, KeydromeBytes payload, int after) const {
    return table_.seek(structure_, &position, key, payload, after);
  }
  int next(KeydromePosition& position, KeydromeBuffer& key, KeydromeBuffer& payload) const {
    return table_.next(structure_, &position, &key, &payload);
  }
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
