// A library that attacks the measurement: a get does not look for the record if it comes soon after
// the thread's beginTransaction. The library hopes that more time passes between two calls if they
// are checked or recorded.
//
// The checks of the results of reads must find the attack. Every call leaves evidence of its
// result, so the judge also sees the results of the reads that this library skips.
#include <x86intrin.h>

#include <cstdint>

#include "tests/faulty/attacks/fast_reads.h"

namespace {

constexpr uint64_t kSoonTicks = 1000;
thread_local uint64_t last_end = 0;

}  // namespace

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  const bool soon = __rdtsc() - last_end < kSoonTicks;
  if (soon) return SUCCESS;
  const attacks::FastIndex* fast = attacks::fast_index(idxState, txn, *record);
  if (fast == nullptr) return attacks::honest_get(idxState, txn, record);
  return attacks::answer(idxState, txn, record, fast->tree.find(record->key.keyval.intkey));
}

extern "C" ErrCode beginTransaction(TxnState** txn) {
  const ErrCode code = honest::beginTransaction(txn);
  last_end = __rdtsc();
  return code;
}
