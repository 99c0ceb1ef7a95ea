// Tests base/json.h: parsing, printing, exact integers, and the messages of errors.
#include "base/json.h"

#include <gtest/gtest.h>

#include <limits>

namespace keydrome {
namespace {

TEST(Json, RoundTrips) {
  const std::string text = R"({"a":[1,-2,2.5,true,null,"x"],"b":{"c":"ü"}})";
  const Result<Json> parsed = Json::parse(text);
  ASSERT_TRUE(parsed.ok()) << parsed.error().message;
  EXPECT_EQ(parsed->dump(), text);
  EXPECT_EQ(parsed->find("a")->as_array()[1].as_int(), -2);
}

TEST(Json, KeepsIntegersExactly) {
  const Result<Json> parsed = Json::parse("[9223372036854775807,-9223372036854775808]");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->as_array()[0].as_int(), std::numeric_limits<int64_t>::max());
  EXPECT_EQ(parsed->as_array()[1].as_int(), std::numeric_limits<int64_t>::min());
}

TEST(Json, RefusesTextThatIsNotStrictJson) {
  for (const char* text : {"", "{", "[1,]", "{\"a\":1}x", "NaN", "[Infinity]", "// c\n1",
                           "\"\xff\"", R"({"a":1,"a":2})", R"([{"b":{"a":1,"a":2}}])"}) {
    EXPECT_FALSE(Json::parse(text).ok()) << text;
  }
  EXPECT_TRUE(Json::parse(R"([{"a":1},{"a":2},{"b":{"a":1}}])").ok());
}

TEST(Json, AlwaysPrintsValidJson) {
  Json value;
  value["nan"] = std::numeric_limits<double>::quiet_NaN();
  value["bytes"] = std::string("\xff");
  const Result<Json> again = Json::parse(value.dump());
  ASSERT_TRUE(again.ok()) << again.error().message;
  EXPECT_TRUE(again->find("nan")->is_null());
  EXPECT_EQ(again->find("bytes")->as_string(), "\xef\xbf\xbd");
}

TEST(Json, SaysWhatAMemberMustBe) {
  const Result<Json> parsed = Json::parse(R"({"a":1,"b":"x"})");
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->int_member("a").value(), 1);
  EXPECT_EQ(parsed->int_member("b").error().message,
            "the field b is \"x\", but must be an integer");
  EXPECT_EQ(parsed->string_member("a").error().message, "the field a is 1, but must be a string");
  EXPECT_EQ(parsed->string_member("c").error().message,
            "the field c is missing; add it, with a string as its value");
  const Result<Json> nested = Json::parse(R"({"list": [1], "object": {"a": 1}})");
  ASSERT_TRUE(nested.ok());
  EXPECT_EQ(nested->int_member("list").error().message,
            "the field list is an array, but must be an integer");
  EXPECT_EQ(nested->int_member("object").error().message,
            "the field object is an object, but must be an integer");
}

TEST(Json, SaysWhereTextIsNotJson) {
  const std::string message = Json::parse("{").error().message;
  EXPECT_TRUE(message.starts_with("the text is not valid JSON: parse error at line 1, column 2: "))
      << message;
  EXPECT_TRUE(message.ends_with(": correct the text")) << message;
  EXPECT_EQ(Json::parse(R"({"a":1,"a":2})").error().message,
            "the text is not valid JSON: an object has the key \"a\" twice: remove one of the two");
}

TEST(Json, SaysWhyAFileCannotBeRead) {
  const auto message = [](const char* path) { return Json::parse_file(path).error().message; };
  EXPECT_EQ(message("/nowhere/at/all.json"),
            "/nowhere/at/all.json: cannot read the file (No such file or directory): give a JSON "
            "file that is readable and not empty");
  EXPECT_EQ(
      message("/"),
      "/: cannot read the file (Is a directory): give a JSON file that is readable and not empty");
  EXPECT_EQ(message("/dev/null"),
            "/dev/null: cannot read the file (it is empty): give a JSON file that is readable and "
            "not empty");
}

}  // namespace
}  // namespace keydrome
