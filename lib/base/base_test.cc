#include <doctest/doctest.h>

#include "base/exit_code.h"
#include "base/result.h"
#include "base/sha256.h"

namespace pgle {
namespace {

Result<int> Half(int value) {
  if (value % 2 != 0) return Failed("half", "odd");
  return value / 2;
}

Status Quarter(int value, int* out) {
  PGLE_ASSIGN_OR_RETURN(int half, Half(value));
  PGLE_ASSIGN_OR_RETURN(*out, Half(half));
  return {};
}

TEST_CASE("errors pass through the macros with their text") {
  int out = 0;
  CHECK(Quarter(8, &out).ok());
  CHECK(out == 2);
  const Status failed = Quarter(6, &out);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().where == "half");
  CHECK(ExitCodeFor(failed.error().code) == ExitCode::kFailed);
}

TEST_CASE("sha256 of the FIPS 180-2 example") {
  CHECK(ToHex(Sha256Of("abc")) ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

}  // namespace
}  // namespace pgle
