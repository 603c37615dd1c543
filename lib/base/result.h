// Errors as values. A function that can fail returns Result<T> (or Status when there is no value);
// nothing in lib/ throws across a public header.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <variant>

namespace pgle {

// What kind of failure it is; each maps to one exit status (see exit_code.h).
enum class ErrorCode {
  kFailed,   // I/O, corrupt input, nothing to write
  kUsage,    // the call itself is wrong
  kRefused,  // the tool worked and the answer is no (too little coverage, drift)
};

struct Error {
  ErrorCode code = ErrorCode::kFailed;
  std::string where;  // the file (and offset) or option at fault
  std::string what;   // the cause
  std::string hint;   // the next step; may be empty
};

template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : state_(std::move(value)) {}      // NOLINT: implicit by design
  Result(Error error) : state_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return state_.index() == 0; }
  T& value() { return std::get<0>(state_); }
  const T& value() const { return std::get<0>(state_); }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  Error& error() { return std::get<1>(state_); }
  const Error& error() const { return std::get<1>(state_); }

 private:
  std::variant<T, Error> state_;
};

class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(Error error) : error_(std::move(error)) {}  // NOLINT: implicit by design

  bool ok() const { return !error_.has_value(); }
  Error& error() { return *error_; }
  const Error& error() const { return *error_; }

 private:
  std::optional<Error> error_;
};

inline Error Failed(std::string where, std::string what, std::string hint = "") {
  return {ErrorCode::kFailed, std::move(where), std::move(what), std::move(hint)};
}
inline Error UsageError(std::string where, std::string what, std::string hint = "") {
  return {ErrorCode::kUsage, std::move(where), std::move(what), std::move(hint)};
}
inline Error Refused(std::string where, std::string what, std::string hint = "") {
  return {ErrorCode::kRefused, std::move(where), std::move(what), std::move(hint)};
}

}  // namespace pgle

// Returns the error of an expression of type Status or Result<T>; goes on otherwise.
#define PGLE_RETURN_IF_ERROR(expression)                      \
  do {                                                        \
    if (auto pgle_status = (expression); !pgle_status.ok()) { \
      return std::move(pgle_status.error());                  \
    }                                                         \
  } while (false)

#define PGLE_CONCAT_INNER(a, b) a##b
#define PGLE_CONCAT(a, b) PGLE_CONCAT_INNER(a, b)

// PGLE_ASSIGN_OR_RETURN(auto x, F()): x is F()'s value, or F()'s error is returned.
#define PGLE_ASSIGN_OR_RETURN(declaration, expression)             \
  auto PGLE_CONCAT(pgle_result_, __LINE__) = (expression);         \
  if (!PGLE_CONCAT(pgle_result_, __LINE__).ok())                   \
    return std::move(PGLE_CONCAT(pgle_result_, __LINE__).error()); \
  declaration = std::move(PGLE_CONCAT(pgle_result_, __LINE__).value())
