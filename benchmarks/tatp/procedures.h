// Defines the transactions of the benchmark "tatp". Five of them are procedures, lists of
// instructions for the player (the process that calls the library), because their later calls
// depend on the results of earlier ones.
#pragma once

#include <cstdint>

#include "benchmarks/kit/script/script_builder.h"

namespace keydrome::tatp {

// A transaction's number is also the number of its class: latencies and counts are reported for
// each class. The transactions that are procedures come first, so the number of such a transaction
// is also the number of its procedure. The comments name the parameters and results of the
// procedures. The parameter "number" is the position of the subscriber's phone number in the
// script's list of string keys. Subscriber s has the key at position s.
enum Transaction : uint32_t {
  // Parameters: facility key, start hour, end hour. The result is the number of forwardings of the
  // active facility that begin at the start hour or earlier and end after the end hour.
  kGetNewDestination,
  // Parameters: s_id, facility key, bit_1, data_a. Sets one column of the subscriber and one of the
  // facility. Of the procedure's two tags (unique numbers of new payloads), the first is for the
  // subscriber's row, the second for the facility's row. Rolls back if there is no such facility.
  kUpdateSubscriberData,
  // Parameters: number, vlr_location. Sets one column of the subscriber.
  kUpdateLocation,
  // Parameters: number, sf_type, start hour, text. Inserts a forwarding if its facility exists and
  // the forwarding does not. The result is 1 if it was inserted.
  kInsertCallForwarding,
  // Parameters: number, sf_type, start hour. The result is 1 if a forwarding was deleted.
  kDeleteCallForwarding,
  kProcedures,
  kGetSubscriberData = kProcedures,
  kGetAccessData,
  kTransactions
};

// Returns true if the procedure leaves its result as evidence for the judge.
constexpr bool has_result(uint32_t procedure) {
  return procedure == kGetNewDestination || procedure == kInsertCallForwarding ||
         procedure == kDeleteCallForwarding;
}

// Adds all procedures, numbered as in Transaction.
void add_procedures(script::ScriptBuilder& builder);

}  // namespace keydrome::tatp
