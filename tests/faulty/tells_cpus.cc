// A correct library for tests that prints on how many CPUs its threads may run.
// harness/tests/pinning_run_test.cc reads the lines: name of the call, key, number of CPUs, CPU. A
// thread prints a line at its first call, and whenever the number of CPUs has changed. A thread
// that runs on a CPU that it may not use prints a line that begins with "outside".
//
// A thread of the library, which the first create starts, prints a line "background" when a caller
// is first bound to one CPU.
#include <sched.h>

#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <thread>

#include "tests/faulty/honest.h"

namespace {

std::mutex mutex;
std::condition_variable changed;
bool asked = false, answered = false;  // guarded by mutex

int print(const char* call, int64_t key) {
  thread_local int printed = 0;
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  const int count = CPU_COUNT(&allowed), cpu = sched_getcpu();
  const bool outside = cpu >= 0 && !CPU_ISSET(cpu, &allowed);
  if (count == printed && !outside) return count;
  printed = count;
  std::printf("%s %lld %d %d\n", outside ? "outside" : call, static_cast<long long>(key), count,
              cpu);
  std::fflush(stdout);
  return count;
}

void wait_in_background() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [] { return asked; });
  print("background", 0);
  answered = true;
  changed.notify_all();
}

void ask_background() {
  std::unique_lock lock(mutex);
  asked = true;
  changed.notify_all();
  changed.wait(lock, [] { return answered; });
}

}  // namespace

extern "C" {

ErrCode create(KeyType type, char* name) {
  print("create", 0);
  static const bool started = [] {
    std::thread(wait_in_background).detach();
    return true;
  }();
  return started ? honest::create(type, name) : FAILURE;
}

ErrCode beginTransaction(TxnState** txn) {
  print("begin", 0);
  return honest::beginTransaction(txn);
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  if (print("insert", k->keyval.intkey) == 1) ask_background();
  return honest::insertRecord(idxState, txn, k, payload);
}

}  // extern "C"
