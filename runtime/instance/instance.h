// Instance: owns one object of a bare structure (a data structure without transactions and locks).
// Creates and destroys the object with the structure's own functions.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "keydrome/structure.h"
#include "runtime/instance/heap.h"

namespace keydrome::runtime {

class Instance {
 public:
  // Returns nullptr if the structure's `create` fails: out of memory, or wrong options. All keys
  // will have `key_bytes` bytes; 0 means that sizes differ. `options` is JSON text; empty means
  // none. The table and the heap must outlive the instance.
  static std::unique_ptr<Instance> make(const KeydromeStructureTable& table, const Heap& heap,
                                        uint32_t key_bytes, const std::string& options);
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;
  ~Instance();

  // Returns the first argument for the functions of the structure's table. structure.h says which
  // calls may run in parallel.
  KeydromeStructure* structure() const { return structure_; }

 private:
  Instance(const KeydromeStructureTable& table, KeydromeStructure* structure)
      : table_(table), structure_(structure) {}

  const KeydromeStructureTable& table_;
  KeydromeStructure* structure_;
};

}  // namespace keydrome::runtime
