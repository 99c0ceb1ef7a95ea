// Implements Service: in the jail (sandbox), one thread per call slot (harness/calls.h) makes the
// library calls that the driver, a process outside the jail, requests.
#include "harness/player/service.h"

#include <unistd.h>

#include <cstring>
#include <exception>
#include <system_error>
#include <thread>
#include <vector>

#include "base/keydrome_error.h"

namespace keydrome {

using history::EventCall;

namespace {

IdxState* handle_of(const CallSlot& slot) { return reinterpret_cast<IdxState*>(slot.handle); }

TxnState* transaction_of(const CallSlot& slot) {
  return reinterpret_cast<TxnState*>(slot.transaction);
}

}  // namespace

void Service::serve(PhaseId phase, uint32_t threads, CallWait wait, const Cpus* pins) {
  if (threads > slots_.size())
    give_up(phase, kDonePlayer,
            "the referee asked for " + std::to_string(threads) + " threads, but there are only " +
                std::to_string(slots_.size()) + " call slots; " + kReportError);
  std::vector<std::thread> running;
  running.reserve(threads);
  try {
    for (uint32_t t = 1; t < threads; ++t) {
      running.emplace_back([&, t] { run_thread(phase, t, wait, pins); });
    }
  } catch (const std::system_error& error) {
    give_up(phase, kDoneNoThread, std::string("a thread could not be started: ") + error.what());
  }
  run_thread(phase, 0, wait, pins);
  for (std::thread& thread : running) thread.join();
}

// Serves one slot until the phase ends. An exception caught here comes from the library, because
// the other functions throw none.
void Service::run_thread(PhaseId phase, uint32_t number, CallWait wait, const Cpus* pins) {
  if (pins != nullptr && !pins->bind(number)) give_up(phase, kDonePlayer, not_bound_text());
  try {
    serve_slot(slots_[number], wait);
  } catch (const std::exception& error) {
    give_up(phase, kDoneException, error.what());
  } catch (...) {
    give_up(phase, kDoneException, "the type of the exception is not derived from std::exception");
  }
  if (pins != nullptr) pins->release();
}

void Service::serve_slot(CallSlot& slot, CallWait wait) {
  slot.thread_id = static_cast<uint32_t>(gettid());
  for (bool ended = false; !ended;) {
    const uint32_t number = slot.reply.number() + 1;
    slot.request.await(number, wait);
    ended = slot.call == kEndOfCalls;
    if (!ended) slot.code = call(slot);
    slot.reply.post(number);
  }
}

uint32_t Service::call(CallSlot& slot) {
  switch (static_cast<EventCall>(slot.call)) {
    case EventCall::kCreate:
      return static_cast<uint32_t>(
          api_.create(static_cast<KeyType>(slot.key_type), stable_name(slot)));
    case EventCall::kOpen: {
      IdxState* handle = handle_of(slot);
      const auto code = static_cast<uint32_t>(api_.openIndex(stable_name(slot), &handle));
      slot.new_handle = reinterpret_cast<uint64_t>(handle);
      return code;
    }
    case EventCall::kClose:
      return static_cast<uint32_t>(api_.closeIndex(handle_of(slot)));
    case EventCall::kBegin: {
      TxnState* transaction = transaction_of(slot);
      const auto code = static_cast<uint32_t>(api_.beginTransaction(&transaction));
      slot.new_handle = reinterpret_cast<uint64_t>(transaction);
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

char* Service::stable_name(const CallSlot& slot) {
  const std::string_view name(slot.name, strnlen(slot.name, sizeof slot.name - 1));
  MutexLock lock(mutex_);
  auto known = names_.find(name);
  if (known == names_.end()) {
    auto copy = std::make_unique<char[]>(format::kIndexNameBytes);
    name.copy(copy.get(), name.size());
    known = names_.emplace(name, std::move(copy)).first;
  }
  return known->second.get();
}

void Service::give_up(PhaseId phase, DoneStatus status, std::string_view reason) const {
  channel_.send(MessageType::kDone, phase, status, reason);
  for (;;) pause();  // the referee, the process outside that runs the session, ends the jail
}

}  // namespace keydrome
