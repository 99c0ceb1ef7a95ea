// Builds the session's image, the bytes of everything that all phases of a script share. The
// referee, which generates the script, passes the image to the player, which calls the library.
// format/program.h describes the layout of the image. piece_writer.h writes what belongs to one
// phase.
//
// Thread safety: a pure function.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "benchmarks/kit/script/script.h"

namespace keydrome::script {

// Returns the session's image of a script. It contains the index names, the procedures (lists of
// instructions) and, of the keys, only Pools::computed_keys. It contains the payload texts only if
// texts_in_session() (piece_writer.h) returns true. Equal scripts give equal bytes.
std::vector<std::byte> pools_image(const Script& script);

}  // namespace keydrome::script
