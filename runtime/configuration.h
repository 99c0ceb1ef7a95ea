// A configuration: how a bare structure is to be run. Data, not code; printed beside every result.
//
// docs/reference/configuration.md describes the fields, configurations/configuration.schema.json
// checks them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "keydrome/structure.h"
#include "runtime/control/control.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

enum class StrategyKind { kDirect };
enum class ControlKind { kIndex2pl, kGap2pl, kSerial, kOcc, kMvcc, kNone };
enum class LockKind { kExclusive, kReadWrite, kNone };

struct Configuration {
  std::string name;         // a file name: a-z, 0-9, '-' and '_'
  std::string title;        // for people
  std::string description;  // one sentence
  StrategyKind strategy;
  ControlKind control;
  LockKind lock;
  std::string options;  // of the structure, as JSON text; empty for none
};

// What keydrome_configure receives: which structure, and how to run it.
struct Setup {
  std::string structure_path;
  Configuration configuration;
  int64_t threads;  // that will call, at most; 1 when it was not told
};

// Strict: an unknown, missing or mistyped field is an error that names the field and what it may
// be.
Result<Setup> parse_setup(std::string_view json);

// Refuses what the structure cannot do; never falls back to something else.
Result<void> check_capabilities(const Configuration& configuration,
                                const KeydromeStructureTable& table);

// Refuses more threads than the structure bears under this configuration.
Result<void> check_threads(const Configuration& configuration, const KeydromeStructureTable& table,
                           int64_t threads);

std::unique_ptr<Strategy> make_strategy(const Configuration& configuration,
                                        const KeydromeStructureTable& table);
std::unique_ptr<Control> make_control(const Configuration& configuration,
                                      const KeydromeStructureTable& table);

// For the log, e.g. "direct, index_2pl, lock rw".
std::string describe(const Configuration& configuration);

}  // namespace keydrome::runtime
