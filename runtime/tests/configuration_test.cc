// Tests of configuration.h. A setup is the JSON that tells the runtime which data structure to run,
// and how. A valid setup must be parsed, and every invalid field must be refused with a message
// that names it.
#include "runtime/configuration.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "base/json.h"
#include "runtime/concurrency/methods.h"

namespace keydrome::runtime {
namespace {

// Returns a valid setup, which each test changes.
Json sound() {
  return *Json::parse(R"({"structure": "/structure.so", "configuration": {
      "name": "rw", "title": "readers together", "description": "a sentence",
      "strategy": "direct", "concurrency": "index_2pl", "lock": "rw"}})");
}

std::string error_of(const Json& setup) {
  const Result<runtime::Setup> parsed = parse_setup(setup.dump());
  return parsed.ok() ? "" : parsed.error().message;
}

TEST(Configuration, ASoundOneIsUnderstood) {
  const Result<runtime::Setup> setup = parse_setup(sound().dump());
  ASSERT_TRUE(setup.ok()) << setup.error().message;
  EXPECT_EQ(setup->structure_path, "/structure.so");
  EXPECT_EQ(setup->configuration.name, "rw");
  EXPECT_EQ(setup->configuration.title, "readers together");
  EXPECT_EQ(setup->configuration.lock, LockKind::kReadWrite);
  EXPECT_EQ(setup->configuration.options, "");
  EXPECT_EQ(setup->configuration.strategy, StrategyKind::kDirect);
  EXPECT_EQ(setup->configuration.concurrency, "index_2pl");
}

TEST(Configuration, OptionsAreHandedOn) {
  Json setup = sound();
  setup["configuration"]["options"]["slots"] = 32;
  const Result<runtime::Setup> parsed = parse_setup(setup.dump());
  ASSERT_TRUE(parsed.ok());
  EXPECT_EQ(parsed->configuration.options, "{\"slots\":32}");
}

TEST(Configuration, NotJson) {
  EXPECT_NE(parse_setup("").error().message.find("received no configuration"), std::string::npos);
  EXPECT_NE(parse_setup("{").error().message.find("not JSON"), std::string::npos);
  EXPECT_EQ(parse_setup("[]").error().message,
            "the configuration is [], but it must be a JSON object");
}

TEST(Configuration, UnknownFieldsAreNamed) {
  Json setup = sound();
  setup["configuration"]["latch"] = "rw";
  EXPECT_EQ(
      error_of(setup),
      "configuration.latch: this field is unknown; remove it, or use name, title, description, "
      "strategy, concurrency, lock, options or reference");
  setup = sound();
  setup["library"] = "x";
  EXPECT_EQ(error_of(setup),
            "library: this field is unknown; remove it, or use structure, configuration, threads "
            "or key_types");
}

TEST(Configuration, FieldsOfTheConfigurationMustBeInsideIt) {
  Json setup = sound();
  setup["lock"] = "rw";
  EXPECT_EQ(error_of(setup),
            "lock: this field is in the wrong place; put lock into the object \"configuration\"");
  EXPECT_EQ(error_of(sound()["configuration"]),
            "structure: this field is missing; add it (the path of a structure's shared library), "
            "and put concurrency into the object \"configuration\" (in a plan for the referee, "
            "only add library.structure)");
}

TEST(Configuration, MissingAndMistypedFieldsAreNamed) {
  for (const char* field : {"name", "title", "description", "strategy", "concurrency", "lock"}) {
    Json setup = sound();
    Json::Object fields = setup["configuration"].as_object();
    fields.erase(field);
    setup["configuration"] = fields;
    const std::string missing =
        std::string("configuration.") + field + ": this field is missing; add it (";
    EXPECT_TRUE(error_of(setup).starts_with(missing)) << error_of(setup);
    setup["configuration"][field] = 7;
    EXPECT_EQ(error_of(setup),
              std::string("configuration.") + field + " is 7, but it must be a string");
  }
  Json setup = sound();
  setup["configuration"]["options"] = "none";
  EXPECT_EQ(error_of(setup), "configuration.options is \"none\", but it must be an object");
  setup = sound();
  setup["configuration"] = "rw";
  EXPECT_EQ(error_of(setup), "configuration is \"rw\", but it must be an object");
  setup = sound();
  setup["structure"] = "";
  EXPECT_EQ(error_of(setup),
            "structure is \"\", but it must be the path of a structure's shared library");
  EXPECT_EQ(parse_setup("{}").error().message,
            "structure: this field is missing; add it (the path of a structure's shared library)");
}

TEST(Configuration, MissingFieldsGetTheChoice) {
  Json setup = sound();
  Json::Object fields = setup["configuration"].as_object();
  fields.erase("lock");
  setup["configuration"] = fields;
  EXPECT_EQ(error_of(setup),
            "configuration.lock: this field is missing; add it (\"exclusive\", \"rw\" or "
            "\"none\")");
}

TEST(Configuration, WrongWordsGetTheChoice) {
  Json setup = sound();
  setup["configuration"]["lock"] = "spin";
  EXPECT_EQ(error_of(setup),
            "configuration.lock: \"spin\" is not supported; use \"exclusive\", \"rw\" or "
            "\"none\"");
  setup = sound();
  setup["configuration"]["concurrency"] = "hope";
  EXPECT_NE(error_of(setup).find("configuration.concurrency: \"hope\" is not supported; use "
                                 "\"gap_2pl\", \"index_2pl\""),
            std::string::npos);
  setup = sound();
  setup["configuration"]["strategy"] = "delegation";
  EXPECT_EQ(error_of(setup),
            "configuration.strategy: \"delegation\" is not supported; use \"direct\"");
}

TEST(Configuration, ThreadsAreCounted) {
  Json setup = sound();
  EXPECT_EQ(parse_setup(setup.dump())->threads, 1);
  setup["threads"] = 4;
  EXPECT_EQ(parse_setup(setup.dump())->threads, 4);
  for (const Json& wrong : {Json(0), Json("4"), Json(1.5)}) {
    setup["threads"] = wrong;
    EXPECT_EQ(error_of(setup),
              "threads is " + wrong.dump() + ", but it must be an integer of at least 1");
  }
}

TEST(Configuration, KeyTypesThatTheStructureCannotHoldAreRefused) {
  Json setup = sound();
  EXPECT_EQ(parse_setup(setup.dump())->key_types, std::vector<KeyType>());
  setup["key_types"] = Json::Array{"int", "short", "varchar"};
  EXPECT_EQ(parse_setup(setup.dump())->key_types, (std::vector<KeyType>{INT, SHORT, VARCHAR}));
  for (const Json& wrong : {Json("int"), Json(Json::Array{"long"}), Json(Json::Array{1})}) {
    setup["key_types"] = wrong;
    EXPECT_EQ(error_of(setup),
              "key_types is " + wrong.dump() +
                  ", but it must be a list whose elements are \"short\", \"int\" or \"varchar\"");
  }
  KeydromeStructureTable table{};
  table.name = "narrow";
  EXPECT_TRUE(check_key_types({INT, SHORT, VARCHAR}, table).ok());
  table.key_bytes_only = 8;
  EXPECT_TRUE(check_key_types({INT}, table).ok());
  EXPECT_TRUE(check_key_types({}, table).ok());
  const Result<void> refused = check_key_types({INT, VARCHAR}, table);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("the structure narrow holds only keys of 8 bytes"),
            std::string::npos);
  EXPECT_NE(refused.error().message.find("keys of the type VARCHAR (sizes differ)"),
            std::string::npos);
}

TEST(Configuration, NoConcurrencyServesAsManyThreadsAsTheStructure) {
  Configuration configuration = parse_setup(sound().dump())->configuration;
  KeydromeStructureTable table{};
  table.name = "plain";
  EXPECT_TRUE(check_threads(configuration, table, 4).ok());
  configuration.concurrency = "none";
  EXPECT_TRUE(check_threads(configuration, table, 1).ok());
  const Result<void> refused = check_threads(configuration, table, 2);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("2 threads"), std::string::npos);
  EXPECT_NE(refused.error().message.find("KEYDROME_THREAD_SAFE"), std::string::npos);
  table.capabilities = KEYDROME_THREAD_SAFE;
  EXPECT_TRUE(check_threads(configuration, table, 2).ok());
}

TEST(Configuration, NoConcurrencyHasNoLockAndEveryOtherMethodHasOne) {
  Json setup = sound();
  setup["configuration"]["concurrency"] = "none";
  EXPECT_EQ(error_of(setup),
            "configuration.lock is \"rw\", but it must be \"none\" for the concurrency \"none\"");
  setup["configuration"]["lock"] = "none";
  EXPECT_EQ(error_of(setup), "");
  setup["configuration"]["concurrency"] = "index_2pl";
  EXPECT_EQ(error_of(setup),
            "configuration.lock is \"none\", but it must be \"exclusive\" or \"rw\" for the "
            "concurrency \"index_2pl\"");
}

// Format 1 of configurations called the field `concurrency` by the name `control`. Stored
// configurations of format 1 must keep their meaning.
TEST(Configuration, TheOldFormIsReadWithTheSameMeaning) {
  for (const ConcurrencyMethod& method : concurrency_methods()) {
    Json setup = sound();
    Json::Object fields = setup["configuration"].as_object();
    fields.erase("concurrency");
    fields["control"] = std::string(method.name);
    fields["lock"] = method.isolates ? "rw" : "none";
    setup["configuration"] = fields;
    const Result<runtime::Setup> parsed = parse_setup(setup.dump());
    ASSERT_TRUE(parsed.ok()) << parsed.error().message;
    EXPECT_EQ(parsed->configuration.concurrency, method.name);
    setup["configuration"]["control"] = "hope";
    EXPECT_NE(error_of(setup).find("configuration.control: \"hope\" is not supported; use"),
              std::string::npos);
    setup["configuration"]["concurrency"] = std::string(method.name);
    EXPECT_NE(error_of(setup).find("the configuration has both; remove \"control\""),
              std::string::npos);
  }
}

TEST(Configuration, AReferenceIsABoolean) {
  Json setup = sound();
  setup["configuration"]["reference"] = true;
  EXPECT_EQ(error_of(setup), "");
  setup["configuration"]["reference"] = "yes";
  EXPECT_EQ(error_of(setup), "configuration.reference is \"yes\", but it must be true or false");
}

TEST(Configuration, NamesAreFileNames) {
  for (const char* name : {"", "a/b", "A", "a b", "\xC3\xA4"}) {
    Json setup = sound();
    setup["configuration"]["name"] = name;
    EXPECT_NE(error_of(setup).find("but it must be 1 to 64 of the characters"), std::string::npos)
        << name;
  }
}

TEST(Configuration, ReadersTogetherNeedTheCapability) {
  Configuration configuration = parse_setup(sound().dump())->configuration;
  KeydromeStructureTable table{};
  table.name = "plain";
  const Result<void> refused = check_capabilities(configuration, table);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().message.find("KEYDROME_SHARED_READS"), std::string::npos);
  table.capabilities = KEYDROME_SHARED_READS;
  EXPECT_TRUE(check_capabilities(configuration, table).ok());
  table.capabilities = 0;
  configuration.lock = LockKind::kExclusive;
  EXPECT_TRUE(check_capabilities(configuration, table).ok());
}

TEST(Configuration, TheFilesAreSoundAndNamedAfterThemselves) {
  int files = 0;
  for (const auto& file : std::filesystem::directory_iterator(KEYDROME_CONFIGURATIONS)) {
    const std::string name = file.path().stem().string();
    if (name == "configuration.schema") continue;
    ++files;
    const Result<Json> configuration = Json::parse_file(file.path().string());
    ASSERT_TRUE(configuration.ok()) << configuration.error().message;
    Json setup = sound();
    setup["configuration"] = *configuration;
    const Result<runtime::Setup> parsed = parse_setup(setup.dump());
    ASSERT_TRUE(parsed.ok()) << name << ": " << parsed.error().message;
    EXPECT_EQ(parsed->configuration.name, name);
  }
  EXPECT_GE(files, 2);
}

}  // namespace
}  // namespace keydrome::runtime
