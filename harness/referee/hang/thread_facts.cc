// Implements harness/referee/hang/thread_facts.h: reads status, stat and syscall in
// /proc/PID/task/TID of each thread of the player (the jailed process with the library), and limits
// and fd in /proc/PID.
#include "harness/referee/hang/thread_facts.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace keydrome {
namespace {

std::string task_folder(pid_t process) { return "/proc/" + std::to_string(process) + "/task/"; }

std::string read_text(const std::string& path) {
  std::ifstream file(path);
  std::string text(4096, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<size_t>(file.gcount()));
  return text;
}

pid_t only_child(pid_t process) {
  std::istringstream children(
      read_text(task_folder(process) + std::to_string(process) + "/children"));
  pid_t child = 0;
  return children >> child ? child : 0;
}

std::string call_name(long number) {
  static constexpr std::pair<long, const char*> kNames[] = {
      {SYS_futex, "futex"},
      {SYS_nanosleep, "nanosleep"},
      {SYS_clock_nanosleep, "clock_nanosleep"},
      {SYS_ppoll, "ppoll"},
      {SYS_pselect6, "pselect"},
      {SYS_epoll_pwait, "epoll_pwait"},
      {SYS_read, "read"},
      {SYS_recvmsg, "recvmsg"},
      {SYS_rt_sigsuspend, "sigsuspend"},
      {SYS_rt_sigtimedwait, "sigtimedwait"},
      {SYS_sched_yield, "sched_yield"},
#if defined(SYS_pause)  // newer architectures lack these calls
      {SYS_pause, "pause"},
      {SYS_poll, "poll"},
      {SYS_epoll_wait, "epoll_wait"},
#endif
  };
  for (const auto& [known, name] : kNames) {
    if (known == number) return name;
  }
  return "system call " + std::to_string(number);
}

// Parses /proc/PID/task/TID/syscall. The text is "NUMBER ARGUMENT..." while the thread waits in a
// system call, and "running" or "-1 ..." at other times.
void add_call(const std::string& text, ThreadFacts& facts) {
  std::istringstream words(text);
  long number = -1;
  if (!(words >> number) || number < 0) return;
  facts.waits_in = call_name(number);
  std::array<uint64_t, 4> arguments{};
  for (uint64_t& argument : arguments) {
    std::string word;
    words >> word;
    const char* digits = word.data() + (word.starts_with("0x") ? 2 : 0);
    std::from_chars(digits, word.data() + word.size(), argument, 16);
  }
  if (number != SYS_futex) return;
  facts.futex = arguments[0];
  facts.endless = arguments[3] == 0;
}

// Parses /proc/PID/task/TID/stat: fields 3 (state), 9 (flags), and 14 and 15 (CPU time in ticks).
// Field 2 is the name in parentheses and may contain blanks, so parsing starts after the last
// parenthesis.
void add_stat(const std::string& text, ThreadFacts& facts) {
  const size_t name_end = text.rfind(')');
  if (name_end == std::string::npos) return;
  std::istringstream words(text.substr(name_end + 1));
  constexpr uint64_t kExiting = 0x4;  // PF_EXITING of Linux
  std::string word;
  uint64_t flags = 0;
  words >> facts.state;
  for (int field = 4; field < 9; ++field) words >> word;
  words >> flags;
  facts.ending = (flags & kExiting) != 0;
  for (int field = 10; field < 14; ++field) words >> word;
  uint64_t user = 0, system = 0;
  words >> user >> system;
  const long ticks_per_second = sysconf(_SC_CLK_TCK);
  if (ticks_per_second > 0) {
    facts.cpu_ms = (user + system) * 1000 / static_cast<uint64_t>(ticks_per_second);
  }
}

// Returns the thread's id in the innermost PID namespace, the jail's. The id is the last number of
// the line "NSpid:" in /proc/PID/task/TID/status.
uint32_t inside_id(const std::string& status) {
  constexpr std::string_view kLabel = "\nNSpid:";
  const size_t begin = status.find(kLabel);
  if (begin == std::string::npos) return 0;
  std::istringstream line(
      status.substr(begin + kLabel.size(), status.find('\n', begin + 1) - begin - kLabel.size()));
  uint32_t id = 0;
  for (std::string word; line >> word;) {
    std::from_chars(word.data(), word.data() + word.size(), id);
  }
  return id;
}

}  // namespace

pid_t program_of(pid_t jail) {
  const pid_t init = only_child(jail);
  return init == 0 ? 0 : only_child(init);
}

std::vector<ThreadFacts> thread_facts(pid_t process) {
  std::vector<ThreadFacts> threads;
  std::error_code error;
  const std::string folder = task_folder(process);
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    ThreadFacts facts;
    const std::string name = entry->path().filename().string();
    std::from_chars(name.data(), name.data() + name.size(), facts.outside);
    facts.inside = inside_id(read_text(folder + name + "/status"));
    const std::string stat = read_text(folder + name + "/stat");
    if (stat.empty()) continue;  // the thread has ended since its status was read
    add_stat(stat, facts);
    add_call(read_text(folder + name + "/syscall"), facts);
    if (facts.inside != 0) threads.push_back(std::move(facts));
  }
  return threads;
}

bool is_ending(pid_t process) {
  return process != 0 && std::ranges::all_of(thread_facts(process),
                                             [](const auto& thread) { return thread.ending; });
}

std::string descriptors_text(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  std::error_code error;
  std::size_t open = 0;
  for (std::filesystem::directory_iterator entry(folder + "/fd", error), end;
       !error && entry != end; entry.increment(error)) {
    ++open;
  }
  constexpr std::string_view kLabel = "Max open files";
  const std::string limits = read_text(folder + "/limits");
  const size_t label = limits.find(kLabel);
  if (error || label == std::string::npos) return "";
  std::string limit;
  std::istringstream(limits.substr(label + kLabel.size())) >> limit;
  return "the library's process has " + std::to_string(open) +
         " open file descriptors (allowed: " + limit + ")";
}

}  // namespace keydrome
