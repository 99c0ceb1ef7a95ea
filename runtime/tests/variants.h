// Lists the concurrency controls that isolate transactions, for tests that run under each of them.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "runtime/concurrency/methods.h"

namespace keydrome::runtime {

inline std::vector<std::string> isolating_methods() {
  std::vector<std::string> names;
  for (const ConcurrencyMethod& method : concurrency_methods()) {
    if (method.isolates) names.emplace_back(method.name);
  }
  return names;
}

// A concurrency control, the lock of its configuration, and whether the structure is
// KEYDROME_THREAD_SAFE.
struct Variant {
  std::string concurrency;
  std::string lock;
  bool thread_safe = false;
};

inline std::string name_of(const Variant& variant) {
  return variant.concurrency + "_" + variant.lock + (variant.thread_safe ? "_thread_safe" : "");
}

inline void PrintTo(const Variant& variant, std::ostream* out) { *out << name_of(variant); }

// Returns all pairs of a concurrency control and a lock.
inline std::vector<Variant> variants() {
  std::vector<Variant> found;
  for (const std::string& concurrency : isolating_methods()) {
    for (const char* lock : {"rw", "exclusive"}) found.push_back({concurrency, lock});
  }
  return found;
}

// Returns variants(), and in addition all concurrency controls with a thread-safe structure.
inline std::vector<Variant> variants_and_thread_safe() {
  std::vector<Variant> found = variants();
  for (const std::string& concurrency : isolating_methods()) {
    found.push_back({concurrency, "rw", true});
  }
  return found;
}

}  // namespace keydrome::runtime
