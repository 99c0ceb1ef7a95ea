// What the runtime keeps about one client thread: open handles, the open transaction, caches.
//
// IdxState* and TxnState* as the client sees them are numbers, not addresses: whatever the client
// passes is compared with what this thread has open and never followed. So NULL, ended, invented
// and other threads' handles are answered with DB_DNE or TXN_DNE and cannot crash anything.
//
// Thread safety: a session is used by one thread at a time; the pool by all.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/thread_annotations.h"
#include "keydrome/index.h"
#include "runtime/control/control.h"
#include "runtime/index.h"

namespace keydrome::runtime {

class Catalog;

// An open index. The cursor counts only in the transaction that it was used in.
struct Handle {
  explicit Handle(uint64_t slot) : token(~slot) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  uint64_t token;          // what the client has; of a closed handle it names another slot
  Index* index = nullptr;  // pinned; nullptr: closed
  uint32_t generation = 0;
  uint64_t cursor_transaction = 0;
  Cursor cursor;
};

class Session {
 public:
  enum class State : uint8_t {
    kNone,
    kOpen,
    kDoomed
  };  // doomed: DEADLOCK was answered, abort is awaited

  Session(uint32_t number, std::unique_ptr<ControlSession> control)
      : number_(number),
        control_(std::move(control)),
        own_(control_->own()),
        automatic_(control_->automatic()) {}
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  // SUCCESS, DB_DNE, or FAILURE when a thread has 2^20 handles open. Throws std::bad_alloc.
  ErrCode open(std::string_view name, const Catalog& catalog, IdxState** state);
  bool close(const IdxState* state);
  void close_all();
  // nullptr when this thread has no such handle open.
  Handle* handle(const IdxState* state) {
    const auto token = reinterpret_cast<uintptr_t>(state);
    const size_t slot = token & kSlotMask;
    if (slot >= handles_.size()) return nullptr;
    Handle* handle = handles_[slot].get();
    return handle->token == token ? handle : nullptr;
  }

  State state() const { return state_; }
  void doom() { state_ = State::kDoomed; }
  TxnState* open_transaction() {
    state_ = State::kOpen;
    transaction_ = uint64_t{number_} << kNumberShift | (++transactions_ & kCountMask);
    return reinterpret_cast<TxnState*>(transaction_);
  }
  void end_transaction() {
    state_ = State::kNone;
    transaction_ = 0;
  }
  bool is_open_transaction(const TxnState* transaction) const {
    return transaction != nullptr && reinterpret_cast<uintptr_t>(transaction) == transaction_;
  }

  // Whether the client may make a call in it: SUCCESS, TXN_DNE, or DEADLOCK when it is doomed.
  ErrCode check(const TxnState* transaction) const {
    if (!is_open_transaction(transaction)) [[unlikely]] {
      return TXN_DNE;
    }
    return state_ == State::kDoomed ? DEADLOCK : SUCCESS;
  }

  // The handle's cursor, at the start when the open transaction has not used it yet.
  Cursor& cursor(Handle& handle) {
    if (handle.cursor_transaction != transaction_) [[unlikely]] {
      handle.cursor_transaction = transaction_;
      handle.cursor.reset();
    }
    return handle.cursor;
  }
  // A cursor at the start, for one call.
  Cursor& fresh_cursor() {
    scratch_.reset();
    return scratch_;
  }

  // The control's: of the client's transaction, and of its auto-commit calls.
  Transaction& own() { return own_; }
  Transaction& automatic() { return automatic_; }

 private:
  // A handle is session number, generation and slot; a transaction is session number and count.
  static constexpr uint32_t kSlotBits = 20;
  static constexpr uint32_t kGenerationBits = 24;
  static constexpr uint64_t kSlotMask = (uint64_t{1} << kSlotBits) - 1;
  static constexpr uint64_t kGenerationMask = (uint64_t{1} << kGenerationBits) - 1;
  static constexpr uint32_t kNumberShift = kSlotBits + kGenerationBits;
  static constexpr uint64_t kCountMask = (uint64_t{1} << kNumberShift) - 1;

  uint64_t token_of(uint32_t generation, uint64_t slot) const {
    return uint64_t{number_} << kNumberShift | (generation & kGenerationMask) << kSlotBits | slot;
  }
  Index* find_and_pin(std::string_view name, const Catalog& catalog);

  const uint32_t number_;  // from 1, so that no handle is NULL
  const std::unique_ptr<ControlSession> control_;
  Transaction& own_;
  Transaction& automatic_;
  State state_ = State::kNone;
  uint64_t transaction_ = 0;  // 0: none
  uint64_t transactions_ = 0;
  std::vector<std::unique_ptr<Handle>> handles_;
  std::vector<uint32_t> closed_;  // slots to use again; as much capacity as there are handles
  std::array<std::shared_ptr<Index>, 64> names_;  // indexes opened lately, by hash of the name
  Cursor scratch_;
};

// Sessions of threads that have ended serve new threads.
class SessionPool {
 public:
  explicit SessionPool(Control& control) : control_(control) {}
  SessionPool(const SessionPool&) = delete;
  SessionPool& operator=(const SessionPool&) = delete;

  // nullptr when the control takes no further thread. Throws std::bad_alloc.
  Session* take();
  // The session has neither a transaction nor a handle open.
  void give_back(Session& session);

 private:
  Control& control_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Session>> sessions_ KEYDROME_GUARDED_BY(mutex_);
  std::vector<Session*> idle_ KEYDROME_GUARDED_BY(mutex_);
};

}  // namespace keydrome::runtime
