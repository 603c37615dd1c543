#include "capture/convert/annotation.h"

#include <doctest/doctest.h>

using pgle::Annotation;
using pgle::ParseAnnotation;
using pgle::ParseInteger;

TEST_CASE("XLA's ranges") {
  const Annotation module =
      ParseAnnotation("XlaModule:#hlo_module=jit_train_step,program_id=2667#");
  CHECK(module.name == "XlaModule:");
  CHECK(module.Find("hlo_module") == "jit_train_step");
  CHECK(ParseInteger(module.Find("program_id")) == 2667);

  const Annotation thunk = ParseAnnotation(
      "Thunk:#name=jit(f)/dot_general[a, b],hlo_op=fusion.3,unique_hlo_op_id=863288426798#");
  CHECK(thunk.Find("name") == "jit(f)/dot_general[a, b]");
  CHECK(thunk.Find("hlo_op") == "fusion.3");
  CHECK(thunk.Find("absent").empty());
}

TEST_CASE("Commas inside quotes and brackets do not part values") {
  const Annotation annotation = ParseAnnotation(R"(n#a=(1,2),b=[x,{y,z}],c="p,)q",d='r,"s',e=1#)");
  REQUIRE(annotation.metadata.size() == 5);
  CHECK(annotation.Find("a") == "(1,2)");
  CHECK(annotation.Find("b") == "[x,{y,z}]");
  CHECK(annotation.Find("c") == "\"p,)q\"");
  CHECK(annotation.Find("d") == "'r,\"s'");
  CHECK(annotation.Find("e") == "1");
}

TEST_CASE("Texts without metadata") {
  CHECK(ParseAnnotation("ncclAllGather").name == "ncclAllGather");
  CHECK(ParseAnnotation("a#b=1").name == "a#b=1");
  CHECK(ParseAnnotation("a#b=1").metadata.empty());
  CHECK(ParseAnnotation("#").name == "#");
  CHECK(ParseAnnotation("").name.empty());
  CHECK(ParseAnnotation("a##").name == "a");
  CHECK(ParseAnnotation("a#x,,y=2#").metadata.size() == 1);
  CHECK(ParseAnnotation("a#x=(1,y=2#").Find("x") == "(1,y=2");
}

TEST_CASE("Numbers") {
  CHECK(ParseInteger("-5") == -5);
  CHECK(ParseInteger("18446744073709551615") == -1);
  CHECK_FALSE(ParseInteger("12a").has_value());
  CHECK_FALSE(ParseInteger("").has_value());
}
