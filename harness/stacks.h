// The stack page: one memfd that both sides map from LOAD on, in which each thread of the player
// writes down where it stands when the referee sends it kStackSignal. That happens once, when a
// session did not go on and is over.
//
// The writer shares its process with the library, which may block the signal, take it for itself or
// write here what it likes: the referee copies a stack out once and checks what it copied.
#pragma once

#include <cstdint>

namespace keydrome {

// One below SIGRTMAX: the C library keeps the first real-time signals, programs count from
// SIGRTMIN.
inline constexpr int kStackSignal = 63;
inline constexpr uint32_t kStacksMax = 64;
inline constexpr uint32_t kFramesMax = 24;

// One call, the innermost first.
struct StackFrame {
  uint64_t address;        // of the instruction, or of the call's last byte
  uint64_t offset;         // of the address in the module: what addr2line asks for
  uint64_t symbol_offset;  // of the address in the symbol
  char module[40];         // file name; empty: not known
  char symbol[72];         // the exported symbol around it; empty: none
};

// How much of a stack is there. Stored with release order, partner of the referee's acquire.
enum StackState : uint32_t { kNoStack = 0, kStackWalked, kStackNamed };

struct ThreadStack {
  uint32_t state;      // StackState
  uint32_t thread_id;  // gettid(), in the jail
  uint32_t frames;
  uint32_t reserved;
  StackFrame frame[kFramesMax];
};

struct StackPage {
  uint32_t next;  // how many stacks were begun
  uint32_t reserved[3];
  ThreadStack stacks[kStacksMax];
};

}  // namespace keydrome
