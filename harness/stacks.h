// Layout of the stack page: shared memory in which the player's threads write their stacks when a
// session (one repetition of a benchmark) hangs or the library crashes.
//
// The player is the jailed process that runs the library under test. The referee is the trusted
// process outside the jail (sandbox) that runs the session. Both map the stack page, which is one
// memfd. After a session has reached a deadline or limit, the referee sends kStackSignal once to
// each thread of the player, up to kStacksMax threads. The signal handler writes the thread's stack
// (player/stack_writer.h), and the referee reads the stack (referee/hang/stack_reader.h). After a
// crash, only the thread that crashed has written its stack.
//
// Trust: the library shares the player's process. It may block or catch the signal, and may write
// anything into the page. Therefore the referee copies each stack once, checks the copy, and uses
// it only as a hint for people.
#pragma once

#include <cstdint>

namespace keydrome {

// SIGRTMAX - 1. The C library uses the first real-time signals and programs usually count upwards
// from SIGRTMIN, so a number near the end rarely conflicts.
inline constexpr int kStackSignal = 63;
inline constexpr uint32_t kStacksMax = 64;
inline constexpr uint32_t kFramesMax = 24;

// One function call on a stack. The innermost call comes first.
struct StackFrame {
  // The address of the current instruction or, in a calling function, of the last byte of its call
  // instruction.
  uint64_t address;
  uint64_t offset;         // from the start of the module to `address`, as addr2line expects it
  uint64_t symbol_offset;  // from the start of the symbol to `address`
  char module[40];         // file name of the library or program; empty if unknown
  char symbol[72];         // exported symbol that contains `address`; empty if there is none
};

// How much of a ThreadStack is written. The player stores the state with release order, which pairs
// with the acquire load in the referee.
enum StackState : uint32_t {
  kNoStack = 0,
  kStackWalked,  // addresses are written
  kStackNamed,   // addresses, modules and symbols are written
};

struct ThreadStack {
  uint32_t state;      // StackState
  uint32_t thread_id;  // gettid() in the jail
  uint32_t frames;
  uint32_t reserved;
  StackFrame frame[kFramesMax];
};

struct StackPage {
  uint32_t next;  // number of stacks begun, which is the next free index in `stacks`
  uint32_t reserved[3];
  ThreadStack stacks[kStacksMax];
};

}  // namespace keydrome
