// Gives a mutant its runtime when it is loaded: a whole library that needs no configuration.
#include "runtime/library.h"
#include "tests/faulty/mutant_runtime.h"

namespace {

__attribute__((constructor)) void set_up() {
  keydrome::runtime::install(keydrome::testing::make_mutant_runtime());
}

}  // namespace
