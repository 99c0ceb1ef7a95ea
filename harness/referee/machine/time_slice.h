// Asks the kernel for short time slices, so that other programs delay a session (one repetition of
// a benchmark) less.
//
// If a program computes on every CPU, a thread that wakes up waits until the slice of the running
// thread has ended: some milliseconds, however high its own priority is. If a library passes a lock
// from thread to thread, each operation waits that long. Since Linux 6.12, a thread with a shorter
// slice preempts the running one at once. Older kernels ignore the request.
#pragma once

#include <cstdint>

namespace keydrome {

// The shortest slice that the kernel accepts.
inline constexpr uint64_t kShortSliceNs = 100'000;

// Asks for short slices for this thread, and for all threads and processes that it starts from now
// on. Returns false if that is not possible, because the thread has another policy than SCHED_OTHER
// or the kernel refuses; then nothing has changed.
//
// Slices decide how threads share CPUs. So call this only for a session that is judged and not
// timed.
bool ask_for_short_time_slices();

}  // namespace keydrome
