// Tests the session's image (data of all phases) and the pieces (parts of the threads' programs).
// In these bytes the referee, which runs a session, passes names, keys, texts and operations to the
// player, the process that calls the library.
#include "benchmarks/kit/script/images.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <span>

#include "benchmarks/kit/player/pools_view.h"
#include "benchmarks/kit/script/piece_writer.h"
#include "benchmarks/kit/script/script_builder.h"
#include "benchmarks/kit/workload/rng.h"

namespace keydrome {
namespace {

constexpr uint64_t kUnits = 10;

// Returns a script with keys of extreme values and two threads. The program of a thread consists of
// kUnits units, and a piece may begin at each of them. In each unit, the thread uses all three
// indexes. The tests read the script's images from vectors. The player maps images at page
// boundaries, but the alignment of a vector's memory is enough for these tests.
script::Script small_script(std::size_t texts = 1) {
  script::ScriptBuilder script;
  script.add_class("check");
  const uint32_t numbers = script.add_index("numbers", INT);
  const uint32_t words = script.add_index("words", VARCHAR);
  const uint32_t small = script.add_index("small", SHORT);
  const uint32_t int32_key = script.add_int32_key(-7);
  const uint32_t int64_key = script.add_int64_key(INT64_MIN);
  script.add_int64_key(12);
  script.add_varchar_key("");
  const uint32_t word = script.add_varchar_key(std::string(MAX_VARCHAR_LEN, 'k'));
  uint32_t text = 0;
  for (std::size_t i = 0; i < texts; ++i)
    text = script.add_text(std::string(MAX_PAYLOAD_LEN - format::kTagBytes, 't'));
  const uint32_t phase = script.add_phase("test", 2, {});
  for (uint32_t t = 0; t < 2; ++t) {
    script::ThreadBuilder out = script.thread(phase, t);
    for (uint64_t i = 0; i < kUnits; ++i) {
      out.unit_start();
      out.open(0, numbers);
      out.open(1, words);
      out.open(2, small);
      out.begin(format::Kind::kStream, 0);
      for (uint32_t k = 0; k < 3 + t; ++k) out.get(0, int64_key);
      out.insert(1, word, script.new_payload(text));
      out.delete_key(2, int32_key);
      out.get(0, int64_key + 1);
      out.commit();
      for (uint8_t slot = 0; slot < 3; ++slot) out.close(slot);
    }
  }
  return script.build();
}

TEST(PoolsImage, RoundTrips) {
  const script::Script script = small_script();
  const std::vector<std::byte> image = script::pools_image(script);
  const Result<player::PoolsView> view = player::PoolsView::open(image);
  ASSERT_TRUE(view.ok()) << view.error().message;
  ASSERT_EQ(view->indexes.size(), 3u);
  EXPECT_STREQ(view->indexes[1].name, "words");
  EXPECT_EQ(view->payloads[1], script.pools.payloads[1]);
}

// Returns true if the image contains the bytes of `needle`.
template <typename T>
bool has(std::span<const std::byte> image, const T& needle) {
  const std::span bytes = std::as_bytes(std::span(&needle, 1));
  return !std::ranges::search(image, bytes).empty();
}

TEST(PoolsImage, SaysNothingAboutKeys) {
  script::ScriptBuilder script;
  script.add_class("check");
  script.add_index("numbers", INT);
  const int64_t number = 0x0123456789abcdef;
  const int32_t small = 0x13572468;
  script.add_int64_key(number);
  script.add_int32_key(small);
  script.add_varchar_key("a key");
  const std::vector<std::byte> image = script::pools_image(script.build());
  EXPECT_FALSE(has(image, number));
  EXPECT_FALSE(has(image, small));
  EXPECT_FALSE(has(image, std::array{'a', ' ', 'k', 'e', 'y'}));
  EXPECT_TRUE(has(image, std::array{'n', 'u', 'm', 'b', 'e', 'r', 's'}));
}

TEST(PoolsImage, HasTheKeysThatProceduresCompute) {
  script::ScriptBuilder script;
  script.add_class("check");
  script.add_varchar_key("never");
  script.expect_computed_key(script.add_varchar_key("computed"));
  script.add_varchar_key("neither");
  const std::vector<std::byte> image = script::pools_image(script.build());
  const player::PoolsView session = player::PoolsView::open(image).value();
  ASSERT_EQ(session.computed_keys.size(), 2u);
  EXPECT_EQ(session.computed_keys[0], "");
  EXPECT_EQ(session.computed_keys[1], "computed");
}

TEST(PoolsImage, HasNoTextsIfThereAreMany) {
  const script::Script script = small_script(script::kSessionTextsMax);
  const std::vector<std::byte> image = script::pools_image(script);
  const player::PoolsView session = player::PoolsView::open(image).value();
  EXPECT_EQ(session.payloads.size(), 0u);
  const std::vector<std::byte> bytes =
      script::PieceWriter(script).write(script.phases[0].threads[0], true);
  const player::PieceView piece = player::PieceView::open(session, bytes).value();
  EXPECT_EQ(piece.pools.payloads.size(), kUnits);
  for (const format::Op& op : piece.ops) {
    if (op.code == format::OpCode::kInsert) {
      EXPECT_EQ(piece.pools.payloads[op.payload], script.pools.payloads[1]);
    }
  }
}

TEST(PoolsImage, EveryTruncationIsAnError) {
  const std::vector<std::byte> image = script::pools_image(small_script());
  for (std::size_t size = 0; size < image.size(); ++size) {
    EXPECT_FALSE(player::PoolsView::open(std::span(image).first(size)).ok()) << size;
  }
}

TEST(PoolsImage, DamagedHeadersAreNeverFollowedOutside) {
  const std::vector<std::byte> image = script::pools_image(small_script());
  workload::Rng rng(1, 0, workload::Purpose::kStream);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<std::byte> damaged = image;
    damaged[rng.below(sizeof(format::PoolsHeader))] = static_cast<std::byte>(rng.next());
    const Result<player::PoolsView> view = player::PoolsView::open(damaged);
    if (!view) continue;
    for (uint32_t p = 0; p < view->payloads.size(); ++p) {
      EXPECT_LE(view->payloads[p].size(), std::size_t{MAX_PAYLOAD_LEN});
    }
  }
}

// Returns a procedure, a list of instructions, that calls get() for several string keys. Its first
// parameter is the number of keys.
script::ProcedureBuilder gets() {
  constexpr uint8_t kCount = 0, kKey = 1, kOne = 2, kZero = 3;
  script::ProcedureBuilder p;
  const script::ProcedureBuilder::Label next = p.label();
  p.parameter(kCount);
  p.set(kOne, 1);
  p.set(kZero, 0);
  p.place(next);
  p.parameter(kKey);
  p.get(0, kKey, 0);
  p.subtract(kCount, kCount, kOne);
  p.jump_if_less(kZero, kCount, next);
  p.end();
  return p;
}

TEST(Piece, HasTheParametersAndStringsOfItsRunsAndNoOthers) {
  script::ScriptBuilder script;
  script.add_class("check");
  const uint32_t words = script.add_index("words", VARCHAR);
  for (const char* key : {"a", "bb", "ccc", "dddd"}) script.add_varchar_key(key);
  const uint32_t procedure = script.add_procedure(gets(), {.parameters = 4, .tags = 0, .calls = 3});
  script::ThreadBuilder out = script.thread(script.add_phase("test", 1, {}), 0);
  const std::vector<std::vector<int64_t>> runs = {{2, 3, 1}, {1, 0}};
  for (const std::vector<int64_t>& parameters : runs) {
    out.unit_start();
    out.open(0, words);
    out.begin(format::Kind::kStream, 0);
    out.run(procedure, parameters);
    out.commit();
    out.close(0);
  }
  const script::Script built = script.build();
  const std::vector<std::byte> image = script::pools_image(built);
  const player::PoolsView session = player::PoolsView::open(image).value();
  const std::span<const format::Op> ops = built.phases[0].threads[0];
  const uint64_t unit = ops.size() / runs.size();
  for (std::size_t r = 0; r < runs.size(); ++r) {
    const std::vector<std::byte> bytes =
        script::PieceWriter(built).write(ops.subspan(r * unit, unit), false);
    const player::PieceView piece = player::PieceView::open(session, bytes).value();
    EXPECT_FALSE(piece.last);
    EXPECT_TRUE(std::ranges::equal(piece.pools.parameters, runs[r]));
    ASSERT_EQ(piece.pools.parameter_strings.size(), runs[r].size());
    EXPECT_EQ(piece.pools.varchar_keys.size(), runs[r].size());
    for (std::size_t i = 0; i < runs[r].size(); ++i) {
      EXPECT_EQ(piece.pools.varchar_keys[piece.pools.parameter_strings[i]],
                built.pools.varchar_keys[static_cast<std::size_t>(runs[r][i])]);
    }
  }
}

TEST(Piece, EveryTruncationIsAnError) {
  const script::Script script = small_script(script::kSessionTextsMax);
  const std::vector<std::byte> image = script::pools_image(script);
  const player::PoolsView session = player::PoolsView::open(image).value();
  const std::vector<std::byte> piece =
      script::PieceWriter(script).write(script.phases[0].threads[0], true);
  EXPECT_TRUE(player::PieceView::open(session, piece).ok());
  for (std::size_t size = 0; size < piece.size(); ++size) {
    EXPECT_FALSE(player::PieceView::open(session, std::span(piece).first(size)).ok()) << size;
  }
}

TEST(Piece, HasTheSizeThatItsWriterSays) {
  const script::Script script = small_script(script::kSessionTextsMax);
  const script::PieceWriter writer(script);
  for (const std::vector<format::Op>& ops : script.phases[0].threads) {
    EXPECT_EQ(writer.write(ops, true).size(), writer.size_bytes(ops));
  }
}

TEST(Piece, IsAsLongAsFits) {
  const script::Script script = small_script();
  const script::PieceWriter writer(script);
  const std::span<const format::Op> ops = script.phases[0].threads[1];
  const uint64_t unit = ops.size() / kUnits;
  const uint64_t three_bytes = writer.size_bytes(ops.first(3 * unit));
  EXPECT_EQ(writer.cut(ops, 0, three_bytes), 3 * unit);
  EXPECT_EQ(writer.cut(ops, unit, three_bytes), 4 * unit);
  EXPECT_EQ(writer.cut(ops, 0, three_bytes - 1), 2 * unit);
  EXPECT_EQ(writer.cut(ops, 0, 1), unit) << "a unit cannot be cut";
  EXPECT_EQ(writer.cut(ops, 0, UINT64_MAX), ops.size());
  EXPECT_EQ(writer.cut(ops, ops.size(), three_bytes), ops.size());
}

// Expects that a piece's op equals the script's op, and that both refer to the same key and text.
// But the op of a piece does not say what is judged.
void expect_same(const script::Script& script, KeyType type, const format::Op& expected,
                 const player::PoolsView& pools, const format::Op& op) {
  format::Op numbered = op;
  numbered.key = expected.key;
  numbered.payload = expected.payload;
  format::Op wanted = expected;
  wanted.kind = 0;
  wanted.class_ = 0;
  wanted.flags &= format::kPlayerFlags;
  if (op.code == format::OpCode::kInsert) wanted.flags &= static_cast<uint8_t>(~format::kMayExist);
  EXPECT_EQ(std::memcmp(&numbered, &wanted, sizeof op), 0);
  if (!format::is_data_call(op.code)) return;
  if (type == SHORT) {
    EXPECT_EQ(pools.int32_keys[op.key], script.pools.int32_keys[expected.key]);
  } else if (type == INT) {
    EXPECT_EQ(pools.int64_keys[op.key], script.pools.int64_keys[expected.key]);
  } else {
    EXPECT_EQ(pools.varchar_keys[op.key], script.pools.varchar_keys[expected.key]);
  }
  if (op.code == format::OpCode::kInsert) {
    EXPECT_EQ(pools.payloads[op.payload], script.pools.payloads[expected.payload]);
  }
}

TEST(Piece, TheWholeProgramIsInOrderAndBeginsAtUnits) {
  const script::Script script = small_script();
  const script::PieceWriter writer(script);
  const std::vector<std::byte> image = script::pools_image(script);
  const player::PoolsView session = player::PoolsView::open(image).value();
  constexpr std::array kTypes{INT, VARCHAR, SHORT};  // of the handles, by slot
  for (const std::vector<format::Op>& program : script.phases[0].threads) {
    for (const uint64_t bytes : {1u, 1'000u, 3'000u, 1'000'000u}) {
      uint64_t done = 0;
      while (done < program.size()) {
        const uint64_t end = writer.cut(program, done, bytes);
        const std::vector<std::byte> memory =
            writer.write(std::span(program).subspan(done, end - done), end == program.size());
        const player::PieceView piece = player::PieceView::open(session, memory).value();
        ASSERT_EQ(piece.ops.size(), end - done);
        EXPECT_EQ(piece.last, end == program.size());
        EXPECT_NE(program[done].flags & format::kUnitStart, 0);
        for (const format::Op& op : piece.ops)
          expect_same(script, kTypes.at(op.slot), program[done++], piece.pools, op);
      }
      EXPECT_EQ(done, program.size());
    }
  }
}

}  // namespace
}  // namespace keydrome
