// Fault: create allocates memory without end.
// Must be found by: the memory limit; verdict out_of_memory.
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
