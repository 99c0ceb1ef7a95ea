// Defines the names of the ten calls that a library exports (contract A, keydrome/index.h), and of
// their result codes. Reports and tests show these names.
//
// benchmarks/, harness/ and all parts of checker/ need these names, and all of them may include
// headers of checker/. The file is not in api/, which contains only the headers for contestants. It
// is not in base/, because base/ must not depend on keydrome/index.h. Thread safety: pure
// functions.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "checker/history/event.h"
#include "keydrome/index.h"

namespace keydrome {

// The name of each result code; the position is the ErrCode.
inline constexpr std::array<std::string_view, 11> kCodeNames = {
    "SUCCESS", "DB_DNE",       "DB_EXISTS", "DB_END",   "KEY_NOTFOUND", "TXN_EXISTS",
    "TXN_DNE", "ENTRY_EXISTS", "ENTRY_DNE", "DEADLOCK", "FAILURE"};
static_assert(kCodeNames.size() == FAILURE + 1);

// Returns the name of a result code, such as "DEADLOCK". For a number that is not an ErrCode,
// returns text such as "undocumented code 77".
inline std::string code_text(uint32_t code) {
  if (code < kCodeNames.size()) return std::string(kCodeNames[code]);
  return "undocumented code " + std::to_string(code);
}

// Returns the name of the result code of a recorded call. An event stores the code in one byte, so
// the function returns the same name for all undocumented codes that need more bytes.
inline std::string code_text(const history::Event& event) {
  if (event.code == history::kEventUnknownCode) return "an undocumented code";
  return code_text(uint32_t{event.code});
}

// Returns the name of a call, such as "insertRecord". The delete of one record and the delete of
// all records of a key have the same name, "deleteRecord".
// Safe for any byte: if no call has this number, returns "an unknown call".
inline std::string_view call_name(history::EventCall call) {
  constexpr std::array<std::string_view, 11> kCallNames = {
      "create",           "openIndex", "closeIndex", "beginTransaction", "commitTransaction",
      "abortTransaction", "get",       "getNext",    "insertRecord",     "deleteRecord",
      "deleteRecord"};
  const auto number = static_cast<std::size_t>(call);
  return number < kCallNames.size() ? kCallNames[number] : "an unknown call";
}

}  // namespace keydrome
