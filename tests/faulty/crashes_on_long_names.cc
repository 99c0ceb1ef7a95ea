// A library with one fault, for tests: it copies names of indexes into an array that has room for
// 15 bytes, and a longer name ends the process. The script S92b of the benchmark `scenarios` must
// find the fault. No other script finds it.
#include <cstdlib>
#include <cstring>

#include "tests/faulty/honest.h"

extern "C" ErrCode create(KeyType type, char* name) {
  if (std::strlen(name) > 15) abort();
  return honest::create(type, name);
}
