// Attacks on the process, the threads and the code that the library shares with the player, the
// program that calls it. Both run in the jail, a sandbox. The attacks are cases D of the battery,
// the list of attacks in cases.json. Each function whose only parameter is a Where is one attack.
// The comment above an attack, or above a group of attacks, names its cases.
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csetjmp>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <thread>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "tests/hostile/attack.h"

namespace hostile {
namespace {

constexpr uintptr_t kPage = 4096;

// A clock that runs at a thousandth of the real speed.
int slow_clock(clockid_t clock, timespec* time) {
  const long result = syscall(SYS_clock_gettime, clock, time);
  const int64_t ns = (time->tv_sec * INT64_C(1'000'000'000) + time->tv_nsec) / 1000;
  *time = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  return static_cast<int>(result);
}

// Replaces the code of `function`, a clock_gettime, by a jump to slow_clock.
bool slow_down(void* function) {
#if defined(__x86_64__)
  unsigned char code[] = {0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0,  // movabs $slow_clock, %rax
                          0xff, 0xe0};                         // jmp *%rax
  const auto target = reinterpret_cast<uintptr_t>(&slow_clock);
  std::memcpy(code + 2, &target, sizeof target);
  const auto address = reinterpret_cast<uintptr_t>(function);
  auto* page = reinterpret_cast<void*>(address & ~(kPage - 1));
  if (mprotect(page, 2 * kPage, PROT_READ | PROT_WRITE | PROT_EXEC) != 0) return false;
  std::memcpy(function, code, sizeof code);
  return mprotect(page, 2 * kPage, PROT_READ | PROT_EXEC) == 0;
#else
  return function != nullptr;
#endif
}

// Returns whether clock_gettime in this process differs from the kernel's clock.
bool is_slow() {
  timespec seen{};
  timespec real{};
  clock_gettime(CLOCK_MONOTONIC, &seen);
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &real);
  return seen.tv_sec < real.tv_sec / 2;
}

// Returns the address of a symbol of the vDSO, an ELF image in memory; nullptr if it does not
// exist.
void* vdso_symbol(const char* name) {
  const uintptr_t base = getauxval(AT_SYSINFO_EHDR);
  if (base == 0) return nullptr;
  const auto* header = reinterpret_cast<const ElfW(Ehdr)*>(base);
  const auto* segments = reinterpret_cast<const ElfW(Phdr)*>(base + header->e_phoff);
  const ElfW(Dyn)* dynamic = nullptr;
  for (int i = 0; i < header->e_phnum; ++i) {
    if (segments[i].p_type == PT_DYNAMIC) {
      dynamic = reinterpret_cast<const ElfW(Dyn)*>(base + segments[i].p_offset);
    }
  }
  const char* strings = nullptr;
  const ElfW(Sym)* symbols = nullptr;
  for (; dynamic != nullptr && dynamic->d_tag != DT_NULL; ++dynamic) {
    if (dynamic->d_tag == DT_STRTAB) strings = reinterpret_cast<char*>(base + dynamic->d_un.d_ptr);
    if (dynamic->d_tag == DT_SYMTAB) {
      symbols = reinterpret_cast<const ElfW(Sym)*>(base + dynamic->d_un.d_ptr);
    }
  }
  // The string table follows the symbol table.
  for (const ElfW(Sym)* symbol = symbols; static_cast<const void*>(symbol) < strings; ++symbol) {
    if (std::strcmp(strings + symbol->st_name, name) == 0) {
      return reinterpret_cast<void*>(base + symbol->st_value);
    }
  }
  return nullptr;
}

int* volatile nowhere = nullptr;

// These flags say what at_exit() does when the process ends or the library is unloaded: `armed`
// makes it report a hole, and `endless` makes it never return.
bool armed = false;
bool endless = false;

void at_exit() {
  if (!armed) return;
  std::printf("HOLE code of the library ran after the last phase\n");
  std::fflush(stdout);
  while (endless) pause();
}

struct AtUnload {
  ~AtUnload() { at_exit(); }
};
AtUnload at_unload;

}  // namespace

// D03: ends the process in the middle of the test, with exit code 0.
void exit_at_once(Where) { _exit(0); }

// D05, D46: leave exit handlers and destructors that would change a result or keep the jail alive.
// The player must end without running them.
void leave_exit_handlers(Where) {
  armed = true;
  required("register an exit handler", std::atexit(at_exit) == 0);
}

void never_unload(Where) {
  armed = true;
  endless = true;
}

// D07, D09: slow down the clock that the player reads. These attacks succeed, because a constructor
// may change code. They gain nothing, because no ranked number uses this clock.
void patch_libc(Where) {
  required("patched", slow_down(dlsym(RTLD_DEFAULT, "clock_gettime")) && is_slow());
}

void patch_vdso(Where) {
  void* function = vdso_symbol("__vdso_clock_gettime");
  if (function != nullptr) required("patched", slow_down(function) && is_slow());
}

// D16: computes without end in a thread that the library leaves running. The thread would also run
// between the phases if the referee, the process that measures, did not freeze the jail.
void work_in_the_background(Where) {
  for (volatile uint64_t turn = 0;;) turn = turn + 1;
}

// D16b: starts a thread that cannot be frozen quickly, because it stays in the kernel for seconds.
// It reads untouched pages, which the kernel maps to the zero page, so only page tables need
// memory.
void work_unstoppably(Where) {
  constexpr size_t kBytes = size_t{96} << 30;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* space = mmap(nullptr, kBytes, PROT_READ, kFlags, -1, 0);
  required("map the pages", space != MAP_FAILED && madvise(space, kBytes, MADV_NOHUGEPAGE) == 0);
  std::thread([space] {
    for (;;) {
      madvise(space, kBytes, MADV_POPULATE_READ);
      madvise(space, kBytes, MADV_DONTNEED);
    }
  }).detach();
}

// D16c: leaves work to a thread that is in the kernel when the last call returns. Filling fresh
// pages stands for any such work. A freeze waits until the system call ends.
void work_after_the_last_call(Where) {
  constexpr size_t kBytes = size_t{256} << 20;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* space = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, kFlags, -1, 0);
  required("map the pages", space != MAP_FAILED && madvise(space, kBytes, MADV_NOHUGEPAGE) == 0);
  std::thread([space] {
    for (;;) {
      madvise(space, kBytes, MADV_POPULATE_WRITE);
      madvise(space, kBytes, MADV_DONTNEED);
    }
  }).detach();
}

// D18: jumps back by longjmp into a call that returned long before.
void jump_out(Where where) {
  static std::jmp_buf past;  // NOLINT(cert-err52-cpp): that is the attack
  if (where == kCall) {
    if (setjmp(past) != 0) std::printf("back in the past\n");  // NOLINT(cert-err52-cpp)
    return;
  }
  std::longjmp(past, 1);  // NOLINT(cert-err52-cpp)
}

// D20, D20b: survive a crash by means of a signal handler; make a crash look like a regular exit.
void survive_a_fault(Where) {
  static thread_local sigjmp_buf before;
  struct sigaction action{};
  action.sa_handler = [](int) { siglongjmp(before, 1); };
  sigaction(SIGSEGV, &action, nullptr);
  volatile bool recovered = false;
  if (sigsetjmp(before, 1) == 0) {
    *nowhere = 1;
  } else {
    recovered = true;
  }
  required("recovered", recovered);
}

void pass_off_a_fault(Where) {
  struct sigaction action{};
  action.sa_handler = [](int) { _exit(0); };
  sigaction(SIGSEGV, &action, nullptr);
  *nowhere = 1;
}

// D21: overwrites the stack of the player's thread.
void smash_the_stack(Where) {
  auto* frame = static_cast<volatile char*>(__builtin_frame_address(0));
  for (int i = 0; i < 4096; ++i) frame[i] = 'A';
}

// D24: ends the player's thread.
void end_the_thread(Where) { pthread_exit(nullptr); }

// D25: makes floating point round towards zero and flush denormals to zero.
void change_rounding(Where) {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0xe040);
#endif
}

// D27: leaves a file for the next run in every folder that might exist, and looks for the file of
// an earlier run. The battery runs this library twice.
void leave_a_note(Where where) {
  for (const char* path : {"note", "/tmp/note", "/dev/shm/note", "/var/tmp/note", "/run/note"}) {
    const bool is_own = where != kConstructor && path[0] != '/';
    required(path, access(path, F_OK) != 0 || is_own);
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0) close(file);
    if (path[0] == '/') required(path, file < 0);
  }
}

// D43: tries to load code that the inspection of the upload has not seen.
void load_another_library(Where where) {
  if (where == kConstructor) {
    std::vector<char> bytes(1 << 20);
    const int from = open("/library.so", O_RDONLY | O_CLOEXEC);
    const int to = open("second.so", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    for (ssize_t got = 0; (got = read(from, bytes.data(), bytes.size())) > 0;) {
      required("copy the library", write(to, bytes.data(), static_cast<size_t>(got)) == got);
    }
    close(from);
    close(to);
  } else {
    required("not load libresolv of the system", dlopen("libresolv.so.2", RTLD_NOW) == nullptr);
    required("no second name space", dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW) == nullptr);
  }
  required("no library of its own", dlopen("/work/second.so", RTLD_NOW) == nullptr);
}

// D44: one thread writes to memory as fast as it can.
void take_bandwidth(Where) {
  std::vector<char> block(32 << 20);
  for (int value = 0;; ++value) {
    std::memset(block.data(), value, block.size());
    __asm__ volatile("" : : "r"(block.data()) : "memory");
  }
}

}  // namespace hostile
