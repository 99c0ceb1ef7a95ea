// Implements history_file.h: reads and writes history files. A file begins with a header, tables,
// and a checksum of both. The events of each thread follow, with one checksum for each thread. The
// tables list the indexes, the threads whose log filled up, the varchar keys, and the number of
// events of each thread. docs/reference/history-format.md describes the layout.
#include "checker/history/history_file.h"

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <string_view>

#include "base/hash.h"

namespace keydrome::history {
namespace {

static_assert(std::endian::native == std::endian::little,
              "history files are little-endian, so this code needs a little-endian machine");

constexpr std::string_view kMagic = "KDHIST\r\n";
constexpr uint32_t kVersion = 3;
constexpr std::size_t kNameBytesMax = 65535;

struct Header {
  char magic[8];
  uint32_t version;
  uint32_t indexes;
  uint32_t threads;
  uint32_t truncated_threads;
  uint64_t keys;
  uint64_t table_bytes;  // size of header, tables and their checksum
  uint64_t file_bytes;
  uint64_t timestamp_slack;
  uint64_t ticks_per_s;
};
static_assert(sizeof(Header) == 64);

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

constexpr const char* kCopyAgain = "; copy it again or record another run";

std::string reason() { return std::strerror(errno); }

// Returns the error of a file that cannot be written. Takes the cause from errno.
Error cannot_write(const std::string& path) {
  const int cause = errno;
  const char* advice = "fix this problem, or write to another folder";
  if (cause == ENOSPC || cause == EDQUOT) advice = "free space there, or write to another folder";
  if (cause == EMFILE || cause == ENFILE) advice = "raise the limit of open files (ulimit -n)";
  return Error{"cannot write " + path + ": " + std::strerror(cause) + ": " + advice};
}

template <typename T>
void append(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_short_string(std::string& out, std::string_view text) {
  append(out, static_cast<uint16_t>(text.size()));
  out += text;
}

std::string_view bytes_of(const std::vector<Event>& events) {
  return {reinterpret_cast<const char*>(events.data()), events.size() * sizeof(Event)};
}

std::string tables_of(const History& history) {
  std::string tables(sizeof(Header), '\0');
  for (const HistoryIndex& index : history.indexes) {
    append(tables, static_cast<uint16_t>(index.type));
    append_short_string(tables, index.name);
  }
  for (const uint32_t thread : history.truncated_threads) append(tables, thread);
  for (const std::string& key : history.varchar_keys) append_short_string(tables, key);
  for (const auto& events : history.threads) append(tables, uint64_t{events.size()});
  return tables;
}

// Takes values from the front of the tables. If the tables end before a value does, ok() returns
// false from then on.
class TableReader {
 public:
  explicit TableReader(std::string_view tables) : rest_(tables) {}

  template <typename T>
  T take() {
    T value{};
    const std::string_view bytes = take_bytes(sizeof value);
    if (ok_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string take_short_string() { return std::string(take_bytes(take<uint16_t>())); }

  bool ok() const { return ok_; }
  bool at_end() const { return ok_ && rest_.empty(); }

 private:
  std::string_view take_bytes(std::size_t size) {
    ok_ = ok_ && size <= rest_.size();
    if (!ok_) return {};
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
  bool ok_ = true;
};

class HistoryReader {
 public:
  HistoryReader(std::FILE* file, const std::string& path) : file_(file), path_(path) {}

  Result<History> read() {
    if (std::fread(&header_, sizeof header_, 1, file_) != 1)
      return short_read("the file is too short for a history");
    if (std::string_view(header_.magic, sizeof header_.magic) != kMagic) {
      return error(
          "this is not a history file; `keydrome bench --history DIR` writes history files");
    }
    if (header_.version != kVersion) {
      return error("the history file has version " + std::to_string(header_.version) +
                   " of the format; record the run again, because this program reads version " +
                   std::to_string(kVersion));
    }
    if (std::fseek(file_, 0, SEEK_END) != 0)
      return error("its size is unknown: " + reason() + "; give a regular file, not a pipe");
    if (static_cast<uint64_t>(std::ftell(file_)) != header_.file_bytes) {
      return error("the history file has " + std::to_string(std::ftell(file_)) +
                   " bytes, but its header states " + std::to_string(header_.file_bytes) +
                   ", so it is truncated or damaged; copy it again or record another run");
    }
    Result<std::vector<uint64_t>> sizes = read_tables();
    if (!sizes) return sizes.error();
    for (const uint64_t size : *sizes) {
      const Result<void> done = read_thread(size);
      if (!done) return done.error();
    }
    return std::move(history_);
  }

 private:
  // Reads the header and the tables, and verifies their checksum. Returns the header and the tables
  // without the checksum.
  Result<std::string> load_tables() {
    const uint64_t size = header_.table_bytes;
    if (size < sizeof header_ + 8 || size > header_.file_bytes)
      return error(
          "the history file is damaged: its header states an impossible size of the tables; copy "
          "it again or record another run");
    std::string tables(size, '\0');
    if (std::fseek(file_, 0, SEEK_SET) != 0)
      return error("the history file cannot be read: " + reason() + kCopyAgain);
    if (std::fread(tables.data(), size, 1, file_) != 1)
      return short_read("the history file is truncated");
    uint64_t checksum = 0;
    std::memcpy(&checksum, tables.data() + size - 8, 8);
    tables.resize(size - 8);
    if (hash_bytes(tables) != checksum)
      return error(
          "the history file is damaged: the checksum of its tables is wrong; copy it again or "
          "record another run");
    return tables;
  }

  // Reads the tables into history_. Returns the number of events of each thread.
  Result<std::vector<uint64_t>> read_tables() {
    const Result<std::string> tables = load_tables();
    if (!tables) return tables.error();
    if (header_.ticks_per_s == 0)
      return error(
          "the history file is damaged: its header says that the clock has 0 ticks per second; "
          "copy it again or record another run");
    history_.timestamp_slack = header_.timestamp_slack;
    history_.ticks_per_s = header_.ticks_per_s;
    TableReader reader(std::string_view(*tables).substr(sizeof header_));
    for (uint32_t i = 0; i < header_.indexes && reader.ok(); ++i) {
      const auto type = reader.take<uint16_t>();
      if (type > VARCHAR)
        return error(
            "the history file is damaged: an index has an unknown key type; copy it again or "
            "record another run");
      history_.indexes.push_back({static_cast<KeyType>(type), reader.take_short_string()});
    }
    for (uint32_t i = 0; i < header_.truncated_threads && reader.ok(); ++i) {
      history_.truncated_threads.push_back(reader.take<uint32_t>());
    }
    for (uint64_t i = 0; i < header_.keys && reader.ok(); ++i) {
      history_.varchar_keys.push_back(reader.take_short_string());
    }
    std::vector<uint64_t> sizes;
    uint64_t expected = header_.table_bytes;
    for (uint32_t i = 0; i < header_.threads && reader.ok(); ++i) {
      sizes.push_back(reader.take<uint64_t>());
      if (sizes.back() > header_.file_bytes / sizeof(Event))
        return error(
            "the history file is damaged: its tables state more events for a thread than the file "
            "can contain; copy it again or record another run");
      expected += sizes.back() * sizeof(Event) + 8;
    }
    if (!reader.at_end() || expected != header_.file_bytes)
      return error(
          "the history file is damaged: its tables contradict the sizes in its header; copy it "
          "again or record another run");
    return sizes;
  }

  Result<void> read_thread(uint64_t size) {
    std::vector<Event>& events = history_.threads.emplace_back(size);
    uint64_t checksum = 0;
    if ((size > 0 && std::fread(events.data(), size * sizeof(Event), 1, file_) != 1) ||
        std::fread(&checksum, sizeof checksum, 1, file_) != 1) {
      return short_read("the history file is truncated");
    }
    if (hash_bytes(bytes_of(events)) != checksum) {
      return error("the history file is damaged: the checksum of thread " +
                   std::to_string(history_.threads.size() - 1) +
                   " is wrong; copy it again or record another run");
    }
    return {};
  }

  // Returns the error of a read that got too few bytes. `what` describes the file if the read met
  // its end, and not an error of the system.
  Error short_read(const char* what) const {
    if (std::ferror(file_) != 0 && errno == EISDIR)
      return error("this is a folder; give one history file");
    if (std::ferror(file_) != 0) return error("the file cannot be read: " + reason() + kCopyAgain);
    return error(std::string(what) + kCopyAgain);
  }
  Error error(const std::string& what) const { return Error{path_ + ": " + what}; }

  std::FILE* file_;
  const std::string& path_;
  Header header_{};
  History history_;
};

}  // namespace

Result<void> write_history(const History& history, const std::string& path) {
  for (const HistoryIndex& index : history.indexes) {
    if (index.name.size() > kNameBytesMax)
      return Error{"the name of an index has " + std::to_string(index.name.size()) +
                   " bytes, but a history file allows only 65535; give the index a shorter name"};
  }
  std::string tables = tables_of(history);
  Header header{.magic = {},
                .version = kVersion,
                .indexes = static_cast<uint32_t>(history.indexes.size()),
                .threads = static_cast<uint32_t>(history.threads.size()),
                .truncated_threads = static_cast<uint32_t>(history.truncated_threads.size()),
                .keys = history.varchar_keys.size(),
                .table_bytes = tables.size() + 8,
                .file_bytes = tables.size() + 8,
                .timestamp_slack = history.timestamp_slack,
                .ticks_per_s = history.ticks_per_s};
  std::memcpy(header.magic, kMagic.data(), sizeof header.magic);
  for (const auto& events : history.threads) header.file_bytes += bytes_of(events).size() + 8;
  std::memcpy(tables.data(), &header, sizeof header);
  append(tables, hash_bytes(tables));

  const File file(std::fopen(path.c_str(), "wb"));
  if (!file) return cannot_write(path);
  bool ok = std::fwrite(tables.data(), tables.size(), 1, file.get()) == 1;
  for (const auto& events : history.threads) {
    const std::string_view bytes = bytes_of(events);
    const uint64_t checksum = hash_bytes(bytes);
    ok = ok && (bytes.empty() || std::fwrite(bytes.data(), bytes.size(), 1, file.get()) == 1) &&
         std::fwrite(&checksum, sizeof checksum, 1, file.get()) == 1;
  }
  if (!ok || std::fflush(file.get()) != 0) return cannot_write(path);
  return {};
}

Result<History> read_history(const std::string& path) {
  const File file(std::fopen(path.c_str(), "rb"));
  if (!file) {
    return Error{"cannot open " + path + ": " + reason() +
                 "; name an existing history that you may read"};
  }
  return HistoryReader(file.get(), path).read();
}

}  // namespace keydrome::history
