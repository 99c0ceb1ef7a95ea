// Tests with the thread sanitizer that a runtime can be installed while another thread makes calls.
// The runtime is the code that adds transactions to a data structure. Once a call succeeds, its
// thread must see the complete runtime. Only the atomic store that publishes the runtime orders the
// two threads.
#include <thread>

#include "keydrome/index.h"
#include "runtime/library.h"
#include "tests/faulty/mutant_runtime.h"

int main() {
  std::thread client([] {
    TxnState* txn = nullptr;
    while (beginTransaction(&txn) != SUCCESS) std::this_thread::yield();
    abortTransaction(txn);
  });
  keydrome::runtime::install(keydrome::testing::make_mutant_runtime());
  client.join();
  return 0;
}
