// Case D10: a library that exports functions that the player, the program that calls the library,
// also uses. If the loader bound a call of the player to one of them, the process would abort.
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/hostile/attack.h"

extern "C" {

void* malloc(size_t) noexcept { std::abort(); }
void free(void*) noexcept { std::abort(); }
void* mmap(void*, size_t, int, int, int, off_t) noexcept { std::abort(); }
int clock_gettime(clockid_t, timespec*) noexcept { std::abort(); }
int pthread_mutex_lock(pthread_mutex_t*) noexcept { std::abort(); }
ssize_t sendmsg(int, const msghdr*, int) { std::abort(); }
ssize_t recvmsg(int, msghdr*, int) { std::abort(); }

}  // extern "C"

namespace hostile {

void be_called_instead(Where) {}

}  // namespace hostile
