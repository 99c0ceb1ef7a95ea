// Implements starvation.h: compares how long each thread waited for a processor, as the scheduler
// counts it, with the CPU time of all threads.
#include "harness/referee/session/starvation.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <numeric>
#include <utility>

#include "base/clock.h"

namespace keydrome {
namespace {

// After a sample, at least this many times as long as the sample took must pass before the next
// one.
constexpr uint64_t kRest = 1000;

uint64_t grown(uint64_t before, uint64_t after) { return after - std::min(before, after); }

std::string seconds_text(uint64_t ns) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f s", static_cast<double>(ns) / 1e9);
  return text.data();
}

}  // namespace

std::string starved_text(uint64_t kept_ns, uint64_t whole_ns) {
  if (whole_ns == 0 || kept_ns < whole_ns / 2) return "";
  return "other programs of the machine kept a thread that was ready to run from the processors "
         "for at least " +
         seconds_text(kept_ns) + " of " + seconds_text(whole_ns) +
         ", so the library need not be the cause: end these programs or give the run more "
         "processors, then repeat it";
}

void Starvation::begin_step(std::vector<pid_t> processes, uint64_t now_ns) {
  sample(now_ns, true);
  earlier_kept_ns_ += step_kept_ns();
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
  sample(now, schedules, cpu_ns);
  next_ns_ = now + grown(now, now_ns()) * kRest;
}

void Starvation::sample(uint64_t now_ns, const std::vector<ThreadSchedules>& schedules,
                        uint64_t cpu_ns) {
  const bool begins = !first_cpu_ns_;
  if (begins) first_cpu_ns_ = cpu_ns;
  sampled_ns_ = now_ns;
  kept_ns_.resize(std::max(kept_ns_.size(), schedules.size()));
  for (std::size_t i = 0; i < schedules.size(); ++i) {
    for (const auto& [thread, schedule] : schedules[i]) {
      if (begins) threads_[thread].first = schedule;
      const uint64_t kept_ns = follow(threads_[thread], schedule, grown(*first_cpu_ns_, cpu_ns));
      kept_ns_[i] = std::max(kept_ns_[i], kept_ns);
    }
  }
}

uint64_t Starvation::follow(Followed& thread, const ThreadSchedule& now,
                            uint64_t all_cpu_ns) const {
  if (thread.last != now) {
    thread.last = now;
    thread.same_since_ns = sampled_ns_;
  }
  // A thread that is ready and has had no turn since an earlier sample has waited since then.
  const uint64_t waits_ns = now.ready ? grown(thread.same_since_ns, sampled_ns_) : 0;
  const uint64_t waited_ns = grown(thread.first.waited_ns, now.waited_ns) + waits_ns;
  const uint64_t other_cpu_ns = grown(grown(thread.first.cpu_ns, now.cpu_ns), all_cpu_ns);
  return grown(other_cpu_ns, waited_ns);
}

uint64_t Starvation::step_kept_ns() const {
  return std::min(std::accumulate(kept_ns_.begin(), kept_ns_.end(), uint64_t{0}),
                  grown(step_ns_, sampled_ns_));
}

}  // namespace keydrome
