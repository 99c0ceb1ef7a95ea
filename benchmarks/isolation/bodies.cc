// Implements the bodies of the benchmark "isolation": functions that write the calls of one
// transaction, one function for each pattern of reads and writes.
#include "benchmarks/isolation/bodies.h"

#include <algorithm>
#include <array>

namespace keydrome::isolation {
namespace {

constexpr uint32_t kPauseOneIn = 8;
// An event that is never signalled, so a yield that waits for it returns when its time is up.
constexpr uint32_t kNever = format::kEvents - 1;

}  // namespace

uint32_t BodyWriter::any_key(const KeySpace& space) {
  const std::size_t count = space.keys.size();
  return space.keys[std::min(rng_->below(count), rng_->below(count))];
}

uint32_t BodyWriter::key_between(const KeySpace& space, std::size_t low, std::size_t high) {
  return space.keys[low + rng_->below(high - low)];
}

void BodyWriter::get(const KeySpace& space, uint32_t key) {
  pause();
  out_->get(space.slot, key);
}

void BodyWriter::next(const KeySpace& space, uint32_t calls) {
  pause();
  out_->next(space.slot, calls);
}

void BodyWriter::insert(const KeySpace& space, uint32_t key) {
  pause();
  const uint32_t text = texts_[rng_->below(texts_.size())];
  out_->insert(space.slot, key, script_->new_payload(text));
}

void BodyWriter::erase_read(const KeySpace& space) {
  pause();
  out_->delete_read(space.slot);
}

void BodyWriter::erase_key(const KeySpace& space, uint32_t key) {
  pause();
  out_->delete_key(space.slot, key);
}

// Yields the processor before one call in kPauseOneIn, because transactions rarely overlap by
// chance on few processors.
void BodyWriter::pause() {
  if (chance(kPauseOneIn)) out_->yield(kNever, 1, 0);
}

namespace {

// Mixes all calls: point reads, short scans, inserts, deletes of single records, and deletes of
// whole keys.
void mixed(BodyWriter& out, uint32_t operations, bool read_only) {
  for (uint32_t i = 0; i < operations; ++i) {
    const KeySpace& space = out.any_key_space();
    const uint32_t key = out.any_key(space);
    const uint64_t percentile = out.rng().below(read_only ? 55 : 100);
    if (percentile < 30) {
      out.get(space, key);
    } else if (percentile < 55) {
      if (!out.chance(4))
        out.get(space, key);  // without a get, the scan may start at the first record
      out.next(space, 1 + static_cast<uint32_t>(out.rng().below(6)));
    } else if (percentile < 77) {
      out.insert(space, key);
    } else if (percentile < 91) {
      out.get(space, key);
      out.erase_read(space);
    } else {
      out.get(space, key);
      out.next(space, 1);
      out.erase_key(space, key);
    }
  }
}

// Reads a key and replaces its value, as in a register. Makes lost updates and read skew likely.
void registers(BodyWriter& out, uint32_t operations, bool read_only) {
  for (uint32_t i = 0; i < operations; i += 3) {
    const KeySpace& space = out.any_key_space();
    const uint32_t key = out.any_key(space);
    out.get(space, key);
    if (read_only || out.chance(3)) continue;
    out.erase_read(space);
    out.insert(space, key);
  }
}

// Inserts many payloads under few keys. Sometimes reads and deletes all payloads of a key.
void append(BodyWriter& out, uint32_t operations, bool read_only) {
  for (uint32_t i = 0; i < operations; i += 2) {
    const KeySpace& space = out.any_key_space();
    const uint32_t key = out.key_between(space, 0, std::min<std::size_t>(4, space.keys.size()));
    if (read_only || out.chance(3)) {
      out.get(space, key);
      out.next(space, 12);
    } else if (out.chance(12)) {
      out.get(space, key);
      out.next(space, 8);
      out.erase_key(space, key);
      out.insert(space, key);
    } else {
      out.insert(space, key);
    }
  }
}

// Reads a range, often an empty one or the end of the index. Then writes anywhere in an index.
// Makes phantoms likely.
void predicates(BodyWriter& out, uint32_t operations, bool read_only) {
  const KeySpace& read = out.any_key_space();
  const KeySpace& written = out.any_key_space();
  const std::size_t ranges = 5;
  const std::size_t range = out.rng().below(ranges);
  const std::size_t count = read.keys.size();
  const std::size_t low = range * count / ranges, high = (range + 1) * count / ranges;
  const auto calls = 1 + static_cast<uint32_t>(out.rng().below(high - low + 1));
  if (range == 0 && out.chance(2)) {
    out.next(read, calls);  // starts before the first record
  } else {
    out.get(read, read.keys[low]);
    if (range + 1 == ranges || !out.chance(4)) out.next(read, calls);
  }
  for (uint32_t i = calls; !read_only && i < operations + calls; i += 4) {
    const uint32_t key = out.key_between(written, 0, written.keys.size());
    if (out.chance(3)) {
      out.erase_key(written, key);
    } else {
      out.insert(written, key);
    }
  }
}

// Reads one index and writes the next index. Finds validation or locks that consider only one
// index.
void cross(BodyWriter& out, uint32_t operations, bool read_only) {
  const std::size_t first = out.rng().below(out.key_spaces());
  for (uint32_t i = 0; i < operations; i += 4) {
    const KeySpace& read = out.key_space((first + i / 4) % out.key_spaces());
    const KeySpace& written = out.key_space((first + i / 4 + 1) % out.key_spaces());
    const uint32_t key = out.any_key(read);
    out.get(read, key);
    if (out.chance(3)) out.next(read, 2);
    if (read_only) continue;
    const uint32_t target = out.any_key(written);
    if (out.chance(2)) {
      out.insert(written, target);
    } else {
      out.get(written, target);
      out.erase_read(written);
    }
  }
}

// Deletes whole keys without reading them first, as the benchmark of the SIGMOD 2009 contest does.
void blind(BodyWriter& out, uint32_t operations, bool read_only) {
  for (uint32_t i = 0; i < operations; i += 2) {
    const KeySpace& space = out.any_key_space();
    const uint32_t key = out.any_key(space);
    if (read_only || out.chance(3)) {
      out.get(space, key);
      if (out.chance(2)) out.next(space, 3);
    } else {
      out.erase_key(space, key);
      if (!out.chance(3)) out.insert(space, key);
    }
  }
}

// Moves records between keys while other transactions read whole indexes. Finds torn commits,
// records that are read twice, and records that are not read at all.
void transfer(BodyWriter& out, uint32_t operations, bool read_only) {
  if (read_only) {
    const KeySpace& space = out.any_key_space();
    out.next(space, static_cast<uint32_t>(space.keys.size()) + 1);
    return;
  }
  for (uint32_t i = 0; i < operations; i += 3) {
    const KeySpace& from = out.any_key_space();
    const KeySpace& to = out.any_key_space();
    out.get(from, out.any_key(from));
    out.erase_read(from);
    out.insert(to, out.any_key(to));
  }
}

// The kinds of rounds (phases on empty indexes). Their names are part of the phase names, and so of
// the fingerprint, the hash that identifies a version of the benchmark. Therefore two kinds keep
// their old names, although the functions that write their bodies (mixed, predicates) have new
// ones.
constexpr std::array<RoundKind, 9> kKinds = {{
    {.name = "soup", .body = mixed, .indexes = 2, .keys = 40, .calls = 10, .percent = 100},
    {.name = "registers", .body = registers, .indexes = 2, .keys = 16, .calls = 9, .percent = 100},
    {.name = "append", .body = append, .indexes = 1, .keys = 16, .calls = 10, .percent = 100},
    {.name = "duel", .body = predicates, .indexes = 2, .keys = 40, .calls = 6, .percent = 100},
    {.name = "cross", .body = cross, .indexes = 3, .keys = 16, .calls = 12, .percent = 100},
    {.name = "blind", .body = blind, .indexes = 2, .keys = 24, .calls = 8, .percent = 100},
    {.name = "transfer", .body = transfer, .indexes = 2, .keys = 24, .calls = 6, .percent = 100},
    {.name = "wide", .body = mixed, .indexes = 8, .keys = 200, .calls = 40, .percent = 50},
    {.name = "large",
     .body = mixed,
     .indexes = 2,
     .keys = 20'000,
     .calls = 12,
     .percent = 500,
     .changes = kChangesMax},
}};

}  // namespace

std::span<const RoundKind> round_kinds() { return kKinds; }

}  // namespace keydrome::isolation
