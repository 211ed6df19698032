// The options of a launch, from one table (compiler/ir/tile/LaunchOptions.def).
#pragma once

#include "compiler/ir/tile/LaunchOptions.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <cstdint>

namespace nacre {

struct LaunchOption {
  LaunchOptionId id;
  const char *name;
  LaunchOptionKind kind;
  int64_t fallback;
  bool inGrid; // functions that compute the grid are told it
  const char *help;
};

// In the order of their ids.
inline constexpr LaunchOption launchOptions[] = {
#define NACRE_LAUNCH_OPTION(identifier, name, kind, fallback, inGrid, help)                                            \
  {LaunchOptionId::identifier, name, LaunchOptionKind::kind, fallback, inGrid, help},
#include "compiler/ir/tile/LaunchOptions.def"
};
inline constexpr size_t launchOptionCount = std::size(launchOptions);

// Null when there is none of that name.
inline const LaunchOption *findLaunchOption(llvm::StringRef name) {
  for (const LaunchOption &option : launchOptions)
    if (name == option.name)
      return &option;
  return nullptr;
}

// Options of Triton's own targets that ours compile nothing by. Launches written for those targets say them, so they are
// taken everywhere. A hint of how to compile is no loss; what the CUDA target would have to heed it refuses there.
struct ForeignOption {
  const char *name;
  const char *insteadOnCuda; // null: it is a hint; elsewhere: what to write instead
};
inline constexpr ForeignOption foreignOptions[] = {
    {"arch", nullptr},
    {"backend_name", nullptr},
    {"warp_size", nullptr},
    {"ptx_version", nullptr},
    {"ptx_options", "set PTXAS_OPTIONS, or knobs.nvidia.ptxas_options"},
    {"sched4reg", nullptr},
    {"enable_reflect_ftz", nullptr},
    {"clc", nullptr},
    {"supported_fp8_dtypes", nullptr},
    {"deprecated_fp8_dot_operand_dtypes", nullptr},
    {"allow_fp8e4nv", nullptr},
    {"default_dot_input_precision", "write input_precision= in tl.dot"},
    {"allowed_dot_input_precisions", nullptr},
    {"max_num_imprecise_acc_default", nullptr},
    {"min_shared_mem", nullptr},
    {"instrumentation_mode", "run it under nacre sanitize"},
    {"fpsan_homomorphic_casts", nullptr},
    {"num_consumer_groups", nullptr},
    {"num_buffers_warp_spec", nullptr},
    {"reg_dec_producer", nullptr},
    {"reg_inc_consumer", nullptr},
    {"waves_per_eu", nullptr},
    {"matrix_instr_nonkdim", nullptr},
    {"kpack", nullptr},
    {"allow_flush_denorm", nullptr},
    {"schedule_hint", nullptr},
    {"llvm_fn_attrs", nullptr},
    {"wgp_cu_mode", nullptr},
};

inline const ForeignOption *findForeignOption(llvm::StringRef name) {
  for (const ForeignOption &option : foreignOptions)
    if (name == option.name)
      return &option;
  return nullptr;
}

// A value of Debug besides off and on: device_assert is live, accesses of memory are not checked. As Triton's compile()
// means it, and those who compile kernels for it: torch.compile asks for it wherever an index is computed.
inline constexpr int64_t debugAsserts = 2;

// What one launch says, each option as a number. Compared as bytes.
struct LaunchOptionValues {
  int64_t numbers[launchOptionCount];

  constexpr LaunchOptionValues() : numbers() {
    for (const LaunchOption &option : launchOptions)
      (*this)[option.id] = option.fallback;
  }
  constexpr int64_t &operator[](LaunchOptionId id) { return numbers[static_cast<size_t>(id)]; }
  constexpr int64_t operator[](LaunchOptionId id) const { return numbers[static_cast<size_t>(id)]; }
};

// An option that a target compiles by, and the values that it takes.
struct TargetOption {
  LaunchOptionId id;
  int64_t least = 0, most = INT32_MAX;
  bool isPowerOfTwo = false;
};

} // namespace nacre
