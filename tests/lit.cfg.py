# lit's configuration: every compiler/**/test/*.mlir is a test, run with nacre-opt and FileCheck; in compiler/frontend/test, kernels are.
#
#   lit tests                       all of them
#   lit compiler/ir/tile/test       one folder, or one file
#
# The build directory is build/ unless -Dbuild=DIR (or NACRE_BUILD_DIR) says otherwise.
import os
import shutil
import subprocess

import lit.formats

root = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
build = lit_config.params.get("build") or os.environ.get("NACRE_BUILD_DIR") or os.path.join(root, "build")
if not os.path.exists(os.path.join(build, "cli", "nacre-opt")):
    lit_config.fatal(f"nacre-opt is not built in {build}")
llvm_config = shutil.which("llvm-config-22") or shutil.which("llvm-config")
if llvm_config is None:
    lit_config.fatal("llvm-config-22 is not on the PATH; FileCheck is looked for beside it")
llvm_tools = subprocess.run([llvm_config, "--bindir"], capture_output=True, text=True, check=True).stdout.strip()

config.name = "nacre"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
config.test_source_root = os.path.join(root, "compiler")
config.test_exec_root = os.path.join(build, "lit")
config.environment["PATH"] = os.pathsep.join([os.path.join(build, "cli"), llvm_tools, os.environ.get("PATH", "")])
