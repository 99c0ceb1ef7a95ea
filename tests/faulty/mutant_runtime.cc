// Implements mutant_runtime.h: makes the runtime of a mutant (a library with one deliberate fault)
// with a fixed configuration, which names the concurrency control and the lock.
#include "tests/faulty/mutant_runtime.h"

#include <cstdio>
#include <cstdlib>

#include "keydrome/structure.h"
#include "runtime/configuration.h"

namespace keydrome::testing {

using runtime::Configuration;
using runtime::LockKind;
using runtime::Runtime;
using runtime::StrategyKind;
using runtime::StructureLibrary;

std::unique_ptr<Runtime> make_mutant_runtime() {
  const Configuration configuration{"mutant",
                                    "a deliberate fault",
                                    "The runtime with one fault, which the gate must find",
                                    StrategyKind::kDirect,
                                    KEYDROME_MUTANT_CONCURRENCY,
                                    LockKind::kReadWrite,
                                    ""};
  auto made = Runtime::make(*StructureLibrary::of(keydrome_structure(), "btree"), configuration);
  if (!made.ok()) {
    std::fprintf(stderr, "%s\n", made.error().message.c_str());
    std::abort();
  }
  return *std::move(made);
}

}  // namespace keydrome::testing
