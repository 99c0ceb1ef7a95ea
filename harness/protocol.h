// The control channel between referee and player: one SEQPACKET socket, fixed-size messages, one strict order.
//
//   player                         referee
//   HELLO                 ->                        version
//                         <-       LOAD             paths and configuration; then the jail is tightened
//   LOADED                ->                        0 or why not, as text
//   per phase:
//                         <-       GO               nonce, phase number; fds: [pools,] round 0, outcome
//   NEED(round)           ->                        zero or more times: a thread entered `round`
//                         <-       ROUND            fd of round + 1
//   DONE                  ->                        the same nonce
//                         <-       END              after the last phase; the jail is killed, nothing else is read
//
// Clock: the referee takes CLOCK_MONOTONIC before sending GO and after receiving DONE. A message of another type, size
// or nonce, or out of order, is a protocol violation and a failed run.
#pragma once

#include <cstdint>

namespace keydrome {

inline constexpr uint32_t kProtocolVersion = 1;
inline constexpr int kControlFd = 3;  // in the player; nothing else but 0, 1 and 2 is open
inline constexpr uint32_t kTextBytes = 8192;

enum class MessageType : uint32_t { kHello = 1, kLoad, kLoaded, kGo, kNeed, kRound, kDone, kEnd };

struct Message {
  uint32_t version;
  MessageType type;
  uint64_t nonce;   // GO, NEED, ROUND, DONE: chosen by the referee, fresh for each phase
  uint32_t phase;
  uint32_t round;
  uint32_t status;  // LOADED, DONE: 0 or an error number
  uint32_t flags;   // GO: kGoHasPools
  char text[kTextBytes];  // LOAD: path of the library, NUL, configuration JSON or empty; LOADED: the reason
};

inline constexpr uint32_t kGoHasPools = 1u << 0;

}  // namespace keydrome
