// Exports the functions of index.h and extensions.h. Each of them calls the Runtime and turns every
// exception into an error result, such as FAILURE. No other symbol is exported, because only these
// two headers are included with default visibility.
#pragma GCC visibility push(default)
#include "keydrome/extensions.h"
#include "keydrome/index.h"
#pragma GCC visibility pop

#include <atomic>
#include <cstdio>
#include <memory>
#include <string>

#include "base/thread_annotations.h"
#include "runtime/library.h"
#include "runtime/runtime.h"

namespace {

using keydrome::Mutex;
using keydrome::MutexLock;
using keydrome::Result;
using keydrome::runtime::Runtime;

// The runtime of this process, which is set once. It is never destroyed, because threads may still
// make calls while the process exits.
std::atomic<Runtime*> g_runtime = nullptr;
Mutex g_configure_mutex;
std::atomic<bool> g_refused = false;  // keydrome_configure has returned an error

ErrCode not_configured() {
  static std::atomic<bool> said = false;
  if (!said.exchange(true)) {
    std::fprintf(stderr, "keydrome runtime: every call returns FAILURE, because %s\n",
                 g_refused ? "keydrome_configure returned an error; correct what its parameter "
                             "`reason` reports, and call it again"
                           : "keydrome_configure was not called, so there is no structure to run; "
                             "call it first (with the command keydrome: give a structure instead "
                             "of runtime.so)");
  }
  return FAILURE;
}

template <class Call>
ErrCode with_runtime(Call&& call) noexcept {
  // This acquire pairs with the release in install(), so this thread sees the complete runtime.
  Runtime* runtime = g_runtime.load(std::memory_order_acquire);
  if (runtime == nullptr) [[unlikely]] {
    return not_configured();
  }
  try {
    return call(*runtime);
  } catch (...) {
    return FAILURE;  // memory ran out; the call has been undone
  }
}

void write_reason(const std::string& text, char* reason, uint32_t capacity) {
  if (reason != nullptr && capacity > 0) std::snprintf(reason, capacity, "%s", text.c_str());
}

}  // namespace

void keydrome::runtime::install(std::unique_ptr<Runtime> runtime) {
  // This release pairs with the acquire in with_runtime.
  g_runtime.store(runtime.release(), std::memory_order_release);
}

int keydrome_configure(const char* json, char* reason, uint32_t capacity) {
  try {
    const MutexLock guard(g_configure_mutex);
    if (g_runtime.load() != nullptr) {
      write_reason(
          "keydrome_configure was called a second time in this process; call it once, and start a "
          "new process for another configuration",
          reason, capacity);
      return 1;
    }
    Result<std::unique_ptr<Runtime>> runtime = Runtime::make(json == nullptr ? "" : json);
    if (!runtime.ok()) {
      g_refused = true;
      write_reason(runtime.error().message, reason, capacity);
      return 1;
    }
    keydrome::runtime::install(*std::move(runtime));
    return 0;
  } catch (...) {
    g_refused = true;
    write_reason("memory ran out while the runtime was set up; give the run more memory", reason,
                 capacity);
    return 1;
  }
}

ErrCode create(KeyType type, char* name) {
  return with_runtime([&](Runtime& runtime) { return runtime.create(type, name); });
}

ErrCode openIndex(const char* name, IdxState** idxState) {
  return with_runtime([&](Runtime& runtime) { return runtime.open_index(name, idxState); });
}

ErrCode closeIndex(IdxState* idxState) {
  return with_runtime([&](Runtime& runtime) { return runtime.close_index(idxState); });
}

ErrCode beginTransaction(TxnState** txn) {
  return with_runtime([&](Runtime& runtime) { return runtime.begin(txn); });
}

ErrCode abortTransaction(TxnState* txn) {
  return with_runtime([&](Runtime& runtime) { return runtime.abort(txn); });
}

ErrCode commitTransaction(TxnState* txn) {
  return with_runtime([&](Runtime& runtime) { return runtime.commit(txn); });
}

ErrCode get(IdxState* idxState, TxnState* txn, Record* record) {
  return with_runtime([&](Runtime& runtime) { return runtime.get(idxState, txn, record); });
}

ErrCode getNext(IdxState* idxState, TxnState* txn, Record* record) {
  return with_runtime([&](Runtime& runtime) { return runtime.get_next(idxState, txn, record); });
}

ErrCode insertRecord(IdxState* idxState, TxnState* txn, Key* k, const char* payload) {
  return with_runtime([&](Runtime& runtime) { return runtime.insert(idxState, txn, k, payload); });
}

ErrCode deleteRecord(IdxState* idxState, TxnState* txn, Record* record) {
  return with_runtime([&](Runtime& runtime) { return runtime.erase(idxState, txn, record); });
}
