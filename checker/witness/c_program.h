// c_program(): writes a C99 program that repeats the calls of a failed run. A contestant links it
// with the library and runs it in a debugger, without Keydrome. The program has one thread for each
// session, which is a client thread of the run. The threads make the calls in the order of the
// failed run, and the program compares each result with the recorded result.
//
// If a call does not return within 5 ms, the other threads continue, because the call may be
// waiting for one of them. If calls overlapped in the failed run, their order varies between
// attempts. Calls that did not overlap must keep their order, or the attempt does not count.
// Thread safety: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "checker/history/event.h"
#include "checker/history/history.h"

namespace keydrome::witness {

struct ReproducerRecord {
  uint32_t index = 0;
  int64_t number = 0;   // the key of an int32 or int64 index
  std::string text;     // the key of a varchar index
  std::string payload;  // empty if the call passes none
  // True if the failed run returned a key, or a payload, that no call inserted. The value of this
  // key or payload is not known. So every key or payload that the program does not insert counts as
  // the same.
  bool is_unknown_key = false;
  bool is_unknown_payload = false;
};

struct ReproducerCall {
  uint32_t session = 0;
  history::EventCall call = history::EventCall::kBegin;
  bool auto_commit = false;
  uint8_t code = 0;           // the result code in the failed run
  uint32_t index = 0;         // for calls that have an index
  uint32_t handle = 0;        // which of the session's handles of the index the call passes
  ReproducerRecord passed;    // for calls on records
  ReproducerRecord returned;  // for get and getNext that found a record
  uint64_t begin_ticks = 0;
  uint64_t end_ticks = 0;
  std::string text;  // the call as the program prints it, without the result
};

struct Reproducer {
  std::string name;       // name of the file, without suffix
  std::string about;      // the opening comment of the program, several lines
  std::string violation;  // sentences: what is wrong if every call returns the recorded result
  std::vector<history::HistoryIndex> indexes;
  std::vector<ReproducerRecord> initial;  // inserted before the sessions begin
  uint32_t sessions = 0;
  std::vector<ReproducerCall> calls;
  // The records at the end of the failed run. If they are given, the program compares the records
  // at the end of each attempt with them, and ignores records with the payload `ignored`.
  std::optional<std::vector<ReproducerRecord>> final_records;
  std::string ignored;
};

// Returns the text of the program. The program makes up to 100 attempts. It exits with 1 after the
// first attempt in which the violation occurred again: every call returned its recorded result, the
// final records are the recorded ones, and calls that did not overlap kept their order. If there is
// no such attempt, it exits with 0.
std::string c_program(const Reproducer& reproducer);

}  // namespace keydrome::witness
