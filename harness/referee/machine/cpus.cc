// Implements harness/referee/machine/cpus.h: counts the usable CPUs with sched_getaffinity(), and
// parses a list of CPUs. A plan, the JSON file that describes a session of a benchmark, has such a
// list for the jail (sandbox).
#include "harness/referee/machine/cpus.h"

#include <sched.h>

#include <charconv>

namespace keydrome {
namespace {

constexpr int kCpusMax = CPU_SETSIZE;

Result<int> parse_number(const std::string& list, std::size_t& at) {
  int value = 0;
  const char* end = list.data() + list.size();
  const auto [rest, error] = std::from_chars(list.data() + at, end, value);
  if (error != std::errc() || value < 0 || value >= kCpusMax) {
    return Error{"CPU list \"" + list + "\": a number from 0 to " + std::to_string(kCpusMax - 1) +
                 " is missing at character " + std::to_string(at + 1) +
                 "; write a list such as 0-1,4"};
  }
  at = static_cast<std::size_t>(rest - list.data());
  return value;
}

}  // namespace

Result<std::vector<int>> parse_cpu_list(const std::string& list) {
  std::vector<int> cpus;
  std::size_t at = 0;
  while (true) {
    const Result<int> first = parse_number(list, at);
    if (!first) return first.error();
    int last = *first;
    if (at < list.size() && list[at] == '-') {
      const Result<int> parsed = parse_number(list, ++at);
      if (!parsed) return parsed.error();
      last = *parsed;
    }
    if (last < *first) {
      return Error{"CPU list \"" + list + "\": the range " + std::to_string(*first) + "-" +
                   std::to_string(last) + " ends before it starts; write the smaller number first"};
    }
    for (int cpu = *first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (at == list.size()) return cpus;
    if (list[at] != ',')
      return Error{"CPU list \"" + list + "\": a comma is missing at character " +
                   std::to_string(at + 1) + "; write a list such as 0-1,4"};
    ++at;
  }
}

std::size_t usable_cpu_count() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 0;
  return static_cast<std::size_t>(CPU_COUNT(&set));
}

}  // namespace keydrome
