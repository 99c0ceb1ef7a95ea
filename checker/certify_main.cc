// The program `certify [--json] [--serialisable] [--order FILE] HISTORY` judges a history file,
// which contains the recorded calls of a run (docs/reference/history-format.md), and prints a
// report. It looks for a serial order of the transactions that gives every recorded result. The
// order must respect real time: if T1 had returned before T2 began, T1 precedes T2 in the order.
// With --serialisable, the order may contradict real time. With --order, the program also writes
// the order to FILE, for checker/replay_order.py, which checks it independently.
//
// Exit status:
// 0: certified: such a serial order exists
// 1: a violation was found
// 2: no verdict, because of a wrong option, an unreadable or incomplete history, or an undecided
//    search; or FILE cannot be written
#include <cstddef>
#include <cstdio>
#include <span>
#include <string>

#include "base/output_file.h"
#include "checker/certify/certify.h"
#include "checker/history/history_file.h"
#include "checker/witness/report.h"

namespace keydrome {

using certify::Certification;
using certify::CertifyOptions;
using certify::Verdict;
using history::History;

namespace {

constexpr int kCertified = 0;
constexpr int kViolation = 1;
constexpr int kCouldNotJudge = 2;

int refuse(const std::string& why) {
  std::fprintf(stderr, "certify: %s\n", why.c_str());
  return kCouldNotJudge;
}

// Writes the order as text: a header line, then one line for each transaction, with the thread and
// the position of its first event.
Result<void> write_order(const std::vector<history::EventRef>& order, const std::string& path) {
  std::string text = "keydrome serial order 1\n";
  for (const history::EventRef& first : order) {
    text += std::to_string(first.thread) + " " + std::to_string(first.position) + "\n";
  }
  return write_file(path, text);
}

int judge(const std::string& path, bool as_json, const std::string& order_path,
          const CertifyOptions& options) {
  if (!order_path.empty()) {
    if (const Result<void> writable = check_writable(order_path); !writable)
      return refuse(writable.error().message);
  }
  Result<History> history = history::read_history(path);
  if (!history) return refuse(history.error().message);
  const Result<void> ranked = rank_varchar_keys(*history);
  if (!ranked) return refuse(ranked.error().message);
  const Certification found = certify::certify(*history, options);
  const std::string report = as_json ? witness::json_report(*history, found).dump(2) + "\n"
                                     : witness::text_report(*history, found);
  std::fputs(report.c_str(), stdout);
  if (found.verdict == Verdict::kCertified && !order_path.empty()) {
    if (const Result<void> written = write_order(found.order, order_path); !written)
      return refuse(written.error().message);
  }
  if (found.verdict == Verdict::kCertified) return kCertified;
  if (!order_path.empty())
    std::fprintf(stderr,
                 "certify: did not write %s, because the history has no serial order that certify "
                 "could find; the report says why\n",
                 order_path.c_str());
  return found.verdict == Verdict::kViolation ? kViolation : kCouldNotJudge;
}

struct Arguments {
  bool as_json = false;
  CertifyOptions options;
  std::string order_path;  // empty: do not write the order
  std::string path;
};

// Returns the arguments, or an error that says which of them is wrong.
Result<Arguments> parse(std::span<char* const> given) {
  Arguments found;
  for (size_t i = 0; i < given.size(); ++i) {
    const std::string argument = given[i];
    if (argument == "--json") {
      found.as_json = true;
    } else if (argument == "--serialisable") {
      found.options.strict = false;
    } else if (argument == "--order") {
      if (i + 1 == given.size()) return Error{"--order: the name of the file is missing"};
      found.order_path = given[++i];
      found.options.keep_order = true;
    } else if (argument.starts_with('-')) {
      return Error{"unknown option " + argument};
    } else if (!found.path.empty()) {
      return Error{"give one history at a time, not both " + found.path + " and " + argument};
    } else {
      found.path = argument;
    }
  }
  if (found.path.empty()) return Error{"no history file is given"};
  return found;
}

}  // namespace
}  // namespace keydrome

int main(int argc, char** argv) {
  const keydrome::Result<keydrome::Arguments> found =
      keydrome::parse(std::span<char* const>(argv, static_cast<size_t>(argc)).subspan(1));
  if (!found)
    return keydrome::refuse(
        found.error().message +
        "\nusage: certify [--json] [--serialisable] [--order FILE] HISTORY\n"
        "  --json          print the report as JSON\n"
        "  --serialisable  accept a serial order that contradicts real time\n"
        "  --order FILE    write the serial order to FILE; checker/replay_order.py checks it");
  return keydrome::judge(found->path, found->as_json, found->order_path, found->options);
}
