// Implements PhaseAccount, which measures what each phase of a benchmark uses. The jail (sandbox)
// reports totals since its start. What a phase has used is the growth of these totals from one
// freeze to the next.
#include "harness/referee/session/phase_account.h"

#include <utility>

#include "base/clock.h"
#include "harness/referee/hang/thread_facts.h"

namespace keydrome {
namespace {

void add_usage(const JailUsage& before, const JailUsage& after, PhaseResult& phase) {
  phase.cpu_us = growth(before.cpu_us, after.cpu_us);
  phase.memory_bytes = after.memory_bytes;
  for (std::size_t i = 0; i < after.counters.size(); ++i) {
    phase.counters[i] = growth(before.counters[i], after.counters[i]);
  }
}

// Returns true if the player, the process in the jail, has closed its channel, because it has
// exited.
bool has_ended(JailProcess& jail) {
  Message message{};
  return jail.wait(message, now_ns()) == JailProcess::Event::kClosed;
}

}  // namespace

// The player sleeps until it receives the command to load the library. So the kernel has accounted
// all CPU time of the player, and the reading is exact.
void PhaseAccount::begin_loading() {
  player_ = program_of(jail_.pid());
  usage_ = jail_.usage().value_or(JailUsage{});
  result_.memory_before_loading_bytes = usage_.memory_bytes;
  loading_ns_ = now_ns();
}

void PhaseAccount::begin() {
  const JailUsage before = usage_;
  result_.frozen_between = freeze_after("loading", nullptr);
  const uint64_t end_ns = now_ns();
  usage_ = jail_.usage().value_or(JailUsage{});
  result_.loading = {.wall_ns = end_ns - loading_ns_,
                     .cpu_us = growth(before.cpu_us, usage_.cpu_us),
                     .memory_bytes = memory_growth(before.memory_bytes, usage_.memory_bytes)};
  if (result_.frozen_between) threads_ = read_thread_times(player_);
}

void PhaseAccount::before_clock() { kernel_before_us_ = kernel_threads_.cpu_us(); }

// A jail that fails to thaw is a failure of the harness, except when the player has exited.
std::optional<Stopped> PhaseAccount::thaw(const std::string& phase) {
  if (!result_.frozen_between) return std::nullopt;
  JailUsage usage;
  if (jail_.thaw(&usage)) {
    take_over(usage);
    return std::nullopt;
  }
  if (has_ended(jail_)) {
    return Stopped{StopReason::kClosed,
                   "the library's process ended before " + phase_text(phase) + " began"};
  }
  return Stopped{StopReason::kNotStarted,
                 "the jail, which is frozen between phases, could not be thawed for " +
                     phase_text(phase) + "; the library is not the cause, so repeat the run"};
}

void PhaseAccount::stop_clock(uint64_t start_ns, PhaseResult& phase) {
  const uint64_t done_ns = now_ns();
  JailUsage usage;
  const bool frozen = result_.frozen_between && freeze_after(phase_text(phase.name), &usage);
  const uint64_t end_ns = now_ns();
  phase.wall_ns = end_ns - start_ns;
  add_kernel_threads(phase);
  if (frozen) {
    phase.freezing_ns = end_ns - done_ns;
    phase.freezing_cpu_us = growth(usage.cpu_before_us, usage.cpu_us);
    add_threads(phase);
  } else {
    usage = jail_.usage().value_or(JailUsage{});
    threads_.reset();
  }
  add_usage(usage_, usage, phase);
  usage_ = usage;
}

void PhaseAccount::end() {
  if (!result_.frozen_between) return;
  if (const std::optional<JailUsage> usage = jail_.usage()) take_over(*usage);
}

// The CPU times are exact, because both readings are made while the jail is frozen. REQUIRES: the
// jail is frozen.
void PhaseAccount::add_threads(PhaseResult& phase) {
  std::optional<ThreadTimes> now = read_thread_times(player_);
  if (threads_ && now) phase.threads_used = thread_use(player_, *threads_, *now);
  threads_ = std::move(now);
}

void PhaseAccount::add_kernel_threads(PhaseResult& phase) const {
  for (const auto& [name, us] : kernel_threads_.cpu_us()) {
    const auto before = kernel_before_us_.find(name);
    if (before != kernel_before_us_.end() && us > before->second)
      phase.kernel_cpu_us[name] = us - before->second;
  }
}

// Stops every thread of the jail until thaw(). If this fails although the player still runs, stores
// `step` in unfrozen_after.
bool PhaseAccount::freeze_after(const std::string& step, JailUsage* usage) {
  if (jail_.freeze(usage)) return true;
  // A freeze that failed may still take effect later, so thaw at once; otherwise the jail would
  // stay frozen.
  jail_.thaw();
  if (result_.unfrozen_after.empty() && !has_ended(jail_)) result_.unfrozen_after = step;
  return false;
}

// The kernel may account CPU time about a millisecond late. So CPU time that appears while the jail
// is frozen belongs to the last phase, or to loading if no phase has ended yet. This function adds
// it there.
void PhaseAccount::take_over(const JailUsage& usage) {
  const uint64_t late_us = growth(usage_.cpu_us, usage.cpu_us).value_or(0);
  std::optional<uint64_t>& used_us =
      result_.phases.empty() ? result_.loading.cpu_us : result_.phases.back().cpu_us;
  if (used_us) *used_us += late_us;
  usage_.cpu_us = usage.cpu_us;
}

}  // namespace keydrome
