// The `nacre` program: compile a kernel without Python, simulate PTX, say what this build is, and run Python scripts under the alias.
#include "runtime/commands/Command.h"
#include "runtime/compile/BuildId.h"
#include <cstdio>
#include <string_view>
#include <unistd.h>
#include <vector>

static const char *const usage = R"(usage: nacre compile FILE.py --kernel NAME --signature SIGNATURE [options]
       nacre run SCRIPT.py [args...] | -m MODULE [args...] | -c TEXT [args...] | - [args...]
       nacre simulate FILE.ptx --args ARGUMENTS [options]
       nacre info
       nacre completion bash|zsh|fish
       nacre --version
)";

// What is Python's is handed over to it.
static int runScript(char **arguments) {
  std::vector<char *> command = {const_cast<char *>("python3"), const_cast<char *>("-m"), const_cast<char *>("nacre")};
  for (; *arguments; ++arguments)
    command.push_back(*arguments);
  command.push_back(nullptr);
  execvp(command[0], command.data());
  std::fputs("nacre: python3 cannot be started\n", stderr);
  return 1;
}

int main(int argc, char **argv) {
  std::string_view command = argc > 1 ? argv[1] : "";
  if (command == "compile" || command == "simulate" || command == "info")
    return nacre::runCommand(std::vector<std::string>(argv + 1, argv + argc));
  if (command == "run" || command == "completion")
    return runScript(argv + 1);
  if (command == "--version") {
    std::printf("nacre %s\n", nacre::versionText());
    return 0;
  }
  bool asked = command == "--help" || command == "-h";
  if (!asked && !command.empty()) {
    std::fprintf(stderr, "nacre: there is no %s %s\nnacre --help shows what there is\n",
                 command.front() == '-' ? "option" : "command", argv[1]);
    return 2;
  }
  std::fputs(usage, asked ? stdout : stderr);
  return asked ? 0 : 2;
}
