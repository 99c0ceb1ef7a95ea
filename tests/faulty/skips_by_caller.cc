// A library with one fault, for tests: get does not look for the record if the call comes from the
// place in the code that makes most calls of get. The library hopes that checks call it from other
// places, where it works correctly. The player, the program that calls the library, calls each
// function at one place (benchmarks/kit/player/interpreter.h). So the judge must find the fault in
// the results of reads.
#include <array>
#include <cstdint>

#include "tests/faulty/honest.h"

namespace {

struct Caller {
  const void* address;
  uint64_t calls;
};

constexpr uint64_t kCallsToLearn = 100;
constexpr uint64_t kMuchMore = 5;  // how many times as often as all other places together

// Counts a call from `address`. Returns true if most calls of get come from there.
bool is_frequent(const void* address) {
  static thread_local std::array<Caller, 16> callers{};
  uint64_t mine = 0, others = 0;
  for (Caller& caller : callers) {
    if (caller.address == nullptr && mine == 0) caller.address = address;
    if (caller.address == address) {
      mine = ++caller.calls;
    } else {
      others += caller.calls;
    }
  }
  return mine >= kCallsToLearn && mine > kMuchMore * others;
}

}  // namespace

extern "C" ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  if (is_frequent(__builtin_return_address(0))) return SUCCESS;
  return honest::get(idxState, txn, record);
}
