// Parses and checks the scenarios of data/*.json for the benchmark "scenarios". A scenario is a
// short script that reveals one kind of error.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "benchmarks/scenarios/script/scenario.h"

namespace keydrome::scenarios {

// Parses one file of data/: {"instance": "...", "scenarios": [...]}. An error names the scenario
// and says what is wrong with it.
Result<std::vector<Scenario>> parse_scenarios(std::string_view json);

// Parses all compiled-in files. Returns the scenarios in the order of their ids, which must be
// unique.
Result<std::vector<Scenario>> load_catalogue(std::span<const std::string_view> files);

}  // namespace keydrome::scenarios
