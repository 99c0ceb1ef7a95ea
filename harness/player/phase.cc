// Implements Phase: starts the threads, passes them their pieces (portions of their lists of
// operations), and collects the outcome (counters, results and logs). All of this counts in the
// time of the phase.
#include "harness/player/phase.h"

#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

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

void Phase::play() {
  const uint32_t count = header().threads;
  std::vector<std::thread> threads;
  threads.reserve(count);
  try {
    for (uint32_t t = 1; t < count; ++t) threads.emplace_back([this, t] { run_thread(t); });
  } catch (const std::system_error& error) {
    // Only the driver, which runs outside the jail (sandbox), has hooks. For the jail, the referee
    // adds the limit of threads, and what to do.
    const char* remedy =
        inputs_.hooks.before
            ? "; end other programs, or raise the limit of processes (ulimit -u; in a container, "
              "pids_limit)"
            : "";
    give_up(kDoneNoThread, std::string("a thread could not be started: ") + error.what() + remedy);
  }
  // The calling thread plays operations too. Starting and joining one more thread would take longer
  // than the rest of the fixed work of a phase, and would count in its time. The calling thread is
  // thread 0 in every phase, so that the library always sees the same thread 0.
  run_thread(0);
  for (std::thread& thread : threads) thread.join();
  channel_.send(MessageType::kDone, phase_id_);
}

// Plays one thread of the phase. An exception caught here comes from the library, because the
// interpreter throws none. An exception ends the whole phase, because other threads may wait for
// this one.
void Phase::run_thread(uint32_t thread) {
  interpreter_inputs(thread).outcome->thread_id = static_cast<uint32_t>(gettid());
  if (inputs_.pins != nullptr && !inputs_.pins->bind(thread))
    give_up(kDonePlayer, not_bound_text());
  try {
    if (inputs_.hooks.before) inputs_.hooks.before(thread);
    inputs_.event_clock == nullptr ? play_unrecorded(thread) : play_recorded(thread);
    if (inputs_.hooks.after) inputs_.hooks.after(thread);
  } catch (const std::exception& error) {
    give_up(kDoneException, error.what());
  } catch (...) {
    give_up(kDoneException, "the type of the exception is not derived from std::exception");
  }
  if (inputs_.pins != nullptr) inputs_.pins->release();
}

void Phase::play_unrecorded(uint32_t thread) {
  const player::InterpreterInputs inputs = interpreter_inputs(thread);
  player::Interpreter interpreter(inputs);
  play_pieces(interpreter, *inputs.outcome, thread);
}

void Phase::play_recorded(uint32_t thread) {
  const format::OutcomeHeader::Span& span = header().spans[thread];
  player::Recording recording(
      {.clock = inputs_.event_clock,
       .log = {reinterpret_cast<Event*>(inputs_.outcome.data() + span.log_offset),
               span.log_capacity}});
  player::InterpreterInputs inputs = interpreter_inputs(thread);
  inputs.recording = &recording;
  player::Interpreter interpreter(inputs);
  play_pieces(interpreter, *inputs.outcome, thread);
  inputs.outcome->events = recording.events();
  inputs.outcome->events_full = recording.full() ? 1 : 0;
  inputs.outcome->timestamp_slack = inputs_.event_clock->slack();
}

// Plays the pieces of a thread in order. When the thread begins a piece, the memory of the piece
// before it is free. So the thread requests the next piece at once, and the piece has usually
// arrived before the thread needs it.
void Phase::play_pieces(player::Interpreter& interpreter, format::ThreadOutcome& outcome,
                        uint32_t thread) {
  const uint64_t switches = context_switches_of_this_thread();
  for (uint32_t number = 0;; ++number) {
    if (!inputs_.ring->has(thread, number)) interpreter.await_piece();
    const Result<player::PieceView> piece =
        player::PieceView::open(*inputs_.pools, inputs_.ring->await(thread, number));
    if (!piece) give_up(kDoneDamaged, piece.error().message);
    if (!piece->last) channel_.need(phase_id_, thread, number + 1);
    interpreter.run(*piece);
    if (piece->last || interpreter.ended()) break;
  }
  interpreter.finish();
  outcome.context_switches = context_switches_of_this_thread() - switches;
}

player::InterpreterInputs Phase::interpreter_inputs(uint32_t thread) {
  std::byte* image = inputs_.outcome.data();
  const format::OutcomeHeader::Span& span = header().spans[thread];
  auto* outcomes = reinterpret_cast<format::ThreadOutcome*>(image + header().thread_offset);
  return {.api = inputs_.api,
          .pools = inputs_.pools,
          .names = inputs_.names,
          .events = &signals_,
          .turns = &turns_,
          .retry_budget = inputs_.retry_budget,
          .clock = inputs_.clock,
          .go_ticks = inputs_.go_ticks,
          .outcome = outcomes + thread,
          .words = {reinterpret_cast<uint64_t*>(image + span.words_offset), span.words_capacity},
          .words_spare = span.words_spare,
          .trace = {image + span.trace_offset, span.trace_capacity}};
}

void Phase::give_up(DoneStatus status, std::string_view reason) {
  channel_.send(MessageType::kDone, phase_id_, status, reason);
  for (;;) pause();  // the referee, the process outside that runs the session, ends the jail
}

}  // namespace keydrome
