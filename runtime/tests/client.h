// A client of a control: makes calls, keeps to the contract, records what came back.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "checker/history.h"
#include "runtime/control/control.h"
#include "runtime/index.h"

namespace keydrome::runtime {

constexpr size_t kClientIndexes = 2;
using ClientIndexes = std::array<Index*, kClientIndexes>;

struct Call {
  EventCall kind;
  uint16_t index = 0;
  int64_t key = 0;
  std::string payload;
  bool auto_commit = false;
};

// "b", "c", "a"; "g5", "n", "i5=x", "d5=x", "d5*"; with "B." the second index, with "@" before that
// auto-commit.
Call parse_call(const std::string& text);

class Client {
 public:
  // `clock` gives stamps that grow. Indexes of type INT, made by the control and pinned.
  Client(Control& control, ClientIndexes indexes, std::function<uint64_t()> clock)
      : control_(control),
        indexes_(indexes),
        clock_(std::move(clock)),
        session_(control.make_session()) {}
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client();

  // Calls of a transaction that has got DEADLOCK are passed over until the next begin.
  ErrCode call(const Call& call);
  // One transaction that reads both indexes from end to end.
  void scan_all();

  // Whether the transaction that was begun last has got DEADLOCK.
  bool failed() const { return failed_; }
  const std::vector<Event>& events() const { return events_; }

 private:
  ErrCode call_control(const Call& call, Event& event);
  ErrCode call_data(Transaction& transaction, Index& index, Cursor& cursor, const Call& call,
                    Event& event);

  Control& control_;
  const ClientIndexes indexes_;
  const std::function<uint64_t()> clock_;
  const std::unique_ptr<ControlSession> session_;
  std::array<Cursor, kClientIndexes> cursors_;
  bool open_ = false;
  bool failed_ = false;
  std::vector<Event> events_;
};

// The histories of some clients of the same indexes.
History history_of(const std::vector<const Client*>& clients);
// As text, for messages.
std::string show(const History& history);

}  // namespace keydrome::runtime
