// A C99 program that plays a recorded run again against contract A and nothing else, for the
// contestant's own debugger: one thread for each session, the calls in the order in which they were
// made, each with the answer that it gave in the failed run.
//
// A call that does not come back must not stop the others, for it may wait for one of them: after a
// while they go on without it. Where calls overlapped in the failed run, attempts differ in which
// goes first; calls that did not overlap stay in their order, or the attempt does not count.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checker/event.h"
#include "checker/history.h"

namespace keydrome {

struct PlayedRecord {
  uint32_t index = 0;
  int64_t number = 0;   // the key of an int32 or int64 index
  std::string text;     // the key of a varchar index
  std::string payload;  // empty where none is passed
};

struct PlayedCall {
  uint32_t session = 0;
  EventCall call = EventCall::kBegin;
  bool auto_commit = false;
  uint8_t code = 0;       // what it answered in the failed run
  uint32_t index = 0;     // of calls that have one
  PlayedRecord passed;    // of calls on records
  PlayedRecord answered;  // of get and getNext that found something
  uint64_t begin_ticks = 0;
  uint64_t end_ticks = 0;
  std::string text;  // for the output, without the answer
};

struct Play {
  std::string name;   // of the file, without suffix
  std::string about;  // for the comment at its head, several lines
  std::string fault;  // what is wrong if every call answers so, one or more sentences
  std::vector<HistoryIndex> indexes;
  std::vector<PlayedRecord> before;  // what is there before the sessions begin
  uint32_t sessions = 0;
  std::vector<PlayedCall> calls;
  // What the failed run left behind; records whose payload is `ignored` are not looked at.
  std::optional<std::vector<PlayedRecord>> after;
  std::string ignored;
};

// The exit status of the program is 1 when every call answered as in the failed run, so the fault
// is there, and 0 when it did not show in a hundred attempts.
std::string c_program(const Play& play);

}  // namespace keydrome
