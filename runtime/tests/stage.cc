#include "runtime/tests/stage.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/hash.h"
#include "runtime/codec/key_codec.h"

namespace keydrome::runtime {

struct Stage::Session {
  std::unique_ptr<ControlSession> control;
  std::array<Cursor, kStageIndexes> cursors;
  bool open = false;    // a transaction is
  bool failed = false;  // and has got DEADLOCK
  ErrCode answer = SUCCESS;
  std::vector<Event> events;

  std::mutex mutex;
  std::condition_variable changed;
  std::optional<Call> call;  // under mutex; none: idle
  bool over = false;         // under mutex
  std::thread thread;
};

Call parse_call(const std::string& text) {
  static const std::string kLetters = "bcagnid";
  static constexpr EventCall kKinds[] = {
      EventCall::kBegin, EventCall::kCommit, EventCall::kAbort,     EventCall::kGet,
      EventCall::kNext,  EventCall::kInsert, EventCall::kDeletePair};
  Call call{};
  size_t at = 0;
  if (text[at] == '@') {
    call.auto_commit = true;
    ++at;
  }
  if (text.compare(at, 2, "B.") == 0) {
    call.index = 1;
    at += 2;
  }
  call.kind = kKinds[kLetters.find(text[at])];
  const std::string rest = text.substr(at + 1);
  call.key = std::strtoll(rest.c_str(), nullptr, 10);
  const size_t mark = rest.find_first_of("=*");
  if (mark != std::string::npos && rest[mark] == '=') call.payload = rest.substr(mark + 1);
  if (mark != std::string::npos && rest[mark] == '*') call.kind = EventCall::kDeleteKey;
  return call;
}

Stage::Stage(Control& control, std::array<Index*, kStageIndexes> indexes, size_t sessions)
    : control_(control), indexes_(indexes) {
  for (Index* index : indexes_) index->pin();
  for (size_t at = 0; at < sessions; ++at) {
    sessions_.push_back(std::make_unique<Session>());
    Session& session = *sessions_.back();
    session.control = control_.make_session();
    session.thread = std::thread([this, &session] { run(session); });
  }
}

Stage::~Stage() {
  for (const std::unique_ptr<Session>& session : sessions_) {
    {
      const std::lock_guard<std::mutex> guard(session->mutex);
      session->over = true;
      session->changed.notify_all();
    }
    session->thread.join();
    if (session->open && !session->failed) control_.abort(session->control->own());
  }
  for (Index* index : indexes_) index->unpin();
}

void Stage::run(Session& session) {
  std::unique_lock<std::mutex> guard(session.mutex);
  for (;;) {
    session.changed.wait(guard, [&] { return session.over || session.call; });
    if (!session.call) return;
    const Call call = *session.call;
    guard.unlock();
    execute(session, call);
    guard.lock();
    session.call.reset();
    --busy_;
  }
}

void Stage::execute(Session& session, const Call& call) {
  if (!call.auto_commit && call.kind != EventCall::kBegin && (!session.open || session.failed)) {
    return;
  }
  Event event{};
  event.call = static_cast<uint8_t>(static_cast<uint8_t>(call.kind) |
                                    (call.auto_commit ? kEventAutoCommit : 0));
  event.index = call.index;
  const uint64_t begin = clock_++;
  const ErrCode code = call_control(session, call, event);
  session.answer = code;
  event.code = static_cast<uint8_t>(code);
  event.end = clock_++;
  event.duration = static_cast<uint32_t>(event.end - begin);
  session.events.push_back(event);
  if (code == DEADLOCK && !call.auto_commit) {
    session.failed = true;
    Event abort{};
    abort.call = static_cast<uint8_t>(EventCall::kAbort);
    abort.end = clock_++;
    session.events.push_back(abort);
  }
}

ErrCode Stage::call_control(Session& session, const Call& call, Event& event) {
  Transaction& own = session.control->own();
  switch (call.kind) {
    case EventCall::kBegin:
      session.open = true;
      session.failed = false;
      for (Cursor& cursor : session.cursors) cursor.reset();
      return control_.begin(own);
    case EventCall::kCommit:
      session.open = false;
      return control_.commit(own);
    case EventCall::kAbort:
      session.open = false;
      return control_.abort(own);
    default:
      break;
  }
  Index& index = *indexes_[call.index];
  if (!call.auto_commit) return call_data(own, index, session.cursors[call.index], call, event);
  Transaction& automatic = session.control->automatic();
  Cursor cursor;
  EXPECT_EQ(control_.begin(automatic), SUCCESS);
  const ErrCode code = call_data(automatic, index, cursor, call, event);
  if (code == DEADLOCK) return code;
  const ErrCode committed = control_.commit(automatic);
  return committed == SUCCESS ? code : committed;
}

ErrCode Stage::call_data(Transaction& transaction, Index& index, Cursor& cursor, const Call& call,
                         Event& event) {
  const auto fingerprint = [](KeydromeBytes bytes) {
    return hash_bytes({static_cast<const char*>(bytes.data), bytes.size});
  };
  Key typed{};
  typed.type = INT;
  typed.keyval.intkey = call.key;
  EncodedKey encoded;
  EXPECT_TRUE(encoded.encode(typed, INT));
  const KeydromeBytes key = encoded.bytes();
  const KeydromeBytes payload{call.payload.data(), static_cast<uint32_t>(call.payload.size())};
  if (call.kind != EventCall::kNext) event.key = static_cast<uint64_t>(call.key);
  ErrCode code = FAILURE;
  switch (call.kind) {
    case EventCall::kGet:
      code = control_.get(transaction, index, cursor, key);
      if (code == SUCCESS) event.payload = fingerprint(cursor.payload_bytes());
      return code;
    case EventCall::kNext:
      code = control_.get_next(transaction, index, cursor);
      if (code != SUCCESS) return code;
      EXPECT_TRUE(decode_key(cursor.key_bytes(), INT, typed));
      event.key = static_cast<uint64_t>(typed.keyval.intkey);
      event.payload = fingerprint(cursor.payload_bytes());
      return code;
    case EventCall::kInsert:
      event.payload = fingerprint(payload);
      return control_.insert(transaction, index, key, payload);
    case EventCall::kDeletePair:
      event.payload = fingerprint(payload);
      return control_.erase_pair(transaction, index, key, payload);
    default:
      return control_.erase_key(transaction, index, key);
  }
}

void Stage::step(size_t number, const Call& call) {
  Session& session = *sessions_[number];
  ++busy_;
  {
    const std::lock_guard<std::mutex> guard(session.mutex);
    session.call = call;
    session.changed.notify_all();
  }
  settle();
}

// Until every session that is busy waits for a lock. `busy_` is read first: who ends a wait has
// counted that before it is idle.
void Stage::settle() {
  for (;;) {
    const uint64_t busy = busy_;
    if (busy == 0) return;
    const Json counted = control_.statistics();
    const Json* waiting = counted.find("lock_waiting");
    if (waiting != nullptr && static_cast<uint64_t>(waiting->as_int()) == busy) return;
    std::this_thread::yield();
  }
}

bool Stage::waits(size_t number) {
  Session& session = *sessions_[number];
  const std::lock_guard<std::mutex> guard(session.mutex);
  return session.call.has_value();
}

ErrCode Stage::answer(size_t session) const { return sessions_[session]->answer; }

void Stage::play(const std::string& script) {
  std::vector<std::deque<Call>> queues(sessions_.size());
  const auto hand_over = [&](size_t session) {
    while (!queues[session].empty() && !waits(session)) {
      const Call call = queues[session].front();
      queues[session].pop_front();
      step(session, call);
    }
  };
  std::istringstream words(script);
  for (std::string word; words >> word;) {
    const auto session = static_cast<size_t>(word[0] - '0');
    queues[session].push_back(parse_call(word.substr(2)));
    // Whoever came back meanwhile goes first.
    for (size_t other = 0; other < queues.size(); ++other) hand_over(other);
  }
  for (bool all_back = false; !all_back;) {
    all_back = true;
    bool moved = false;
    for (size_t session = 0; session < queues.size(); ++session) {
      moved = moved || (!queues[session].empty() && !waits(session));
      hand_over(session);
      all_back = all_back && !waits(session) && queues[session].empty();
    }
    if (all_back || moved) continue;
    std::fprintf(stderr, "sessions wait for ever in \"%s\"\n", script.c_str());
    std::abort();
  }
}

void Stage::scan_all(size_t session) {
  step(session, parse_call("b"));
  for (const char* next : {"n", "B.n"}) {
    do step(session, parse_call(next));
    while (answer(session) == SUCCESS);
  }
  step(session, parse_call("c"));
}

History Stage::history() const {
  History history;
  history.indexes = {{INT, "A"}, {INT, "B"}};
  for (const std::unique_ptr<Session>& session : sessions_) {
    history.threads.push_back(session->events);
  }
  return history;
}

std::string show(const History& history) {
  static constexpr const char* kCalls[] = {"create", "open",   "close",     "begin",
                                           "commit", "abort",  "get",       "next",
                                           "insert", "delete", "delete all"};
  std::ostringstream out;
  for (size_t thread = 0; thread < history.threads.size(); ++thread) {
    out << "\n  session " << thread << ":";
    for (const Event& event : history.threads[thread]) {
      out << " [" << event.end - event.duration << "-" << event.end << "] "
          << ((event.call & kEventAutoCommit) != 0 ? "@" : "")
          << kCalls[event.call & ~kEventAutoCommit] << "(" << event.index << ", "
          << static_cast<int64_t>(event.key) << ", " << event.payload % 10000
          << ")=" << static_cast<int>(event.code);
    }
  }
  return out.str();
}

}  // namespace keydrome::runtime
