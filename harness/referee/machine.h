// Facts about the machine that belong to every number, and warnings about what makes numbers noisy.
#pragma once

#include "base/json.h"

namespace keydrome {

// A flat JSON object: cpu, cores, memory_bytes, kernel, load_1m, governor, transparent_huge_pages,
// address_randomisation, warnings (array of sentences). A fact that cannot be read is absent.
Json machine_facts();

// What the machine has, in bytes; 0 when it cannot be told.
uint64_t physical_memory_bytes();

}  // namespace keydrome
