#include "benchmarks/kit/recording.h"

#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "benchmarks/kit/record_buffers.h"

namespace keydrome {
namespace {

thread_local Recording* g_recording = nullptr;

// Of a handle that this thread did not open: no index has that number, so the history is not
// judged.
constexpr uint16_t kNoIndex = 0xffff;

uint64_t key_number(const Key& key, KeyType type) {
  if (type == VARCHAR) return hash_bytes(key_bytes(key, VARCHAR));
  const int64_t number = type == SHORT ? key.keyval.shortkey : key.keyval.intkey;
  return static_cast<uint64_t>(number);
}

uint8_t code_byte(uint32_t code) {
  return code < kEventOddCode ? static_cast<uint8_t>(code) : kEventOddCode;
}

uint32_t duration(uint64_t begin, uint64_t end) {
  return static_cast<uint32_t>(std::min<uint64_t>(end - begin, kEventLongDuration));
}

}  // namespace

Recording::Recording(const RecordingInputs& inputs) : inputs_(inputs) {
  KEYDROME_CHECK(g_recording == nullptr);
  g_recording = this;
}

Recording::~Recording() { g_recording = nullptr; }

void Recording::paused() {
  if (g_recording != nullptr) g_recording->last_end_ = 0;
}

void Recording::opened(const IdxState* handle, uint16_t index) {
  Handle* free = nullptr;
  for (Handle& entry : handles_) {
    if (entry.open > 0 && entry.handle == handle) {
      ++entry.open;
      return;
    }
    if (entry.open == 0 && free == nullptr) free = &entry;  // first: index_of() finds it soonest
  }
  KEYDROME_CHECK(free != nullptr);
  *free = {.handle = handle, .index = index, .open = 1};
}

void Recording::closed(const IdxState* handle) {
  for (Handle& entry : handles_) {
    if (entry.open > 0 && entry.handle == handle) --entry.open;
  }
}

uint16_t Recording::index_of(const IdxState* handle) const {
  for (const Handle& entry : handles_) {
    if (entry.open > 0 && entry.handle == handle) return entry.index;
  }
  return kNoIndex;
}

// The ten calls. A struct, so that Recording can name them as friends.
struct RecordedCalls {
  static Recording& recording() {
    KEYDROME_CHECK(g_recording != nullptr);
    return *g_recording;
  }

  // A call that neither begins nor ends a transaction: create, openIndex, closeIndex.
  template <typename Call>
  static uint32_t around(EventCall call, uint16_t index, Call&& make) {
    Recording& to = recording();
    const uint64_t begin = to.inputs_.clock->before();
    const auto code = static_cast<uint32_t>(make(*to.inputs_.api));
    const uint64_t end = to.inputs_.clock->after();
    to.note({.call = static_cast<uint8_t>(call),
             .code = code_byte(code),
             .index = index,
             .duration = duration(begin, end),
             .key = 0,
             .payload = 0,
             .end = end});
    return code;
  }

  // What a call on data answered, before it is known which record that was. The code is a number
  // here: a library may answer what is no ErrCode.
  struct Timed {
    uint32_t code;
    uint64_t begin, end;
  };

  static uint64_t begin_inside(Recording& to) {
    return to.last_end_ != 0 ? to.last_end_ : to.inputs_.clock->inside();
  }

  template <typename Call>
  static Timed timed(Recording& to, const TxnState* transaction, Call&& make) {
    EventClock& clock = *to.inputs_.clock;
    const bool alone = transaction == nullptr;
    const uint64_t begin = alone ? clock.before() : begin_inside(to);
    const auto code = static_cast<uint32_t>(make(*to.inputs_.api));
    const uint64_t end = alone ? clock.after() : clock.inside();
    return {.code = code, .begin = begin, .end = end};
  }

  static void note(Recording& to, EventCall call, const TxnState* transaction,
                   const IdxState* handle, const Timed& timed, uint64_t key, uint64_t payload) {
    const uint8_t alone = transaction == nullptr ? kEventAutoCommit : 0;
    to.note({.call = static_cast<uint8_t>(static_cast<uint8_t>(call) | alone),
             .code = code_byte(timed.code),
             .index = to.index_of(handle),
             .duration = duration(timed.begin, timed.end),
             .key = key,
             .payload = payload,
             .end = timed.end});
  }

  static ErrCode create(KeyType type, char* name) {
    const uint16_t index = recording().inputs_.names->number(name);
    return static_cast<ErrCode>(around(
        EventCall::kCreate, index, [&](const IndexApi& api) { return api.create(type, name); }));
  }

  static ErrCode open(const char* name, IdxState** handle) {
    const uint16_t index = recording().inputs_.names->number(name);
    const uint32_t code = around(EventCall::kOpen, index,
                                 [&](const IndexApi& api) { return api.openIndex(name, handle); });
    if (code == SUCCESS) recording().opened(*handle, index);
    return static_cast<ErrCode>(code);
  }

  static ErrCode close(IdxState* handle) {
    const uint32_t code = around(EventCall::kClose, recording().index_of(handle),
                                 [&](const IndexApi& api) { return api.closeIndex(handle); });
    recording().closed(handle);
    return static_cast<ErrCode>(code);
  }

  // What a transaction may see comes after the stamp before its begin; the one behind it orders
  // nothing.
  static ErrCode begin(TxnState** transaction) {
    Recording& to = recording();
    const uint64_t begin = to.inputs_.clock->before();
    const auto code = static_cast<uint32_t>(to.inputs_.api->beginTransaction(transaction));
    note_end(to, EventCall::kBegin, code, begin, to.inputs_.clock->inside());
    return static_cast<ErrCode>(code);
  }

  // What a transaction wrote can be seen before the stamp behind its commit. The one before it may
  // be early, which claims less.
  static ErrCode commit(TxnState* transaction) {
    Recording& to = recording();
    const uint64_t begin = begin_inside(to);
    const auto code = static_cast<uint32_t>(to.inputs_.api->commitTransaction(transaction));
    note_end(to, EventCall::kCommit, code, begin, to.inputs_.clock->after());
    return static_cast<ErrCode>(code);
  }

  static void note_end(Recording& to, EventCall call, uint32_t code, uint64_t begin, uint64_t end) {
    to.note({.call = static_cast<uint8_t>(call),
             .code = code_byte(code),
             .index = 0,
             .duration = duration(begin, end),
             .key = 0,
             .payload = 0,
             .end = end});
  }

  static ErrCode abort(TxnState* transaction) {
    return static_cast<ErrCode>(around(EventCall::kAbort, 0, [&](const IndexApi& api) {
      return api.abortTransaction(transaction);
    }));
  }

  static ErrCode get(IdxState* handle, TxnState* transaction, Record* record) {
    Recording& to = recording();
    // What was asked for, not what the library left in the record.
    const uint64_t key = key_number(record->key, record->key.type);
    const Timed done = timed(
        to, transaction, [&](const IndexApi& api) { return api.get(handle, transaction, record); });
    const uint64_t payload = done.code == SUCCESS ? hash_bytes(payload_bytes(*record)) : 0;
    note(to, EventCall::kGet, transaction, handle, done, key, payload);
    return static_cast<ErrCode>(done.code);
  }

  static ErrCode get_next(IdxState* handle, TxnState* transaction, Record* record) {
    Recording& to = recording();
    const KeyType type = record->key.type;
    const Timed done = timed(to, transaction, [&](const IndexApi& api) {
      return api.getNext(handle, transaction, record);
    });
    const bool found = done.code == SUCCESS;
    note(to, EventCall::kNext, transaction, handle, done, found ? key_number(record->key, type) : 0,
         found ? hash_bytes(payload_bytes(*record)) : 0);
    return static_cast<ErrCode>(done.code);
  }

  static ErrCode insert(IdxState* handle, TxnState* transaction, Key* key, const char* payload) {
    Recording& to = recording();
    const uint64_t number = key_number(*key, key->type);
    const Timed done = timed(to, transaction, [&](const IndexApi& api) {
      return api.insertRecord(handle, transaction, key, payload);
    });
    // Behind the call, when the stores that wrote the payload are done: reading it at once costs a
    // stall of some 10 ns. The library may not write to it.
    const uint64_t fingerprint =
        hash_bytes({payload, strnlen(payload, MAX_PAYLOAD_LEN + std::size_t{1})});
    note(to, EventCall::kInsert, transaction, handle, done, number, fingerprint);
    return static_cast<ErrCode>(done.code);
  }

  static ErrCode erase(IdxState* handle, TxnState* transaction, Record* record) {
    Recording& to = recording();
    const uint64_t key = key_number(record->key, record->key.type);
    const bool whole_key = record->payload[0] == '\0';
    const uint64_t payload = whole_key ? 0 : hash_bytes(payload_bytes(*record));
    const Timed done = timed(to, transaction, [&](const IndexApi& api) {
      return api.deleteRecord(handle, transaction, record);
    });
    note(to, whole_key ? EventCall::kDeleteKey : EventCall::kDeletePair, transaction, handle, done,
         key, payload);
    return static_cast<ErrCode>(done.code);
  }
};

const IndexApi& recording_api() {
  static const IndexApi kApi = {.create = RecordedCalls::create,
                                .openIndex = RecordedCalls::open,
                                .closeIndex = RecordedCalls::close,
                                .beginTransaction = RecordedCalls::begin,
                                .abortTransaction = RecordedCalls::abort,
                                .commitTransaction = RecordedCalls::commit,
                                .get = RecordedCalls::get,
                                .getNext = RecordedCalls::get_next,
                                .insertRecord = RecordedCalls::insert,
                                .deleteRecord = RecordedCalls::erase};
  return kApi;
}

}  // namespace keydrome
