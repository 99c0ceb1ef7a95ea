// Defines the severity of a finding. A finding is one entry of a report that says what is wrong
// with the library under test. It is required or advisory.
//
// A finding is required if the library broke a promise on which clients in the SIGMOD 2009 contest
// could rely. The library fails if a required finding exists. Advisory findings only appear as
// warnings.
#pragma once

#include <cstdint>

namespace keydrome {

enum class Severity : uint8_t { kRequired, kAdvisory };

}  // namespace keydrome
