// Implements starvation.h, which finds out whether other programs kept a session (one repetition of
// a benchmark) from the processors. Compares the time for which each thread waited for a processor,
// as the scheduler counts it, with the CPU time of all threads.
#include "harness/referee/session/starvation.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <utility>

#include "base/clock.h"

namespace keydrome {
namespace {

// The pause after a sample is at least this many times as long as the sample took.
constexpr uint64_t kRest = 1000;

// The command line recognises these words, and adds what to do (cli/output/busy_text.py).
constexpr const char* kTooBusy = ", so the machine was too busy to judge the library";

uint64_t grown(uint64_t before, uint64_t after) { return after - std::min(before, after); }

std::string seconds_text(uint64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(ns) / 1e9);
  return text.data();
}

}  // namespace

std::string starved_text(uint64_t kept_ns, uint64_t whole_ns) {
  if (whole_ns == 0 || kept_ns < whole_ns / 2) return "";
  return "Other programs kept a thread of the run waiting for a processor for at least " +
         seconds_text(kept_ns) + " of " + seconds_text(whole_ns) + kTooBusy;
}

std::string crowded_text(const Crowd& crowd, uint64_t whole_ns) {
  const bool waited = crowd.waited_ns > 0 && crowd.waited_ns >= whole_ns / 10;
  if (!waited || crowd.capacity_ns == 0 || crowd.others_ns < crowd.capacity_ns / 4 * 3) return "";
  return "Other programs used " + seconds_text(crowd.others_ns) + " of " +
         seconds_text(crowd.capacity_ns) +
         " of processor time. A thread that runs or calls the library waited for a processor for " +
         seconds_text(crowd.waited_ns) + " of " + seconds_text(whole_ns) + kTooBusy;
}

void Starvation::begin_step(std::vector<pid_t> processes, uint64_t now_ns) {
  sample(now_ns, true);
  earlier_kept_ns_ += step_kept_ns();
  earlier_crowd_ = session_crowd();
  crowd_ = {};
  std::erase(processes, 0);
  processes_ = std::move(processes);
  kept_ns_.clear();
  step_ns_ = sampled_ns_ = now_ns;
  threads_.clear();
  first_cpu_ns_.reset();
  sample(now_ns, true);
}

void Starvation::sample(uint64_t now, bool always) {
  if (now < next_ns_ && !always) return;
  std::vector<ThreadSchedules> schedules(processes_.size());
  uint64_t cpu_ns = 0;
  for (std::size_t i = 0; i < processes_.size(); ++i) {
    schedules[i] = read_thread_schedules(processes_[i]);
    cpu_ns += process_cpu_ns(processes_[i]);
  }
  sample(now, schedules, cpu_ns, read_processor_use());
  next_ns_ = now + grown(now, now_ns()) * kRest;
}

void Starvation::sample(uint64_t now_ns, const std::vector<ThreadSchedules>& schedules,
                        uint64_t cpu_ns, const ProcessorUse& use) {
  const bool begins = !first_cpu_ns_;
  if (begins) {
    first_cpu_ns_ = cpu_ns;
    first_use_ = use;
  }
  sampled_ns_ = now_ns;
  const uint64_t all_cpu_ns = grown(*first_cpu_ns_, cpu_ns);
  crowd_.others_ns = grown(all_cpu_ns, grown(first_use_.busy_ns, use.busy_ns));
  crowd_.capacity_ns = grown(step_ns_, now_ns) * use.processors;
  kept_ns_.resize(std::max(kept_ns_.size(), schedules.size()));
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    // This process is the referee. Its main thread works for the phase. Its other threads do work
    // that can wait (idle_work.h), so the waits of the other threads do not count.
    const bool is_referee = i < processes_.size() && processes_[i] == getpid();
    for (const auto& [thread, schedule] : schedules[i]) {
      if (is_referee && thread != getpid()) continue;
      Followed& followed = threads_[thread];
      if (begins) followed.first = schedule;
      const uint64_t waited_ns = follow(followed, schedule);
      const uint64_t own_ns = grown(followed.first.cpu_ns, schedule.cpu_ns);
      kept_ns_[i] = std::max(kept_ns_[i], grown(grown(own_ns, all_cpu_ns), waited_ns));
      // The referee needs a processor even while the library is blocked, so the referee's waits do
      // not show that the library was kept waiting.
      if (!is_referee) crowd_.waited_ns = std::max(crowd_.waited_ns, waited_ns);
    }
  }
}

uint64_t Starvation::follow(Followed& thread, const ThreadSchedule& now) const {
  if (thread.last != now) {
    thread.last = now;
    thread.same_since_ns = sampled_ns_;
  }
  // A thread that is ready and has had no turn since an earlier sample has waited since then.
  const uint64_t waits_ns = now.ready ? grown(thread.same_since_ns, sampled_ns_) : 0;
  return grown(thread.first.waited_ns, now.waited_ns) + waits_ns;
}

Crowd Starvation::step_crowd() const { return crowd_; }

Crowd Starvation::session_crowd() const {
  return {.waited_ns = earlier_crowd_.waited_ns + crowd_.waited_ns,
          .others_ns = earlier_crowd_.others_ns + crowd_.others_ns,
          .capacity_ns = earlier_crowd_.capacity_ns + crowd_.capacity_ns};
}

uint64_t Starvation::step_kept_ns() const {
  return std::min(std::accumulate(kept_ns_.begin(), kept_ns_.end(), uint64_t{0}),
                  grown(step_ns_, sampled_ns_));
}

}  // namespace keydrome
