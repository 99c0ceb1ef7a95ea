// Implements the ten functions of keydrome/index.h (contract A, the interface of an index library)
// for the driver. The driver is the process outside the jail (sandbox) that decides which calls to
// make. Each function sends its call to the player, the process in the jail that runs the library.
// It sends the call through the calling thread's CallSlot, a struct in shared memory, and waits for
// the result.
#include "harness/driver/remote_library.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "benchmarks/kit/player/record_buffers.h"

namespace keydrome {

using history::EventCall;

namespace {

thread_local RemoteThread* g_thread = nullptr;

template <typename Pointer>
uint64_t as_number(Pointer* pointer) {
  return reinterpret_cast<uint64_t>(pointer);
}

}  // namespace

RemoteThread::RemoteThread(CallSlot& slot, uint32_t& number, CallWait wait)
    : slot_(slot), number_(number), wait_(wait) {
  KEYDROME_CHECK(g_thread == nullptr);
  g_thread = this;
}

RemoteThread::~RemoteThread() {
  send(kEndOfCalls);
  g_thread = nullptr;
}

uint32_t RemoteThread::send(uint32_t call) {
  slot_.call = call;
  slot_.request.post(++number_);
  slot_.reply.await(number_, wait_);
  return slot_.code;
}

// The ten functions. They are members of a struct, so that RemoteThread can declare them friends.
struct RemoteCalls {
  static RemoteThread& thread() {
    KEYDROME_CHECK(g_thread != nullptr);
    return *g_thread;
  }

  static ErrCode send(RemoteThread& thread, EventCall call) {
    return static_cast<ErrCode>(thread.send(static_cast<uint32_t>(call)));
  }

  static ErrCode send_on(RemoteThread& thread, EventCall call, IdxState* handle,
                         TxnState* transaction) {
    thread.slot_.handle = as_number(handle);
    thread.slot_.transaction = as_number(transaction);
    return send(thread, call);
  }

  static void put_name(CallSlot& slot, const char* name) {
    const std::size_t length = strnlen(name, sizeof slot.name - 1);
    std::memcpy(slot.name, name, length);
    slot.name[length] = '\0';
  }

  static ErrCode create(KeyType type, char* name) {
    RemoteThread& to = thread();
    to.slot_.key_type = type;
    put_name(to.slot_, name);
    return send(to, EventCall::kCreate);
  }

  static ErrCode open(const char* name, IdxState** handle) {
    RemoteThread& to = thread();
    put_name(to.slot_, name);
    const ErrCode code = send_on(to, EventCall::kOpen, *handle, nullptr);
    *handle = reinterpret_cast<IdxState*>(to.slot_.new_handle);
    return code;
  }

  static ErrCode close(IdxState* handle) {
    return send_on(thread(), EventCall::kClose, handle, nullptr);
  }

  static ErrCode begin(TxnState** transaction) {
    RemoteThread& to = thread();
    const ErrCode code = send_on(to, EventCall::kBegin, nullptr, *transaction);
    *transaction = reinterpret_cast<TxnState*>(to.slot_.new_handle);
    return code;
  }

  static ErrCode commit(TxnState* transaction) {
    return send_on(thread(), EventCall::kCommit, nullptr, transaction);
  }

  static ErrCode abort(TxnState* transaction) {
    return send_on(thread(), EventCall::kAbort, nullptr, transaction);
  }

  static ErrCode with_record(EventCall call, IdxState* handle, TxnState* transaction,
                             Record* record) {
    RemoteThread& to = thread();
    to.slot_.record = *record;
    const ErrCode code = send_on(to, call, handle, transaction);
    *record = to.slot_.record;
    return code;
  }

  static ErrCode get(IdxState* handle, TxnState* transaction, Record* record) {
    return with_record(EventCall::kGet, handle, transaction, record);
  }

  static ErrCode get_next(IdxState* handle, TxnState* transaction, Record* record) {
    return with_record(EventCall::kNext, handle, transaction, record);
  }

  // Copies MAX_PAYLOAD_LEN + 1 bytes. `payload` always has that many bytes: it is either the
  // payload buffer of the interpreter or the payload of a Record.
  static ErrCode insert(IdxState* handle, TxnState* transaction, Key* key, const char* payload) {
    RemoteThread& to = thread();
    to.slot_.record.key = *key;
    std::memcpy(to.slot_.record.payload, payload, sizeof to.slot_.record.payload);
    return send_on(to, EventCall::kInsert, handle, transaction);
  }

  static ErrCode erase(IdxState* handle, TxnState* transaction, Record* record) {
    return with_record(EventCall::kDeletePair, handle, transaction, record);
  }
};

const player::IndexApi& remote_api() {
  static const player::IndexApi kApi = {.create = RemoteCalls::create,
                                        .openIndex = RemoteCalls::open,
                                        .closeIndex = RemoteCalls::close,
                                        .beginTransaction = RemoteCalls::begin,
                                        .abortTransaction = RemoteCalls::abort,
                                        .commitTransaction = RemoteCalls::commit,
                                        .get = RemoteCalls::get,
                                        .getNext = RemoteCalls::get_next,
                                        .insertRecord = RemoteCalls::insert,
                                        .deleteRecord = RemoteCalls::erase};
  return kApi;
}

}  // namespace keydrome
