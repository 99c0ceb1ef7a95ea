// Runs the attack function of a hostile library at the moments that its case names. Apart from the
// attack, every call to the library works correctly.
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <thread>

#include "tests/faulty/honest.h"
#include "tests/hostile/attack.h"

namespace hostile {
namespace {

constexpr int kCommitOfTheAttack = 20;

std::atomic<bool> called{false};
// A pthread_t and no std::thread, because when_loaded() may run before constructors of globals.
pthread_t early;

bool wants(Where where) { return (the_case.where & where) != 0; }

const char* name_of(Where where) {
  switch (where) {
    case kConstructor:
      return "constructor";
    case kEarlyThread:
      return "early thread";
    case kCall:
      return "call";
    case kThread:
      return "thread";
    case kCommit:
      return "commit";
    case kClose:
      return "close";
    case kLeftThread:
      return "left thread";
  }
  return "nowhere";
}

void run(Where where) {
  the_case.attack(where);
  std::printf("%s %s: tried\n", the_case.id, name_of(where));
}

[[gnu::constructor]] void when_loaded() {
  // stdout is line buffered, because text in a larger buffer is lost when the process is killed.
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  if (wants(kConstructor)) run(kConstructor);
  if (!wants(kEarlyThread)) return;
  const auto wait_and_run = [](void* unused) -> void* {
    called.wait(false);
    run(kEarlyThread);
    return unused;
  };
  if (pthread_create(&early, nullptr, wait_and_run, nullptr) != 0) std::abort();
}

void at_the_first_call() {
  if (wants(kEarlyThread)) {
    called.store(true);
    called.notify_all();
    pthread_join(early, nullptr);
  }
  if (wants(kCall)) run(kCall);
  if (wants(kThread)) std::thread(run, kThread).join();
  if (wants(kLeftThread)) std::thread(run, kLeftThread).detach();
}

}  // namespace
}  // namespace hostile

extern "C" ErrCode create(KeyType type, char* name) {
  static std::once_flag once;
  std::call_once(once, hostile::at_the_first_call);
  return honest::create(type, name);
}

extern "C" ErrCode commitTransaction(TxnState* txn) {
  static std::atomic<int> commits{0};
  if (hostile::wants(hostile::kCommit) && ++commits == hostile::kCommitOfTheAttack) {
    hostile::run(hostile::kCommit);
  }
  return honest::commitTransaction(txn);
}

extern "C" ErrCode closeIndex(IdxState* idxState) {
  static std::once_flag once;
  const ErrCode code = honest::closeIndex(idxState);
  if (hostile::wants(hostile::kClose)) {
    std::call_once(once, [] { hostile::run(hostile::kClose); });
  }
  return code;
}
