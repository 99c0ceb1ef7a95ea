#include "harness/referee/hang.h"

#include <poll.h>

#include <algorithm>
#include <vector>

#include "base/clock.h"
#include "harness/referee/hang_text.h"
#include "harness/referee/stack_reader.h"

namespace keydrome {
namespace {

const ThreadFacts* find(const std::vector<ThreadFacts>& threads, uint32_t inside) {
  const auto found = std::ranges::find(threads, inside, &ThreadFacts::inside);
  return found == threads.end() ? nullptr : &*found;
}

void add_process_facts(const std::vector<ThreadFacts>& before,
                       const std::vector<ThreadFacts>& after, const Stacks& stacks, uint32_t id,
                       HungThread& thread) {
  const ThreadFacts* earlier = find(before, id);
  const ThreadFacts* later = find(after, id);
  if (later != nullptr) thread.facts = *later;
  if (earlier != nullptr && later != nullptr) thread.busy_ms = later->cpu_ms - earlier->cpu_ms;
  if (const auto stack = stacks.find(id); stack != stacks.end()) thread.stack = stack->second;
}

}  // namespace

std::string hang_evidence(const HangInputs& inputs) {
  const pid_t process = program_of(inputs.jail);
  const std::vector<ThreadFacts> before = thread_facts(process);
  poll(nullptr, 0, static_cast<int>(kHangLookMs));
  const std::vector<ThreadFacts> after = thread_facts(process);
  const uint64_t now = now_ns();
  if (inputs.watch != nullptr) inputs.watch->look(now);
  const Stacks stacks = collect_stacks(process, after, inputs.stack_page);

  std::vector<HungThread> threads;
  std::vector<uint32_t> told;
  const std::size_t count = inputs.phase == nullptr ? 0 : inputs.phase->threads.size();
  for (std::size_t t = 0; t < count; ++t) {
    const PhaseWatch::Stand& stand = inputs.watch->stand(t);
    HungThread thread;
    thread.number = t;
    thread.standing = standing_of(*inputs.script, inputs.phase->threads[t], stand.progress);
    thread.still_ms = (now - stand.since_ns) / kNsPerMs;
    told.push_back(inputs.watch->thread_id(t));
    add_process_facts(before, after, stacks, told.back(), thread);
    threads.push_back(std::move(thread));
  }
  for (const ThreadFacts& facts : after) {
    const bool waits_for_threads = count > 0 && facts.outside == process;
    if (waits_for_threads || std::ranges::find(told, facts.inside) != told.end()) continue;
    HungThread thread;
    thread.loads = facts.outside == process;
    add_process_facts(before, after, stacks, facts.inside, thread);
    threads.push_back(std::move(thread));
  }
  return hang_text(*inputs.script, threads);
}

std::string last_stand(const Script& script, const PhaseScript& phase, const PhaseWatch& watch) {
  const uint64_t now = now_ns();
  std::vector<HungThread> threads(phase.threads.size());
  for (std::size_t t = 0; t < threads.size(); ++t) {
    const PhaseWatch::Stand& stand = watch.stand(t);
    threads[t].number = t;
    threads[t].standing = standing_of(script, phase.threads[t], stand.progress);
    threads[t].still_ms = (now - stand.since_ns) / kNsPerMs;
  }
  return last_stand_text(script, threads);
}

}  // namespace keydrome
