// Describes the machine for a report: facts that help to explain the measured times, and warnings
// about settings that make times vary.
#pragma once

#include <cstdint>
#include <optional>

#include "base/json.h"

namespace keydrome {

// Returns a flat JSON object with these members:
// - cpu: the model's name
// - frequency_mhz: mean frequency of the CPUs at this moment
// - cores: number of usable CPUs
// - compiler: the one that built this program, the player (the program that calls the library), and
//   the libraries of this repository
// - memory_bytes
// - kernel
// - load_1m: load average of the last minute
// - governor: the governor of the CPU frequency
// - transparent_huge_pages
// - address_randomisation
// - warnings: array of sentences
// A fact that the machine does not reveal is absent.
Json machine_facts();

// Times of all CPUs since the machine was started, in the kernel's ticks.
struct CpuTimes {
  uint64_t all = 0;
  uint64_t stolen = 0;  // another virtual machine used the CPU, although this one had work
};

// Returns nothing if the kernel reports no such times.
std::optional<CpuTimes> cpu_times();

// Adds the fact `steal_percent`: the share of the CPUs' time that was stolen since `before`. Adds
// nothing if a time is unknown or no tick has passed.
void add_stolen_time(const std::optional<CpuTimes>& before, const std::optional<CpuTimes>& after,
                     Json& facts);

// Returns the size of the machine's memory, or 0 if the kernel reports an error.
uint64_t physical_memory_bytes();

}  // namespace keydrome
