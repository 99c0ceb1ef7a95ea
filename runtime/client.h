// Client: the state that the runtime (the library that adds transactions to a data structure) keeps
// for one thread that calls it. This state is the thread's open handles, its open transaction, and
// a cache of indexes.
//
// The IdxState* and TxnState* values that a client receives are numbers, not addresses. The runtime
// compares them with the handles and the transaction of the calling thread, and never dereferences
// them. A value that is NULL, closed, invented or from another thread therefore leads to DB_DNE or
// TXN_DNE, and cannot crash the process.
//
// Thread safety: one thread at a time uses a Client. Any thread may call a ClientPool.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "base/thread_annotations.h"
#include "keydrome/index.h"
#include "runtime/concurrency/concurrency.h"
#include "runtime/index.h"

namespace keydrome::runtime {

class Catalog;

// An open index, as openIndex returns it. The cursor is valid only in the transaction with the
// number `cursor_transaction`.
struct Handle {
  explicit Handle(uint64_t slot) : token(~slot) {}
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;

  // The number in the client's IdxState*. handle() finds a handle by the slot bits of an IdxState*,
  // and then compares the whole number. While the handle is closed, all bits of `token` are
  // inverted. The slot bits of `token` then name another slot. So an IdxState* that leads to this
  // handle never equals `token`.
  uint64_t token;
  Index* index = nullptr;   // nullptr while the handle is closed
  uint32_t generation = 0;  // how often the object was opened; a part of its token
  uint64_t cursor_transaction = 0;
  Cursor cursor;
};

class Client {
 public:
  enum class State : uint8_t {
    kNone,  // no transaction
    kOpen,
    kDoomed  // a call has returned DEADLOCK; all further calls except abort return DEADLOCK
  };

  Client(uint32_t number, std::unique_ptr<ClientConcurrency> concurrency)
      : number_(number),
        concurrency_(std::move(concurrency)),
        own_(concurrency_->own()),
        automatic_(concurrency_->automatic()) {
    add_handles(kFirstHandles);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Returns SUCCESS, DB_DNE, or FAILURE if the thread has 2^20 handles open. Throws std::bad_alloc.
  ErrCode open(std::string_view name, const Catalog& catalog, IdxState** state);
  bool close(const IdxState* state);
  void close_all();
  // Returns nullptr if this thread has no such handle open. Any value of `state` leads to some
  // slot; the comparison of the whole token then rejects wrong values.
  Handle* handle(const IdxState* state) {
    const auto token = reinterpret_cast<uintptr_t>(state);
    Handle* handle = handles_[token & mask_].get();
    return handle->token == token ? handle : nullptr;
  }

  State state() const { return state_; }
  void doom() {
    state_ = State::kDoomed;
    usable_transaction_ = 0;
  }
  TxnState* open_transaction() {
    state_ = State::kOpen;
    transaction_ = uint64_t{number_} << kNumberShift | (++transactions_ & kCountMask);
    usable_transaction_ = transaction_;
    return reinterpret_cast<TxnState*>(transaction_);
  }
  void end_transaction() {
    state_ = State::kNone;
    transaction_ = 0;
    usable_transaction_ = 0;
  }
  bool is_open_transaction(const TxnState* transaction) const {
    return transaction != nullptr && reinterpret_cast<uintptr_t>(transaction) == transaction_;
  }

  // Checks whether the client may make a call in `transaction`. Returns SUCCESS, TXN_DNE if this is
  // not the client's open transaction, or DEADLOCK if the transaction is doomed.
  // Precondition: `transaction` is not NULL.
  ErrCode check(const TxnState* transaction) const {
    if (reinterpret_cast<uintptr_t>(transaction) == usable_transaction_) [[likely]] {
      return SUCCESS;
    }
    return is_open_transaction(transaction) ? DEADLOCK : TXN_DNE;
  }

  // Returns the handle's cursor. The first use in a transaction moves the cursor to the start.
  Cursor& cursor(Handle& handle) {
    if (handle.cursor_transaction != transaction_) [[unlikely]] {
      handle.cursor_transaction = transaction_;
      handle.cursor.reset();
    }
    return handle.cursor;
  }
  // Returns a cursor at the start, for one auto-commit call (a call without a transaction).
  Cursor& fresh_cursor() {
    scratch_.reset();
    return scratch_;
  }

  // The client's two transaction objects. own() is for transactions that the client begins, and
  // automatic() is for its auto-commit calls.
  Transaction& own() { return own_; }
  Transaction& automatic() { return automatic_; }

 private:
  // Bits of a handle's token, from the highest: client number, generation, slot (the index into
  // handles_). Bits of a transaction's number: client number, count of transactions.
  static constexpr size_t kFirstHandles = 2;
  static constexpr uint32_t kSlotBits = 20;
  static constexpr uint32_t kGenerationBits = 24;
  static constexpr uint64_t kSlotMask = (uint64_t{1} << kSlotBits) - 1;
  static constexpr uint64_t kGenerationMask = (uint64_t{1} << kGenerationBits) - 1;
  static constexpr uint32_t kNumberShift = kSlotBits + kGenerationBits;
  static constexpr uint64_t kCountMask = (uint64_t{1} << kNumberShift) - 1;

  uint64_t token_of(uint32_t generation, uint64_t slot) const {
    return uint64_t{number_} << kNumberShift | (generation & kGenerationMask) << kSlotBits | slot;
  }
  Index* find(std::string_view name, const Catalog& catalog);
  void add_handles(size_t count);

  const uint32_t number_;  // at least 1, so that no handle or transaction is NULL
  const std::unique_ptr<ClientConcurrency> concurrency_;
  Transaction& own_;
  Transaction& automatic_;
  State state_ = State::kNone;
  uint64_t transaction_ = 0;         // 0: none
  uint64_t usable_transaction_ = 0;  // transaction_, or 0 if it is doomed
  uint64_t transactions_ = 0;
  std::vector<std::unique_ptr<Handle>> handles_;  // 2^n of them, n > 0
  uint64_t mask_ = 0;                             // handles_.size() - 1
  // Slots of closed handles. The vector has capacity for all handles, so push_back cannot fail.
  std::vector<uint32_t> closed_;
  std::array<Index*, 64> names_{};  // recently opened indexes, by hash of the name
  Cursor scratch_;
};

// Provides a client for each calling thread. When a thread ends, its client is reused for another
// thread.
class ClientPool {
 public:
  explicit ClientPool(Concurrency& concurrency) : concurrency_(concurrency) {}
  ClientPool(const ClientPool&) = delete;
  ClientPool& operator=(const ClientPool&) = delete;

  // Returns nullptr if the concurrency control allows no more threads. Throws std::bad_alloc.
  Client* take();
  // Precondition: the client has neither a transaction nor a handle open.
  void give_back(Client& client);

 private:
  Concurrency& concurrency_;
  Mutex mutex_;
  std::vector<std::unique_ptr<Client>> clients_ KEYDROME_GUARDED_BY(mutex_);
  std::vector<Client*> idle_ KEYDROME_GUARDED_BY(mutex_);
};

}  // namespace keydrome::runtime
