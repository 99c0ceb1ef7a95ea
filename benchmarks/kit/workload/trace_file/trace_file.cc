// Implements trace_file.h: reads a file in blocks and splits it into lines for a TraceParser.
#include "benchmarks/kit/workload/trace_file/trace_file.h"

#include <utility>

#include "benchmarks/kit/workload/files/input_file.h"
#include "benchmarks/kit/workload/trace_file/trace_parser.h"

namespace keydrome::workload {
namespace {

// The memory of a trace is at most this many times its file. A line of 18 bytes that inserts a new
// key needs a call, a pair and a key, each in an array that may just have grown. It also needs an
// entry in a table.
constexpr uint64_t kMemoryFactor = 12;
constexpr uint64_t kBlockBytes = 1 << 20;
static_assert(kBlockBytes > kTraceLineBytesMax);

Result<InputFile> open_trace(const std::string& path) { return InputFile::open(path, "trace"); }

// Gives the parser all complete lines of `text`. Returns the number of bytes of these lines.
Result<uint64_t> add_lines(TraceParser& parser, std::string_view text) {
  uint64_t done = 0;
  while (done < text.size()) {
    const std::size_t end = text.find('\n', done);
    if (end == std::string_view::npos) break;
    if (const Result<void> fine = parser.add_line(text.substr(done, end - done)); !fine) {
      return fine.error();
    }
    done = end + 1;
  }
  return done;
}

Result<TraceFile> finish(TraceParser& parser, std::string_view last_line) {
  if (!last_line.empty()) {
    if (const Result<void> fine = parser.add_line(last_line); !fine) return fine.error();
  }
  return parser.finish();
}

}  // namespace

uint32_t TraceFile::keys_of(KeyType type) const {
  const std::size_t count = type == SHORT ? int32_keys.size()
                            : type == INT ? int64_keys.size()
                                          : varchar_keys.size();
  return static_cast<uint32_t>(count);
}

std::string_view trace_type_name(KeyType type) {
  return type == SHORT ? "int32" : type == INT ? "int64" : "varchar";
}

uint64_t TraceFile::bytes() const {
  uint64_t calls = load.size();
  for (const std::vector<TraceCall>& thread : threads) calls += thread.size();
  return calls * sizeof(TraceCall) + pairs.size() * sizeof(TracePair) +
         int32_keys.size() * sizeof(int32_t) + int64_keys.size() * sizeof(int64_t) +
         varchar_keys.offsets().size_bytes() + varchar_keys.bytes().size() +
         payloads.offsets().size_bytes() + payloads.bytes().size();
}

Result<uint64_t> trace_file_bytes(const std::string& path) {
  const Result<InputFile> file = open_trace(path);
  if (!file) return file.error();
  return file->bytes() * kMemoryFactor;
}

Result<TraceFile> read_trace_file(const std::string& path) {
  const Result<InputFile> file = open_trace(path);
  if (!file) return file.error();
  TraceParser parser(path);
  std::string block;
  // The begin of an unfinished line stays in the block. The parser refuses a line that is too long,
  // so the block never fills up.
  for (std::size_t kept = 0;;) {
    block.resize(kept + kBlockBytes);
    const Result<uint64_t> got = file->read(block.data() + kept, kBlockBytes);
    if (!got) return got.error();
    block.resize(kept + *got);
    const Result<uint64_t> done = add_lines(parser, block);
    if (!done) return done.error();
    block.erase(0, *done);
    if (*got < kBlockBytes || block.size() > kTraceLineBytesMax) return finish(parser, block);
    kept = block.size();
  }
}

Result<TraceFile> parse_trace(const std::string& name, std::string_view text) {
  TraceParser parser(name);
  const Result<uint64_t> done = add_lines(parser, text);
  if (!done) return done.error();
  return finish(parser, text.substr(*done));
}

}  // namespace keydrome::workload
