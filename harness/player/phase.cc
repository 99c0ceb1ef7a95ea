// Implements Phase: starts the threads, gives them their rounds of operations, and collects the
// outcome. The referee measures the time of everything in this file.
#include "harness/player/phase.h"

#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <span>
#include <string>
#include <system_error>
#include <thread>

#include "benchmarks/kit/player/recording.h"

namespace keydrome {

using history::Event;

namespace {

uint64_t context_switches_of_this_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<uint64_t>(usage.ru_nvcsw) + static_cast<uint64_t>(usage.ru_nivcsw);
}

}  // namespace

Phase::Phase(RefereeChannel& channel, const PhaseInputs& inputs)
    : channel_(channel), inputs_(inputs) {}

Phase::Round::Round(Mapping mapped)
    : mapping(std::move(mapped)),
      header(reinterpret_cast<const format::RoundHeader*>(mapping.bytes().data())) {}

std::span<const std::byte> Phase::Round::piece(uint32_t thread) const {
  const format::RoundHeader::Span& span = header->spans[thread];
  return mapping.bytes().subspan(span.offset, span.bytes);
}

void Phase::play(PhaseId phase, Mapping round, Mapping outcome) {
  phase_id_ = phase;
  outcome_ = std::move(outcome);
  if (outcome_.bytes().size() < sizeof(format::OutcomeHeader)) {
    give_up(kDonePlayer, "the outcome could not be mapped");
  }
  const auto* header = reinterpret_cast<const format::OutcomeHeader*>(outcome_.bytes().data());
  add_round(std::move(round));
  // If there is only one round, the calling thread has none to receive, so it plays the operations
  // of thread 0 itself. Starting and joining one more thread would cost more than everything else
  // that a phase adds to its time.
  const bool receives = !has_last_round();
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
  channel_.send(MessageType::kDone, phase_id_);
}

// Plays one thread of the phase. An exception caught here comes from the library, because the
// interpreter throws none. An exception ends the whole phase, because other threads may wait for
// this one.
void Phase::run_thread(uint32_t thread) {
  interpreter_inputs(thread).outcome->thread_id = static_cast<uint32_t>(gettid());
  try {
    if (inputs_.hooks.before) inputs_.hooks.before(thread);
    inputs_.event_clock == nullptr ? play_unrecorded(thread) : play_recorded(thread);
    if (inputs_.hooks.after) inputs_.hooks.after(thread);
  } catch (const std::exception& error) {
    give_up(kDoneException, error.what());
  } catch (...) {
    give_up(kDoneException, "its type is not derived from std::exception");
  }
}

void Phase::play_unrecorded(uint32_t thread) {
  const player::InterpreterInputs inputs = interpreter_inputs(thread);
  player::Interpreter interpreter(inputs);
  play_rounds(interpreter, *inputs.outcome, thread);
}

void Phase::play_recorded(uint32_t thread) {
  std::byte* image = outcome_.bytes().data();
  const auto* header = reinterpret_cast<const format::OutcomeHeader*>(image);
  const format::OutcomeHeader::Span& span = header->spans[thread];
  player::Recording recording(
      {.clock = inputs_.event_clock,
       .log = {reinterpret_cast<Event*>(image + span.log_offset), span.log_capacity}});
  player::InterpreterInputs inputs = interpreter_inputs(thread);
  inputs.recording = &recording;
  player::Interpreter interpreter(inputs);
  play_rounds(interpreter, *inputs.outcome, thread);
  inputs.outcome->events = recording.events();
  inputs.outcome->events_full = recording.full() ? 1 : 0;
  inputs.outcome->timestamp_slack = inputs_.event_clock->slack();
}

void Phase::play_rounds(player::Interpreter& interpreter, format::ThreadOutcome& outcome,
                        uint32_t thread) {
  const uint64_t switches = context_switches_of_this_thread();
  for (uint32_t number = 0;; ++number) {
    const Round& round = enter(number);
    const Result<player::PieceView> piece =
        player::PieceView::open(*inputs_.pools, round.piece(thread));
    if (!piece) give_up(kDonePlayer, piece.error().message);
    interpreter.run(*piece);
    if (round.header->last != 0) break;
  }
  interpreter.finish();
  outcome.context_switches = context_switches_of_this_thread() - switches;
}

player::InterpreterInputs Phase::interpreter_inputs(uint32_t thread) {
  std::byte* image = outcome_.bytes().data();
  const auto* header = reinterpret_cast<const format::OutcomeHeader*>(image);
  const format::OutcomeHeader::Span& span = header->spans[thread];
  auto* outcomes = reinterpret_cast<format::ThreadOutcome*>(image + header->thread_offset);
  return {.api = inputs_.api,
          .pools = inputs_.pools,
          .names = inputs_.names,
          .events = &signals_,
          .turns = &turns_,
          .retry_budget = inputs_.retry_budget,
          .clock = inputs_.clock,
          .go_ticks = inputs_.go_ticks,
          .outcome = outcomes + thread,
          .ends = {reinterpret_cast<format::TransactionEnd*>(image + span.ends_offset),
                   span.ends_capacity},
          .words = {reinterpret_cast<uint64_t*>(image + span.words_offset), span.words_capacity},
          .trace = {image + span.trace_offset, span.trace_capacity}};
}

// Waits for round `number`. The first thread that enters round n sends NEED(n), and the referee
// replies with round n + 1. So the next round has usually arrived before a thread needs it.
const Phase::Round& Phase::enter(uint32_t number) {
  const Round* round = nullptr;
  bool first = false;
  {
    MutexLock lock(mutex_);
    while (rounds_.size() <= number) arrived_.wait(mutex_);
    round = rounds_[number].get();
    first = entered_ == number;
    if (first) ++entered_;
  }
  if (first && round->header->last == 0) channel_.send(MessageType::kNeed, phase_id_, number);
  return *round;
}

void Phase::add_round(Mapping mapping) {
  if (mapping.bytes().size() < sizeof(format::RoundHeader)) {
    give_up(kDonePlayer, "a round could not be mapped");
  }
  auto round = std::make_unique<Round>(std::move(mapping));
  MutexLock lock(mutex_);
  rounds_.push_back(std::move(round));
  arrived_.notify_all();
}

bool Phase::has_last_round() {
  MutexLock lock(mutex_);
  return rounds_.back()->header->last != 0;
}

void Phase::receive_rounds() {
  while (!has_last_round()) {
    if (channel_.receive() != MessageType::kRound) exit_now(1);
    add_round(Mapping(channel_.fds()[0].get(), Mapping::Access::kRead));
  }
}

void Phase::give_up(DoneStatus status, std::string_view reason) {
  channel_.send(MessageType::kDone, phase_id_, 0, status, reason);
  for (;;) pause();  // the referee ends the jail
}

}  // namespace keydrome
