// A scan stands in a leaf of the tree when its own transaction deletes what is around it, so that
// the leaf is merged into another one and freed. The scan must go on from a place that it looks up
// again, not from the freed leaf.
#include <cstdio>
#include <cstdlib>

#include "keydrome/index.h"
#include "runtime/library.h"
#include "tests/faulty/mutant_runtime.h"

namespace {

constexpr int32_t kRecords = 2000;

void check(ErrCode code, const char* call) {
  if (code == SUCCESS) return;
  std::fprintf(stderr, "%s answered %d\n", call, code);
  std::exit(1);
}

Record record_of(int32_t key) {
  Record record{};
  record.key.type = SHORT;
  record.key.keyval.shortkey = key;
  return record;
}

}  // namespace

int main() {
  keydrome::runtime::install(keydrome::testing::make_mutant_runtime());
  char name[] = "numbers";
  IdxState* index = nullptr;
  TxnState* txn = nullptr;
  check(create(SHORT, name), "create");
  check(openIndex(name, &index), "openIndex");
  check(beginTransaction(&txn), "beginTransaction");
  for (int32_t key = 0; key < kRecords; ++key) {
    Record record = record_of(key);
    check(insertRecord(index, txn, &record.key, "a payload"), "insertRecord");
  }
  // At every tenth record a scan begins, all records up to the end but the last go, and it goes on.
  int wrong = 0;
  for (int32_t key = kRecords - 20; key > 0; key -= 10) {
    Record at = record_of(key);
    check(get(index, txn, &at), "get");
    for (int32_t victim = key + 1; victim < key + 11; ++victim) {
      Record record = record_of(victim);
      check(deleteRecord(index, txn, &record), "deleteRecord");
    }
    Record next = record_of(0);
    check(getNext(index, txn, &next), "getNext");
    wrong += next.key.keyval.shortkey == kRecords - 9 ? 0 : 1;
  }
  check(commitTransaction(txn), "commitTransaction");
  check(closeIndex(index), "closeIndex");
  if (wrong > 0) std::fprintf(stderr, "%d scans went on somewhere else\n", wrong);
  return wrong > 0 ? 1 : 0;
}
