// Installs the runtime of a mutant when the library is loaded, so that a mutant is a whole library
// and needs no configuration.
#include "runtime/library.h"
#include "tests/faulty/mutant_runtime.h"

namespace {

__attribute__((constructor)) void set_up() {
  keydrome::runtime::install(keydrome::testing::make_mutant_runtime());
}

}  // namespace
