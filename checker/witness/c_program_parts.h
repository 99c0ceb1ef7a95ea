// Declares C text that is the same in all programs that c_program() writes (c_program.h). Such a
// program repeats the calls of a failed run.
#pragma once

#include <string_view>

namespace keydrome::witness {

extern const std::string_view kPrelude;  // orders the threads; follows the tables of the calls
extern const std::string_view kSameKey;  // compares keys; programs that compare none leave it out
extern const std::string_view kMain;     // main(), which plays the calls several times; comes last

}  // namespace keydrome::witness
