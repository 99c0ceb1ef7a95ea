// Required or advisory (DESIGN section 1): what a client of the 2009 contest could rely on is
// required and decides the verdict; the rest is shown as a warning.
#pragma once

#include <cstdint>

namespace keydrome {

enum class Severity : uint8_t { kRequired, kAdvisory };

}  // namespace keydrome
