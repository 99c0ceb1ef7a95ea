/* Makes a system call of another architecture, whose numbers the filter does not know: must die by
 * SIGSYS. Argument "x32": by the x32 table; else by int 0x80, the i386 table. Elsewhere than on
 * x86-64 there is no such door. */
#include <signal.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char** argv) {
#if defined(__x86_64__)
  long result;
  if (argc > 1 && strcmp(argv[1], "x32") == 0) {
    __asm__ volatile("syscall" : "=a"(result) : "a"(0x40000000L + 39) : "rcx", "r11", "memory");
  } else {
    __asm__ volatile("int $0x80" : "=a"(result) : "a"(20L) : "memory");
  }
  return result > 0 ? 1 : 2;
#else
  (void)argc;
  (void)argv;
  return raise(SIGSYS);
#endif
}
