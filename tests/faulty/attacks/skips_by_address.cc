// Attack: does not look for the record if the record and the stack frame are at the addresses of most
// calls. The library hopes that checks use other buffers or another depth of the stack.
// Must be found by: the results of reads, because the player, the program that calls the library,
// makes all calls at one place with the same buffers.
#include <cstdint>

#include "tests/faulty/attacks/fast_reads.h"

namespace {

constexpr uint64_t kCallsToLearn = 100;

// Counts calls with the thread's most frequent address. Returns true if this call has it.
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
