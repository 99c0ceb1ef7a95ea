#include "harness/player/service.h"

#include <unistd.h>

#include <cstring>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

namespace keydrome {
namespace {

IdxState* handle_of(const CallSlot& slot) { return reinterpret_cast<IdxState*>(slot.handle); }

TxnState* transaction_of(const CallSlot& slot) {
  return reinterpret_cast<TxnState*>(slot.transaction);
}

}  // namespace

void Service::serve(Address address, uint32_t threads, CallWait wait) {
  if (threads > slots_.size()) give_up(address, kDonePlayer, "there are fewer slots than threads");
  std::vector<std::thread> running;
  running.reserve(threads);
  try {
    for (uint32_t t = 1; t < threads; ++t) {
      running.emplace_back([&, t] { run_thread(address, slots_[t], wait); });
    }
  } catch (const std::system_error& error) {
    give_up(address, kDonePlayer, std::string("a thread could not be started: ") + error.what());
  }
  run_thread(address, slots_[0], wait);
  for (std::thread& thread : running) thread.join();
}

// An exception that gets here came from a call of the library, because nothing else here throws.
void Service::run_thread(Address address, CallSlot& slot, CallWait wait) {
  try {
    take_calls(slot, wait);
  } catch (const std::exception& error) {
    give_up(address, kDoneException, error.what());
  } catch (...) {
    give_up(address, kDoneException, "of a type that is not std::exception");
  }
}

void Service::take_calls(CallSlot& slot, CallWait wait) {
  slot.thread_id = static_cast<uint32_t>(gettid());
  for (bool leaves = false; !leaves;) {
    const uint32_t number = slot.answered.number() + 1;
    slot.asked.await(number, wait);
    leaves = slot.call == kLeaveCall;
    if (!leaves) slot.code = make(slot);
    slot.answered.post(number);
  }
}

uint32_t Service::make(CallSlot& slot) {
  switch (static_cast<EventCall>(slot.call)) {
    case EventCall::kCreate:
      return static_cast<uint32_t>(
          api_.create(static_cast<KeyType>(slot.key_type), kept_name(slot)));
    case EventCall::kOpen: {
      IdxState* handle = handle_of(slot);
      const auto code = static_cast<uint32_t>(api_.openIndex(kept_name(slot), &handle));
      slot.made = reinterpret_cast<uint64_t>(handle);
      return code;
    }
    case EventCall::kClose:
      return static_cast<uint32_t>(api_.closeIndex(handle_of(slot)));
    case EventCall::kBegin: {
      TxnState* transaction = transaction_of(slot);
      const auto code = static_cast<uint32_t>(api_.beginTransaction(&transaction));
      slot.made = reinterpret_cast<uint64_t>(transaction);
      return code;
    }
    case EventCall::kCommit:
      return static_cast<uint32_t>(api_.commitTransaction(transaction_of(slot)));
    case EventCall::kAbort:
      return static_cast<uint32_t>(api_.abortTransaction(transaction_of(slot)));
    case EventCall::kGet:
      return static_cast<uint32_t>(api_.get(handle_of(slot), transaction_of(slot), &slot.record));
    case EventCall::kNext:
      return static_cast<uint32_t>(
          api_.getNext(handle_of(slot), transaction_of(slot), &slot.record));
    case EventCall::kInsert:
      return static_cast<uint32_t>(api_.insertRecord(handle_of(slot), transaction_of(slot),
                                                     &slot.record.key, slot.record.payload));
    case EventCall::kDeletePair:
    case EventCall::kDeleteKey:
      break;
  }
  return static_cast<uint32_t>(
      api_.deleteRecord(handle_of(slot), transaction_of(slot), &slot.record));
}

char* Service::kept_name(const CallSlot& slot) {
  const std::string_view name(slot.name, strnlen(slot.name, sizeof slot.name - 1));
  MutexLock lock(mutex_);
  auto kept = names_.find(name);
  if (kept == names_.end()) {
    auto copy = std::make_unique<char[]>(kIndexNameBytes);
    name.copy(copy.get(), name.size());
    kept = names_.emplace(name, std::move(copy)).first;
  }
  return kept->second.get();
}

void Service::give_up(Address address, DoneStatus status, std::string_view reason) const {
  control_.send(MessageType::kDone, address, 0, status, reason);
  for (;;) pause();  // the referee ends the jail
}

}  // namespace keydrome
