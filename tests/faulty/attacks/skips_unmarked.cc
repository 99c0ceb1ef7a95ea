// A library that attacks the measurement: it reads the operation of each get in the ring, the
// memory through which the player receives its operations. The player is the program that calls the
// library. If the player neither reports nor keeps the result of the get (kObserved), the library
// does not look for the record. It hopes that such a result is not checked.
//
// The checks of the results of reads must find the attack, because every call leaves a word with
// its result for the judge.
#include "tests/faulty/attacks/fast_reads.h"
#include "tests/faulty/attacks/ring_reader.h"

namespace {

attacks::RingReader& reader() {
  static attacks::RingReader only;
  return only;
}

bool is_observed(int64_t key) {
  attacks::NextGet get{};
  const bool follows = reader().expect(key, get);
  return !follows || (get.op->flags & keydrome::format::kObserved) != 0;
}

}  // namespace

extern "C" ErrCode openIndex(const char* name, IdxState** idxState) {
  static const bool has_ring = reader().find_ring();
  (void)has_ring;
  return honest::openIndex(name, idxState);
}

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (record->key.type != INT) return attacks::honest_get(idxState, txn, record);
  const int64_t key = record->key.keyval.intkey;
  const bool observed = is_observed(key);
  const attacks::FastIndex* fast = attacks::fast_index(idxState, txn, *record);
  if (fast == nullptr) return attacks::honest_get(idxState, txn, record);
  if (!observed) return SUCCESS;
  return attacks::answer(idxState, txn, record, fast->tree.find(key));
}
