// Configuration: plain data that says how the runtime runs a bare structure (a data structure
// without transactions and locks). Every benchmark result includes the configuration of its run.
//
// docs/reference/configuration.md describes the fields, and
// configurations/configuration.schema.json is their schema.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "keydrome/index.h"
#include "keydrome/structure.h"
#include "runtime/concurrency/concurrency.h"
#include "runtime/strategy/store.h"

namespace keydrome::runtime {

enum class StrategyKind { kDirect };
enum class LockKind { kExclusive, kReadWrite, kNone };

struct Configuration {
  std::string name;         // 1 to 64 characters of a-z, 0-9, '-' and '_'
  std::string title;        // a short name for tables
  std::string description;  // one sentence
  StrategyKind strategy;
  std::string concurrency;  // the name of a concurrency control, see concurrency/methods.h
  LockKind lock;
  std::string options;  // JSON text for the structure; empty if there are none
};

// What keydrome_configure receives: a structure, and how to run the structure.
struct Setup {
  std::string structure_path;
  Configuration configuration;
  int64_t threads;  // the number of threads that will make calls; 1 if the JSON has no such field
  std::vector<KeyType> key_types;  // of the indexes that will be created; empty: not known
};

// Parses the JSON of keydrome_configure. An unknown, missing or mistyped field is an error whose
// message names the field. Format 1 of configurations calls the field `concurrency` by its old name
// `control`; this function accepts both formats.
Result<Setup> parse_setup(std::string_view json);

// Returns an error if the structure lacks a capability that the configuration needs, or has a limit
// that the configuration does not allow. A capability is a promise of the structure about its
// behaviour, such as that threads may read at the same time (structure.h).
Result<void> check_capabilities(const Configuration& configuration,
                                const KeydromeStructureTable& table);

// Returns an error if the structure cannot serve `threads` threads under this configuration.
Result<void> check_threads(const Configuration& configuration, const KeydromeStructureTable& table,
                           int64_t threads);

// Returns an error if the structure cannot hold keys of one of the types.
Result<void> check_key_types(const std::vector<KeyType>& key_types,
                             const KeydromeStructureTable& table);

std::unique_ptr<Strategy> make_strategy(const Configuration& configuration,
                                        const KeydromeStructureTable& table);
std::unique_ptr<Concurrency> make_concurrency(const Configuration& configuration,
                                              const KeydromeStructureTable& table);

}  // namespace keydrome::runtime
