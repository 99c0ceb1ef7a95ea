// A small correct index that lives in the test's process, and the faults that a test can give it.
//
// Correct means: an ordered map under one lock that a transaction holds from begin to end. It is
// the oracle that the judge must never accuse; with a fault set, the judge must.
#pragma once

#include <cstdint>

#include "benchmarks/kit/index_api.h"

namespace keydrome::testing {

// 0 or false: no such fault. Counters count calls of the process, so an "every" fault hits
// different threads.
struct Faults {
  bool success_only = false;           // every call answers SUCCESS and does nothing
  bool no_isolation = false;           // the lock is held for each call only
  bool keeps_aborted = false;          // abort undoes nothing
  bool loses_aborted_deletes = false;  // abort undoes inserts, but not deletes
  bool unordered = false;              // getNext goes down instead of up
  bool misses_everything =
      false;  // get of an integer or letter key answers KEY_NOTFOUND and leaves the cursor right
  bool accepts_duplicates = false;     // insert of a stored pair answers SUCCESS
  bool deletes_missing = false;        // deleting a missing pair answers SUCCESS
  bool keeps_deleted = false;          // deleteRecord of a key answers right and removes nothing
  bool denies_deletes = false;         // deletes, and answers KEY_NOTFOUND outside the stripes
  bool wraps_around = false;           // getNext starts again after the last record
  uint32_t drops_every = 0;            // every nth insert is not stored
  uint32_t changes_payload_every = 0;  // every nth insert stores another last letter
  uint32_t wrong_key_every = 0;        // every nth insert lands under a neighbouring key
  uint32_t skips_every = 0;            // every nth getNext leaves a record out
  uint32_t repeats_every = 0;          // every nth getNext stays on its record
  uint32_t fails_every = 0;            // every nth insert answers FAILURE
  uint32_t odd_code_every = 0;         // every nth get answers 77

  // Not a fault: every nth call inside a transaction, and every nth begin and commit, answers
  // DEADLOCK.
  uint32_t deadlock_every = 0;
};

// A fresh, empty index library in this process with these faults. One at a time; not thread-safe
// itself, but the API that it returns is.
IndexApi test_index(const Faults& faults);

}  // namespace keydrome::testing
