// Compares an instance of a data structure with a model, a std::set of the same pairs of key and
// payload. The data structure has the interface of contract B (keydrome/structure.h).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "structures/tests/pair_source.h"
#include "structures/tests/structure_fixture.h"

namespace keydrome {

// Returns the table of the structure under test. A function that the structure lacks is NULL. So is
// each field that an older, shorter table lacks.
const KeydromeStructureTable& table();

// Tests divide their numbers of operations, pairs and keys by this factor. It is larger under
// sanitizers, which are slow, but need only a few operations to find memory errors and races.
#ifdef KEYDROME_SANITIZED
inline constexpr uint32_t kLess = 4;
#else
inline constexpr uint32_t kLess = 1;
#endif

// Checks that the instance has exactly the pairs of the model. Uses scans in runs of at most
// `limit` pairs, or lookups if the structure is unordered. `source` must have made the keys.
void expect_same(const Structure& structure, const Model& model, const PairSource& source,
                 uint32_t limit = 64);

// Checks `scan` from a random position, with runs of 1, 2 and 64 pairs and with little capacity.
void expect_scans_agree(const Structure& structure, const Model& model, PairSource& source);

// Checks `find` and `find_batch` with random keys, if the structure has them.
void expect_lookups_agree(const Structure& structure, const Model& model, PairSource& source);

}  // namespace keydrome
