// A correct library for measurements: every data call takes KEYDROME_SLOWED_PERCENT per cent longer
// than in honest.cc. tools/reports/power.py uses this library to measure how small a difference
// `keydrome compare` can find.
//
// Each call adds this percentage of its time to a debt. When the debt is much larger than the cost
// of reading the clock, the thread spins for the time of the debt. The library for 0 % reads the
// clock too, so that the libraries differ only in the percentage.
#include <x86intrin.h>

#include "tests/faulty/honest.h"

namespace {

constexpr uint64_t kShare = KEYDROME_SLOWED_PERCENT;
constexpr uint64_t kDebtMax = 100 * 4'000;  // 4,000 ticks (1 to 2 us), in hundredths

thread_local uint64_t debt = 0;

template <typename Call>
ErrCode slowed(Call&& call) {
  const uint64_t begin = __rdtsc();
  const ErrCode code = call();
  const uint64_t end = __rdtsc();
  debt += (end - begin) * kShare;
  if (debt >= kDebtMax) {
    const uint64_t until = end + debt / 100;
    while (__rdtsc() < until) {
    }
    debt = 0;
  }
  return code;
}

}  // namespace

extern "C" {

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  return slowed([&] { return honest::get(idxState, txn, record); });
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  return slowed([&] { return honest::getNext(idxState, txn, record); });
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  return slowed([&] { return honest::insertRecord(idxState, txn, k, payload); });
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  return slowed([&] { return honest::deleteRecord(idxState, txn, record); });
}

}  // extern "C"
