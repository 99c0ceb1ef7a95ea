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

// A concurrency control and the lock of its configuration.
struct Variant {
  std::string concurrency;
  std::string lock;
};

inline void PrintTo(const Variant& variant, std::ostream* out) {
  *out << variant.concurrency << " " << variant.lock;
}

inline std::vector<Variant> variants() {
  std::vector<Variant> found;
  for (const std::string& concurrency : isolating_methods()) {
    for (const char* lock : {"rw", "exclusive"}) found.push_back({concurrency, lock});
  }
  return found;
}

}  // namespace keydrome::runtime
