// Implements thread_times.h: reads the times of the player's threads from stat and schedstat in
// /proc/PID/task/TID, and the use of the processors from /proc/stat. The player is the jailed
// process with the library.
#include "harness/referee/session/thread_times.h"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace keydrome {
namespace {

constexpr uint64_t kNsPerUs = 1'000, kNsPerSecond = 1'000'000'000;
constexpr unsigned long kExiting = 0x4;  // the kernel's PF_EXITING

// Parses the fields 3 (state) and 9 (flags) of proc_pid_stat(5). Field 2 is the thread's name in
// parentheses, which the library chooses, so parsing starts after the last parenthesis.
bool is_exiting(const std::string& stat) {
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return true;
  std::istringstream words(stat.substr(name_end + 1));
  std::string state, word;
  unsigned long flags = 0;
  words >> state;
  for (int field = 4; field < 9; ++field) words >> word;
  words >> flags;
  return !words || state == "X" || state == "Z" || (flags & kExiting) != 0;
}

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

// Field 3 of proc_pid_stat(5) is R if the thread runs or is ready to run.
bool is_ready(const std::string& stat) {
  const size_t name_end = stat.rfind(") ");
  return name_end != std::string::npos && stat.compare(name_end + 2, 1, "R") == 0;
}

}  // namespace

std::optional<ThreadTimes> read_thread_times(pid_t process) {
  if (process == 0) return std::nullopt;
  ThreadTimes times;
  std::error_code error;
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path();
    if (is_exiting(first_line(path + "/stat"))) continue;
    std::istringstream schedstat(first_line(path + "/schedstat"));
    uint64_t cpu_ns = 0;
    if (!(schedstat >> cpu_ns)) continue;  // the thread has exited
    const std::string name = entry->path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    times[thread] = cpu_ns;
  }
  if (error || !times.contains(process)) return std::nullopt;
  return times;
}

ThreadSchedules read_thread_schedules(pid_t process) {
  ThreadSchedules schedules;
  std::error_code error;
  const std::string folder = "/proc/" + std::to_string(process) + "/task";
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string path = entry->path();
    ThreadSchedule schedule{.ready = is_ready(first_line(path + "/stat"))};
    std::istringstream words(first_line(path + "/schedstat"));
    if (!(words >> schedule.cpu_ns >> schedule.waited_ns >> schedule.turns)) continue;  // exited
    const std::string name = entry->path().filename();
    pid_t thread = 0;
    std::from_chars(name.data(), name.data() + name.size(), thread);
    schedules[thread] = schedule;
  }
  return schedules;
}

uint64_t process_cpu_ns(pid_t process) {
  clockid_t clock{};
  timespec time{};
  if (clock_getcpuclockid(process, &clock) != 0 || clock_gettime(clock, &time) != 0) return 0;
  return static_cast<uint64_t>(time.tv_sec) * kNsPerSecond + static_cast<uint64_t>(time.tv_nsec);
}

// A line is "cpuN user nice system idle iowait irq softirq steal ...", in clock ticks.
ProcessorUse read_processor_use() {
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return {};
  std::ifstream file("/proc/stat");
  const uint64_t tick_ns = kNsPerSecond / static_cast<uint64_t>(sysconf(_SC_CLK_TCK));
  ProcessorUse use;
  for (std::string line; std::getline(file, line) && line.starts_with("cpu");) {
    std::istringstream fields(line.substr(3));
    unsigned processor = 0;
    std::array<uint64_t, 8> ticks{};
    if (line[3] == ' ' || !(fields >> processor) || processor >= CPU_SETSIZE) continue;
    if (!CPU_ISSET(processor, &allowed)) continue;
    for (uint64_t& count : ticks) fields >> count;
    const auto [user, nice, system, idle, iowait, irq, softirq, steal] = ticks;
    use.busy_ns += (user + nice + system + irq + softirq + steal) * tick_ns;
    ++use.processors;
  }
  return use;
}

ThreadUse thread_use(pid_t leader, const ThreadTimes& before, const ThreadTimes& after) {
  uint64_t living_ns = 0, library_ns = 0;
  ThreadUse use;
  for (const auto& [thread, cpu_ns] : after) {
    const auto earlier = before.find(thread);
    // If the time is smaller than before, the kernel has reused the id for another thread.
    const bool is_same = earlier != before.end() && earlier->second <= cpu_ns;
    const uint64_t used_ns = is_same ? cpu_ns - earlier->second : cpu_ns;
    living_ns += used_ns;
    if (thread == leader) continue;
    library_ns += used_ns;
    ++use.library_threads;
  }
  for (const auto& [thread, cpu_ns] : before) {
    if (thread != leader && !after.contains(thread)) ++use.library_ended;
  }
  use.library_threads += use.library_ended;
  use.living_us = living_ns / kNsPerUs;
  use.library_us = library_ns / kNsPerUs;
  return use;
}

}  // namespace keydrome
