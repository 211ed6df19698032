// See ExternalLibrary.h.
#include "compiler/language/meaning/ExternalLibrary.h"
#include "compiler/support/ForkSafety.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/BinaryFormat/Magic.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IRReader/IRReader.h"
#include "llvm/Object/Archive.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/TargetParser/Triple.h"
#include <map>
#include <sys/stat.h>

namespace nacre {

namespace {

constexpr llvm::StringLiteral hostTriple = "x86_64-unknown-linux-gnu";

llvm::Error problem(const llvm::Twine &text) { return llvm::createStringError(llvm::inconvertibleErrorCode(), text); }

llvm::Expected<ExternalLibrary::Kind> kindOf(llvm::StringRef path, llvm::StringRef bytes) {
  switch (llvm::identify_magic(bytes)) {
  case llvm::file_magic::bitcode:
    return ExternalLibrary::Kind::IR;
  case llvm::file_magic::elf_relocatable:
    return ExternalLibrary::Kind::Object;
  case llvm::file_magic::elf_shared_object:
    return ExternalLibrary::Kind::Shared;
  case llvm::file_magic::archive:
    return ExternalLibrary::Kind::Archive;
  default:
    if (llvm::sys::path::extension(path) == ".ll")
      return ExternalLibrary::Kind::IR;
    return problem("`" + path +
                   "` is no library that a kernel can use: it takes LLVM bitcode (.bc), LLVM IR (.ll), an "
                   "ELF object (.o), a static (.a) or a shared library (.so)");
  }
}

// The names that others can call in a symbol table.
std::vector<std::string> definedNames(llvm::object::ObjectFile &object, bool isShared) {
  std::vector<std::string> names;
  auto add = [&](const llvm::object::SymbolRef &symbol) {
    llvm::Expected<uint32_t> flags = symbol.getFlags();
    if (!flags) {
      llvm::consumeError(flags.takeError());
      return;
    }
    bool isCallable =
        (*flags & llvm::object::SymbolRef::SF_Global) && !(*flags & llvm::object::SymbolRef::SF_Undefined);
    llvm::Expected<llvm::StringRef> name = symbol.getName();
    if (name && isCallable && !name->empty())
      names.push_back(name->str());
    else if (!name)
      llvm::consumeError(name.takeError());
  };
  if (auto *elf = llvm::dyn_cast<llvm::object::ELFObjectFileBase>(&object); elf && isShared)
    llvm::for_each(elf->getDynamicSymbolIterators(), add);
  else
    llvm::for_each(object.symbols(), add);
  return names;
}

// The LLVM type that a C function has for a type of the language.
llvm::Type *typeInIR(llvm::LLVMContext &context, Type type) {
  if (type.isPointer())
    return llvm::PointerType::get(context, 0);
  switch (type.scalarKind()) {
  case ScalarKind::Float16:
    return llvm::Type::getHalfTy(context);
  case ScalarKind::BFloat16:
    return llvm::Type::getBFloatTy(context);
  case ScalarKind::Float32:
    return llvm::Type::getFloatTy(context);
  case ScalarKind::Float64:
    return llvm::Type::getDoubleTy(context);
  default:
    return llvm::Type::getIntNTy(context, type.bitWidth());
  }
}

std::string shown(const llvm::FunctionType &type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

} // namespace

FileStamp FileStamp::of(llvm::StringRef path) {
  FileStamp stamp;
  stamp.path = path.str();
  struct stat status;
  if (::stat(stamp.path.c_str(), &status) != 0)
    return stamp;
  stamp.device = status.st_dev;
  stamp.inode = status.st_ino;
  stamp.size = static_cast<uint64_t>(status.st_size);
  stamp.changed = status.st_mtim.tv_sec * 1000000000LL + status.st_mtim.tv_nsec;
  return stamp;
}

static std::string digestOf(llvm::StringRef bytes) {
  llvm::BLAKE3 hasher;
  hasher.update(bytes);
  return llvm::toHex(llvm::ArrayRef<uint8_t>(hasher.final<16>()), /*LowerCase=*/true);
}

ExternalLibrary::ExternalLibrary(std::string path, std::unique_ptr<llvm::MemoryBuffer> buffer, Kind kind)
    : path(std::move(path)), digest(digestOf(buffer->getBuffer())), kind(kind), buffer(std::move(buffer)) {}

llvm::Expected<std::shared_ptr<const ExternalLibrary>> ExternalLibrary::find(llvm::StringRef path) {
  static ProcessLock lock;
  static auto &known = *new std::map<std::string, std::pair<FileStamp, std::shared_ptr<const ExternalLibrary>>>;
  llvm::SmallString<128> absolute(path);
  llvm::sys::fs::make_absolute(absolute);
  FileStamp stamp = FileStamp::of(absolute);
  std::lock_guard<ProcessLock> guard(lock);
  auto &[readAt, library] = known[absolute.str().str()];
  if (library && readAt == stamp)
    return library;
  // Read, not mapped: the file may be written again while kernels still use what it was.
  auto content = llvm::MemoryBuffer::getFile(absolute, /*IsText=*/false, /*RequiresNullTerminator=*/true,
                                             /*IsVolatile=*/true);
  if (!content)
    return problem("cannot read the library `" + path + "`: " + content.getError().message());
  llvm::Expected<Kind> kind = kindOf(path, (*content)->getBuffer());
  if (!kind)
    return kind.takeError();
  readAt = stamp;
  library.reset(new ExternalLibrary(absolute.str().str(), std::move(*content), *kind));
  return library;
}

std::string ExternalLibrary::missing(llvm::StringRef symbol, std::vector<std::string> known) const {
  constexpr size_t most = 8;
  std::string text = "`" + path + "` has no function `" + symbol.str() + "`";
  llvm::sort(known);
  if (known.empty())
    return text + "; it defines none that can be called";
  bool isCut = known.size() > most;
  if (isCut)
    known.resize(most);
  return text + "; it defines " + llvm::join(known, ", ") + (isCut ? ", ..." : "");
}

std::string ExternalLibrary::problemInIR(llvm::StringRef symbol, llvm::ArrayRef<Type> arguments, Type result) const {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  std::unique_ptr<llvm::Module> module = llvm::parseIR(content(), error, context);
  if (!module)
    return "`" + path + "` cannot be read" +
           (error.getLineNo() > 0 ? " (line " + std::to_string(error.getLineNo()) + ")" : "") + ": " +
           error.getMessage().str();
  llvm::Function *function = module->getFunction(symbol);
  if (!function || function->isDeclaration() || function->hasLocalLinkage()) {
    std::vector<std::string> known;
    for (const llvm::Function &candidate : *module)
      if (!candidate.isDeclaration() && !candidate.hasLocalLinkage())
        known.push_back(candidate.getName().str());
    return missing(symbol, std::move(known));
  }
  llvm::SmallVector<llvm::Type *> parameters;
  for (Type type : arguments)
    parameters.push_back(typeInIR(context, type));
  auto *expected = llvm::FunctionType::get(typeInIR(context, result), parameters, false);
  if (function->getFunctionType() != expected)
    return "`" + symbol.str() + "` of `" + path + "` is " + shown(*function->getFunctionType()) +
           ", and arg_type_symbol_dict says " + shown(*expected);
  return "";
}

std::string ExternalLibrary::problemWith(llvm::StringRef symbol, llvm::ArrayRef<Type> arguments, Type result) const {
  if (kind == Kind::IR)
    return problemInIR(symbol, arguments, result);
  std::vector<std::string> names;
  auto read = [&](llvm::MemoryBufferRef bytes) -> std::string {
    auto object = llvm::object::ObjectFile::createObjectFile(bytes);
    if (!object)
      return "`" + path + "` cannot be read: " + llvm::toString(object.takeError());
    if ((*object)->getArch() != llvm::Triple(hostTriple).getArch() || !(*object)->isELF())
      return "`" + path + "` holds code for " + llvm::Triple::getArchTypeName((*object)->getArch()).str() +
             ", and this kernel is made for " + hostTriple.str();
    llvm::append_range(names, definedNames(**object, kind == Kind::Shared));
    return "";
  };
  if (kind == Kind::Archive) {
    auto archive = llvm::object::Archive::create(content());
    if (!archive)
      return "`" + path + "` cannot be read: " + llvm::toString(archive.takeError());
    llvm::Error error = llvm::Error::success();
    std::string trouble;
    for (const llvm::object::Archive::Child &child : (*archive)->children(error)) {
      auto member = child.getMemoryBufferRef();
      if (!member) {
        trouble = llvm::toString(member.takeError());
        break;
      }
      if (std::string text = read(*member); !text.empty() && trouble.empty())
        trouble = text;
    }
    if (error)
      trouble = llvm::toString(std::move(error));
    if (!trouble.empty())
      return trouble;
  } else if (std::string trouble = read(content()); !trouble.empty()) {
    return trouble;
  }
  return llvm::is_contained(names, symbol) ? "" : missing(symbol, std::move(names));
}

} // namespace nacre
