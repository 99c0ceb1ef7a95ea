// RecordedClient: makes calls on a concurrency control (the part of the runtime that isolates
// transactions) for a test, and records calls and results as a history. The code in checker/ then
// searches the history for errors.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checker/history/history.h"
#include "runtime/concurrency/concurrency.h"
#include "runtime/index.h"

namespace keydrome::runtime {

constexpr size_t kClientIndexes = 2;
using ClientIndexes = std::array<Index*, kClientIndexes>;

struct Call {
  history::EventCall kind;
  uint16_t index = 0;
  int64_t key = 0;
  std::string payload;
  bool auto_commit = false;
};

// Parses a call that is written as text:
// - "b": begin
// - "c": commit
// - "a": abort
// - "g5": get key 5
// - "n": getNext
// - "i5=x": insert key 5 with payload x
// - "d5=x": delete payload x of key 5
// - "d5*": delete all payloads of key 5
// The prefix "B." selects the second index. The prefix "@" makes an auto-commit call. "@" comes
// before "B.".
Call parse_call(const std::string& text);

class RecordedClient {
 public:
  // `clock` returns increasing timestamps. The indexes have type INT and belong to the concurrency
  // control.
  RecordedClient(Concurrency& concurrency, ClientIndexes indexes, std::function<uint64_t()> clock)
      : concurrency_(concurrency),
        indexes_(indexes),
        clock_(std::move(clock)),
        client_(concurrency.make_client()) {}
  RecordedClient(const RecordedClient&) = delete;
  RecordedClient& operator=(const RecordedClient&) = delete;
  ~RecordedClient();

  // After a call has returned DEADLOCK, the calls of its transaction are skipped until the next
  // begin.
  ErrCode call(const Call& call);
  // Runs one transaction that reads both indexes completely.
  void scan_all();

  // Returns true if a call of the newest transaction has returned DEADLOCK.
  bool failed() const { return failed_; }
  const std::vector<history::Event>& events() const { return events_; }

 private:
  ErrCode call_concurrency(const Call& call, history::Event& event);
  ErrCode call_data(Transaction& transaction, Index& index, Cursor& cursor, const Call& call,
                    history::Event& event);

  Concurrency& concurrency_;
  const ClientIndexes indexes_;
  const std::function<uint64_t()> clock_;
  const std::unique_ptr<ClientConcurrency> client_;
  std::array<Cursor, kClientIndexes> cursors_;
  bool open_ = false;
  bool failed_ = false;
  std::vector<history::Event> events_;
};

// Returns the history of several clients of the same indexes.
history::History history_of(const std::vector<const RecordedClient*>& clients);
// Returns the history as text, for messages.
std::string show(const history::History& history);

}  // namespace keydrome::runtime
