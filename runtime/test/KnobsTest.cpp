// Knobs: the two names of each, kinds, defaults, errors.
#include "runtime/Knobs.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <set>
#include <stdexcept>

using namespace nacre;

namespace {

class KnobsTest : public testing::Test {
protected:
  void TearDown() override {
    for (const Knob &knob : allKnobs())
      setKnob(knob, std::nullopt);
  }
};

TEST_F(KnobsTest, NamesAreUnique) {
  std::set<std::string> names;
  for (const Knob &knob : allKnobs()) {
    EXPECT_TRUE(names.insert(knob.variable).second) << knob.variable;
    EXPECT_TRUE(names.insert(knob.ownVariable).second) << knob.ownVariable;
    EXPECT_EQ(findKnob(knob.group, knob.attribute), &knob);
    EXPECT_NE(std::string(knob.help), "");
  }
  EXPECT_EQ(findKnob("runtime", "no_such_knob"), nullptr);
}

TEST_F(KnobsTest, BothNamesAreReadAndOursFirst) {
  EXPECT_FALSE(knobBoolean(KnobId::Debug));
  setenv("TRITON_DEBUG", "1", 1);
  EXPECT_TRUE(knobBoolean(KnobId::Debug));
  setenv("NACRE_DEBUG", "off", 1);
  EXPECT_FALSE(knobBoolean(KnobId::Debug));
  setKnob(knob(KnobId::Debug), "1");
  EXPECT_TRUE(knobBoolean(KnobId::Debug));
  EXPECT_EQ(getenv("NACRE_DEBUG"), nullptr);
}

TEST_F(KnobsTest, AWrongValueNamesItsVariable) {
  setenv("TRITON_DEBUG", "maybe", 1);
  setenv("NACRE_NUM_THREADS", "many", 1);
  try {
    knobBoolean(KnobId::Debug);
    FAIL();
  } catch (const std::invalid_argument &error) {
    EXPECT_NE(std::string(error.what()).find("TRITON_DEBUG=maybe"), std::string::npos);
  }
  EXPECT_THROW(knobInteger(KnobId::NumThreads), std::invalid_argument);
  setenv("NACRE_NUM_THREADS", "12", 1);
  EXPECT_EQ(knobInteger(KnobId::NumThreads), 12);
}

TEST_F(KnobsTest, ASwitchMayNameOneKernel) {
  for (const char *all : {"1", "on", "True"})
    EXPECT_TRUE(asksFor(all, "kernel")) << all;
  for (const char *none : {"", "0", "off"})
    EXPECT_FALSE(asksFor(none, "kernel")) << none;
  EXPECT_TRUE(asksFor("kernel", "kernel"));
  EXPECT_FALSE(asksFor("kernel", "another"));
}

TEST_F(KnobsTest, FoldersFollowHome) {
  setenv("TRITON_HOME", "/somewhere", 1);
  EXPECT_EQ(cacheDirectory(), "/somewhere/.nacre/cache");
  EXPECT_EQ(dumpDirectory(), "/somewhere/.nacre/dump");
  EXPECT_EQ(overrideDirectory(), "/somewhere/.nacre/override");
  setenv("TRITON_CACHE_DIR", "/elsewhere", 1);
  EXPECT_EQ(cacheDirectory(), "/elsewhere");
}

} // namespace
