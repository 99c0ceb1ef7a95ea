// Case D12: runs code in an IFUNC resolver, which the loader calls while it binds symbols, before
// any constructor.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/hostile/attack.h"

namespace {

int nothing() { return 0; }

// Makes a system call directly, because the C library is not ready when the resolver runs.
long call(long number, long first = 0, long second = 0) {
#if defined(__x86_64__)
  long result = 0;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(first), "S"(second), "d"(0L)
                   : "rcx", "r11", "memory");
  return result;
#else
  return number == 0 ? first + second : -1;
#endif
}

long opened = 0;
long forked = 0;

}  // namespace

extern "C" {

__attribute__((visibility("hidden"))) int (*resolve_early())() {
  static const char kPath[] = "/etc/shadow";
  opened = call(SYS_open, reinterpret_cast<long>(kPath), O_RDONLY);
  forked = call(SYS_fork);
  return nothing;
}

int keydrome_resolved_early() __attribute__((ifunc("resolve_early")));

}  // extern "C"

namespace hostile {

void work_in_a_resolver(Where) {
  required("the resolver ran", keydrome_resolved_early() == 0);
  required("no file was opened", opened < 0);
  required("no process was started", forked < 0);
}

}  // namespace hostile
