/* Tests that Keydrome's headers compile as strict C99, so that old compilers accept them. Also
 * tests that the ten prototypes of contract A (keydrome/index.h) are those of the SIGMOD 2009
 * programming contest. The assignment of the functions to pointers checks the prototypes at compile
 * time. */
#include "keydrome/extensions.h"
#include "keydrome/index.h"
#include "keydrome/structure.h"

typedef struct {
  ErrCode (*create)(KeyType, char*);
  ErrCode (*open_index)(const char*, IdxState**);
  ErrCode (*close_index)(IdxState*);
  ErrCode (*begin)(TxnState**);
  ErrCode (*abort)(TxnState*);
  ErrCode (*commit)(TxnState*);
  ErrCode (*get)(IdxState*, TxnState*, Record*);
  ErrCode (*get_next)(IdxState*, TxnState*, Record*);
  ErrCode (*insert)(IdxState*, TxnState*, Key*, const char*);
  ErrCode (*erase)(IdxState*, TxnState*, Record*);
} ContestCalls;

/* This function is never called or linked. It only has to compile. */
ContestCalls contest_calls(void) {
  ContestCalls calls = {create,           openIndex,         closeIndex, beginTransaction,
                        abortTransaction, commitTransaction, get,        getNext,
                        insertRecord,     deleteRecord};
  return calls;
}
