#include "trace/utf8.h"

#include <doctest/doctest.h>

using pgle::ToUtf8;

TEST_CASE("What is UTF-8 stays") {
  for (const char* text : {"", "fusion.3", "\xc3\xa9", "\xe2\x82\xac!", "\xf0\x9f\x98\x80",
                           "\xed\x9f\xbf", "\xf4\x8f\xbf\xbf"}) {
    CHECK(ToUtf8(text) == text);
  }
}

TEST_CASE("Each byte of no character becomes a question mark") {
  CHECK(ToUtf8("a\xff"
               "b") == "a?b");
  CHECK(ToUtf8("\xe2\x82") == "??");            // cut
  CHECK(ToUtf8("\xc0\xaf") == "??");            // a '/' that is too long
  CHECK(ToUtf8("\xe0\x80\xaf") == "???");       // the same, longer
  CHECK(ToUtf8("\xed\xa0\x80x") == "???x");     // a surrogate
  CHECK(ToUtf8("\xf4\x90\x80\x80") == "????");  // beyond U+10FFFF
  CHECK(ToUtf8("\x80\xc3\xa9") == "?\xc3\xa9");
}
