// The options of a launch that passes read, from the table of all options (LaunchOptions.def). They stand on the module:
//
//   module attributes {tile.num_warps = 8 : i32, tile.num_stages = 3 : i32, tile.launch_pdl} {
//
// The front end takes this type, the module keeps it, and the key of a compile is made of it: each walks the same rows,
// so that an option cannot be missing from one of them.
#pragma once

#include <cstdint>
#include <optional>

namespace mlir {
class ModuleOp;
}

namespace nacre {

enum class LaunchOptionKind { Integer, Switch, Flag, Text, Libraries };

enum class LaunchOptionId {
#define NACRE_LAUNCH_OPTION(identifier, name, kind, fallback, inGrid, help) identifier,
#include "compiler/ir/tile/LaunchOptions.def"
};

namespace tile {

// What a module option is kept as: a count or a choice, where one was said, or a flag.
template <LaunchOptionKind> struct OptionMember;
template <> struct OptionMember<LaunchOptionKind::Integer> {
  using type = std::optional<int32_t>;
  static type of(int64_t value) { return static_cast<int32_t>(value); }
};
template <> struct OptionMember<LaunchOptionKind::Switch> {
  using type = std::optional<bool>;
  static type of(int64_t value) { return value < 0 ? type() : type(value != 0); }
};
template <> struct OptionMember<LaunchOptionKind::Flag> {
  using type = bool;
  static type of(int64_t value) { return value != 0; }
};

struct LaunchOptions {
#define NACRE_MODULE_OPTION(identifier, member, name, kind, fallback, inGrid, help)                                    \
  OptionMember<LaunchOptionKind::kind>::type member = {};
#include "compiler/ir/tile/LaunchOptions.def"

  static LaunchOptions of(mlir::ModuleOp module);
  void attachTo(mlir::ModuleOp module) const;

  // Sets the option of that id; false where it does not stand on the module.
  bool set(LaunchOptionId id, int64_t value) {
    switch (id) {
#define NACRE_MODULE_OPTION(identifier, member, name, kind, fallback, inGrid, help)                                    \
  case LaunchOptionId::identifier:                                                                                     \
    member = OptionMember<LaunchOptionKind::kind>::of(value);                                                          \
    return true;
#include "compiler/ir/tile/LaunchOptions.def"
    default:
      return false;
    }
  }

  // Calls the visitor with the attribute's name and the member of each option.
  template <typename Visitor> void visit(Visitor visitor) { visitMembers(*this, visitor); }
  template <typename Visitor> void visit(Visitor visitor) const { visitMembers(*this, visitor); }

private:
  template <typename Options, typename Visitor> static void visitMembers(Options &options, Visitor &visitor) {
#define NACRE_MODULE_OPTION(identifier, member, name, kind, fallback, inGrid, help)                                    \
  visitor("tile." name, options.member);
#include "compiler/ir/tile/LaunchOptions.def"
  }
};

} // namespace tile
} // namespace nacre
