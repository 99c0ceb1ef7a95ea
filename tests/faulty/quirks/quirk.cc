// Chooses the quirk, an unusual behaviour that is permitted (quirk.h), of one library. The build
// compiles this file once for each quirk.
#include "tests/faulty/quirks/quirk.h"

namespace quirky {

#ifndef KEYDROME_STATIC_BYTES
#define KEYDROME_STATIC_BYTES 1
#endif

namespace {
char static_data[KEYDROME_STATIC_BYTES];
}  // namespace

const Quirk kQuirk = Quirk::KEYDROME_QUIRK;
char* const kStaticData = static_data;
const unsigned long kStaticBytes = sizeof static_data;

}  // namespace quirky
