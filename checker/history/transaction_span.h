// Defines references to parts of a History (history.h). An EventRef refers to one event. A
// TransactionSpan refers to the events of one transaction. A reference contains positions, but no
// events, so it is useless without its History. Thread safety: plain data.
#pragma once

#include <compare>
#include <cstdint>

namespace keydrome::history {

// Refers to the event history.threads[thread][position].
struct EventRef {
  uint32_t thread = 0;
  uint32_t position = 0;
  auto operator<=>(const EventRef&) const = default;
};

enum class TransactionState : uint8_t { kCommitted, kFailed, kUnfinished };

// Refers to the transaction of the events first..last (inclusive) of one thread. Auto-committed
// calls between these two events are transactions of their own, so they do not belong to this
// transaction. If the transaction is itself an auto-committed call, first == last.
struct TransactionSpan {
  uint32_t thread = 0;
  uint32_t first = 0;
  uint32_t last = 0;
  TransactionState state = TransactionState::kCommitted;
  bool auto_commit = false;
  uint64_t begin_ticks = 0;  // time just before its first call was made
  uint64_t end_ticks = 0;    // time just after its last call returned
};

}  // namespace keydrome::history
