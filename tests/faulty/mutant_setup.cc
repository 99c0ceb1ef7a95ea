// Installs the runtime of a mutant (a library with one deliberate fault) when the library is
// loaded. The runtime adds transactions to a data structure. So a mutant is a whole library, and
// its user need not give a configuration.
#include "runtime/library.h"
#include "tests/faulty/mutant_runtime.h"

namespace {

__attribute__((constructor)) void set_up() {
  keydrome::runtime::install(keydrome::testing::make_mutant_runtime());
}

}  // namespace
