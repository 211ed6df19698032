// What names mean while a function is being built: bindings of locals, and the state of the path being built.
//
// The IR is structured, so a path that leaves early (return, break, continue) cannot jump. It instead records how it
// left in its exit code; where two paths meet the codes meet too, and what follows is built under a test that nobody
// has left.
#pragma once

#include "compiler/frontend/AST.h"
#include "compiler/language/meaning/Object.h"
#include <map>
#include <set>

namespace nacre {

// Why a name cannot be read although it is bound somewhere.
struct Unavailable {
  std::string message, hint;
  SourceLocation place; // where the error is shown; no source: where the name is read
};

struct Binding {
  Object object;
  SourceLocation place;                           // of the assignment
  std::shared_ptr<const Unavailable> unavailable; // null: `object` may be read
};
using BindingPointer = std::shared_ptr<const Binding>;

// The locals of a function on one path. Copies share their bindings, so an unchanged name is the same pointer.
class Environment {
public:
  BindingPointer find(llvm::StringRef name) const;
  void bind(llvm::StringRef name, Object object, const SourceLocation &place);
  void bind(llvm::StringRef name, BindingPointer binding) { bindings[name.str()] = std::move(binding); }
  void forbid(llvm::StringRef name, std::shared_ptr<const Unavailable> reason);
  void remove(llvm::StringRef name);
  const std::map<std::string, BindingPointer, std::less<>> &all() const { return bindings; }

private:
  std::map<std::string, BindingPointer, std::less<>> bindings;
};

enum class Exit { None, Continue, Break, Return };

struct Path {
  Environment names;
  std::variant<Exit, Value> exit = Exit::None; // a Value: the code is known only at run time, an int32
  bool closed = false;                         // every way here has left: what follows is unreachable
  BindingPointer returned;                     // what was returned where the exit is Return; null: nothing yet
};

// Whether two objects are the same constexpr or the same run-time value, all the way down.
bool sameObject(const Object &a, const Object &b);
// An object's type for errors about types: as typeName, and a tuple's items too.
std::string describeType(const Object &object);
// The run-time values inside an object, in order; and the object with others in their places.
void collectValues(const Object &object, llvm::SmallVectorImpl<Value> &values);
Object replaceValues(const Object &object, llvm::ArrayRef<Value> values);

// Every name that the statements or the expression may assign, loops' targets and walruses included.
std::set<std::string> assignedNames(const ast::Block &statements);
void addAssignedNames(const ast::Node &node, std::set<std::string> &names);
void addTargetNames(const ast::Expression &target, std::set<std::string> &names);
// Whether the statements, as the body of a loop, hold a break of that loop or a return.
bool mayLeaveLoop(const ast::Block &body);
bool holdsReturn(const ast::Block &body);

} // namespace nacre
