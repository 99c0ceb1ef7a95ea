// Implements kernel_threads.h: finds certain threads of the kernel by their names in /proc, and
// reads their CPU times from schedstat.
#include "harness/referee/session/kernel_threads.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

namespace keydrome {
namespace {

constexpr std::array<std::string_view, 4> kNames{"kcompactd", "khugepaged", "kswapd", "ksmd"};

// Returns true if the process has no program file. A process that only has the name of a kernel
// thread has a program file.
bool is_of_the_kernel(const std::string& folder) {
  char program = 0;
  return readlink((folder + "/exe").c_str(), &program, 1) < 0 && errno == ENOENT;
}

}  // namespace

KernelThreads::KernelThreads() {
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string number = entry->path().filename();
    pid_t process = 0;
    const auto parsed = std::from_chars(number.data(), number.data() + number.size(), process);
    if (parsed.ec != std::errc() || parsed.ptr != number.data() + number.size()) continue;
    std::string name;
    std::getline(std::ifstream(entry->path() / "comm"), name);
    while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.pop_back();
    if (std::ranges::find(kNames, name) == kNames.end()) continue;
    if (is_of_the_kernel(entry->path())) threads_.push_back({name, process});
  }
}

const KernelThreads& KernelThreads::found() {
  static const KernelThreads threads;
  return threads;
}

KernelThreads::Times KernelThreads::cpu_us() const {
  constexpr uint64_t kNsPerUs = 1'000;
  Times times;
  for (const Found& thread : threads_) {
    uint64_t cpu_ns = 0;
    std::ifstream file("/proc/" + std::to_string(thread.process) + "/schedstat");
    if (file >> cpu_ns) times[thread.name] += cpu_ns / kNsPerUs;
  }
  return times;
}

}  // namespace keydrome
