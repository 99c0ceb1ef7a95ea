// D: what a library can do to the process, the threads and the code that it shares with the player.
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

// A clock on which a thousandth of the time passes.
int slow_clock(clockid_t clock, timespec* time) {
  const long result = syscall(SYS_clock_gettime, clock, time);
  const int64_t ns = (time->tv_sec * INT64_C(1'000'000'000) + time->tv_nsec) / 1000;
  *time = {.tv_sec = ns / 1'000'000'000, .tv_nsec = ns % 1'000'000'000};
  return static_cast<int>(result);
}

// Replaces the code of a clock_gettime by a jump to the slow one.
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

// Whether the process sees another time than the kernel tells.
bool is_slow() {
  timespec seen{};
  timespec real{};
  clock_gettime(CLOCK_MONOTONIC, &seen);
  syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &real);
  return seen.tv_sec < real.tv_sec / 2;
}

// The address of a symbol of the vDSO, which is an ELF image in memory.
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
  // The table of names follows that of symbols.
  for (const ElfW(Sym)* symbol = symbols; static_cast<const void*>(symbol) < strings; ++symbol) {
    if (std::strcmp(strings + symbol->st_name, name) == 0) {
      return reinterpret_cast<void*>(base + symbol->st_value);
    }
  }
  return nullptr;
}

int* volatile nowhere = nullptr;

// What the end of the process would run.
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

// D03
void exit_at_once(Where) { _exit(0); }

// D05, D46: neither handlers nor destructors get a say, so neither can keep the jail alive.
void leave_exit_handlers(Where) {
  armed = true;
  required("a handler", std::atexit(at_exit) == 0);
}

void never_unload(Where) {
  armed = true;
  endless = true;
}

// D07, D09: the clock that the player reads is slow from the start. In a constructor code can be
// changed, so this works; and it changes no number that counts.
void patch_libc(Where) {
  required("patched", slow_down(dlsym(RTLD_DEFAULT, "clock_gettime")) && is_slow());
}

void patch_vdso(Where) {
  void* function = vdso_symbol("__vdso_clock_gettime");
  if (function != nullptr) required("patched", slow_down(function) && is_slow());
}

// D16: works in all phases, and would in between.
void work_in_the_background(Where) {
  for (volatile uint64_t turn = 0;;) turn = turn + 1;
}

// D16 again: a thread that is inside of the kernel for seconds at a time cannot be stopped quickly.
// Pages of zeros take no memory but their tables'.
void work_unstoppably(Where) {
  constexpr size_t kBytes = size_t{96} << 30;
  constexpr int kFlags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* space = mmap(nullptr, kBytes, PROT_READ, kFlags, -1, 0);
  required("space", space != MAP_FAILED && madvise(space, kBytes, MADV_NOHUGEPAGE) == 0);
  std::thread([space] {
    for (;;) {
      madvise(space, kBytes, MADV_POPULATE_READ);
      madvise(space, kBytes, MADV_DONTNEED);
    }
  }).detach();
}

// D18: back into a call that has returned long ago.
void jump_out(Where where) {
  static std::jmp_buf past;  // NOLINT(cert-err52-cpp): that is the attack
  if (where == kCall) {
    if (setjmp(past) != 0) std::printf("back in the past\n");  // NOLINT(cert-err52-cpp)
    return;
  }
  std::longjmp(past, 1);  // NOLINT(cert-err52-cpp)
}

// D20: a crash that the library keeps to itself, and one that it passes off as an end.
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

// D21
void smash_the_stack(Where) {
  auto* frame = static_cast<volatile char*>(__builtin_frame_address(0));
  for (int i = 0; i < 4096; ++i) frame[i] = 'A';
}

// D24
void end_the_thread(Where) { pthread_exit(nullptr); }

// D25: rounds up, flushes small numbers to zero.
void change_rounding(Where) {
#if defined(__x86_64__)
  _mm_setcsr(_mm_getcsr() | 0xe040);
#endif
}

// D27: a note for the next run, wherever one could lie. The battery runs this library twice.
void leave_a_note(Where where) {
  for (const char* path : {"note", "/tmp/note", "/dev/shm/note", "/var/tmp/note", "/run/note"}) {
    const bool is_own = where != kConstructor && path[0] != '/';
    required(path, access(path, F_OK) != 0 || is_own);
    const int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0) close(file);
    if (path[0] == '/') required(path, file < 0);
  }
}

// D43: code that the inspection has not seen.
void load_another_library(Where where) {
  if (where == kConstructor) {
    std::vector<char> bytes(1 << 20);
    const int from = open("/library.so", O_RDONLY | O_CLOEXEC);
    const int to = open("second.so", O_WRONLY | O_CREAT | O_CLOEXEC, 0700);
    for (ssize_t got = 0; (got = read(from, bytes.data(), bytes.size())) > 0;) {
      required("a copy", write(to, bytes.data(), static_cast<size_t>(got)) == got);
    }
    close(from);
    close(to);
  } else {
    required("of the system", dlopen("libresolv.so.2", RTLD_NOW) == nullptr);
    required("in another name space", dlmopen(LM_ID_NEWLM, "libm.so.6", RTLD_NOW) == nullptr);
  }
  required("an own one", dlopen("/work/second.so", RTLD_NOW) == nullptr);
}

// D44: as much memory traffic as one thread makes.
void take_bandwidth(Where) {
  std::vector<char> block(32 << 20);
  for (int value = 0;; ++value) {
    std::memset(block.data(), value, block.size());
    __asm__ volatile("" : : "r"(block.data()) : "memory");
  }
}

}  // namespace hostile
