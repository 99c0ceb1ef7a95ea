// Implements harness/referee/hang/hang.h, which describes what the threads of the player (the
// jailed process) were doing when a session (one repetition of a benchmark) hung. Reads /proc
// twice, 0.1 s apart (kHangLookMs), and collects the stacks of the threads.
#include "harness/referee/hang/hang.h"

#include <poll.h>

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "benchmarks/kit/format/outcome.h"
#include "harness/referee/hang/hang_text.h"
#include "harness/referee/hang/stack_reader.h"

namespace keydrome {
namespace {

const ThreadFacts* find(const std::vector<ThreadFacts>& threads, uint32_t inside) {
  const auto found = std::ranges::find(threads, inside, &ThreadFacts::inside);
  return found == threads.end() ? nullptr : &*found;
}

// Adds the kernel's facts about thread `id` and the thread's stack to `thread`. `before` and
// `after` are two readings, kHangLookMs apart.
void add_process_facts(const std::vector<ThreadFacts>& before,
                       const std::vector<ThreadFacts>& after, const Stacks& stacks, uint32_t id,
                       HungThread& thread) {
  const ThreadFacts* earlier = find(before, id);
  const ThreadFacts* later = find(after, id);
  if (later != nullptr) thread.facts = *later;
  if (earlier != nullptr && later != nullptr) thread.busy_ms = later->cpu_ms - earlier->cpu_ms;
  if (const auto stack = stacks.find(id); stack != stacks.end()) thread.stack = stack->second;
}

// Describes thread `number` of a phase. The referee (the trusted process, which runs this code)
// knows the thread's program, the list of its operations. `watch` derives the current operation
// from the results that the thread has written.
HungThread client_thread(const script::Script& script, const script::PhaseScript& phase,
                         const PhaseWatch& watch, std::size_t number, uint64_t now) {
  HungThread thread;
  thread.number = number;
  const std::vector<format::Op>& ops = phase.threads[number];
  thread.position = program_position(script, ops, watch.reached(number, ops));
  thread.stuck_ms = (now - watch.thread(number).since_ns) / kNsPerMs;
  return thread;
}

// Returns the last calls of a thread before operation `op`, oldest first: at most kCallsBefore
// calls, from the last kLookBack operations. Skips operations that call nothing. The results are
// not known, so the texts contain none.
std::vector<std::string> calls_before(const script::Script& script,
                                      const std::vector<format::Op>& ops, uint64_t op) {
  constexpr std::size_t kCallsBefore = 6;
  constexpr uint64_t kLookBack = 20;
  std::vector<std::string> calls;
  const uint64_t last = std::min<uint64_t>(op, ops.size());
  const uint64_t end = last > kLookBack ? last - kLookBack : 0;
  for (uint64_t at = last; at > end && calls.size() < kCallsBefore; --at) {
    const ProgramPosition position = program_position(script, ops, at - 1);
    if (!position.in_call) continue;
    const bool several = ops[at - 1].code == format::OpCode::kRun;
    calls.push_back(several ? "unrecorded calls of the transaction" : position.call);
  }
  std::ranges::reverse(calls);
  return calls;
}

}  // namespace

TwoLooks look_twice(const HangInputs& inputs) {
  TwoLooks looks{.process = program_of(inputs.jail), .before = {}, .after = {}};
  looks.before = thread_facts(looks.process);
  poll(nullptr, 0, static_cast<int>(kHangLookMs));
  looks.after = thread_facts(looks.process);
  looks.now_ns = now_ns();
  if (inputs.watch != nullptr) inputs.watch->sample(looks.now_ns);
  return looks;
}

std::string hang_evidence(const HangInputs& inputs, const TwoLooks& looks, bool slow) {
  const auto& [process, before, after, now] = looks;
  const Stacks stacks = collect_stacks(process, after, inputs.stack_page);

  std::vector<HungThread> threads;
  std::vector<uint32_t> clients;
  const std::size_t count = inputs.phase == nullptr ? 0 : inputs.phase->threads.size();
  for (std::size_t t = 0; t < count; ++t) {
    HungThread thread = client_thread(*inputs.script, *inputs.phase, *inputs.watch, t, now);
    clients.push_back(inputs.watch->thread_id(t));
    add_process_facts(before, after, stacks, clients.back(), thread);
    threads.push_back(std::move(thread));
  }
  for (const ThreadFacts& facts : after) {
    const bool main_thread = facts.outside == process;
    // During a phase the main thread plays the program of thread 0, which is in the list already.
    if (main_thread && count > 0) continue;
    if (std::ranges::find(clients, facts.inside) != clients.end()) continue;
    HungThread thread;
    thread.loads_library = main_thread;
    add_process_facts(before, after, stacks, facts.inside, thread);
    threads.push_back(std::move(thread));
  }
  if (slow) return slow_text(*inputs.script, threads);
  const std::string descriptors = descriptors_text(process);
  return hang_text(*inputs.script, threads) + (descriptors.empty() ? "" : "\n" + descriptors);
}

std::string crash_evidence(const HangInputs& inputs) {
  constexpr std::size_t kThreadsWithCalls = 12;
  const uint64_t now = now_ns();
  Stacks stacks = read_stacks(inputs.stack_page);
  // The text shows only the first threads, so threads that crashed must come first.
  std::vector<HungThread> crashed, others;
  const std::size_t count = inputs.phase == nullptr ? 0 : inputs.phase->threads.size();
  for (std::size_t t = 0; t < count; ++t) {
    HungThread thread = client_thread(*inputs.script, *inputs.phase, *inputs.watch, t, now);
    if (auto stack = stacks.extract(inputs.watch->thread_id(t))) {
      thread.stack = std::move(stack.mapped());
    }
    // Describes in detail only the threads that the text shows, because a large phase may have many
    // threads.
    if (thread.position.in_call && (t < kThreadsWithCalls || !thread.stack.empty())) {
      thread.before = calls_before(*inputs.script, inputs.phase->threads[t], thread.position.op);
    }
    (thread.stack.empty() ? others : crashed).push_back(std::move(thread));
  }
  for (auto& [id, stack] : stacks) {
    HungThread thread;
    thread.loads_library = inputs.phase == nullptr;
    thread.stack = std::move(stack);
    crashed.push_back(std::move(thread));
  }
  crashed.insert(crashed.end(), std::make_move_iterator(others.begin()),
                 std::make_move_iterator(others.end()));
  return last_calls_text(*inputs.script, crashed);
}

std::string unfinished_threads(const script::PhaseScript& phase, const PhaseWatch& watch) {
  constexpr uint32_t kThreadsNamed = 4;
  std::string text;
  uint32_t unfinished = 0;
  for (std::size_t t = 0; t < phase.threads.size(); ++t) {
    const uint64_t at = watch.reached(t, phase.threads[t]) & ~format::kPositionBits;
    if (at >= phase.threads[t].size() || ++unfinished > kThreadsNamed) continue;
    text += (text.empty() ? "; thread " : ", thread ") + std::to_string(t) + " is at operation " +
            std::to_string(at) + " of " + std::to_string(phase.threads[t].size());
  }
  if (unfinished > kThreadsNamed) {
    text += "; not finished either: " + more_threads(unfinished - kThreadsNamed);
  }
  return text;
}

}  // namespace keydrome
