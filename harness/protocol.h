// The messages that the referee exchanges with the player, and in verified mode with the driver.
//
// The referee is the trusted process that runs a session, i.e. plays one benchmark once with one
// library. The player is the process in the jail (a sandbox) that loads the library under test. All
// messages have the same size and travel over one SEQPACKET socket in this order:
//
//   player                         referee
//   HELLO                 ->                        version
//                         <-       LOAD             path and configuration of the library;
//                                                   fds: stack page (harness/stacks.h), ring,
//                                                   outcome
//   LOADED                ->                        a LoadStatus; after an error the reason as text
//   in each phase:
//                         <-       GO               nonce, phase number
//   NEED(thread, piece)   ->                        zero or more times: asks for a thread's next
//                                                   piece, as soon as the thread begins a piece
//   DONE                  ->                        the nonce of GO, and a DoneStatus
//   after the last phase:
//                         <-       END
//
// After LOAD the player maps ring and outcome, loads the library, and then drops rights that it
// needed only to load the library. The ring (harness/ring.h) carries the operations of every phase
// and the keys that they use, in pieces: each piece is the next portion of one thread's operations.
// The outcome is the memory for the player's results. The player maps ring and outcome once. They
// are as large as the largest phase needs.
//
// When GO arrives, the ring contains the first piece of every thread and no other piece. The
// referee does not answer NEED with a message: it copies the piece into the ring and wakes the
// thread. A NEED for any piece but the thread's next one fails the run. If a phase ends by the
// clock (format::OpCode::kUntil), DONE may come before the threads have asked for all pieces. A
// DONE with an error status may come at any time in a phase and is the player's last message. After
// END the referee kills the jail and reads no more messages.
//
// In verified mode the driver, a trusted process outside the jail, exchanges these messages with
// the referee on its own socket. The driver's LOAD carries the memfd of the call slots
// (harness/calls.h) in place of the stack page. The player then only makes the calls that the
// driver requests, and its messages differ:
// - The player's LOAD has the flag kLoadServes, and the call slots in place of ring and outcome.
// - In the player's GO, Message::threads is the number of slots to serve.
// - The player sends no NEED, and sends DONE after the driver's threads have finished.
//
// Time: the jail is frozen between phases. The referee sends GO to the frozen player, reads
// CLOCK_MONOTONIC and thaws the jail. It reads the clock again when it has received DONE and the
// jail is frozen. So the measured time includes the thaw and the freeze. The driver is never frozen
// and starts as soon as it receives GO. Therefore, in verified mode, the referee reads the clock
// before it sends GO. It does the same on a machine that cannot freeze the jail.
//
// A message of unexpected type, size or nonce fails the run.
#pragma once

#include <cstdint>

namespace keydrome {

inline constexpr uint32_t kProtocolVersion = 5;
// Descriptor of the channel in the player and in the driver. At start, only descriptors 0 to 3 are
// open.
inline constexpr int kChannelFd = 3;
inline constexpr uint32_t kTextBytes = 8192;

enum class MessageType : uint32_t { kHello = 1, kLoad, kLoaded, kGo, kNeed, kDone, kEnd };

struct Message {
  uint32_t version;
  MessageType type;
  uint64_t nonce;  // GO, NEED, DONE: a random number that the referee draws for each phase
  uint32_t phase;
  uint32_t piece;    // NEED: number of the piece among the thread's pieces, from 1
  uint32_t status;   // LOADED: LoadStatus; DONE: DoneStatus
  uint32_t flags;    // LOAD: kLoadServes; GO: kGoSpin, kGoPinned
  uint32_t threads;  // GO to the player in verified mode: number of slots to serve
  uint32_t thread;   // NEED: the thread that asks
  // LOAD: the library's path, a NUL, then the configuration as JSON (may be empty).
  // LOADED and DONE: the reason of an error. Text from the player may lack its final NUL.
  char text[kTextBytes];
};

inline constexpr uint32_t kGoSpin = 1u << 0;  // verified mode: poll for calls (CallWait::kSpin)
// The phase is pinned: each thread that calls the library is bound to one CPU (player/pinning.h).
inline constexpr uint32_t kGoPinned = 1u << 1;
inline constexpr uint32_t kLoadServes = 1u << 0;  // verified mode: the player serves call slots

// Whether the player could load the library. Every value except kLoadOk ends the session.
enum LoadStatus : uint32_t {
  kLoadOk = 0,
  kLoadNotOpened,      // dlopen failed
  kLoadSymbolMissing,  // the library does not export one of the ten functions of keydrome/index.h
  kLoadNotConfigured,  // the library's keydrome_configure is missing, threw or returned an error
  kLoadNotTightened,   // the jail's second stage (jail/tighten.h) failed
  kLoadOtherFilter,    // the second stage failed because the library has installed a filter
};

// How a phase ended in the player. Every value except kDoneOk ends the session.
enum DoneStatus : uint32_t {
  kDoneOk = 0,
  kDoneException,  // a function of the library threw an exception
  kDonePlayer,     // the player failed for a reason that has no status of its own
  kDoneNoThread,   // the player could not start a thread
  kDoneDamaged,    // a piece of a thread's operations was malformed
};

}  // namespace keydrome
