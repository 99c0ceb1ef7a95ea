// The constant parts of a crash program, a C program that makes the calls of a session (one
// repetition of a benchmark) up to a crash (crash_program.h). The generated part, tables of
// operations, comes after kCrashTypes.
#pragma once

#include <string_view>

namespace keydrome {

extern const std::string_view kCrashTypes;    // types of the tables' entries
extern const std::string_view kCrashThreads;  // functions with which threads wait for each other
extern const std::string_view kCrashCalls;    // functions that make the calls, and main()

}  // namespace keydrome
