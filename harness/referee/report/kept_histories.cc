// Implements keep_histories(). A history is a log of calls with their results; to certify it means
// to find an order of its transactions that explains all results. The function certifies each
// history again, and writes each history that does not pass this check to a file. On request, it
// writes every history.
#include "harness/referee/report/kept_histories.h"

#include <algorithm>

#include "benchmarks/kit/judge/recorded/history_judge.h"
#include "checker/certify/certify.h"
#include "checker/history/history_file.h"

namespace keydrome {

using certify::Certification;
using certify::Verdict;
using history::History;

namespace {

std::string file_name(std::string text) {
  const auto is_plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::ranges::replace_if(text, [&](char c) { return !is_plain(c); }, '-');
  return text;
}

// The findings of the run say what is wrong. This check only decides which histories are worth a
// file, so it searches little. It makes few attempts to find the transactions that deleted records,
// and considers only orders that agree with real time. A history without a verdict gets a file,
// too.
constexpr certify::CertifyOptions kQuick{.without_real_time_max = 0, .deleter_tries_max = 3};

bool is_right(History history) {
  if (!rank_varchar_keys(history)) return false;
  const Certification found = certify::certify(history, kQuick);
  return found.verdict == Verdict::kCertified && found.violations.empty();
}

}  // namespace

Result<void> keep_histories(const HistoryRequest& request, const Plan& plan,
                            const script::Script& script, const script::Outcome& outcome,
                            const judge::Findings& findings) {
  const bool is_passed = findings.empty() && findings.not_judged_reason().empty();
  if (request.folder.empty() || (is_passed && !request.all)) return {};
  const std::string stem =
      request.folder + "/" + plan.benchmark + "-" + plan.instance + "-" + plan.seed + "-";
  Result<void> written;
  judge::for_each_history(script, outcome, [&](const std::string& name, const History& history) {
    if (!request.all && is_right(history)) return true;
    written = write_history(history, stem + file_name(name) + ".history");
    return written.ok();
  });
  return written;
}

}  // namespace keydrome
