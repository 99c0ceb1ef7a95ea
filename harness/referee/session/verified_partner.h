// The Partner (the processes that play one repetition of a benchmark) of verified mode: the driver
// outside the jail (sandbox), and the player with the library inside.
//
// The driver plays the programs (the lists of operations) and collects the results, where the
// library cannot reach them. The driver passes each call to the player through call slots, a memfd
// that both processes map (harness/calls.h). Two more parts of memory are shared: the ring carries
// the programs, and the outcome takes the results. The referee, the trusted process that runs the
// benchmark, exchanges these messages with driver and player (harness/protocol.h). The referee
// sends LOAD and GO, and receives the others:
//
//   start         player: HELLO
//                 driver: HELLO, LOAD with slots, ring and outcome, LOADED
//   loading       player: LOAD with the slots, LOADED
//   each phase    player: GO with the number of slots to serve
//                 driver: GO, then NEED, then DONE
//                 player: DONE
//
// In the messages, NEED asks for the next piece (portion) of a program, and DONE says that the
// phase has ended. The player's DONE may arrive before the referee has read the driver's DONE. The
// VerifiedPartner then stores the nonce of this DONE. A nonce is the random number of a phase. Not
// thread-safe.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "harness/referee/memory/memfd.h"
#include "harness/referee/processes/driver_process.h"
#include "harness/referee/session/partner.h"

namespace keydrome {

class VerifiedPartner final : public Partner {
 public:
  VerifiedPartner(const JailOptions& options, uint32_t threads_max);

  std::optional<Stopped> start(const SharedMemory& memory) override;
  bool send_load(const Message& load) override;
  bool send_go(const Message& go, uint32_t threads) override;
  bool plays_in_jail() const override { return false; }
  bool must_finish(uint64_t nonce) override;
  bool driver_spoke() const override { return driver_spoke_; }
  std::span<const std::byte> call_slots() const override { return slots_->bytes(); }

 protected:
  JailProcess::Event receive(Message& message, uint64_t deadline_ns) override;
  std::vector<pid_t> processes() const override;
  bool in_turn() const override { return driver_spoke_ == drivers_turn_; }

 private:
  std::optional<Stopped> start_driver();

  uint32_t threads_max_;
  std::optional<SharedRegion> slots_;
  std::optional<DriverProcess> driver_;
  std::size_t spinning_threads_max_ = 0;  // the largest number of threads that may wait by polling
  bool drivers_turn_ = false;             // true: the next message must come from the driver
  bool driver_spoke_ = false;             // true: the last message came from the driver
  std::optional<uint64_t> player_done_;   // the nonce of a player's DONE that came early
};

}  // namespace keydrome
