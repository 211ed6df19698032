// Entries on disk: whole or absent, whatever happens to the files.
#include "runtime/cache/DiskCache.h"
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nacre;
namespace fs = std::filesystem;

namespace {

const std::string key = "00112233445566778899aabbccddeeff00112233";

class DiskCacheTest : public testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/nacre-cache-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
  }
  void TearDown() override {
    chmod(folder.c_str(), 0755);
    fs::remove_all(folder);
  }
  std::string folder;
};

TEST_F(DiskCacheTest, GivesBackWhatWasWritten) {
  DiskCache cache(folder + "/made/on/demand");
  for (const std::string &payload : {std::string(), std::string("text"), std::string(1 << 20, '\7')}) {
    EXPECT_TRUE(cache.write(key, "kernel", payload));
    EXPECT_EQ(cache.read(key, "kernel"), payload);
  }
  EXPECT_EQ(cache.read(key, "manifest"), std::nullopt);
  EXPECT_TRUE(fs::is_empty(folder + "/made/on/demand/tmp"));
}

TEST_F(DiskCacheTest, IgnoresDamage) {
  DiskCache cache(folder);
  const std::string payload = "a payload of some length";
  ASSERT_TRUE(cache.write(key, "kernel", payload));
  std::string path = cache.path(key, "kernel");
  auto size = fs::file_size(path);
  for (uintmax_t length = 0; length < size; ++length) { // torn at every place
    ASSERT_TRUE(cache.write(key, "kernel", payload));
    fs::resize_file(path, length);
    EXPECT_EQ(cache.read(key, "kernel"), std::nullopt) << length;
  }
  for (uintmax_t place = 0; place < size; ++place) { // one bit changed at every place
    ASSERT_TRUE(cache.write(key, "kernel", payload));
    std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(place);
    char byte = static_cast<char>(file.get() ^ 4);
    file.seekp(place);
    file.put(byte);
    file.close();
    EXPECT_EQ(cache.read(key, "kernel"), std::nullopt) << place;
  }
  std::ofstream(path, std::ios::app) << "more";
  EXPECT_EQ(cache.read(key, "kernel"), std::nullopt);
  EXPECT_TRUE(cache.write(key, "kernel", payload));
  EXPECT_EQ(cache.read(key, "kernel"), payload);
}

TEST(SealedEntry, IsOpenedWholeOrNotAtAll) {
  std::string payload("some\0bytes", 10), entry = sealEntry(payload);
  EXPECT_EQ(openEntry(entry), payload);
  EXPECT_EQ(openEntry(sealEntry("")), "");
  for (size_t size = 0; size < entry.size(); ++size)
    EXPECT_EQ(openEntry(entry.substr(0, size)), std::nullopt) << size;
  EXPECT_EQ(openEntry(entry + "x"), std::nullopt);
  for (size_t place = 0; place < entry.size(); ++place) {
    std::string damaged = entry;
    damaged[place] ^= 1;
    EXPECT_EQ(openEntry(damaged), std::nullopt) << place;
  }
}

TEST_F(DiskCacheTest, DoesWithoutAFolder) {
  EXPECT_FALSE(DiskCache("").write(key, "kernel", "x"));
  EXPECT_EQ(DiskCache("").read(key, "kernel"), std::nullopt);
  std::ofstream(folder + "/file") << "in the way";
  EXPECT_FALSE(DiskCache(folder + "/file").write(key, "kernel", "x"));
  EXPECT_FALSE(DiskCache("/proc/nothing/here").write(key, "kernel", "x"));
  EXPECT_FALSE(DiskCache("/dev/full").write(key, "kernel", "x"));
}

TEST_F(DiskCacheTest, AFullDiskLeavesNothingBehind) {
  // In a child: the limit on file sizes cannot be raised again, and its signal would end the test.
  pid_t child = fork();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit{100, 100};
    setrlimit(RLIMIT_FSIZE, &limit);
    DiskCache cache(folder);
    bool wrote = cache.write(key, "kernel", std::string(1000, 'x'));
    _exit(!wrote && !cache.read(key, "kernel") && fs::is_empty(folder + "/tmp") ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST_F(DiskCacheTest, WritersOfOneEntryDoNotDisturbEachOther) {
  std::vector<pid_t> children;
  for (int i = 0; i < 4; ++i) {
    pid_t child = fork();
    if (child == 0) {
      DiskCache cache(folder);
      std::string payload(50000, static_cast<char>('a' + i));
      for (int round = 0; round < 100; ++round) {
        cache.write(key, "kernel", payload);
        std::optional<std::string> found = cache.read(key, "kernel");
        if (!found || found->size() != 50000 || found->find_first_not_of((*found)[0]) != std::string::npos)
          _exit(1);
      }
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_TRUE(fs::is_empty(folder + "/tmp"));
}

TEST_F(DiskCacheTest, RemovesWhatAKilledWriterLeft) {
  fs::create_directories(folder + "/tmp");
  std::ofstream(folder + "/tmp/old") << "unfinished";
  fs::last_write_time(folder + "/tmp/old", fs::file_time_type::clock::now() - std::chrono::hours(2));
  std::ofstream(folder + "/tmp/young") << "being written";
  ASSERT_TRUE(DiskCache(folder).write(key, "kernel", "x"));
  EXPECT_FALSE(fs::exists(folder + "/tmp/old"));
  EXPECT_TRUE(fs::exists(folder + "/tmp/young"));
}

TEST_F(DiskCacheTest, IsThisUsersOwn) {
  mode_t before = umask(0);
  DiskCache cache(folder + "/own");
  ASSERT_TRUE(cache.write(key, "kernel", "x"));
  umask(before);
  std::string entry = cache.path(key, "kernel");
  auto mode = [](const std::string &path) {
    struct stat status;
    EXPECT_EQ(stat(path.c_str(), &status), 0);
    return status.st_mode & 0777;
  };
  EXPECT_EQ(mode(folder + "/own"), 0700u);
  EXPECT_EQ(mode(fs::path(entry).parent_path()), 0700u);
  EXPECT_EQ(mode(entry), 0600u);
}

TEST_F(DiskCacheTest, RefusesWhatOthersCouldHaveWritten) {
  DiskCache cache(folder);
  ASSERT_TRUE(cache.write(key, "kernel", "x"));
  std::string entry = cache.path(key, "kernel");
  testing::internal::CaptureStderr();
  for (const std::string &path : {entry, fs::path(entry).parent_path().string(), folder}) {
    struct stat status;
    ASSERT_EQ(stat(path.c_str(), &status), 0);
    for (mode_t others : {S_IWGRP, S_IWOTH}) {
      chmod(path.c_str(), status.st_mode | others);
      EXPECT_EQ(cache.read(key, "kernel"), std::nullopt) << path;
    }
    chmod(path.c_str(), status.st_mode);
    EXPECT_EQ(cache.read(key, "kernel"), "x");
    if (geteuid() != 0)
      continue; // files cannot be given away
    ASSERT_EQ(chown(path.c_str(), 65534, 65534), 0);
    EXPECT_EQ(cache.read(key, "kernel"), std::nullopt) << path;
    ASSERT_EQ(chown(path.c_str(), 0, 0), 0);
  }
  EXPECT_EQ(cache.read(key, "kernel"), "x");
  std::string told = testing::internal::GetCapturedStderr();
  EXPECT_NE(told.find("another user owns or may write " + entry), std::string::npos) << told;
  EXPECT_EQ(std::count(told.begin(), told.end(), '\n'), 1) << told; // once
}

} // namespace
