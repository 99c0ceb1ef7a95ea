#include "base/topology.h"

#include <sched.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>

namespace keydrome {
namespace {

constexpr int kNodesMax = 1024;
constexpr int kCpusMax = CPU_SETSIZE;

int read_int(const std::string& path, int otherwise) {
  std::ifstream file(path);
  int value = otherwise;
  return file >> value ? value : otherwise;
}

// Sets the NUMA node of every CPU that a node lists.
void assign_nodes(std::vector<Cpu>& cpus) {
  for (int node = 0; node < kNodesMax; ++node) {
    std::ifstream file("/sys/devices/system/node/node" + std::to_string(node) + "/cpulist");
    std::string list;
    if (!(file >> list)) {
      if (node == 0) return;
      continue;
    }
    const Result<std::vector<int>> members = parse_cpu_list(list);
    if (!members) continue;
    for (Cpu& cpu : cpus) {
      for (const int member : *members) {
        if (member == cpu.id) cpu.node = node;
      }
    }
  }
}

Result<int> parse_number(const std::string& list, std::size_t& at) {
  int value = 0;
  const char* end = list.data() + list.size();
  const auto [rest, error] = std::from_chars(list.data() + at, end, value);
  if (error != std::errc() || value < 0 || value >= kCpusMax) {
    return Error{"CPU list \"" + list + "\": expected a number from 0 to " +
                 std::to_string(kCpusMax - 1) + " at position " + std::to_string(at)};
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
    if (last < *first) return Error{"CPU list \"" + list + "\": a range runs backwards"};
    for (int cpu = *first; cpu <= last; ++cpu) cpus.push_back(cpu);
    if (at == list.size()) return cpus;
    if (list[at] != ',') return Error{"CPU list \"" + list + "\": expected a comma"};
    ++at;
  }
}

Result<std::vector<Cpu>> usable_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) {
    return Error{std::string("sched_getaffinity: ") + std::strerror(errno)};
  }
  std::vector<Cpu> cpus;
  for (int id = 0; id < kCpusMax; ++id) {
    if (!CPU_ISSET(id, &set)) continue;
    const std::string folder = "/sys/devices/system/cpu/cpu" + std::to_string(id) + "/topology/";
    cpus.push_back(Cpu{.id = id,
                       .core = read_int(folder + "core_id", id),
                       .package = read_int(folder + "physical_package_id", 0),
                       .node = 0});
  }
  assign_nodes(cpus);
  return cpus;
}

}  // namespace keydrome
