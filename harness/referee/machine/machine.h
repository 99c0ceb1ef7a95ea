// Describes the machine for a report: facts that help to explain the measured times, and warnings
// about settings that make times vary.
#pragma once

#include "base/json.h"

namespace keydrome {

// Returns a flat JSON object with these members:
// - cpu: the model's name
// - cores: number of usable CPUs
// - memory_bytes
// - kernel
// - load_1m: load average of the last minute
// - governor: of the CPU frequency
// - transparent_huge_pages
// - address_randomisation
// - warnings: array of sentences
// A fact that the machine does not reveal is absent.
Json machine_facts();

// Returns the size of the machine's memory, or 0 if the kernel reports an error.
uint64_t physical_memory_bytes();

}  // namespace keydrome
