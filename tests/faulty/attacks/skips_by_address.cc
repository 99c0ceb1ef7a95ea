// A library that attacks the measurement: get returns SUCCESS at once if the caller's buffer and
// the stack frame are at the same addresses as in most calls. The library hopes that calls whose
// results are checked use other buffers or another depth of the stack.
//
// The checks of the results of reads must find the attack. The player, the program that calls the
// library, makes all calls from the same place in its code, with the same buffers. So the library
// skips checked reads too.
#include <cstdint>

#include "tests/faulty/attacks/fast_reads.h"

namespace {

constexpr uint64_t kCallsToLearn = 100;

// Counts calls with the thread's most frequent address. Returns true if this call has that address.
bool is_usual(uintptr_t address) {
  static thread_local uintptr_t usual = 0;
  static thread_local uint64_t votes = 0;
  if (address == usual) {
    ++votes;
  } else if (votes == 0) {
    usual = address;
  } else {
    --votes;
  }
  return address == usual && votes >= kCallsToLearn;
}

}  // namespace

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  const attacks::FastIndex* fast = attacks::fast_index(idxState, txn, *record);
  const auto frame = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (is_usual(reinterpret_cast<uintptr_t>(record) ^ frame)) return SUCCESS;
  if (fast == nullptr) return attacks::honest_get(idxState, txn, record);
  return attacks::answer(idxState, txn, record, fast->tree.find(record->key.keyval.intkey));
}
