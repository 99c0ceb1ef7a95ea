// The rules by which certify() reads edges off a history, as bits: CertifyOptions::disabled_rules
// switches them off one by one, and a test shows that each one is needed.
#pragma once

#include <cstdint>

namespace keydrome {

enum Rule : uint32_t {
  kRuleWriteWrite = 1u << 0,      // inserter before deleter
  kRuleWriteRead = 1u << 1,       // inserter before whoever saw the record
  kRuleReadWrite = 1u << 2,       // whoever saw the record before its deleter
  kRulePredicateWrite = 1u << 3,  // whoever did not see a record before its inserter
  kRulePredicateRead = 1u << 4,   // deleter before whoever did not see the record any more
  kRuleGap = 1u << 5,             // a scan step covers the keys it passes over
  kRuleBeforeFirst = 1u << 6,     // the first getNext covers all keys before the one it shows
  kRuleTail = 1u << 7,            // DB_END covers all keys behind the cursor
  kRuleRestOfKey = 1u << 8,       // leaving a key covers the payloads that were not shown
  kRuleMissingKey = 1u << 9,      // KEY_NOTFOUND of get covers the key
  kRuleMissedDelete = 1u << 10,   // so do ENTRY_DNE and KEY_NOTFOUND of deleteRecord
  kRuleExists = 1u << 11,         // ENTRY_EXISTS saw the record
  kRuleDeleteAll = 1u << 12,      // deleting all payloads takes away what is there
  kRuleRealTime = 1u << 13,       // whoever has returned stands before whoever begins later
  kRuleEitherOr = 1u << 14,       // absences that the stamps do not explain are explained later
  kRuleAborted = 1u << 15,        // what a failed transaction wrote is seen by nobody
  kRuleDirty = 1u << 16,          // what is not yet to be committed is seen by nobody
  kRuleIntermediate = 1u << 17,   // what its writer took back is seen by nobody
  kRuleOwnWrites = 1u << 18,      // a transaction sees its own writes
  kRuleScanOrder = 1u << 19,      // scans go forwards and show a record once
  kRuleDoubleDelete = 1u << 20,   // a record is deleted once
  kRuleFailedReaders = 1u << 21,  // reads of failed transactions are looked at
  kRuleReplay = 1u << 22,         // the order found is replayed
};
inline constexpr uint32_t kRuleCount = 23;

}  // namespace keydrome
