#include "benchmarks/linkbench/procedures.h"

#include <string>

#include "base/check.h"

namespace keydrome::linkbench {
namespace {

enum Register : uint8_t { kZero, kOne, kList, kPair, kNewPlace, kText, kOldPlace, kNumber, kBlank };
enum RowNumber : uint8_t { kLinkRow, kOldRow, kCountRow };

// Links that are added to a short list in a run, roughly.
constexpr uint32_t kMargin = 8;
constexpr uint32_t kShortMax = 8, kMediumMax = 128;

void constants(ProcedureBuilder& p) {
  p.set(kZero, 0);
  p.set(kOne, 1);
}

// A list without links may have no row yet.
void count_one_more(ProcedureBuilder& p, uint32_t blank_text) {
  const ProcedureBuilder::Label first = p.label(), add = p.label();
  p.set(kNumber, 0);
  p.get(kCounts, kList, kCountRow, first);
  p.load(kNumber, kCountRow, kCount);
  p.remove(kCounts, kList);
  p.jump(add);
  p.place(first);
  p.set(kBlank, static_cast<int32_t>(blank_text));
  p.text(kCountRow, kBlank);
  p.place(add);
  p.add(kNumber, kNumber, kOne);
  p.store(kCountRow, kCount, kNumber);
  p.insert(kCounts, kList, kCountRow);
}

ProcedureBuilder show_link(uint32_t blank_text) {
  ProcedureBuilder p;
  const ProcedureBuilder::Label appears = p.label(), write = p.label();
  constants(p);
  for (const uint8_t to : {kList, kPair, kNewPlace, kText}) p.parameter(to);
  p.text(kLinkRow, kText);
  p.store(kLinkRow, kPlace, kNewPlace);
  p.get(kLinksById2, kPair, kOldRow, appears);
  p.load(kOldPlace, kOldRow, kPlace);
  p.remove(kLinksById2, kPair);
  p.jump_if_equal(kOldPlace, kZero, appears);
  p.remove(kLinks, kOldPlace);
  p.jump(write);
  p.place(appears);
  count_one_more(p, blank_text);
  p.result(kOne);
  p.place(write);
  p.insert(kLinksById2, kPair, kLinkRow);
  p.insert(kLinks, kNewPlace, kLinkRow);
  p.end();
  return p;
}

ProcedureBuilder hide_link() {
  ProcedureBuilder p;
  const ProcedureBuilder::Label gone = p.label();
  constants(p);
  p.parameter(kList);
  p.parameter(kPair);
  p.get(kLinksById2, kPair, kLinkRow, gone);
  p.load(kOldPlace, kLinkRow, kPlace);
  p.jump_if_equal(kOldPlace, kZero, gone);
  p.remove(kLinks, kOldPlace);
  p.store(kLinkRow, kPlace, kZero);
  p.replace(kLinksById2, kPair, kLinkRow);
  p.get(kCounts, kList, kCountRow);
  p.load(kNumber, kCountRow, kCount);
  p.subtract(kNumber, kNumber, kOne);
  p.store(kCountRow, kCount, kNumber);
  p.replace(kCounts, kList, kCountRow);
  p.result(kOne);
  p.place(gone);
  p.end();
  return p;
}

ProcedureBuilder replace_node() {
  ProcedureBuilder p;
  const ProcedureBuilder::Label gone = p.label();
  p.parameter(kNumber);
  p.parameter(kText);
  p.get(kNodes, kNumber, kOldRow, gone);
  p.text(kLinkRow, kText);
  p.replace(kNodes, kNumber, kLinkRow);
  p.place(gone);
  p.end();
  return p;
}

ProcedureBuilder list_links() {
  ProcedureBuilder p;
  p.parameter(kList);
  p.parameter(kPair);
  p.scan(kLinks, kList, kPair, kPlace);
  p.count(kNumber);
  p.result(kNumber);
  p.end();
  return p;
}

}  // namespace

Procedure list_procedure(uint32_t links) {
  if (links <= kShortMax) return kShortList;
  return links <= kMediumMax ? kMediumList : kLongList;
}

void add_procedures(ScriptBuilder& script) {
  static_assert(kNoPlace == 0);  // in kZero
  const uint32_t blank = script.add_text(std::string(kCount.width, kDigitZero));
  const auto add = [&](Procedure number, const ProcedureBuilder& code,
                       const ProcedureLimits& limits) {
    KEYDROME_CHECK(script.add_procedure(code, limits) == number);
  };
  add(kShowLink, show_link(blank), {.parameters = 4, .tags = 3, .calls = 8});
  add(kHideLink, hide_link(), {.parameters = 2, .tags = 2, .calls = 7});
  add(kReplaceNode, replace_node(), {.parameters = 2, .tags = 1, .calls = 3});
  add(kShortList, list_links(), {.parameters = 2, .tags = 0, .calls = kShortMax + kMargin});
  add(kMediumList, list_links(), {.parameters = 2, .tags = 0, .calls = kMediumMax + kMargin});
  add(kLongList, list_links(), {.parameters = 2, .tags = 0, .calls = kListMax + 1});
}

}  // namespace keydrome::linkbench
