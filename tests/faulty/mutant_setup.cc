// A whole library out of the runtime, the B+-tree and one control: the body of every mutant.
#include <cstdio>
#include <cstdlib>

#include "keydrome/structure.h"
#include "runtime/configuration.h"
#include "runtime/library.h"

namespace {

using keydrome::runtime::Configuration;
using keydrome::runtime::ControlKind;
using keydrome::runtime::LockKind;
using keydrome::runtime::Runtime;
using keydrome::runtime::StrategyKind;
using keydrome::runtime::StructureLibrary;

__attribute__((constructor)) void set_up() {
  const Configuration configuration{"mutant",
                                    "a fault on purpose",
                                    "One fault in the runtime, to be found",
                                    StrategyKind::kDirect,
                                    ControlKind::KEYDROME_MUTANT_CONTROL,
                                    LockKind::kReadWrite,
                                    ""};
  auto runtime = Runtime::make(StructureLibrary::built_in(*keydrome_structure()), configuration);
  if (!runtime.ok()) {
    std::fprintf(stderr, "%s\n", runtime.error().message.c_str());
    std::abort();
  }
  keydrome::runtime::install(*std::move(runtime));
}

}  // namespace
