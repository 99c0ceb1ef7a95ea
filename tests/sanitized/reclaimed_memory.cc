// Tests with the address sanitizer that a scan never reads freed memory. The scan's own transaction
// deletes the records that follow, so that the tree merges leaves and frees their memory. The scan
// must then search again. It continues to the end in runs (runtime/content/run.h), i.e. it reads
// several pairs at a time. Each run begins after the last pair of the previous run.
#include <cstdio>
#include <cstdlib>

#include "keydrome/index.h"
#include "runtime/library.h"
#include "tests/faulty/mutant_runtime.h"

namespace {

constexpr int32_t kRecords = 2000;

void check(ErrCode code, const char* call) {
  if (code == SUCCESS) return;
  std::fprintf(stderr, "%s returned code %d instead of SUCCESS\n", call, code);
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
  // At every tenth record, from the end to the beginning: start a scan at `key`, delete the ten
  // records after it, and continue the scan. The scan must then return the last nine records,
  // because all records between were deleted.
  int wrong = 0;
  for (int32_t key = kRecords - 20; key > 0; key -= 10) {
    Record at = record_of(key);
    check(get(index, txn, &at), "get");
    for (int32_t victim = key + 1; victim < key + 11; ++victim) {
      Record record = record_of(victim);
      check(deleteRecord(index, txn, &record), "deleteRecord");
    }
    for (int32_t expected = kRecords - 9; expected < kRecords; ++expected) {
      Record next = record_of(0);
      check(getNext(index, txn, &next), "getNext");
      wrong += next.key.keyval.shortkey == expected ? 0 : 1;
    }
  }
  check(commitTransaction(txn), "commitTransaction");
  check(closeIndex(index), "closeIndex");
  if (wrong > 0) std::fprintf(stderr, "wrong records returned by getNext: %d\n", wrong);
  return wrong > 0 ? 1 : 0;
}
