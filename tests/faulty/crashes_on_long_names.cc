// Fault: names of indexes are copied into an array that has room for 15 bytes, and a longer name
// ends the process.
// Must be found by: the script S92b of the benchmark scenarios, and by no other script.
#include <cstdlib>
#include <cstring>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType type, char* name) {
  if (std::strlen(name) > 15) abort();
  return honest::create(type, name);
}
