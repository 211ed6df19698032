// The interface of a kernel in C. Its code is the device's business (ExportedCode.h).
#include "runtime/api/AheadOfTime.h"
#include "runtime/Device.h"
#include "runtime/api/ExportedCode.h"
#include "runtime/compile/Fingerprint.h"
#include "runtime/launch/Signature.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

namespace nacre {

namespace {

// A parameter of the C function, or of the dispatcher alone (`isOne`).
struct CParameter {
  std::string name;
  Type type;
  int position = 0; // among all arguments of the kernel, tuples flattened
  bool isAligned = false, isOne = false;
};

// A constant that C can say: expressions for the grid may name it.
struct CConstant {
  std::string name, value;
};

struct Interface {
  const ExportedCode *code = nullptr;
  std::vector<CParameter> parameters;
  std::vector<CConstant> constants;
  std::string constantValues; // all of them, as a part of a name in C
};

std::string identifier(llvm::StringRef text) {
  std::string result;
  for (char c : text)
    result += llvm::isAlnum(c) ? c : '_';
  return result;
}

// A name that C does not use itself.
std::string parameterName(llvm::StringRef name) {
  static constexpr llvm::StringLiteral taken[] = {
      "auto",   "bool",    "break",    "case",          "char",           "const",    "continue", "default",
      "do",     "double",  "else",     "enum",          "extern",         "float",    "for",      "goto",
      "if",     "inline",  "int",      "long",          "register",       "restrict", "return",   "short",
      "signed", "sizeof",  "static",   "struct",        "switch",         "typedef",  "union",    "unsigned",
      "void",   "while",   "volatile", "grid_x",        "grid_y",         "grid_z",   "kernel",   "arguments",
      "class",  "new",     "private",  "public",        "template",       "operator", "this",     "algo_id",
      "stream", "general", "passes",   "kernel_arrays", "general_arrays",
  };
  std::string result = identifier(name);
  return llvm::is_contained(taken, name) ? result + "_" : result;
}

std::string cType(Type type) {
  if (type.isPointer()) {
    Type element = type.element();
    // Elements that C has no type for are addressed as bytes.
    bool isKnown = element.isScalar() && (!element.isFloating() || element.bitWidth() >= 32) &&
                   element.scalarKind() != ScalarKind::Void;
    return std::string(type.isConst() ? "const " : "") + (isKnown ? cType(element) : "void") + " *";
  }
  if (type.isFloating())
    return type.scalarKind() == ScalarKind::Float64 ? "double" : "float"; // narrow floats arrive as fp32
  if (type.isBool())
    return "uint8_t";
  return std::string(type.isSigned() ? "int" : "uint") + std::to_string(type.bitWidth()) + "_t";
}

std::string declaration(const CParameter &parameter) {
  std::string type = cType(parameter.type);
  return type + (llvm::StringRef(type).ends_with("*") ? "" : " ") + parameter.name;
}

// The eight bytes that the kernel gets.
std::string slot(const CParameter &parameter) {
  if (parameter.type.isPointer())
    return "(uint64_t)(uintptr_t)" + parameter.name;
  if (parameter.type.isFloating())
    return (parameter.type.scalarKind() == ScalarKind::Float64 ? "nacre_double_bits(" : "nacre_float_bits(") +
           parameter.name + ")";
  if (parameter.type.isBool())
    return "(uint64_t)(" + parameter.name + " != 0)";
  return std::string(parameter.type.isSigned() ? "(uint64_t)(int64_t)" : "(uint64_t)") + parameter.name;
}

void collect(const ArgumentSpec &argument, const std::string &name, int &position, Interface &result) {
  if (argument.isTuple) {
    for (auto [i, element] : llvm::enumerate(argument.elements))
      collect(element, name + "_" + (argument.fieldNames.empty() ? std::to_string(i) : argument.fieldNames[i]),
              position, result);
    return;
  }
  int here = position++;
  bool isOne = argument.isConstant && argument.type;
  if (argument.isConstant && !isOne) {
    std::string text = argument.constant.isType() ? argument.constant.as<Type>().shortName() : argument.constant.repr();
    result.constantValues += (result.constantValues.empty() ? "" : "x") + identifier(text);
    if (argument.constant.isInt())
      result.constants.push_back({parameterName(name), text});
    return;
  }
  result.parameters.push_back({parameterName(name), argument.type, here, argument.divisibility % 16 == 0, isOne});
}

// What `link` reads: one line of JSON.
std::string description(const ExportRequest &request, const Interface &interface, const std::string &function) {
  llvm::json::Array parameters;
  for (const CParameter &parameter : interface.parameters)
    parameters.push_back(llvm::json::Object{{"type", cType(parameter.type)},
                                            {"name", parameter.name},
                                            {"hint", parameter.isOne       ? 1
                                                     : parameter.isAligned ? 16
                                                                           : 0}});
  llvm::SmallVector<llvm::StringRef, 2> parts;
  for (llvm::StringRef part : {llvm::StringRef(interface.constantValues), llvm::StringRef(request.meta)})
    if (!part.empty())
      parts.push_back(part);
  if (parts.empty())
    parts.push_back("only");
  llvm::json::Object object{{"name", request.name},
                            {"function", function},
                            {"algorithm", llvm::join(parts, "_")},
                            {"takes_stream", interface.code->hasStream},
                            {"takes_grid", request.grid.empty()},
                            {"parameters", std::move(parameters)}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
  return text;
}

std::string prototype(const ExportRequest &request, const Interface &interface, const std::string &function) {
  std::vector<std::string> parts;
  if (interface.code->hasStream)
    parts.push_back("void *stream");
  if (request.grid.empty())
    parts.insert(parts.end(), {"uint32_t grid_x", "uint32_t grid_y", "uint32_t grid_z"});
  for (const CParameter &parameter : interface.parameters)
    if (!parameter.isOne)
      parts.push_back(declaration(parameter));
  return "nacre_result " + function + "(" + (parts.empty() ? "void" : llvm::join(parts, ", ")) + ")";
}

std::string headerText(const ExportRequest &request, const Interface &interface, const std::string &function,
                       const CompiledCode &code) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "/* The kernel `" << request.kernel.kernel.name << "`, compiled for "
      << llvm::StringRef(request.kernel.options.target->description(request.kernel.options)).split(' ').first
      << ":\n   " << signatureText(request.kernel.arguments) << " */\n";
  out << "// nacre-link: " << description(request, interface, function) << "\n";
  for (const CParameter &parameter : interface.parameters)
    if (parameter.isAligned)
      out << "// `" << parameter.name << "` must be divisible by 16.\n";
  for (const ExternalFunction &external : code.externals)
    out << "// It calls a library: link " << external.library << " and -Wl,--defsym=" << external.linkName() << "="
        << external.symbol << "\n";
  out << "#ifndef NACRE_" << function << "_H\n#define NACRE_" << function << "_H\n\n#include \""
      << (interface.code->runtimeHeader) << "\"\n\n"
      << "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
      << prototype(request, interface, function) << ";\n";
  if (interface.code->hasStream)
    out << "// Before the first launch, where that must not load code; after the last one.\n"
        << "nacre_result " << function << "_load(void);\nvoid " << function << "_unload(void);\n";
  out << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return text;
}

ExportedFunction functionText(const ExportRequest &request, const Interface &interface, const std::string &function,
                              const std::string &stem) {
  ExportedFunction result{function, prototype(request, interface, function), stem, {}, "", request.grid};
  for (const CParameter &parameter : interface.parameters)
    if (!parameter.isOne)
      result.slots.push_back(slot(parameter));
  if (request.grid.empty()) {
    result.grid = {"grid_x", "grid_y", "grid_z"};
    return result;
  }
  llvm::raw_string_ostream out(result.declarations);
  for (const CParameter &parameter : interface.parameters)
    if (parameter.isOne)
      out << "  const " << declaration(parameter) << " = 1;\n  (void)" << parameter.name << ";\n";
  for (const CConstant &constant : interface.constants)
    out << "  const int64_t " << constant.name << " = " << constant.value << ";\n  (void)" << constant.name << ";\n";
  for (std::string &extent : result.grid)
    extent = "(uint32_t)(" + extent + ")";
  result.grid.resize(3, "1");
  return result;
}

bool isIdentifier(llvm::StringRef name) {
  return !name.empty() && !llvm::isDigit(name[0]) &&
         llvm::all_of(name, [](char c) { return llvm::isAlnum(c) || c == '_'; });
}

} // namespace

std::vector<std::string> splitGrid(llvm::StringRef text) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (char c : text) {
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (c == ',' && depth == 0)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  for (std::string &part : parts)
    part = llvm::StringRef(part).trim().str();
  return parts;
}

ExportedKernel exportKernel(ExportRequest request, Embedder &embedder) {
  if (!isIdentifier(request.name))
    failExport(request, "`" + request.name + "` is not the name of a function in C",
               "give another one with --out-name");
  if (request.grid.size() > 3 || llvm::is_contained(request.grid, ""))
    failExport(request, "the grid needs one to three expressions in C, separated by commas");
  Interface interface;
  for (const Driver *driver : drivers())
    if (!interface.code && &driver->target() == request.kernel.options.target)
      interface.code = driver->exportedCode();
  if (!interface.code)
    failExport(request,
               "kernels for " + request.kernel.options.target->name().str() + " cannot be compiled ahead of time");
  int position = 0;
  for (const ArgumentSpec &argument : request.kernel.arguments)
    collect(argument, argument.name, position, interface);
  std::string suffix;
  for (const CParameter &parameter : interface.parameters)
    if (parameter.isOne || parameter.isAligned)
      suffix += std::to_string(parameter.position) + (parameter.isOne ? "c" : "d");
  std::string hash = Fingerprint().add(signatureText(request.kernel.arguments)).add(request.meta).hex().substr(0, 8);

  ExportedKernel exported;
  exported.function = request.name + "_" + hash + "_" + suffix;
  CompileRequest compile = request.kernel;
  compile.kernel.name = exported.function + "_code"; // the symbol: several variants are linked into one program
  compile.options.checksLaunches = interface.code->checksLaunches;
  CompiledCode code = compileKernel(compile, embedder);
  std::optional<CompiledCode> general;
  if (!code.metadata.launchCheck.empty()) {
    compile.options.checksLaunches = false;
    compile.staticPrint = [](llvm::StringRef) {}; // it was printed already
    general = compileKernel(compile, embedder);
  }
  if (!code.externals.empty())
    failExport(request,
               "the kernel calls `" + code.externals.front().symbol + "` of `" + code.externals.front().library +
                   "`, which cannot be part of it",
               "give the library as LLVM bitcode or IR");
  std::string stem = (request.file.empty() ? request.name : request.file) + "." + hash + "_" + suffix;
  ExportedFunction function = functionText(request, interface, exported.function, stem);
  exported.files = {{stem + ".h", headerText(request, interface, exported.function, code)}};
  llvm::append_range(exported.files, interface.code->files(function, code, general ? &*general : nullptr, request));
  exported.files.push_back(aheadOfTimeFile("nacre_kernel.h"));
  return exported;
}

} // namespace nacre
