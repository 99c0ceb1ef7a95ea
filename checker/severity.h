// Defines the severity of a finding. A finding is one entry of a report that says what is wrong
// with the library under test. It is required or advisory.
//
// Keydrome tests index libraries through the API of the SIGMOD 2009 programming contest. A finding
// is required if the library broke a promise on which a client of this contest could rely. The
// library fails if a required finding exists. Advisory findings only appear as warnings.
#pragma once

#include <cstdint>

namespace keydrome {

enum class Severity : uint8_t { kRequired, kAdvisory };

}  // namespace keydrome
