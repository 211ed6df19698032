// nacre-frontend-dump FILE KERNEL SIGNATURE [--debug] [--locations]: the tile IR of a kernel on stdout, or the error's
// text and exit code 1. The signature has one entry a parameter, separated by commas: a type's short name, with `:16`
// for a known divisor, or a constant (a number, True, False, None, 'text', or a type's short name for a constexpr
// parameter); parentheses make a tuple.
#include "compiler/frontend/Frontend.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace nacre;

static llvm::SmallVector<llvm::StringRef> splitEntries(llvm::StringRef text) {
  llvm::SmallVector<llvm::StringRef> entries;
  int depth = 0;
  size_t start = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i == text.size() || (text[i] == ',' && depth == 0)) {
      if (llvm::StringRef entry = text.slice(start, i).trim(); !entry.empty())
        entries.push_back(entry);
      start = i + 1;
    } else if (text[i] == '(' || text[i] == '[') {
      ++depth;
    } else if (text[i] == ')' || text[i] == ']') {
      --depth;
    }
  }
  return entries;
}

static std::optional<Object> parseConstant(llvm::StringRef text) {
  if (text == "None")
    return Object();
  if (text == "True" || text == "False")
    return Object(text == "True");
  if (text.size() >= 2 && text.front() == '\'' && text.back() == '\'')
    return Object(text.drop_front().drop_back().str());
  int64_t integer;
  if (!text.getAsInteger(10, integer))
    return Object(integer);
  double number;
  if (!text.getAsDouble(number))
    return Object(number);
  return std::nullopt;
}

static ArgumentSpec parseEntry(llvm::StringRef text, const std::string &name, bool isConstexpr) {
  ArgumentSpec spec;
  spec.name = name;
  if (text.starts_with("(") && text.ends_with(")")) {
    spec.isTuple = true;
    for (llvm::StringRef element : splitEntries(text.drop_front().drop_back()))
      spec.elements.push_back(parseEntry(element, "", isConstexpr));
    return spec;
  }
  auto [typeText, divisor] = text.split(':');
  Type type = Type::parseShortName(typeText);
  if (type && !isConstexpr) {
    spec.type = type;
    if (!divisor.empty() && divisor.getAsInteger(10, spec.divisibility))
      llvm::report_fatal_error(llvm::Twine("bad divisor in ") + text, false);
    if (type.kind() == Type::Kind::Descriptor) {
      spec = descriptorArgument(type, spec.divisibility);
      spec.name = name;
    }
    return spec;
  }
  spec.isConstant = true;
  if (std::optional<Object> constant = parseConstant(text))
    spec.constant = *constant;
  else if (type)
    spec.constant = type;
  else
    llvm::report_fatal_error(llvm::Twine("bad entry in the signature: ") + text, false);
  return spec;
}

int main(int argc, char **argv) {
  if (argc < 4) {
    llvm::errs() << "usage: nacre-frontend-dump FILE KERNEL SIGNATURE [--debug] [--locations] [--num-warps=N] "
                    "[--num-stages=N]\n";
    return 2;
  }
  FrontendOptions options;
  // Of a machine of the tests' own: a target brings its notation.
  options.assembly = {.machine = "the tests' machine",
                      .isPtx = false,
                      .operandLetters = "rxmi",
                      .operandHint = "use r for an integer register, x for a vector register"};
  mlir::OpPrintingFlags flags;
  for (int i = 4; i < argc; ++i) {
    llvm::StringRef option = argv[i];
    auto number = [&](llvm::StringRef name, std::optional<int> &value) {
      llvm::StringRef text = option;
      int parsed;
      if (!text.consume_front(name) || text.getAsInteger(10, parsed))
        return false;
      value = parsed;
      return true;
    };
    if (option == "--debug")
      options.debug = true;
    else if (option == "--locations")
      flags.enableDebugInfo(true, /*prettyForm=*/false);
    else if (!number("--num-warps=", options.launch.numWarps) && !number("--num-stages=", options.launch.numStages))
      llvm::report_fatal_error(llvm::Twine("unknown option ") + option, false);
  }
  auto buffer = llvm::MemoryBuffer::getFile(argv[1]);
  if (!buffer) {
    llvm::errs() << argv[1] << ": " << buffer.getError().message() << "\n";
    return 2;
  }
  auto text = std::make_shared<SourceText>();
  text->fileName = llvm::StringRef(argv[1]).rsplit('/').second.str();
  if (text->fileName.empty())
    text->fileName = argv[1];
  text->text = (*buffer)->getBuffer().str();

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::OwningOpRef<mlir::ModuleOp> module;
  try {
    std::unique_ptr<Embedder> embedder = makeFileEmbedder(text);
    FunctionSource kernel = findFunction(*embedder, argv[2]);
    std::vector<ParameterInfo> parameters = functionParameters(kernel);
    std::vector<ArgumentSpec> arguments;
    for (auto [i, entry] : llvm::enumerate(splitEntries(argv[3]))) {
      bool isKnown = i < parameters.size();
      arguments.push_back(parseEntry(entry, isKnown ? parameters[i].name : "?" + std::to_string(i),
                                     isKnown && parameters[i].isConstexpr));
    }
    buildTileIR(context, kernel, arguments, *embedder, options, module);
  } catch (const CompileError &error) {
    llvm::outs() << error.what();
    return 1;
  }
  module->print(llvm::outs(), flags);
  llvm::outs() << "\n";
  return 0;
}
