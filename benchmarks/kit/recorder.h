// Recorder: fills a thread's counters, latency histograms and throughput windows while it runs.
//
// One recorder per thread, no locks, no sharing: it writes into the thread's own ThreadOutcome.
// Explicit transactions are all timed; auto-commit calls are far shorter than reading the clock, so
// one in kSampleEvery is.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "benchmarks/kit/histogram.h"
#include "benchmarks/kit/outcome.h"

namespace keydrome {

class Recorder {
 public:
  // A prime, so that no pattern of a program is in step with it.
  static constexpr uint32_t kSampleEvery = 61;

  // `go_ticks` is the time of GO, the same for all threads of a phase, so that their windows can be
  // added up.
  Recorder(ThreadOutcome& outcome, const TickClock& clock, uint64_t go_ticks)
      : outcome_(&outcome), clock_(&clock), go_ticks_(go_ticks) {
    outcome_->window_shift = kWindowShiftMin;
    outcome_->started_ns = since_go(clock.ticks());
  }

  uint64_t ticks() const { return clock_->ticks(); }
  uint64_t ticks_after_go(uint64_t ns) const { return go_ticks_ + clock_->to_ticks(ns); }
  uint64_t ns_until(uint64_t ticks) const {
    const uint64_t now = clock_->ticks();
    return ticks > now ? clock_->to_ns(ticks - now) : 0;
  }
  uint64_t ns_since(uint64_t start) const { return clock_->to_ns(clock_->ticks() - start); }

  // How many auto-commit calls come before the next one that is timed.
  uint32_t calls_until_sample() const { return calls_until_sample_; }

  // That many calls, at most calls_until_sample(), are made without being timed.
  void skip_calls(uint32_t count) { calls_until_sample_ -= count; }

  // Whether this auto-commit call is one that is timed.
  bool sample_call() {
    if (calls_until_sample_ == 0) {
      calls_until_sample_ = kSampleEvery - 1;
      return true;
    }
    --calls_until_sample_;
    return false;
  }

  // A transaction of class `class_number` committed that began at `start`. The tick of its end.
  uint64_t committed(uint32_t class_number, uint64_t start) {
    const uint64_t end = clock_->ticks();
    ++outcome_->committed[class_number];
    ++outcome_->histogram[class_number][histogram_bucket(clock_->to_ns(end - start))];
    count_in_window(end, pending_ + 1);
    pending_ = 0;
    return end;
  }

  // Auto-commit calls that were not sampled: counted now, shown in the window of the next sample.
  void committed_untimed(uint32_t class_number, uint32_t count) {
    outcome_->committed[class_number] += count;
    pending_ += count;
  }

  // The op that the thread is in, readable by the referee at any time: said before each call of the
  // library, so that a call that never returns can be named. One store a call. Relaxed: a hint,
  // ordered with nothing.
  void progress(uint64_t op) {
    std::atomic_ref<uint64_t>(outcome_->progress_op).store(op, std::memory_order_relaxed);
  }

  // The op's answer ends the attempt, which is now taken back: until the next progress().
  void taking_back() { progress(outcome_->progress_op | kTakingBack); }

  // The end of the thread's program.
  void finish() {
    const uint64_t end = clock_->ticks();
    if (pending_ > 0) count_in_window(end, pending_);
    pending_ = 0;
    outcome_->ended_ns = since_go(end);
  }

 private:
  uint64_t since_go(uint64_t ticks) const {
    return ticks > go_ticks_ ? clock_->to_ns(ticks - go_ticks_) : 0;
  }

  void count_in_window(uint64_t ticks, uint32_t count) {
    if (ticks >= window_end_ticks_) [[unlikely]] {
      enter_window(ticks);
    }
    outcome_->windows[window_] += count;
  }

  // Kept out of the way of the commits that stay within the window: it divides.
  void enter_window(uint64_t ticks) {
    const uint64_t ns = since_go(ticks);
    while ((ns >> outcome_->window_shift) >= kWindows) widen();
    window_ = static_cast<uint32_t>(ns >> outcome_->window_shift);
    const uint64_t end_ns = (uint64_t{window_} + 1) << outcome_->window_shift;
    window_end_ticks_ = go_ticks_ + clock_->to_ticks(end_ns);
  }

  void widen() {
    for (uint32_t i = 0; i < kWindows / 2; ++i) {
      outcome_->windows[i] = outcome_->windows[2 * i] + outcome_->windows[2 * i + 1];
    }
    for (uint32_t i = kWindows / 2; i < kWindows; ++i) outcome_->windows[i] = 0;
    ++outcome_->window_shift;
  }

  ThreadOutcome* outcome_;
  const TickClock* clock_;
  uint64_t go_ticks_;
  uint32_t calls_until_sample_ = 0;
  uint32_t pending_ = 0;
  uint32_t window_ = 0;
  uint64_t window_end_ticks_ = 0;  // commits before it count in window_
};

}  // namespace keydrome
