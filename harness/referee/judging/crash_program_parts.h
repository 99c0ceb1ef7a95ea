// The parts of a crash program (crash_program.h) that are the same in every program.
#pragma once

#include <string_view>

namespace keydrome {

extern const std::string_view kCrashTypes;    // before the tables: the types of their entries
extern const std::string_view kCrashThreads;  // after the tables: how threads wait for each other
extern const std::string_view kCrashCalls;    // at the end: how operations become calls

}  // namespace keydrome
