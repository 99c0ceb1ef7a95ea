#include "harness/player/phase.h"

#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <span>
#include <string>
#include <system_error>
#include <thread>

#include "benchmarks/kit/recording.h"

namespace keydrome {
namespace {

uint64_t context_switches_of_this_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_nvcsw) + static_cast<uint64_t>(usage.ru_nivcsw);
}

}  // namespace

Phase::Phase(Control& control, const PhaseInputs& inputs) : control_(control), inputs_(inputs) {}

Phase::Round::Round(Mapping mapped)
    : mapping(std::move(mapped)),
      header(reinterpret_cast<const RoundHeader*>(mapping.bytes().data())) {}

std::span<const Op> Phase::Round::ops(uint32_t thread) const {
  const RoundHeader::Span& span = header->spans[thread];
  return {reinterpret_cast<const Op*>(mapping.bytes().data() + span.offset), span.count};
}

void Phase::play(Address address, Mapping round, Mapping outcome) {
  address_ = address;
  outcome_ = std::move(outcome);
  if (outcome_.bytes().size() < sizeof(OutcomeHeader)) {
    give_up(kDonePlayer, "the outcome could not be mapped");
  }
  const auto* header = reinterpret_cast<const OutcomeHeader*>(outcome_.bytes().data());
  add_round(std::move(round));
  // With nothing left to receive, this thread plays a program itself: starting and joining one more
  // takes longer than all else that a phase adds to its time.
  const bool receives = !is_whole();
  std::vector<std::thread> threads;
  threads.reserve(header->threads);
  try {
    for (uint32_t t = receives ? 0 : 1; t < header->threads; ++t)
      threads.emplace_back([this, t] { run_thread(t); });
  } catch (const std::system_error& error) {
    give_up(kDonePlayer, std::string("a thread could not be started: ") + error.what());
  }
  receives ? receive_rounds() : run_thread(0);
  for (std::thread& thread : threads) thread.join();
  MutexLock lock(mutex_);
  rounds_.clear();
  control_.send(MessageType::kDone, address_);
}

// An exception that gets here came through the session from a call of the library, because nothing
// else in a session throws. The other threads may wait for this one, so the phase cannot go on.
void Phase::run_thread(uint32_t thread) {
  session_inputs(thread).outcome->thread_id = static_cast<uint32_t>(gettid());
  try {
    if (inputs_.hooks.before) inputs_.hooks.before(thread);
    inputs_.event_clock == nullptr ? run_session(thread) : record_session(thread);
    if (inputs_.hooks.after) inputs_.hooks.after(thread);
  } catch (const std::exception& error) {
    give_up(kDoneException, error.what());
  } catch (...) {
    give_up(kDoneException, "of a type that is not std::exception");
  }
}

void Phase::run_session(uint32_t thread) {
  const SessionInputs inputs = session_inputs(thread);
  Session session(inputs);
  play_rounds(session, *inputs.outcome, thread);
}

void Phase::record_session(uint32_t thread) {
  std::byte* image = outcome_.bytes().data();
  const auto* header = reinterpret_cast<const OutcomeHeader*>(image);
  const OutcomeHeader::Span& span = header->spans[thread];
  Recording recording(
      {.api = inputs_.api,
       .names = inputs_.names,
       .clock = inputs_.event_clock,
       .log = {reinterpret_cast<Event*>(image + span.log_offset), span.log_capacity}});
  SessionInputs inputs = session_inputs(thread);
  inputs.api = &recording_api();
  Session session(inputs);
  play_rounds(session, *inputs.outcome, thread);
  inputs.outcome->events = recording.events();
  inputs.outcome->events_full = recording.full() ? 1 : 0;
  inputs.outcome->stamp_slack = inputs_.event_clock->slack();
}

void Phase::play_rounds(Session& session, ThreadOutcome& outcome, uint32_t thread) {
  const uint64_t switches = context_switches_of_this_thread();
  for (uint32_t number = 0;; ++number) {
    const Round& round = enter(number);
    session.run(round.ops(thread));
    if (round.header->last != 0) break;
  }
  session.finish();
  outcome.context_switches = context_switches_of_this_thread() - switches;
}

SessionInputs Phase::session_inputs(uint32_t thread) {
  std::byte* image = outcome_.bytes().data();
  const auto* header = reinterpret_cast<const OutcomeHeader*>(image);
  const OutcomeHeader::Span& span = header->spans[thread];
  auto* outcomes = reinterpret_cast<ThreadOutcome*>(image + header->thread_offset);
  return {.api = inputs_.api,
          .pools = inputs_.pools,
          .names = inputs_.names,
          .events = &events_,
          .baton = &baton_,
          .patience = inputs_.patience,
          .clock = inputs_.clock,
          .go_ticks = inputs_.go_ticks,
          .outcome = outcomes + thread,
          .ends = {reinterpret_cast<TransactionEnd*>(image + span.ends_offset), span.ends_capacity},
          .trace = {image + span.trace_offset, span.trace_capacity}};
}

// The first thread that enters a round asks for the one after the next, so the referee stays one
// ahead.
const Phase::Round& Phase::enter(uint32_t number) {
  const Round* round = nullptr;
  bool first = false;
  {
    MutexLock lock(mutex_);
    while (rounds_.size() <= number) arrived_.wait(mutex_);
    round = rounds_[number].get();
    first = asked_ == number;
    if (first) ++asked_;
  }
  if (first && round->header->last == 0) control_.send(MessageType::kNeed, address_, number);
  return *round;
}

void Phase::add_round(Mapping mapping) {
  if (mapping.bytes().size() < sizeof(RoundHeader)) {
    give_up(kDonePlayer, "a round could not be mapped");
  }
  auto round = std::make_unique<Round>(std::move(mapping));
  MutexLock lock(mutex_);
  rounds_.push_back(std::move(round));
  arrived_.notify_all();
}

bool Phase::is_whole() {
  MutexLock lock(mutex_);
  return rounds_.back()->header->last != 0;
}

void Phase::receive_rounds() {
  while (!is_whole()) {
    if (control_.receive() != MessageType::kRound) leave(1);
    add_round(Mapping(control_.fds()[0].get(), Mapping::Access::kRead));
  }
}

void Phase::give_up(DoneStatus status, std::string_view reason) {
  control_.send(MessageType::kDone, address_, 0, status, reason);
  for (;;) pause();  // the referee ends the jail
}

}  // namespace keydrome
