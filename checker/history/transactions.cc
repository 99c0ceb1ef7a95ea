// Implements transactions.h: splits the calls of each recorded thread into transactions, and then
// merges the committed transactions of all threads by the time at which they returned. An
// auto-committed call passes no transaction (txn == NULL), so it is a transaction of its own.
#include "checker/history/transactions.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <string>

namespace keydrome::history {
namespace {

constexpr uint32_t bits(std::initializer_list<ErrCode> codes) {
  uint32_t all = 0;
  for (const ErrCode code : codes) all |= 1u << code;
  return all;
}

// Result codes that say that the transaction cannot continue. Any call of a transaction may return
// them.
constexpr uint32_t kEnded = bits({TXN_DNE, DEADLOCK});

// The result codes that index.h documents for each call, in addition to SUCCESS and FAILURE. The
// position in the array is the EventCall.
constexpr std::array<uint32_t, 11> kDocumented = {
    bits({DB_EXISTS}),                                 // create
    bits({DB_DNE}),                                    // openIndex
    bits({DB_DNE}),                                    // closeIndex
    bits({TXN_EXISTS, DEADLOCK}),                      // beginTransaction
    kEnded,                                            // commitTransaction
    kEnded,                                            // abortTransaction
    kEnded | bits({DB_DNE, KEY_NOTFOUND}),             // get
    kEnded | bits({DB_DNE, DB_END}),                   // getNext
    kEnded | bits({DB_DNE, ENTRY_EXISTS}),             // insertRecord
    kEnded | bits({DB_DNE, ENTRY_DNE, KEY_NOTFOUND}),  // deleteRecord of a pair
    kEnded | bits({DB_DNE, KEY_NOTFOUND}),             // deleteRecord of all payloads
};

bool is_documented(EventCall call, uint8_t code) {
  if (code == SUCCESS || code == FAILURE) return true;
  return code < FAILURE && (kDocumented.at(static_cast<std::size_t>(call)) >> code & 1) != 0;
}

// Returns true if the library carried out the call, so that its result depends on the records.
bool was_carried_out(const Event& event) {
  return event.code != DEADLOCK && event.code != TXN_DNE && event.code != FAILURE &&
         event.code != DB_DNE;
}

// Splits the events of one thread.
class Splitter {
 public:
  Splitter(const History& history, uint32_t thread, uint64_t limit, Transactions& out)
      : history_(history),
        out_(out),
        thread_(thread),
        limit_(limit),
        handles_(history.indexes.size()) {}

  void run() {
    const std::vector<Event>& events = history_.threads[thread_];
    uint32_t size = 0;  // number of events up to the limit
    for (uint32_t i = 0; i < events.size(); ++i) {
      if (!check(i, events[i])) return;
      if (events[i].end <= limit_) {
        size = i + 1;
        note(i, events[i]);
        if (!out_.problem.empty()) return;
      }
      before_ = events[i].end;
    }
    if (!open_) return;
    transaction_.last = size - 1;
    finish(failed_ ? TransactionState::kFailed : TransactionState::kUnfinished, UINT64_MAX);
  }

 private:
  // The thread's handles of one index.
  struct Handles {
    uint32_t open = 0;
    // True if a handle was closed and a call may still pass it: DB_DNE is then a right answer. An
    // openIndex while no handle is open sets some_closed to false again.
    bool some_closed = false;
  };

  bool check(uint32_t position, const Event& event) {
    const EventCall call = call_of(event);
    if (call > EventCall::kDeleteKey)
      return refuse(position, "the log has the number " +
                                  std::to_string(static_cast<unsigned>(call)) +
                                  " for the kind of this call, but no call of the API has it");
    if (is_auto_commit(event) && !is_data_call(call))
      return refuse(position,
                    "the log marks this call as auto-commit, but only get, getNext, insertRecord "
                    "and deleteRecord can be auto-commit calls");
    if (!check_index(position, event)) return false;
    const bool is_long = event.duration == kEventLongDuration;
    if (event.end < before_ || (!is_long && event.end < event.duration))
      return refuse(position,
                    "the call ends before the previous call of the thread or begins before time 0, "
                    "which is impossible");
    if (!is_documented(call, event.code)) {
      add_violation("undocumented_code", Severity::kRequired, position);
    } else if (event.code == FAILURE && is_data_call(call)) {
      add_violation("unexpected_failure", Severity::kAdvisory, position);
    }
    return true;
  }

  // Checks the index and the handle that the event names.
  bool check_index(uint32_t position, const Event& event) {
    const EventCall call = call_of(event);
    if (handle_of(event) != 0 && !has_handle(call)) {
      return refuse(position, "the log gives an index handle to this call, which takes none");
    }
    const bool has_index = has_handle(call) || call == EventCall::kCreate;
    if (has_index && event.index >= history_.indexes.size()) {
      return refuse(position, "the call names index number " + std::to_string(event.index) +
                                  ", but the number of indexes is " +
                                  std::to_string(history_.indexes.size()));
    }
    return true;
  }

  void note(uint32_t position, const Event& event) {
    const EventCall call = call_of(event);
    if (is_auto_commit(event)) {
      note_auto_commit(position, event);
    } else if (call == EventCall::kBegin) {
      note_begin(position, event);
    } else if (call == EventCall::kCommit || call == EventCall::kAbort) {
      note_end(position, event);
    } else if (is_data_call(call)) {
      note_data_call(position, event);
    } else if (succeeded(event)) {
      note_handle(call, handles_[event.index]);
    }
  }

  void note_handle(EventCall call, Handles& handles) const {
    if (call == EventCall::kOpen) {
      if (handles.open == 0) handles.some_closed = false;
      ++handles.open;
    } else if (call == EventCall::kClose) {
      handles.some_closed = true;
      if (handles.open > 0) --handles.open;
    }
  }

  void note_auto_commit(uint32_t position, const Event& event) {
    const uint64_t begin = begin_of(event, before_);
    Transaction single{begin, event.end, begin, thread_, position, position};
    single.auto_commit = true;
    single.state =
        was_carried_out(event) ? TransactionState::kCommitted : TransactionState::kFailed;
    (was_carried_out(event) ? out_.committed : out_.others).push_back(single);
  }

  void note_begin(uint32_t position, const Event& event) {
    if (!succeeded(event)) return;
    if (open_) {
      refuse(position, "the thread began a transaction while another one was open");
      return;
    }
    open_ = true;
    failed_ = false;
    transaction_ = Transaction{begin_of(event, before_), 0, 0, thread_, position, position};
  }

  void note_end(uint32_t position, const Event& event) {
    const bool commits = call_of(event) == EventCall::kCommit && succeeded(event);
    if (!open_) {
      if (commits) refuse(position, "this commit succeeded although no transaction was open");
      return;
    }
    transaction_.last = position;
    if (commits) {
      if (failed_) add_violation("commit_after_deadlock", Severity::kRequired, position);
      // The timestamp of a read may be too early by up to timestamp_slack. So that a clean read
      // does not look dirty, the begin of the commit moves back by the same time.
      const uint64_t commit_begin = begin_of(event, before_);
      transaction_.commit_begin = commit_begin - std::min(commit_begin, history_.timestamp_slack);
      finish(TransactionState::kCommitted, event.end);
    } else if (call_of(event) == EventCall::kAbort) {
      finish(TransactionState::kFailed, event.end);
    } else if (event.code == TXN_DNE) {
      if (!failed_) add_violation("illegal_answer", Severity::kRequired, position);
      finish(TransactionState::kFailed, event.end);  // no transaction is left to abort
    } else {
      failed_ = true;  // the commit failed, so the client has to abort the transaction
    }
  }

  void note_data_call(uint32_t position, const Event& event) {
    if (open_) {
      // After DEADLOCK the client must abort, and the library must not carry out any other call.
      if (failed_ && was_carried_out(event)) {
        add_violation("answer_after_deadlock", Severity::kRequired, position);
      }
      if (!failed_ && denies(event)) add_violation("illegal_answer", Severity::kRequired, position);
      failed_ |= event.code == DEADLOCK;
    } else if (was_carried_out(event)) {
      refuse(position, "the call passes a transaction, but the thread has none open");
    }
  }

  // Returns true if a call of an open transaction, which no DEADLOCK has ended, reports that the
  // transaction or the open handle does not exist.
  bool denies(const Event& event) const {
    if (event.code == DB_DNE) return !handles_[event.index].some_closed;
    return event.code == TXN_DNE;
  }

  void finish(TransactionState state, uint64_t end) {
    transaction_.state = state;
    transaction_.end = end;
    (state == TransactionState::kCommitted ? out_.committed : out_.others).push_back(transaction_);
    open_ = false;
  }

  void add_violation(const char* name, Severity severity, uint32_t position) {
    out_.call_violations.push_back({name, severity, {thread_, position}});
  }

  bool refuse(uint32_t position, const std::string& why) {
    out_.problem = "thread " + std::to_string(thread_) + ", event " + std::to_string(position) +
                   ": " + why + "; " + kLogIsDamaged;
    return false;
  }

  const History& history_;
  Transactions& out_;
  const uint32_t thread_;
  const uint64_t limit_;  // events that end later are ignored, because some log was full then
  std::vector<Handles> handles_;  // by index
  Transaction transaction_;
  uint64_t before_ = 0;  // end of the previous event
  bool open_ = false;
  bool failed_ = false;  // a call of the open transaction returned DEADLOCK, or its commit failed
};

// The part of `committed` with the transactions of one thread, sorted by end: [next, end).
struct Run {
  std::size_t next;
  std::size_t end;
};

void merge_by_end(std::vector<Run> runs, std::vector<Transaction>& committed) {
  std::vector<Transaction> merged;
  merged.reserve(committed.size());
  const auto is_later = [&](const Run& a, const Run& b) {
    const uint64_t a_end = committed[a.next].end;
    const uint64_t b_end = committed[b.next].end;
    return a_end != b_end ? a_end > b_end : a.next > b.next;
  };
  std::make_heap(runs.begin(), runs.end(), is_later);
  while (!runs.empty()) {
    std::pop_heap(runs.begin(), runs.end(), is_later);
    merged.push_back(committed[runs.back().next++]);
    if (runs.back().next == runs.back().end) {
      runs.pop_back();
    } else {
      std::push_heap(runs.begin(), runs.end(), is_later);
    }
  }
  committed.swap(merged);
}

}  // namespace

Transactions split_into_transactions(const History& history) {
  Transactions out;
  uint64_t limit = UINT64_MAX;
  for (const uint32_t thread : history.truncated_threads) {
    if (thread >= history.threads.size()) {
      out.problem = "the history says that the log of thread " + std::to_string(thread) +
                    " is full, but the history has only " + std::to_string(history.threads.size()) +
                    " threads; the file is damaged, so copy it again or record another run";
      return out;
    }
    const std::vector<Event>& events = history.threads[thread];
    limit = std::min(limit, events.empty() ? 0 : events.back().end);
  }
  std::vector<Run> runs;
  for (uint32_t thread = 0; thread < history.threads.size() && out.problem.empty(); ++thread) {
    const std::size_t begin = out.committed.size();
    Splitter(history, thread, limit, out).run();
    if (out.committed.size() > begin) runs.push_back({begin, out.committed.size()});
  }
  merge_by_end(runs, out.committed);
  return out;
}

TransactionSpan span_of(const Transaction& transaction) {
  return {transaction.thread,      transaction.first, transaction.last, transaction.state,
          transaction.auto_commit, transaction.begin, transaction.end};
}

std::vector<EventRef> calls_of(const History& history, const TransactionSpan& span) {
  std::vector<EventRef> calls;
  const std::vector<Event>& events = history.threads[span.thread];
  for (uint32_t position = span.first; position <= span.last && position < events.size();
       ++position) {
    if (is_auto_commit(events[position]) == span.auto_commit) {
      calls.push_back({span.thread, position});
    }
  }
  return calls;
}

}  // namespace keydrome::history
