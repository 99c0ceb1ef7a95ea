// Defines pieces: the portions in which a thread receives its program, the list of its operations
// (program.h). The referee, the process that runs and judges a session, writes the pieces outside
// the jail (the sandbox of the library). The player, the process in the jail that calls the
// library, reads them.
//
// Thread safety: plain data.
#pragma once

#include <cstdint>

#include "benchmarks/kit/format/program.h"

namespace keydrome::format {

// The header of a piece. A piece consists of this header, the next ops (operations) of one thread,
// and pools (numbered lists) of the keys that these ops use. It also contains the parameters of the
// procedures (lists of instructions, procedure.h) that these ops run. It contains the payload texts
// of its ops, unless they are in the session's image, the data that all phases share (PoolsHeader
// in program.h). A key reaches the jail only with the piece that uses the key. Offsets are bytes
// from the beginning of the header.
//
// The fields Op::key and Op::payload of a piece are numbers in the pools of this piece. Each op has
// its own entry, and the entries are in the order of the ops, so that the player reads the pools
// from beginning to end. The pools of int32 and int64 keys are plain arrays.
struct PieceHeader {
  uint32_t version;                    // kProgramVersion
  uint32_t last;                       // 1: no further piece of the thread follows in this phase
  uint64_t op_offset, op_count;        // Op[]
  uint64_t int32_offset, int32_count;  // int32_t[]
  uint64_t int64_offset, int64_count;  // int64_t[]
  uint64_t parameter_offset, parameter_count;  // int64_t[]
  // uint32_t[]: for each parameter, the string key that it selects, as a number in the pool of this
  // piece, or kNoString. Empty if no procedure of the piece names string keys by number.
  uint64_t string_offset, string_count;
  uint64_t varchar_offset, varchar_count;  // a pool of strings
  uint64_t payload_offset, payload_count;  // a pool of strings
};
inline constexpr uint32_t kNoString = UINT32_MAX;

}  // namespace keydrome::format
