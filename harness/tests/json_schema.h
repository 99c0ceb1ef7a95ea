// A validator for the part of JSON Schema that harness/schema uses: type, enum, const, pattern,
// minimum, maximum, required, properties, additionalProperties, items, prefixItems, minItems,
// maxItems. Any other keyword that could reject something is an error of the schema, so nothing
// goes unchecked.
#pragma once

#include <string>

#include "base/json.h"

namespace keydrome {

// Where `value` departs from `schema`, and how; empty when it fits.
std::string schema_error(const Json& schema, const Json& value);

}  // namespace keydrome
