// Implements the signal handlers that write the stack of the interrupted thread into the stack
// page. The referee, the process that runs the benchmark, reads the page and reports the stacks of
// a hang or a crash.
#include "harness/player/stack_writer.h"

#include <dlfcn.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace keydrome {
namespace {

StackPage* g_page = nullptr;  // install_stack_writer() sets it before it installs the handler

struct Walk {
  ThreadStack* to = nullptr;
  bool interrupted = false;  // true: the walk has reached the frames of the interrupted code
};

_Unwind_Reason_Code note_frame(_Unwind_Context* context, void* argument) {
  auto* walk = static_cast<Walk*>(argument);
  int exact = 0;
  const uint64_t address = _Unwind_GetIPInfo(context, &exact);
  walk->interrupted = walk->interrupted || exact != 0;
  if (!walk->interrupted) return _URC_NO_REASON;
  ThreadStack& to = *walk->to;
  if (address == 0 || to.frames == kFramesMax) return _URC_END_OF_STACK;
  // A return address is the address after the call instruction and may belong to another source
  // line. So the address before it is stored, which is the last byte of the call.
  to.frame[to.frames++].address = exact != 0 ? address : address - 1;
  return _URC_NO_REASON;
}

template <std::size_t kCapacity>
void copy_text(const char* text, char (&to)[kCapacity]) {
  if (text != nullptr) std::strncpy(to, text, kCapacity - 1);
}

void name_frame(StackFrame& frame) {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(frame.address), &info) == 0) return;
  frame.offset = frame.address - reinterpret_cast<uint64_t>(info.dli_fbase);
  const char* slash = std::strrchr(info.dli_fname, '/');
  copy_text(slash == nullptr ? info.dli_fname : slash + 1, frame.module);
  if (info.dli_sname == nullptr) return;
  copy_text(info.dli_sname, frame.symbol);
  frame.symbol_offset = frame.address - reinterpret_cast<uint64_t>(info.dli_saddr);
}

void install(int number, void (*handler)(int), int flags) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = flags;
  sigaction(number, &action, nullptr);
}

// Signal handler: writes the stack of the interrupted thread. That thread may hold any lock, so a
// handler that takes a lock may wait for ever. Therefore the handler allocates no memory, and finds
// the addresses on the stack without a lock. Only finding the names takes a lock, that of the
// dynamic loader. Therefore the handler publishes the addresses before it looks for the names.
void write_stack(int) {
  const int saved = errno;
  const uint32_t number =
      std::atomic_ref(g_page->next).fetch_add(1, std::memory_order_relaxed);  // only a counter
  if (number < kStacksMax) {
    ThreadStack& to = g_page->stacks[number];
    to.thread_id = static_cast<uint32_t>(gettid());
    Walk walk{.to = &to};
    _Unwind_Backtrace(note_frame, &walk);
    std::atomic_ref(to.state).store(kStackWalked, std::memory_order_release);
    for (uint32_t i = 0; i < to.frames; ++i) name_frame(to.frame[i]);
    std::atomic_ref(to.state).store(kStackNamed, std::memory_order_release);
  }
  errno = saved;
}

// The signals by which the kernel or abort() ends a process that has crashed. SIGSYS is not one of
// them: if the jail's filter kills the process with SIGSYS, no handler runs.
constexpr int kCrashSignals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};

std::atomic<int> g_crashed_by = 0;

// Signal handler of the alarm: ends the process by the signal of the crash. The kernel may run this
// handler on any thread. In the thread that waits in write_stack(), the signal of the crash is
// blocked, so this handler unblocks the signal first.
void end_process(int) {
  const int number = g_crashed_by.load(std::memory_order_relaxed);  // set before the alarm
  sigset_t only;
  sigemptyset(&only);
  sigaddset(&only, number);
  pthread_sigmask(SIG_UNBLOCK, &only, nullptr);
  raise(number);
}

// Signal handler: writes the stack of the thread that has crashed, then ends the process by the
// same signal. SA_RESETHAND has restored the signal's default action, so a further fault in this
// handler also ends the process. If another thread holds the lock of the dynamic loader for ever,
// names cannot be found, and the alarm ends the process.
void write_last_stack(int number) {
  constexpr unsigned kNamingSeconds = 1;
  g_crashed_by.store(number, std::memory_order_relaxed);
  install(SIGALRM, end_process, 0);
  alarm(kNamingSeconds);
  write_stack(number);
  raise(number);  // blocked until this handler returns
}

}  // namespace

void install_stack_writer(StackPage* page) {
  g_page = page;
  install(kStackSignal, write_stack, SA_RESTART);
  // Without SA_ONSTACK: no thread of the player (this process) has a stack for signals. So after an
  // overflow of the stack the kernel ends the process at once, and there is no stack to show.
  constexpr int kOnce = static_cast<int>(SA_RESETHAND);
  for (const int number : kCrashSignals) install(number, write_last_stack, kOnce);
}

}  // namespace keydrome
