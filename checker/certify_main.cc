// The program `certify [--json] [--serialisable] HISTORY` judges a history file, which contains the
// recorded calls of a run (docs/reference/history-format.md), and prints a report. With
// --serialisable the serial order may contradict real time.
//
// Exit status:
// 0: certified, so a serial order gives every recorded result
// 1: a violation was found
// 2: no verdict, because of a wrong option, an unreadable or incomplete history, or an undecided
//    search
#include <cstdio>
#include <string>
#include <string_view>

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

int judge(const std::string& path, bool as_json, const CertifyOptions& options) {
  Result<History> history = history::read_history(path);
  if (!history) return refuse(history.error().message);
  const Result<void> ranked = rank_varchar_keys(*history);
  if (!ranked) return refuse(ranked.error().message);
  const Certification found = certify::certify(*history, options);
  const std::string report = as_json ? witness::json_report(*history, found).dump(2) + "\n"
                                     : witness::text_report(*history, found);
  std::fputs(report.c_str(), stdout);
  if (found.verdict == Verdict::kCertified) return kCertified;
  return found.verdict == Verdict::kViolation ? kViolation : kCouldNotJudge;
}

}  // namespace
}  // namespace keydrome

int main(int argc, char** argv) {
  bool as_json = false;
  keydrome::certify::CertifyOptions options;
  std::string path;
  for (int i = 1; i < argc; ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--json") {
      as_json = true;
    } else if (argument == "--serialisable") {
      options.strict = false;
    } else if (path.empty() && !argument.starts_with('-')) {
      path = argument;
    } else {
      path.clear();
      break;
    }
  }
  if (path.empty())
    return keydrome::refuse(
        "usage: certify [--json] [--serialisable] HISTORY\n"
        "  --json          print the report as JSON\n"
        "  --serialisable  accept orders that contradict real time");
  return keydrome::judge(path, as_json, options);
}
