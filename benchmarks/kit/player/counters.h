// Counters: counts and times the transactions of one thread while the thread executes its program.
// The results are the counters, the latency histograms and the throughput windows in the thread's
// ThreadOutcome (format/outcome.h).
//
// Every explicit transaction is timed. An auto-commit call takes far less time than reading the
// clock, so only one auto-commit call in kSampleEvery is timed.
//
// Thread safety: one object per thread. An object writes only to the ThreadOutcome of its thread.
#pragma once

#include <atomic>
#include <cstdint>

#include "base/clock.h"
#include "benchmarks/kit/format/histogram.h"
#include "benchmarks/kit/format/outcome.h"

namespace keydrome::player {

class Counters {
 public:
  // A prime number, so that the timed calls do not follow a pattern of the program.
  static constexpr uint32_t kSampleEvery = 61;

  // `go_ticks` is the clock's time of GO, the start of the phase. All threads of a phase get the
  // same value, so the windows of all threads can be added.
  Counters(format::ThreadOutcome& outcome, const TickClock& clock, uint64_t go_ticks)
      : outcome_(&outcome), clock_(&clock), go_ticks_(go_ticks) {
    outcome_->window_shift = format::kWindowShiftMin;
    outcome_->started_ns = since_go(clock.ticks());
  }

  // These functions read the clock, and convert between its ticks and nanoseconds.
  uint64_t ticks() const { return clock_->ticks(); }
  uint64_t ticks_after_go(uint64_t ns) const { return go_ticks_ + clock_->to_ticks(ns); }
  uint64_t ns_until(uint64_t ticks) const {
    const uint64_t now = clock_->ticks();
    return ticks > now ? clock_->to_ns(ticks - now) : 0;
  }
  uint64_t ns_since(uint64_t start) const { return clock_->to_ns(clock_->ticks() - start); }

  // Returns how many auto-commit calls remain before the next timed one.
  uint32_t calls_until_sample() const { return calls_until_sample_; }

  // Counts `count` auto-commit calls that were not timed. REQUIRES: count <= calls_until_sample().
  void skip_calls(uint32_t count) { calls_until_sample_ -= count; }

  // Counts an auto-commit call. Returns true if the caller must time the call.
  bool sample_call() {
    if (calls_until_sample_ == 0) {
      calls_until_sample_ = kSampleEvery - 1;
      return true;
    }
    --calls_until_sample_;
    return false;
  }

  // Counts a committed transaction that began at tick `start`. Returns the tick of its end.
  [[gnu::always_inline]] uint64_t committed(uint32_t class_number, uint64_t start) {
    const uint64_t end = clock_->ticks();
    ++outcome_->committed[class_number];
    ++outcome_->histogram[class_number][format::histogram_bucket(clock_->to_ns(end - start))];
    count_in_window(end, pending_ + 1);
    pending_ = 0;
    return end;
  }

  // Counts committed auto-commit calls that were not timed. They are added to the window of the
  // next timed call, because their own end times are unknown.
  void committed_untimed(uint32_t class_number, uint32_t count) {
    outcome_->committed[class_number] += count;
    pending_ += count;
  }

  // Publishes the number of the op before the op is executed. From this number the referee can name
  // a call that never returns. Costs one store. The store is relaxed, because the referee uses the
  // number only as a hint.
  void progress(uint64_t op) {
    std::atomic_ref<uint64_t>(outcome_->progress_op).store(op, std::memory_order_relaxed);
  }

  // Publishes that the current transaction is being aborted. The mark stays set until the next
  // progress().
  void rolling_back() { progress(outcome_->progress_op | format::kRollingBack); }

  // Ends the thread's program: writes the last window and the end time.
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

  // Finds the window of `ticks`. This code is a separate function, because it contains a division
  // and the common case must stay short.
  void enter_window(uint64_t ticks) {
    const uint64_t ns = since_go(ticks);
    while ((ns >> outcome_->window_shift) >= format::kWindows) widen();
    window_ = static_cast<uint32_t>(ns >> outcome_->window_shift);
    const uint64_t end_ns = (uint64_t{window_} + 1) << outcome_->window_shift;
    window_end_ticks_ = go_ticks_ + clock_->to_ticks(end_ns);
  }

  // Doubles the width of the windows by adding each two adjacent windows.
  void widen() {
    for (uint32_t i = 0; i < format::kWindows / 2; ++i) {
      outcome_->windows[i] = outcome_->windows[2 * i] + outcome_->windows[2 * i + 1];
    }
    for (uint32_t i = format::kWindows / 2; i < format::kWindows; ++i) outcome_->windows[i] = 0;
    ++outcome_->window_shift;
  }

  format::ThreadOutcome* outcome_;
  const TickClock* clock_;
  uint64_t go_ticks_;
  uint32_t calls_until_sample_ = 0;
  uint32_t pending_ = 0;           // commits that are not yet in a window
  uint32_t window_ = 0;            // number of the current window
  uint64_t window_end_ticks_ = 0;  // commits before this time count in window_
};

}  // namespace keydrome::player
