// Defines the severity of a finding: required or advisory.
//
// A finding is required if the library broke a promise on which clients in the SIGMOD 2009 contest
// could rely. Required findings decide the verdict. Advisory findings only appear as warnings.
#pragma once

#include <cstdint>

namespace keydrome {

enum class Severity : uint8_t { kRequired, kAdvisory };

}  // namespace keydrome
