/* Hostile program, for testing the jail (a sandbox for one program): makes a system call by its
 * number in the table of another architecture. The jail's filter would misread such a number, so
 * the kernel must kill the program with SIGSYS.
 *
 * With the argument "x32" the program uses the x32 table, otherwise int 0x80 and the i386 table.
 * Machines other than x86-64 have no such tables; there the program raises SIGSYS itself. */
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
