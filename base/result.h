// Result<T>: the return type of functions that can fail. A Result contains a value, or an error
// with a message for people. (C++20 has no std::expected.)
//
//     Result<Json> plan = Json::parse_file(path);
//     if (!plan) return plan.error();
//     use(*plan);
//
// Use Result for errors of the input and the environment. Use KEYDROME_CHECK (check.h) for broken
// invariants of Keydrome's own code. Result throws no exceptions. Thread safety: that of T.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace keydrome {

// The message is one sentence without a full stop. It says what happened and what to do about it.
struct Error {
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  // Both constructors are implicit, so that a function can return either a value or an Error.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // Return the value. If there is none, print the error's message and abort the process.
  T& value() & {
    require();
    return std::get<0>(state_);
  }
  const T& value() const& {
    require();
    return std::get<0>(state_);
  }
  T&& value() && {
    require();
    return std::get<0>(std::move(state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  // Returns the error. Aborts the process if there is none.
  const Error& error() const {
    KEYDROME_CHECK(!ok());
    return std::get<1>(state_);
  }

 private:
  void require() const {
    if (!ok()) fail(KEYDROME_HERE, std::get<1>(state_).message);
  }

  std::variant<T, Error> state_;
};

template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), ok_(false) {}

  bool ok() const { return ok_; }
  explicit operator bool() const { return ok_; }
  const Error& error() const {
    KEYDROME_CHECK(!ok_);
    return error_;
  }

 private:
  Error error_;
  bool ok_ = true;
};

}  // namespace keydrome
