// Implements machine_facts(), which describes the machine for a report: reads /proc, /sys and
// uname().
#include "harness/referee/machine/machine.h"

#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>

#include "harness/referee/machine/cpus.h"

namespace keydrome {
namespace {

// Returns the first line of a file of /proc or /sys, or "" if the file is not readable.
std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string cpu_model() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "";
}

// Returns the mean of the lines "cpu MHz", or nothing if there are none.
std::optional<double> frequency_mhz() {
  std::ifstream file("/proc/cpuinfo");
  double sum = 0;
  int cpus = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("cpu MHz")) continue;
    sum += std::strtod(line.c_str() + line.find(':') + 1, nullptr);
    ++cpus;
  }
  return cpus > 0 ? std::optional(sum / cpus) : std::nullopt;
}

std::string compiler() {
#ifdef __clang__
  return __VERSION__;  // begins with the compiler's name
#else
  return std::string("GCC ") + __VERSION__;
#endif
}

// Returns the word in brackets, as in "always [madvise] never", or the whole line if there are no
// brackets.
std::string chosen(const std::string& line) {
  const size_t begin = line.find('[');
  const size_t end = line.find(']');
  if (begin == std::string::npos || end == std::string::npos) return line;
  return line.substr(begin + 1, end - begin - 1);
}

void add_text(Json& facts, const char* name, const std::string& value) {
  if (!value.empty()) facts[name] = value;
}

std::string busy_text(double load, int64_t cores) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.1f", load);
  return std::string("the machine is busy, so times may vary: its load average is ") + text.data() +
         ", more than half of the number of CPUs that this process may use (" +
         std::to_string(cores) + "); end other programs";
}

}  // namespace

uint64_t physical_memory_bytes() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return pages > 0 && page_bytes > 0
             ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page_bytes)
             : 0;
}

std::optional<CpuTimes> cpu_times() {
  std::ifstream file("/proc/stat");
  std::string name;
  file >> name;
  CpuTimes times;
  // user, nice, system, idle, iowait, irq, softirq, steal; the guest times after them are part of
  // the first two.
  for (int column = 0; column < 8; ++column) {
    file >> times.stolen;
    times.all += times.stolen;
  }
  return file && name == "cpu" ? std::optional(times) : std::nullopt;
}

void add_stolen_time(const std::optional<CpuTimes>& before, const std::optional<CpuTimes>& after,
                     Json& facts) {
  if (!before || !after || after->all <= before->all) return;
  const auto stolen = static_cast<double>(after->stolen - before->stolen);
  facts["steal_percent"] = 100 * stolen / static_cast<double>(after->all - before->all);
}

Json machine_facts() {
  Json facts;
  Json warnings = Json::Array{};
  add_text(facts, "cpu", cpu_model());
  if (const auto frequency = frequency_mhz()) facts["frequency_mhz"] = std::round(*frequency);
  facts["compiler"] = compiler();
  const std::size_t usable = usable_cpu_count();
  const auto cores = usable > 0 ? static_cast<int64_t>(usable) : sysconf(_SC_NPROCESSORS_ONLN);
  facts["cores"] = cores;
  facts["memory_bytes"] = physical_memory_bytes();
  utsname kernel{};
  if (uname(&kernel) == 0) facts["kernel"] = std::string(kernel.sysname) + " " + kernel.release;
  double load = 0;
  if (getloadavg(&load, 1) == 1) {
    facts["load_1m"] = load;
    if (load > 0.5 * static_cast<double>(cores)) {
      warnings.push_back(busy_text(load, cores));
    }
  }
  const std::string governor = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
  add_text(facts, "governor", governor);
  if (!governor.empty() && governor != "performance") {
    warnings.push_back(
        "the CPU frequency governor is " + governor +
        ", so the frequency and the times may vary; as root run: cpupower frequency-set "
        "--governor performance");
  }
  add_text(facts, "transparent_huge_pages",
           chosen(first_line("/sys/kernel/mm/transparent_hugepage/enabled")));
  add_text(facts, "address_randomisation", first_line("/proc/sys/kernel/randomize_va_space"));
  facts["warnings"] = std::move(warnings);
  return facts;
}

}  // namespace keydrome
