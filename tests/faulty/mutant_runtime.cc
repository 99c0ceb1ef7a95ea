#include "tests/faulty/mutant_runtime.h"

#include <cstdio>
#include <cstdlib>

#include "keydrome/structure.h"
#include "runtime/configuration.h"

namespace keydrome::testing {

using runtime::Configuration;
using runtime::ControlKind;
using runtime::LockKind;
using runtime::Runtime;
using runtime::StrategyKind;
using runtime::StructureLibrary;

std::unique_ptr<Runtime> make_mutant_runtime() {
  const Configuration configuration{"mutant",
                                    "a fault on purpose",
                                    "One fault in the runtime, to be found",
                                    StrategyKind::kDirect,
                                    ControlKind::KEYDROME_MUTANT_CONTROL,
                                    LockKind::kReadWrite,
                                    ""};
  auto made = Runtime::make(StructureLibrary::built_in(*keydrome_structure()), configuration);
  if (!made.ok()) {
    std::fprintf(stderr, "%s\n", made.error().message.c_str());
    std::abort();
  }
  return *std::move(made);
}

}  // namespace keydrome::testing
