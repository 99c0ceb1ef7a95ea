// hide_keys(): computes the bits that hide the keys of a script's hidden gets, i.e. its gets with
// kHidden (format/hidden_key.h).
//
// Thread safety: the caller owns the script.
#pragma once

#include "benchmarks/kit/script/script.h"

namespace keydrome::script {

// Sets Op::argument of every hidden get. May also move the window of a hidden get, the position of
// the payload bytes in its word, because the whole word must be known. Takes 8 bytes of memory for
// each key while it runs, or nothing if no get is hidden.
//
// REQUIRES (checked): a script with hidden gets has one index, with int64 keys, and no procedures
// (format/procedure.h). An insert of an earlier phase is the only change of each hidden key, apart
// from changes that their transaction aborts.
void hide_keys(Script& script);

}  // namespace keydrome::script
