// A thread calls the library while another one makes it. As soon as it is answered, it must see the
// library whole: nothing but the publication itself orders the two.
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
