// The control channel between referee and player: one SEQPACKET socket, fixed-size messages, one
// strict order.
//
//   player                         referee
//   HELLO                 ->                        version
//                         <-       LOAD             paths and configuration; fd: stack page
//                                                   (stacks.h); then the jail is tightened
//   LOADED                ->                        a LoadStatus, and why not as text
//   per phase:
//                         <-       GO               nonce, phase number; fds: [pools,] round 0,
//                                                   outcome
//   NEED(round)           ->                        zero or more times: a thread entered `round`
//                         <-       ROUND            fd of round + 1
//   DONE                  ->                        the same nonce; a DoneStatus other than
//                                                   kDoneWell may come at any time in a phase, and
//                                                   is the last message
//                         <-       END              after the last phase; the jail is killed,
//                                                   nothing else is read
//
// In verified mode the driver, a process outside the jail, has that conversation on a socket of its
// own, with LOAD bringing the memfd of the call slots (calls.h). The player's LOAD has kLoadServes
// and the same memfd as second one; its GO has no descriptors and says how many threads answer
// calls. It asks for no round, and its DONE comes when the driver's threads have left.
//
// Clock: the referee takes CLOCK_MONOTONIC before sending GO and after receiving DONE. A message of
// another type, size or nonce, or out of order, is a protocol violation and a failed run.
#pragma once

#include <cstdint>

namespace keydrome {

inline constexpr uint32_t kProtocolVersion = 3;
inline constexpr int kControlFd = 3;  // in the player; nothing else but 0, 1 and 2 is open
inline constexpr uint32_t kTextBytes = 8192;

enum class MessageType : uint32_t { kHello = 1, kLoad, kLoaded, kGo, kNeed, kRound, kDone, kEnd };

struct Message {
  uint32_t version;
  MessageType type;
  uint64_t nonce;  // GO, NEED, ROUND, DONE: chosen by the referee, fresh for each phase
  uint32_t phase;
  uint32_t round;
  uint32_t status;   // LOADED: LoadStatus; DONE: DoneStatus
  uint32_t flags;    // LOAD: kLoadServes; GO: kGoHasPools, kGoSpin
  uint32_t threads;  // GO of verified mode to the player: how many slots are served
  uint32_t reserved;
  char text[kTextBytes];  // LOAD: path of the library, NUL, configuration JSON or empty; LOADED,
                          // DONE: the reason
};

inline constexpr uint32_t kGoHasPools = 1u << 0;
inline constexpr uint32_t kGoSpin = 1u << 1;      // verified mode: threads may wait busily
inline constexpr uint32_t kLoadServes = 1u << 0;  // verified mode: the player serves slots

// Why a library is not loaded. Whatever is not 0 ends the session.
enum LoadStatus : uint32_t {
  kLoadWell = 0,
  kLoadNotOpened,      // dlopen refused it
  kLoadSymbolMissing,  // one of the ten functions is not exported
  kLoadNotConfigured,  // there is a configuration, and keydrome_configure is missing or refused it
  kLoadNotTightened,   // the second stage of the jail could not be entered
};

// How a phase ended inside the player.
enum DoneStatus : uint32_t {
  kDoneWell = 0,
  kDoneException,  // an exception crossed the contract's boundary
  kDonePlayer,     // the player could not do its work: no thread, no memory, a damaged input
};

}  // namespace keydrome
