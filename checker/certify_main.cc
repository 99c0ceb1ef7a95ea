// certify [--json] [--serialisable] HISTORY: judges a history file
// (docs/reference/history-format.md). Exit status: 0 certified, 1 a violation, 2 it could not be
// judged.
#include <cstdio>
#include <string>
#include <string_view>

#include "checker/certify.h"
#include "checker/history_file.h"
#include "checker/report.h"

namespace keydrome {
namespace {

constexpr int kCertified = 0;
constexpr int kViolation = 1;
constexpr int kCouldNotJudge = 2;

int refuse(const std::string& why) {
  std::fprintf(stderr, "certify: %s\n", why.c_str());
  return kCouldNotJudge;
}

int judge(const std::string& path, bool as_json, const CertifyOptions& options) {
  Result<History> history = read_history(path);
  if (!history) return refuse(history.error().message);
  const Result<void> ranked = rank_varchar_keys(*history);
  if (!ranked) return refuse(ranked.error().message);
  const Certification found = certify(*history, options);
  const std::string report =
      as_json ? json_report(*history, found).dump(2) + "\n" : text_report(*history, found);
  std::fputs(report.c_str(), stdout);
  if (found.verdict == Verdict::kCertified) return kCertified;
  return found.verdict == Verdict::kViolation ? kViolation : kCouldNotJudge;
}

}  // namespace
}  // namespace keydrome

int main(int argc, char** argv) {
  bool as_json = false;
  keydrome::CertifyOptions options;
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
  if (path.empty()) return keydrome::refuse("usage: certify [--json] [--serialisable] HISTORY");
  return keydrome::judge(path, as_json, options);
}
