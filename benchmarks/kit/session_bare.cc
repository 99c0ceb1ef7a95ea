// Calls that a fair client would not make: with handles and transactions that have ended or never
// were, with keys of another type, with garbage where nothing is to be read. What came back is
// evidence; nothing else of the session changes but the handle of the slot.
#include <cstring>

#include "benchmarks/kit/record_buffers.h"
#include "benchmarks/kit/session.h"

namespace keydrome {
namespace {

void put_key(const PoolsView& pools, const BareCall& call, uint32_t number, Key& key) {
  const std::string_view bytes = pool_key_bytes(pools, call.key_type, number);
  key.type = call.key_type;
  std::memcpy(&key.keyval, bytes.data(), bytes.size());
  if (call.key_type == VARCHAR) key.keyval.charkey[bytes.size()] = '\0';
}

constexpr bool has_key(EventCall call) {
  return call == EventCall::kGet || call == EventCall::kInsert || call == EventCall::kDeletePair ||
         call == EventCall::kDeleteKey;
}

}  // namespace

void Session::bare_call(const Op& op, std::size_t at) {
  const BareCall bare = BareCall::unpacked(op.argument);
  Record record;
  std::memset(static_cast<void*>(&record), bare.garbage ? BareCall::kGarbage : 0, sizeof record);
  if (has_key(bare.call)) put_key(*pools_, bare, op.key, record.key);
  const bool reads = bare.call == EventCall::kGet || bare.call == EventCall::kNext;
  if (!reads) {
    const std::string_view text = pools_->payloads[op.payload];
    text.copy(record.payload, text.size());
    record.payload[text.size()] = '\0';
  }
  const uint32_t code = make_bare_call(op, bare, record);
  ++outcome_->calls;
  // The key that getNext gave with its type, as a number since it may be none; what a get left in
  // the payload even when it found nothing.
  const bool moved = bare.call == EventCall::kNext && code == SUCCESS;
  uint32_t type = 0;
  if (moved) std::memcpy(&type, &record.key.type, sizeof type);
  trace_.append(base_ + at, type, code,
                moved ? key_bytes(record.key, slots_[op.slot].type) : std::string_view(),
                moved || bare.call == EventCall::kGet ? payload_bytes(record) : std::string_view());
}

uint32_t Session::make_bare_call(const Op& op, const BareCall& bare, Record& record) {
  Slot& slot = slots_[op.slot];
  TxnState* const transaction = bare.in_transaction ? bare_transaction_ : nullptr;
  switch (bare.call) {
    case EventCall::kCreate:
      return static_cast<uint32_t>(
          api_->create(static_cast<KeyType>(pools_->indexes[op.key].type), names_->name(op.key)));
    case EventCall::kOpen:
      slot.type = static_cast<KeyType>(pools_->indexes[op.key].type);
      return static_cast<uint32_t>(api_->openIndex(names_->name(op.key), &slot.handle));
    case EventCall::kClose:
      return static_cast<uint32_t>(api_->closeIndex(slot.handle));
    case EventCall::kBegin: {
      TxnState* begun = nullptr;
      const auto code = static_cast<uint32_t>(api_->beginTransaction(&begun));
      if (code == SUCCESS) bare_transaction_ = begun;
      return code;
    }
    case EventCall::kCommit:
      return static_cast<uint32_t>(api_->commitTransaction(transaction));
    case EventCall::kAbort:
      return static_cast<uint32_t>(api_->abortTransaction(transaction));
    case EventCall::kGet:
      return static_cast<uint32_t>(api_->get(slot.handle, transaction, &record));
    case EventCall::kNext:
      return static_cast<uint32_t>(api_->getNext(slot.handle, transaction, &record));
    case EventCall::kInsert:
      return static_cast<uint32_t>(
          api_->insertRecord(slot.handle, transaction, &record.key, record.payload));
    case EventCall::kDeletePair:
    case EventCall::kDeleteKey:
      break;
  }
  return static_cast<uint32_t>(api_->deleteRecord(slot.handle, transaction, &record));
}

}  // namespace keydrome
