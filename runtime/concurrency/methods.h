// The table of methods, the concurrency controls that a configuration can name.
//
// Each file NAME.cc in this folder implements the method that configurations call NAME. The file
// defines
//
//   ConcurrencyMethod NAME_method();
//
// CMake collects the files and generates the table, so a new method needs only its own file. The
// folder families/ contains only base classes of methods.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "runtime/concurrency/concurrency.h"
#include "runtime/locks/latch.h"

namespace keydrome::runtime {

struct ConcurrencyOptions {
  LatchKind latch;             // the configuration's `lock`
  bool structure_thread_safe;  // true if the structure has KEYDROME_THREAD_SAFE
};

struct ConcurrencyMethod {
  std::string_view name;
  // True if the method isolates transactions and can roll them back. A method with `false` takes no
  // locks, so several threads may use it only with a structure that is thread-safe by itself.
  bool isolates;
  // What the method needs from a structure (structure.h):
  bool needs_order;     // scans, which a structure with KEYDROME_UNORDERED lacks
  bool needs_payloads;  // any number of payloads per key: the method inserts one before it deletes
                        // another, or keeps deleted payloads for a while
  std::unique_ptr<Concurrency> (*make)(const ConcurrencyOptions& options);
};

// Returns all methods, sorted by name.
std::span<const ConcurrencyMethod> concurrency_methods();

// Returns the method of that name, or nullptr if there is none.
const ConcurrencyMethod* find_concurrency_method(std::string_view name);

}  // namespace keydrome::runtime
