// Implements PhaseAccount: what a phase used is the growth of the jail's totals from one freeze to the
// next.
#include "harness/referee/session/phase_account.h"

#include "base/clock.h"

namespace keydrome {
namespace {

void add_usage(const JailUsage& before, const JailUsage& after, PhaseResult& phase) {
  phase.cpu_us = growth(before.cpu_us, after.cpu_us);
  phase.memory_bytes = after.memory_bytes;
  for (std::size_t i = 0; i < after.counters.size(); ++i) {
    phase.counters[i] = growth(before.counters[i], after.counters[i]);
  }
}

// Returns true if the player has closed its channel, because it has exited.
bool has_ended(JailProcess& jail) {
  Message message{};
  return jail.wait(message, now_ns()) == JailProcess::Event::kClosed;
}

}  // namespace

void PhaseAccount::begin() {
  result_.frozen_between = freeze_after("loading", nullptr);
  usage_ = jail_.usage().value_or(JailUsage{});
  result_.memory_loaded_bytes = usage_.memory_bytes;
}

// A jail that fails to thaw is a failure of the harness, except when the player has exited.
std::optional<Stopped> PhaseAccount::thaw(const std::string& phase) {
  if (!result_.frozen_between) return std::nullopt;
  JailUsage usage;
  if (jail_.thaw(&usage)) {
    take_over(usage);
    return std::nullopt;
  }
  if (has_ended(jail_)) {
    return Stopped{StopReason::kClosed, "the player ended before phase " + phase};
  }
  return Stopped{StopReason::kNotStarted, "the jail could not be thawed for phase " + phase};
}

void PhaseAccount::stop_clock(uint64_t start_ns, PhaseResult& phase) {
  const uint64_t done_ns = now_ns();
  JailUsage usage;
  const bool frozen = result_.frozen_between && freeze_after("phase " + phase.name, &usage);
  const uint64_t end_ns = now_ns();
  phase.wall_ns = end_ns - start_ns;
  if (frozen) {
    phase.freezing_ns = end_ns - done_ns;
    phase.freezing_cpu_us = growth(usage.cpu_before_us, usage.cpu_us);
  } else {
    usage = jail_.usage().value_or(JailUsage{});
  }
  add_usage(usage_, usage, phase);
  usage_ = usage;
}

// Stops every thread of the jail until thaw(). If this fails although the player still runs, stores
// `step` in unfrozen_after.
bool PhaseAccount::freeze_after(const std::string& step, JailUsage* usage) {
  if (jail_.freeze(usage)) return true;
  // A freeze that failed may still take effect later, so thaw at once; otherwise the jail would stay
  // frozen.
  jail_.thaw();
  if (result_.unfrozen_after.empty() && !has_ended(jail_)) result_.unfrozen_after = step;
  return false;
}

// Adds CPU time that appeared in the account while the jail was frozen to the last phase, because the
// kernel may account for it about a millisecond late.
void PhaseAccount::take_over(const JailUsage& usage) {
  const std::optional<uint64_t> late_us = growth(usage_.cpu_us, usage.cpu_us);
  if (late_us && !result_.phases.empty() && result_.phases.back().cpu_us)
    *result_.phases.back().cpu_us += *late_us;
  usage_.cpu_us = usage.cpu_us;
}

}  // namespace keydrome
