// Result<T>: a value or an error that can be shown to a person. (std::expected is C++23.)
//
// For operating errors only; a broken invariant of our own is a KEYDROME_CHECK (check.h). No
// exceptions. Thread safety: as the value's.
#pragma once

#include <string>
#include <utility>
#include <variant>

#include "base/check.h"

namespace keydrome {

// What went wrong and what to do about it, as one sentence without a final full stop.
struct Error {
  std::string message;
};

template <typename T>
class [[nodiscard]] Result {
 public:
  // Implicit, so that functions can return either a value or an Error.
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // The value; only when ok(): otherwise the process ends with the error's text.
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

  // The error; only when not ok().
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
