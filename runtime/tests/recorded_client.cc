// Implements RecordedClient: makes the calls of a script and records each as an event of a history.
// An event contains a hash of the payload instead of the payload itself.
#include "runtime/tests/recorded_client.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "base/hash.h"
#include "runtime/codec/key_codec.h"

namespace keydrome::runtime {

using history::Event;
using history::EventCall;
using history::History;
using history::kEventAutoCommit;

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

RecordedClient::~RecordedClient() {
  if (open_ && !failed_) concurrency_.abort(client_->own());
}

ErrCode RecordedClient::call(const Call& call) {
  if (!call.auto_commit && call.kind != EventCall::kBegin && (!open_ || failed_)) {
    return DEADLOCK;
  }
  Event event{};
  event.call = static_cast<uint8_t>(static_cast<uint8_t>(call.kind) |
                                    (call.auto_commit ? kEventAutoCommit : 0));
  event.index = call.index;
  const uint64_t begin = clock_();
  const ErrCode code = call_concurrency(call, event);
  event.code = static_cast<uint8_t>(code);
  event.end = clock_();
  event.duration = static_cast<uint32_t>(event.end - begin);
  events_.push_back(event);
  if (code == DEADLOCK && !call.auto_commit) {
    // The concurrency control has rolled the transaction back, so the history gets an abort.
    failed_ = true;
    Event abort{};
    abort.call = static_cast<uint8_t>(EventCall::kAbort);
    abort.end = clock_();
    events_.push_back(abort);
  }
  return code;
}

ErrCode RecordedClient::call_concurrency(const Call& call, Event& event) {
  Transaction& own = client_->own();
  switch (call.kind) {
    case EventCall::kBegin:
      open_ = true;
      failed_ = false;
      for (Cursor& cursor : cursors_) cursor.reset();
      return concurrency_.begin(own);
    case EventCall::kCommit:
      open_ = false;
      return concurrency_.commit(own);
    case EventCall::kAbort:
      open_ = false;
      return concurrency_.abort(own);
    default:
      break;
  }
  Index& index = *indexes_[call.index];
  if (!call.auto_commit) return call_data(own, index, cursors_[call.index], call, event);
  Transaction& automatic = client_->automatic();
  Cursor cursor;
  EXPECT_EQ(concurrency_.begin(automatic), SUCCESS);
  const ErrCode code = call_data(automatic, index, cursor, call, event);
  if (code == DEADLOCK) return code;
  const ErrCode committed = concurrency_.commit(automatic);
  return committed == SUCCESS ? code : committed;
}

ErrCode RecordedClient::call_data(Transaction& transaction, Index& index, Cursor& cursor,
                                  const Call& call, Event& event) {
  const auto fingerprint = [](KeydromeBytes bytes) {
    return hash_bytes({static_cast<const char*>(bytes.data), bytes.size});
  };
  Key typed{};
  typed.type = INT;
  typed.keyval.intkey = call.key;
  std::string encoded;
  with_encoded(typed, INT, [&](KeydromeBytes bytes) {
    encoded.assign(static_cast<const char*>(bytes.data), bytes.size);
    return SUCCESS;
  });
  const KeydromeBytes key{encoded.data(), static_cast<uint32_t>(encoded.size())};
  const KeydromeBytes payload{call.payload.data(), static_cast<uint32_t>(call.payload.size())};
  if (call.kind != EventCall::kNext) event.key = static_cast<uint64_t>(call.key);
  ErrCode code = FAILURE;
  switch (call.kind) {
    case EventCall::kGet:
      code = concurrency_.get(transaction, index, cursor, key);
      if (code == SUCCESS) event.payload = fingerprint(cursor.payload_bytes());
      return code;
    case EventCall::kNext:
      code = concurrency_.get_next(transaction, index, cursor);
      if (code != SUCCESS) return code;
      EXPECT_TRUE(decode_key(cursor.key_bytes(), INT, typed));
      event.key = static_cast<uint64_t>(typed.keyval.intkey);
      event.payload = fingerprint(cursor.payload_bytes());
      return code;
    case EventCall::kInsert:
      event.payload = fingerprint(payload);
      return concurrency_.insert(transaction, index, key, payload);
    case EventCall::kDeletePair:
      event.payload = fingerprint(payload);
      return concurrency_.erase_pair(transaction, index, key, payload);
    default:
      return concurrency_.erase_key(transaction, index, key);
  }
}

void RecordedClient::scan_all() {
  call(parse_call("b"));
  for (const char* next : {"n", "B.n"}) {
    while (call(parse_call(next)) == SUCCESS) continue;
  }
  call(parse_call("c"));
}

History history_of(const std::vector<const RecordedClient*>& clients) {
  History history;
  history.indexes = {{INT, "A"}, {INT, "B"}};
  for (const RecordedClient* client : clients) history.threads.push_back(client->events());
  return history;
}

std::string show(const History& history) {
  static constexpr const char* kCalls[] = {"create", "open",   "close",     "begin",
                                           "commit", "abort",  "get",       "next",
                                           "insert", "delete", "delete all"};
  std::ostringstream out;
  for (size_t thread = 0; thread < history.threads.size(); ++thread) {
    out << "\n  client " << thread << ":";
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
