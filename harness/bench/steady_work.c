/* A library whose get works for some 60 ns and touches only the memory of its Record. The other
 * functions come from indexes/null, a library that does nothing. The build renames the get of
 * indexes/null, so that this get replaces it (harness/CMakeLists.txt).
 *
 * The program phase_cost uses this library. In a session, one repetition of a benchmark, a thread
 * receives its operations in portions, called pieces. phase_cost measures how much time the
 * hand-over of pieces adds to a call. With a get that returns at once, threads would finish their
 * pieces faster than with any real index, and would wait for the next piece more often.
 *
 * Thread safety: has no state. */
#include <stdint.h>

#include "keydrome/index.h"

enum { kSteps = 75 };

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  (void)idxState;
  (void)txn;
  uint64_t number = (uint64_t)record->key.keyval.intkey;
  for (int i = 0; i < kSteps; ++i) {
    number = number * 0x9e3779b97f4a7c15u + 1;
    __asm__ volatile("" : "+r"(number)); /* keeps the compiler from shortening the loop */
  }
  record->payload[0] = (char)('A' + number % 16);
  return SUCCESS;
}
