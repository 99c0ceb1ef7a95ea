// One phase inside the player: its threads, its rounds and its outcome.
//
// Everything here happens inside the referee's clock. Threads wait for a round by sleeping, so that
// a waiting thread takes no time from a working one.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/thread_annotations.h"
#include "benchmarks/kit/baton.h"
#include "benchmarks/kit/event_clock.h"
#include "benchmarks/kit/events.h"
#include "benchmarks/kit/index_api.h"
#include "benchmarks/kit/index_names.h"
#include "benchmarks/kit/outcome.h"
#include "benchmarks/kit/pools_view.h"
#include "benchmarks/kit/program.h"
#include "benchmarks/kit/session.h"
#include "harness/player/control.h"
#include "harness/player/mapping.h"

namespace keydrome {

// Called by each thread with its number, before its first call and after its last. May be empty.
struct ThreadHooks {
  std::function<void(uint32_t thread)> before, after;
};

// What the phases of a session share; all of it outlives the phase.
struct PhaseInputs {
  const IndexApi* api = nullptr;
  ThreadHooks hooks;
  const PoolsView* pools = nullptr;
  IndexNames* names = nullptr;
  Patience* patience = nullptr;
  const TickClock* clock = nullptr;
  uint64_t go_ticks = 0;              // when GO came
  EventClock* event_clock = nullptr;  // nullptr: the phase is not recorded
};

class Phase {
 public:
  Phase(Control& control, const PhaseInputs& inputs);

  // Plays the whole phase: the threads' programs from the first round in `round` to the last, which
  // the control channel brings. Sends DONE at the end. Does not return when that is not possible:
  // then the referee has been told why.
  void play(Address address, Mapping round, Mapping outcome);

 private:
  struct Round {
    explicit Round(Mapping mapped);
    Mapping mapping;
    const RoundHeader* header;
    std::span<const Op> ops(uint32_t thread) const;
  };

  void run_thread(uint32_t thread);
  void run_session(uint32_t thread);
  void record_session(uint32_t thread);
  void play_rounds(Session& session, ThreadOutcome& outcome, uint32_t thread);
  SessionInputs session_inputs(uint32_t thread);
  const Round& enter(uint32_t number);
  void add_round(Mapping mapping);
  bool is_whole();  // whether the last round has come
  void receive_rounds();
  [[noreturn]] void give_up(DoneStatus status, std::string_view reason);

  Control& control_;
  const PhaseInputs inputs_;
  Address address_;
  Mapping outcome_;
  Events events_;
  Baton baton_;

  Mutex mutex_;
  Condition arrived_;
  std::vector<std::unique_ptr<Round>> rounds_ KEYDROME_GUARDED_BY(mutex_);
  uint32_t asked_ KEYDROME_GUARDED_BY(mutex_) = 0;  // rounds up to here were entered by some thread
};

}  // namespace keydrome
