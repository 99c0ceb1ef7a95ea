/* Compiles alone as strict C99: what a contestant with an old compiler includes. The addresses are
 * taken so that every prototype of the ten calls is checked against the contest's. */
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

/* Never called and never linked: the object file only has to compile. */
ContestCalls contest_calls(void) {
  ContestCalls calls = {create,           openIndex,         closeIndex, beginTransaction,
                        abortTransaction, commitTransaction, get,        getNext,
                        insertRecord,     deleteRecord};
  return calls;
}
