// No fault: right, but KEYDROME_SLOWED_PERCENT slower than honest.cc in every call on data.
// For tools/power.py, which looks how small a difference `keydrome compare` finds.
//
// What a call took is owed in part, and the debt is spun off when it is well above what reading the
// counter costs. At 0 % the counter is read as well, so that libraries differ in nothing else.
#include <x86intrin.h>

#include "tests/faulty/honest.h"

namespace {

constexpr uint64_t kShare = KEYDROME_SLOWED_PERCENT;
constexpr uint64_t kDebtMax = 100 * 4'000;  // in hundredths of ticks: 1 to 2 microseconds

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
