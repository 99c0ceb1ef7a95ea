// Defines control words. A word is 8 bytes that the player, the process that calls the library
// under test, writes into the outcome of one of its threads. An evidence word (evidence_word.h)
// holds the result of one get, getNext, insertRecord or deleteRecord. A control word holds
// everything else, such as the time at which a transaction began.
//
// Together, the words describe everything that the thread did: which calls it made, what they
// returned, which attempts it repeated, and when transactions began and ended. The referee, which
// judges the run, has a copy of the thread's program (its operations, called ops; program.h). It
// replays this copy and takes the result of each call from the words (script/word_follower.h). So
// the referee knows every call of every run, and the player need not compute counts and latencies.
//
// The list below shows the words of a thread in execution order. A word in brackets may be missing.
// An attempt is one execution of a transaction. A handle is what openIndex returns; each call on an
// open index passes one. A procedure (procedure.h) computes the arguments of its calls from earlier
// results.
//   - A transaction: begin, the words of its ops, commit.
//   - A failed attempt: begin, the words of its ops, [commit], [abort], [rare calls], end of
//     attempt. The rare calls are openIndex and closeIndex. They undo the attempt's changes of
//     handles. If the thread gives the transaction up, they also do the skipped openIndex and
//     closeIndex ops.
//   - A programmed abort: begin, the words of its ops, abort, end of attempt.
//   - An auto-commit op: [time], the words of the op, [time].
//   - A get, insert, delete or getNext: one evidence word.
//   - A create, openIndex, closeIndex or delete of a record that was read (kDeleteRead): rare call,
//     evidence word.
//   - A procedure: for each call a computed call, [key], evidence word; then end of procedure and
//     the procedure's result.
//   - An op that made no call, because its handle or record was missing: the word kNoCall.
//
// When an auto-commit op or a call outside of transactions is repeated after DEADLOCK, its new
// words overwrite the old ones. The words of a failed attempt need spare room in the outcome.
// Without spare room, the next words overwrite them. But if the thread gives the transaction up,
// the word for the attempt's end is kept.
//
// The low byte tells the kinds of words apart: its high half is 1 to 12 in an evidence word and 13
// to 15 in a control word. Only the key of a computed call and the result of a procedure are plain
// numbers.
//
// The words after the last one are 0. So the words of a thread that hangs show how far it came.
//
// Thread safety: pure functions.
#pragma once

#include <cstdint>

#include "benchmarks/kit/format/evidence_word.h"
#include "benchmarks/kit/format/procedure.h"
#include "checker/history/event.h"
#include "keydrome/index.h"

namespace keydrome::format {

// The low byte of a control word. kResult and kAbort contain a result code in their low half.
enum class ControlWord : uint8_t {
  kResult = 0xd0,        // result and time of beginTransaction or commitTransaction
  kAbort = 0xf0,         // result and time of the last abortTransaction of an attempt
  kAttemptEnds = 0xe0,   // 0xe0 to 0xe4: kAttemptEnds plus an AttemptEnd
  kTime = 0xe8,          // the time before or after an auto-commit op
  kRareCall = 0xe9,      // create, openIndex, closeIndex, or the delete of a record that was read
  kComputedCall = 0xea,  // a call of a procedure
  kProcedureEnds = 0xeb,
  kNoCall = 0xec,
};

// How an attempt that did not commit ended.
enum class AttemptEnd : uint8_t {
  kRetried,     // the next words belong to the next attempt
  kAborted,     // as programmed, or because a procedure rolled back
  kFailed,      // given up; the rest of the transaction was skipped
  kDeadlocked,  // given up after DEADLOCK; the rest of the transaction was skipped
  // The commit failed. The transaction has the flag kAnyCode (program.h), so it had run to its
  // programmed end, and nothing was skipped.
  kContinued,
};
inline constexpr uint32_t kAttemptEnds = 5;

inline constexpr uint32_t kControlShift = 8;  // the first bit after the low byte, e.g. of a time

constexpr uint8_t low_byte(uint64_t word) { return static_cast<uint8_t>(word); }
constexpr bool is_control(uint64_t word) { return low_byte(word) >= 0xd0; }
constexpr bool is(uint64_t word, ControlWord kind) {
  return low_byte(word) == static_cast<uint8_t>(kind);
}

// Times are ticks of the player's clock after GO, the start of the phase, modulo 2^56. At 4 GHz,
// 2^56 ticks are 208 days.
constexpr uint64_t time_word(uint64_t ticks) {
  return ticks << kControlShift | static_cast<uint64_t>(ControlWord::kTime);
}
constexpr uint64_t ticks_of(uint64_t word) { return word >> kControlShift; }

// Returns the word of a kResult or kAbort.
constexpr uint64_t result_word(ControlWord kind, uint64_t ticks, uint32_t code) {
  const uint64_t low = code <= FAILURE ? code : kUndocumentedCode;
  return ticks << kControlShift | static_cast<uint64_t>(kind) | low;
}
constexpr bool is_result(uint64_t word, ControlWord kind) {
  return (word & 0xf0) == static_cast<uint64_t>(kind);
}
// Returns the code in a kResult or kAbort, which may be kUndocumentedCode.
constexpr uint32_t result_of(uint64_t word) { return static_cast<uint32_t>(word & 0xf); }

constexpr uint64_t attempt_end_word(AttemptEnd end) {
  return static_cast<uint64_t>(ControlWord::kAttemptEnds) | static_cast<uint64_t>(end);
}
constexpr bool is_attempt_end(uint64_t word) {
  const uint8_t first = static_cast<uint8_t>(ControlWord::kAttemptEnds);
  return low_byte(word) >= first && low_byte(word) < first + kAttemptEnds;
}
constexpr AttemptEnd attempt_end_of(uint64_t word) { return static_cast<AttemptEnd>(word & 0xf); }

// A kRareCall or kComputedCall. `slot` is the number of the variable in which the thread keeps the
// handle.
// `number` is the number of the index for create and openIndex. For an insert of a procedure, it is
// the tag of the payload, a unique number.
struct CallWord {
  history::EventCall call = history::EventCall::kCreate;
  uint8_t slot = 0;
  bool key_is_text = false;  // the key word is hash_bytes() of a text that the procedure computed
  uint32_t number = 0;

  constexpr uint64_t packed(ControlWord kind) const {
    return static_cast<uint64_t>(kind) | static_cast<uint64_t>(call) << 8 | uint64_t{slot} << 16 |
           uint64_t{key_is_text} << 24 | uint64_t{number} << 32;
  }
  static constexpr CallWord unpacked(uint64_t word) {
    return {.call = static_cast<history::EventCall>(word >> 8 & 0xff),
            .slot = static_cast<uint8_t>(word >> 16),
            .key_is_text = (word >> 24 & 1) != 0,
            .number = static_cast<uint32_t>(word >> 32)};
  }
};

// Returns true if a key word follows the kComputedCall of this call.
constexpr bool has_key_word(history::EventCall call) { return call != history::EventCall::kNext; }

// The word at the end of a procedure contains how it ended: kEnd, kRollBack or kUnfit.
constexpr uint64_t procedure_end_word(InstructionCode how) {
  return static_cast<uint64_t>(ControlWord::kProcedureEnds) | static_cast<uint64_t>(how)
                                                                  << kControlShift;
}
constexpr InstructionCode procedure_end_of(uint64_t word) {
  return static_cast<InstructionCode>(word >> kControlShift & 0xff);
}

// Of the auto-commit ops outside of transactions, the first and every kTimedEvery-th after it are
// timed, because an auto-commit op can take less time than reading the clock. The number is prime,
// so that the timed calls do not follow a pattern of the program. All explicit transactions are
// timed.
inline constexpr uint32_t kTimedEvery = 61;

// Besides the words of its ops, a failed attempt writes at most this many words: for its abort, its
// end, and the calls that restore its handles. There must be room for them, even if they are
// overwritten afterwards.
inline constexpr uint64_t kWordsReserve = 4 + 4 * kSlots;

}  // namespace keydrome::format
