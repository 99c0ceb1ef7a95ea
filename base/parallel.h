// in_parallel(): runs the independent parts of a computation on several CPUs.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <functional>

namespace keydrome {

// Calls part(i) once for each i < count, and returns when all calls have returned. The calling
// thread makes calls, too. At most four threads make calls, and at most one for each CPU that the
// caller may use. If the caller has the scheduling policy SCHED_IDLE, it makes all calls itself
// (parallel.cc gives the reason). If the system refuses to start a thread, the other threads make
// its calls. If several calls throw an exception, the exception of the smallest i is thrown again
// after all calls.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& part);

}  // namespace keydrome
