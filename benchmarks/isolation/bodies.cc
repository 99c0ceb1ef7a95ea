#include "benchmarks/isolation/bodies.h"

#include <algorithm>
#include <array>

namespace keydrome::isolation {
namespace {

constexpr uint32_t kPauseOneIn = 8;
// An event that nobody signals: a yield that waits for it comes back when its
// time is up.
constexpr uint32_t kNobody = kEvents - 1;

}  // namespace

uint32_t BodyWriter::any_key(const Arena& arena) {
  const std::size_t count = arena.keys.size();
  return arena.keys[std::min(rng_->below(count), rng_->below(count))];
}

uint32_t BodyWriter::key_between(const Arena& arena, std::size_t low, std::size_t high) {
  return arena.keys[low + rng_->below(high - low)];
}

void BodyWriter::get(const Arena& arena, uint32_t key) {
  pause();
  out_->get(arena.slot, key);
}

void BodyWriter::next(const Arena& arena, uint32_t calls) {
  pause();
  out_->next(arena.slot, calls);
}

void BodyWriter::insert(const Arena& arena, uint32_t key) {
  pause();
  const uint32_t text = texts_[rng_->below(texts_.size())];
  out_->insert(arena.slot, key, script_->new_payload(text));
}

void BodyWriter::erase_read(const Arena& arena) {
  pause();
  out_->delete_read(arena.slot);
}

void BodyWriter::erase_key(const Arena& arena, uint32_t key) {
  pause();
  out_->delete_key(arena.slot, key);
}

// On few processors a transaction is rarely interrupted by itself, so calls now
// and then let others run.
void BodyWriter::pause() {
  if (chance(kPauseOneIn)) out_->yield(kNobody, 1, 0);
}

namespace {

// Everything at once: points, short scans, inserts, deletes of what was read
// and of whole keys.
void soup(BodyWriter& out, uint32_t operations, bool read_only) {
  for (uint32_t i = 0; i < operations; ++i) {
    const Arena& arena = out.any_arena();
    const uint32_t key = out.any_key(arena);
    const uint64_t dice = out.rng().below(read_only ? 55 : 100);
    if (dice < 30) {
      out.get(arena, key);
    } else if (dice < 55) {
      if (!out.chance(4)) out.get(arena, key);  // else goes on, or starts at the first record
      out.next(arena, 1 + static_cast<uint32_t>(out.rng().below(6)));
    } else if (dice < 77) {
      out.insert(arena, key);
    } else if (dice < 91) {
      out.get(arena, key);
      out.erase_read(arena);
    } else {
      out.get(arena, key);
      out.next(arena, 1);
      out.erase_key(arena, key);
    }
  }
}

// Registers: a key is read, and its value replaced by a new one. Lost updates
// and read skew.
void registers(BodyWriter& out, uint32_t operations, bool read_only) {
  for (uint32_t i = 0; i < operations; i += 3) {
    const Arena& arena = out.any_arena();
    const uint32_t key = out.any_key(arena);
    out.get(arena, key);
    if (read_only || out.chance(3)) continue;
    out.erase_read(arena);
    out.insert(arena, key);
  }
}

// Many payloads under few keys; now and then a key is read whole and begun
// anew.
void append(BodyWriter& out, uint32_t operations, bool read_only) {
  for (uint32_t i = 0; i < operations; i += 2) {
    const Arena& arena = out.any_arena();
    const uint32_t key = out.key_between(arena, 0, std::min<std::size_t>(4, arena.keys.size()));
    if (read_only || out.chance(3)) {
      out.get(arena, key);
      out.next(arena, 12);
    } else if (out.chance(12)) {
      out.get(arena, key);
      out.next(arena, 8);
      out.erase_key(arena, key);
      out.insert(arena, key);
    } else {
      out.insert(arena, key);
    }
  }
}

// Looks at a range, often an empty one or the end, and then writes into
// another: phantoms.
void duel(BodyWriter& out, uint32_t operations, bool read_only) {
  const Arena& seen = out.any_arena();
  const Arena& written = out.any_arena();
  const std::size_t ranges = 5;
  const std::size_t range = out.rng().below(ranges);
  const std::size_t count = seen.keys.size();
  const std::size_t low = range * count / ranges, high = (range + 1) * count / ranges;
  const auto calls = 1 + static_cast<uint32_t>(out.rng().below(high - low + 1));
  if (range == 0 && out.chance(2)) {
    out.next(seen, calls);  // from before the first record
  } else {
    out.get(seen, seen.keys[low]);
    if (range + 1 == ranges || !out.chance(4)) out.next(seen, calls);
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

// Reads one index and writes the next one: validation or locks that stop at an
// index's border.
void cross(BodyWriter& out, uint32_t operations, bool read_only) {
  const std::size_t first = out.rng().below(out.arenas());
  for (uint32_t i = 0; i < operations; i += 4) {
    const Arena& read = out.arena((first + i / 4) % out.arenas());
    const Arena& written = out.arena((first + i / 4 + 1) % out.arenas());
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

// Deletes whole keys without having read them, as the contest's driver does.
void blind(BodyWriter& out, uint32_t operations, bool read_only) {
  for (uint32_t i = 0; i < operations; i += 2) {
    const Arena& arena = out.any_arena();
    const uint32_t key = out.any_key(arena);
    if (read_only || out.chance(3)) {
      out.get(arena, key);
      if (out.chance(2)) out.next(arena, 3);
    } else {
      out.erase_key(arena, key);
      if (!out.chance(3)) out.insert(arena, key);
    }
  }
}

// Records move between keys while others read whole indexes: torn commits,
// records seen twice or never.
void transfer(BodyWriter& out, uint32_t operations, bool read_only) {
  if (read_only) {
    const Arena& arena = out.any_arena();
    out.next(arena, static_cast<uint32_t>(arena.keys.size()) + 1);
    return;
  }
  for (uint32_t i = 0; i < operations; i += 3) {
    const Arena& from = out.any_arena();
    const Arena& to = out.any_arena();
    out.get(from, out.any_key(from));
    out.erase_read(from);
    out.insert(to, out.any_key(to));
  }
}

constexpr std::array<RoundKind, 9> kKinds = {{
    {"soup", soup, 2, 40, 10, 100},
    {"registers", registers, 2, 16, 9, 100},
    {"append", append, 1, 16, 10, 100},
    {"duel", duel, 2, 40, 6, 100},
    {"cross", cross, 3, 16, 12, 100},
    {"blind", blind, 2, 24, 8, 100},
    {"transfer", transfer, 2, 24, 6, 100},
    {"wide", soup, 8, 200, 40, 50},
    {"large", soup, 2, 20'000, 12, 500},
}};

}  // namespace

std::span<const RoundKind> round_kinds() { return kKinds; }

}  // namespace keydrome::isolation
