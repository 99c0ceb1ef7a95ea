// A library with one fault, for tests: create allocates memory without end. When it reaches the
// memory limit, the verdict must be out_of_memory.
#include <cstdlib>
#include <cstring>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType, char*) {
  constexpr size_t kBlock = size_t{16} << 20;
  for (;;) {
    void* block = std::malloc(kBlock);
    if (block != nullptr) std::memset(block, 1, kBlock);
  }
}
