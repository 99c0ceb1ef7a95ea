// The ends of messages about a state that only an error in Keydrome's own code causes. A user
// cannot repair such a state, so the messages ask for a report.
#pragma once

namespace keydrome {

// For a state that the same input causes each time.
inline constexpr const char* kReportError =
    "this is an error of Keydrome: please report this message";

// For a state that may depend on time or chance.
inline constexpr const char* kRepeatThenReport =
    "this is an error of Keydrome: repeat the run, and please report this message if it appears "
    "again";

}  // namespace keydrome
