// Validates JSON in tests against the part of JSON Schema that harness/schema uses: type, enum,
// const, pattern, minimum, maximum, required, properties, additionalProperties, items, prefixItems,
// minItems and maxItems. Any other keyword that could reject a value is an error, so that no rule
// of a schema is ignored.
#pragma once

#include <string>

#include "base/json.h"

namespace keydrome {

// Returns where and how `value` violates `schema`, or "" if it is valid.
std::string schema_error(const Json& schema, const Json& value);

}  // namespace keydrome
