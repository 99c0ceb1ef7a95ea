// A library that attacks the measurement: it guesses which results are checked. A get looks only
// for keys that have changed since the search tree was built (fast_reads.h), or that the thread has
// asked for before. The library hopes that only reads of such keys are checked. The checks of the
// results of reads must find the attack, because every result is judged.
#include <cstdint>
#include <unordered_set>

#include "tests/faulty/attacks/fast_reads.h"

namespace {

thread_local std::unordered_set<int64_t> met;

}  // namespace

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  const attacks::FastIndex* fast = attacks::fast_index(idxState, txn, *record);
  if (fast == nullptr) return attacks::honest_get(idxState, txn, record);
  const int64_t key = record->key.keyval.intkey;
  if (met.insert(key).second) return SUCCESS;
  return attacks::answer(idxState, txn, record, fast->tree.find(key));
}
