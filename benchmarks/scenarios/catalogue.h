// The catalogue: every scenario of data/*.json, parsed and checked.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "benchmarks/scenarios/scenario.h"

namespace keydrome::scenarios {

// One file of data/: {"instance": "...", "scenarios": [...]}. The error names the scenario and what
// is wrong with it.
Result<std::vector<Scenario>> parse_scenarios(std::string_view json);

// All of the compiled-in files, in the order of their ids; ids are unique.
Result<std::vector<Scenario>> load_catalogue(std::span<const std::string_view> files);

}  // namespace keydrome::scenarios
