// Tests OutputCapture, which keeps beginning and end of a stream, with streams of various lengths.
#include "harness/referee/processes/output_capture.h"

#include <gtest/gtest.h>

#include <string>

namespace keydrome {
namespace {

void append(OutputCapture& capture, const std::string& text) { capture.append(text); }

TEST(OutputCapture, KeepsEverythingThatFits) {
  OutputCapture capture(10);
  append(capture, "01234");
  append(capture, "56789");
  EXPECT_FALSE(capture.truncated());
  EXPECT_EQ(capture.text(), "0123456789");
}

TEST(OutputCapture, KeepsBeginningAndEnd) {
  OutputCapture capture(6);
  for (const char* part : {"abc", "de", "fghij", "k"}) append(capture, part);
  EXPECT_TRUE(capture.truncated());
  EXPECT_EQ(capture.text(), "abc\n[... 5 bytes left out ...]\nijk");
}

// The text must not depend on the pieces in which the stream arrives.
TEST(OutputCapture, DoesNotDependOnThePieces) {
  std::string flood;
  for (int i = 0; i < 1000; ++i) flood += std::to_string(i) + ",";
  OutputCapture whole(64);
  append(whole, flood);
  for (const size_t piece : {1u, 7u, 31u, 32u, 33u, 64u, 1000u}) {
    OutputCapture capture(64);
    for (size_t at = 0; at < flood.size(); at += piece) append(capture, flood.substr(at, piece));
    EXPECT_EQ(capture.text(), whole.text()) << "pieces of " << piece;
  }
}

TEST(OutputCapture, ReplacesNulBytes) {
  OutputCapture capture(8);
  append(capture, std::string("a\0b", 3));
  EXPECT_EQ(capture.text(), "a?b");
}

}  // namespace
}  // namespace keydrome
