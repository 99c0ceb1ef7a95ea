// Tests what happens before the first call of the runtime. Structures (libraries of a data
// structure) that cannot be used are refused with a reason. The exported functions fail until
// keydrome_configure is called.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <string>

#include "base/json.h"
#include "keydrome/extensions.h"
#include "keydrome/index.h"
#include "runtime/instance/structure_library.h"
#include "runtime/runtime.h"
#include "runtime/tests/setup_json.h"

namespace keydrome::runtime {
namespace {

void expect_refused(const std::string& setup, const std::string& reason) {
  const Result<std::unique_ptr<Runtime>> made = Runtime::make(setup);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find(reason), std::string::npos) << made.error().message;
}

TEST(Loading, RefusesWhatIsNoStructure) {
  expect_refused(setup_json("/no/such/file.so", "rw"), "/no/such/file.so");
  expect_refused(setup_json(KEYDROME_RUNTIME, "rw"), "a library of the ten calls");
  expect_refused(setup_json(test_structure("wrong_version"), "rw"), "has version 2");
  expect_refused(setup_json(test_structure("without_del"), "rw"), "leaves the member del null");
}

TEST(Loading, TablesOfOlderAndNewerHeadersAreRead) {
  EXPECT_TRUE(Runtime::make(setup_json(test_structure("cut"), "exclusive")).ok());
  EXPECT_TRUE(Runtime::make(setup_json(test_structure("longer"), "exclusive")).ok());

  // A table that ends before `scan` has no `scan`, even if the memory after its end contains the
  // address of a function.
  KeydromeStructureTable table = StructureLibrary::load(test_structure("plain"))->table();
  table.size = offsetof(KeydromeStructureTable, scan);
  const Result<StructureLibrary> cut = StructureLibrary::of(&table, "cut");
  ASSERT_FALSE(cut.ok());
  EXPECT_NE(cut.error().message.find("ends before scan"), std::string::npos);
  table.size = sizeof table;
  table.name = nullptr;
  EXPECT_NE(
      StructureLibrary::of(&table, "nameless").error().message.find("leaves the member name null"),
      std::string::npos);
  table.name = "plain";
  table.size = offsetof(KeydromeStructureTable, find_batch);
  table.find_batch = [](const KeydromeStructure*, uint32_t, KeydromeLookup*) { return 0; };
  EXPECT_EQ(StructureLibrary::of(&table, "cut")->table().find_batch, nullptr);
}

TEST(Loading, RefusesWhatTheStructureCannotDo) {
  expect_refused(setup_json(test_structure("plain"), "rw"), "KEYDROME_SHARED_READS");
  EXPECT_TRUE(Runtime::make(setup_json(test_structure("plain"), "exclusive")).ok());
}

TEST(Loading, RefusesMoreThreadsThanTheStructureServes) {
  Json setup = *Json::parse(setup_json(KEYDROME_BTREE, "none", "none"));
  EXPECT_TRUE(Runtime::make(setup.dump()).ok());
  setup["threads"] = 2;
  expect_refused(setup.dump(), "2 threads will call");
}

TEST(Loading, RefusesOptionsThatTheStructureDoesNotKnow) {
  Json setup = *Json::parse(setup_json(KEYDROME_BTREE, "rw"));
  setup["configuration"]["options"]["fan_out"] = 3;
  expect_refused(setup.dump(), "{\"fan_out\":3}");
}

template <class Function>
Function* symbol(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

TEST(Loading, TheLibraryIsConfiguredOnce) {
  void* library = dlopen(KEYDROME_RUNTIME, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto* configure = symbol<decltype(keydrome_configure)>(library, "keydrome_configure");
  auto* make_index = symbol<decltype(create)>(library, "create");
  ASSERT_TRUE(configure && make_index);

  char name[] = "index";
  EXPECT_EQ(make_index(INT, name), FAILURE);

  char reason[16];
  std::memset(reason, 'x', sizeof reason);
  EXPECT_NE(configure("{}", reason, 10), 0);
  EXPECT_EQ(std::string(reason), "structure");  // the beginning of the reason, cut to capacity
  EXPECT_NE(configure(nullptr, nullptr, 0), 0);

  const std::string setup = setup_json(KEYDROME_BTREE, "rw");
  EXPECT_EQ(configure(setup.c_str(), reason, sizeof reason), 0);
  EXPECT_NE(configure(setup.c_str(), reason, sizeof reason), 0);
  EXPECT_EQ(make_index(INT, name), SUCCESS);
  EXPECT_EQ(make_index(INT, name), DB_EXISTS);
}

}  // namespace
}  // namespace keydrome::runtime
