#include "checker/transactions.h"

#include <algorithm>

namespace keydrome {
namespace {

// Whether `code` is documented for the call (index.h). TXN_DNE and DEADLOCK are answers to any call
// of a transaction that has ended or failed.
bool is_documented(EventCall call, uint8_t code) {
  if (code == SUCCESS || code == FAILURE) return true;
  switch (call) {
    case EventCall::kCreate:
      return code == DB_EXISTS;
    case EventCall::kOpen:
    case EventCall::kClose:
      return code == DB_DNE;
    case EventCall::kBegin:
      return code == TXN_EXISTS || code == DEADLOCK;
    default:
      break;
  }
  if (code == TXN_DNE || code == DEADLOCK) return true;
  switch (call) {
    case EventCall::kGet:
      return code == KEY_NOTFOUND || code == DB_DNE;
    case EventCall::kNext:
      return code == DB_END || code == DB_DNE;
    case EventCall::kInsert:
      return code == ENTRY_EXISTS || code == DB_DNE;
    case EventCall::kDeletePair:
      return code == ENTRY_DNE || code == KEY_NOTFOUND || code == DB_DNE;
    case EventCall::kDeleteKey:
      return code == KEY_NOTFOUND || code == DB_DNE;
    default:
      return false;
  }
}

// Cuts one thread's events. The state is the thread's open transaction.
class Splitter {
 public:
  Splitter(const History& history, uint32_t thread, uint64_t limit, Transactions& out)
      : history_(history), out_(out), thread_(thread), limit_(limit) {}

  void run() {
    const std::vector<Event>& events = history_.threads[thread_];
    uint32_t size = 0;  // of what is judged
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
  bool check(uint32_t position, const Event& event) {
    const EventCall call = call_of(event);
    if (call > EventCall::kDeleteKey) return refuse(position, "there is no such call");
    if (is_auto_commit(event) && !is_data_call(call)) {
      return refuse(position, "only calls on records can be auto-committed");
    }
    const bool has_index =
        call != EventCall::kBegin && call != EventCall::kCommit && call != EventCall::kAbort;
    if (has_index && event.index >= history_.indexes.size()) {
      return refuse(position, "there is no such index");
    }
    const bool is_long = event.duration == kEventLongDuration;
    if (event.end < before_ || (!is_long && event.end < event.duration)) {
      return refuse(position, "its stamps go backwards");
    }
    if (!is_documented(call, event.code)) {
      accuse("undocumented_code", Severity::kRequired, position);
    } else if (event.code == FAILURE && is_data_call(call)) {
      accuse("unexpected_failure", Severity::kAdvisory, position);
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
    }
  }

  void note_auto_commit(uint32_t position, const Event& event) {
    const uint64_t begin = begin_of(event, before_);
    Transaction single{begin, event.end, begin, thread_, position, position};
    single.auto_commit = true;
    single.state = is_answer(event) ? TransactionState::kCommitted : TransactionState::kFailed;
    (is_answer(event) ? out_.committed : out_.others).push_back(single);
  }

  void note_begin(uint32_t position, const Event& event) {
    if (!succeeded(event)) return;
    if (open_) {
      refuse(position, "a second transaction was begun beside an open one");
      return;
    }
    open_ = true;
    failed_ = false;
    transaction_ = Transaction{begin_of(event, before_), 0, 0, thread_, position, position};
  }

  void note_end(uint32_t position, const Event& event) {
    const bool commits = call_of(event) == EventCall::kCommit && succeeded(event);
    if (!open_) {
      if (commits) refuse(position, "a commit without an open transaction");
      return;
    }
    transaction_.last = position;
    if (commits) {
      if (failed_) accuse("commit_after_deadlock", Severity::kRequired, position);
      // As if it were asked for earlier: then no read whose stamp is early is taken for a dirty
      // one.
      const uint64_t commit_begin = begin_of(event, before_);
      transaction_.commit_begin = commit_begin - std::min(commit_begin, history_.stamp_slack);
      finish(TransactionState::kCommitted, event.end);
    } else if (call_of(event) == EventCall::kAbort) {
      finish(TransactionState::kFailed, event.end);
    } else {
      failed_ = true;  // the client aborts it next
    }
  }

  void note_data_call(uint32_t position, const Event& event) {
    if (open_) {
      // The client should have aborted; a library must not go on with what it has given up.
      if (failed_ && is_answer(event)) {
        accuse("answer_after_deadlock", Severity::kRequired, position);
      }
      failed_ |= event.code == DEADLOCK;
    } else if (is_answer(event)) {
      refuse(position, "a call in a transaction, but none is open");
    }
  }

  // The call was carried out: its answer says something about the records.
  static bool is_answer(const Event& event) {
    return event.code != DEADLOCK && event.code != TXN_DNE && event.code != FAILURE &&
           event.code != DB_DNE;
  }

  void finish(TransactionState state, uint64_t end) {
    transaction_.state = state;
    transaction_.end = end;
    (state == TransactionState::kCommitted ? out_.committed : out_.others).push_back(transaction_);
    open_ = false;
  }

  void accuse(const char* name, Severity severity, uint32_t position) {
    out_.wrong_answers.push_back({name, severity, {thread_, position}});
  }

  bool refuse(uint32_t position, const char* why) {
    out_.problem =
        "thread " + std::to_string(thread_) + ", event " + std::to_string(position) + ": " + why;
    return false;
  }

  const History& history_;
  Transactions& out_;
  const uint32_t thread_;
  const uint64_t limit_;  // events that end later are not judged
  Transaction transaction_;
  uint64_t before_ = 0;  // end of the event before
  bool open_ = false;
  bool failed_ = false;  // the open transaction got DEADLOCK or its commit did not succeed
};

// A thread's transactions, in the order in which they ended.
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
  for (const uint32_t thread : history.cut_threads) {
    if (thread >= history.threads.size()) {
      out.problem = "there is no thread " + std::to_string(thread);
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

}  // namespace keydrome
