// in_parallel(): runs the independent parts of a computation on several CPUs.
//
// Thread-safe.
#pragma once

#include <cstddef>
#include <functional>

namespace keydrome {

// Calls part(i) once for each i < count, and returns when all calls have returned. The calling thread
// makes calls, too. At most four threads run, and at most one for each CPU that the caller may use.
// If the system gives no further thread, there are fewer. If calls throw, the exception of the
// smallest i is thrown after all calls.
void in_parallel(std::size_t count, const std::function<void(std::size_t)>& part);

}  // namespace keydrome
