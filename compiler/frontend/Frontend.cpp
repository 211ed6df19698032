// The entry: a module with one kernel, its signature from the argument specifications, its body from the code
// generator.
#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/Generator.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/language/BlockView.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/StringExtras.h"

namespace nacre {

Host::Answer Host::library(llvm::StringRef path) {
  auto library = ExternalLibrary::find(path);
  if (!library)
    return {std::nullopt, llvm::toString(library.takeError())};
  return {Object((*library)->digest), ""};
}

namespace {

// The arguments that exist at run time, tuples flattened, in order.
struct Signature {
  llvm::SmallVector<Type> types;
  llvm::SmallVector<int> divisibilities;
  llvm::SmallVector<std::string> names;
};

void flatten(const ArgumentSpec &argument, const std::string &name, Signature &signature) {
  if (argument.isTuple) {
    for (auto [i, element] : llvm::enumerate(argument.elements))
      flatten(element, name + "." + std::to_string(i), signature);
  } else if (!argument.isConstant) {
    signature.types.push_back(argument.type);
    signature.divisibilities.push_back(argument.divisibility);
    signature.names.push_back(name);
  }
}

// What the parameter's name is bound to: the constant, or the next of the function's arguments.
Object bindArgument(Generator &generator, const ArgumentSpec &argument, const Signature &signature,
                    mlir::func::FuncOp function, unsigned &next) {
  if (argument.isTuple) {
    auto tuple = std::make_shared<TupleValue>();
    for (const ArgumentSpec &element : argument.elements)
      tuple->items.push_back(bindArgument(generator, element, signature, function, next));
    tuple->names = argument.fieldNames;
    tuple->typeName = argument.tupleName;
    tuple->isRecord = argument.isRecord;
    if (!argument.recordClass.isNone())
      tuple->recordClass = std::make_shared<const Object>(argument.recordClass);
    return std::shared_ptr<const TupleValue>(std::move(tuple));
  }
  if (argument.isConstant)
    return argument.isRunTimeValue ? Object(toValue(generator, argument.constant)) : argument.constant;
  unsigned index = next++;
  return IRBuilder::wrap(signature.types[index], function.getArgument(index));
}

ArgumentSpec constantArgument(Object constant) {
  ArgumentSpec spec;
  spec.isConstant = true;
  spec.constant = std::move(constant);
  return spec;
}

[[noreturn]] void fail(const SourceLocation &place, Diagnostic::Kind kind, const std::string &message,
                       const std::string &hint = "") {
  Diagnostic diagnostic;
  diagnostic.kind = kind;
  diagnostic.location = place;
  diagnostic.message = message;
  diagnostic.hint = hint;
  throw CompileError(std::move(diagnostic));
}

bool isConstant(const ArgumentSpec &argument) {
  return argument.isTuple ? llvm::all_of(argument.elements, isConstant) : argument.isConstant;
}

void checkArguments(const Function &kernel, llvm::ArrayRef<ArgumentSpec> arguments) {
  const ast::FunctionDefinition &definition = *kernel.definition;
  std::set<std::string> given;
  for (const ArgumentSpec &argument : arguments) {
    auto parameter =
        llvm::find_if(definition.parameters, [&](const auto &candidate) { return candidate.name == argument.name; });
    if (parameter == definition.parameters.end())
      fail(definition.nameLocation, Diagnostic::Kind::Argument,
           "kernel `" + definition.name + "` has no parameter `" + argument.name + "`");
    if (!given.insert(argument.name).second)
      fail(parameter->location, Diagnostic::Kind::Argument, "the argument `" + argument.name + "` is given twice");
    if (isConstexprAnnotation(parameter->annotation.get()) && !isConstant(argument))
      fail(parameter->location, Diagnostic::Kind::Argument,
           "`" + argument.name + "` is tl.constexpr: the signature must give its value, not a type");
  }
  for (const ast::Parameter &parameter : definition.parameters) {
    if (parameter.kind == ast::ParameterKind::VariadicKeyword ||
        (parameter.kind == ast::ParameterKind::VariadicPositional && !given.count(parameter.name)))
      fail(parameter.location, Diagnostic::Kind::Unsupported, "a kernel cannot have `*` or `**` parameters");
    if (!given.count(parameter.name) && !parameter.defaultValue)
      fail(parameter.location, Diagnostic::Kind::Argument,
           "kernel `" + definition.name + "` needs the argument `" + parameter.name + "`",
           "give it at the launch, or a default in the definition");
  }
}

void attach(const KernelOptions &launch, mlir::ModuleOp module) {
  tile::LaunchOptions attributes;
  attributes.numWarps = launch.numWarps;
  attributes.numStages = launch.numStages;
  attributes.numCtas = launch.numCtas;
  attributes.maxRegisters = launch.maxRegisters;
  attributes.fpFusion = launch.fpFusion;
  attributes.cooperativeGrid = launch.cooperativeGrid;
  attributes.dependentLaunch = launch.dependentLaunch;
  attributes.attachTo(module);
}

// The builder keeps the IR valid; should it ever not, the text and the operation say where.
void verifyModule(mlir::ModuleOp module, const Function &kernel) {
  std::string problems;
  std::string place;
  mlir::ScopedDiagnosticHandler handler(module.getContext(), [&](mlir::Diagnostic &diagnostic) {
    llvm::raw_string_ostream out(problems);
    out << (problems.empty() ? "" : "; ") << diagnostic.str();
    if (place.empty())
      llvm::raw_string_ostream(place) << diagnostic.getLocation();
    return mlir::success();
  });
  if (mlir::failed(mlir::verify(module)))
    fail(kernel.definition->nameLocation, Diagnostic::Kind::Internal,
         "the compiler built invalid IR for `" + kernel.source.name + "` at " + place + ": " + problems);
}

// The place of an operation in one of the texts that it was built from.
SourceLocation placeOf(mlir::Operation *op, llvm::ArrayRef<std::shared_ptr<const SourceText>> sources,
                       const SourceLocation &otherwise) {
  SourceLocation place = otherwise;
  op->getLoc()->walk([&](mlir::Location part) {
    auto found = llvm::dyn_cast<mlir::FileLineColLoc>(part);
    if (!found)
      return mlir::WalkResult::advance();
    for (const std::shared_ptr<const SourceText> &source : sources)
      if (source->fileName == found.getFilename().getValue()) {
        int line = static_cast<int>(found.getLine()), column = std::max(static_cast<int>(found.getColumn()) - 1, 0);
        place = {source, line, column, line, column};
      }
    return mlir::WalkResult::interrupt();
  });
  return place;
}

// Passes recurse along chains of operations, each the next one's operand, and take memory and time for each operation:
// the stack that they have (runtime/DeepStack.h) is enough for so long a chain.
constexpr unsigned longestChain = 1u << 16, mostOperations = 1u << 18;

void checkSize(mlir::ModuleOp module, const Function &kernel,
               llvm::ArrayRef<std::shared_ptr<const SourceText>> sources) {
  const SourceLocation &name = kernel.definition->nameLocation;
  llvm::DenseMap<mlir::Operation *, unsigned> chains;
  unsigned operations = 0;
  module.walk<mlir::WalkOrder::PreOrder>([&](mlir::Operation *op) {
    unsigned longest = 0;
    for (mlir::Value operand : op->getOperands())
      if (mlir::Operation *before = operand.getDefiningOp())
        longest = std::max(longest, chains.lookup(before));
    chains[op] = longest + 1;
    if (longest + 1 > longestChain)
      fail(placeOf(op, sources, name), Diagnostic::Kind::Unsupported,
           "this is computed by a chain of more than " + std::to_string(longestChain) + " operations",
           "use a plain `for ... in range(...)`, which is a loop at run time, or split the kernel");
    if (++operations > mostOperations)
      fail(placeOf(op, sources, name), Diagnostic::Kind::Unsupported,
           "the kernel is too large to compile: it has more than " + std::to_string(mostOperations) +
               " operations up to here, when helpers and static loops are copied to where they are used",
           "use a plain `for ... in range(...)`, which is a loop at run time, or split the kernel");
  });
}

} // namespace

ArgumentSpec descriptorArgument(Type descriptor, int divisibility) {
  Type block = descriptor.element();
  ArgumentSpec base, shape, strides, spec;
  base.type = Type::pointer(block.scalarType());
  base.divisibility = divisibility;
  shape.isTuple = strides.isTuple = spec.isTuple = spec.isRecord = true;
  for (int64_t axis = 0; axis < block.rank(); ++axis) {
    shape.elements.emplace_back().type = int32();
    strides.elements.emplace_back().type = int64();
  }
  strides.elements.back() = constantArgument(1);
  Shape extents = block.shape();
  spec.type = descriptor;
  spec.tupleName = descriptorName;
  spec.fieldNames = {"base", "shape", "strides", "block_shape", "padding"};
  spec.elements = {base, shape, strides,
                   constantArgument(Object::makeTuple(std::vector<Object>(extents.begin(), extents.end()))),
                   constantArgument("zero")};
  return spec;
}

void buildTileIR(mlir::MLIRContext &context, const FunctionSource &kernelSource, llvm::ArrayRef<ArgumentSpec> arguments,
                 Host &host, const FrontendOptions &options, mlir::OwningOpRef<mlir::ModuleOp> &module) {
  context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                      mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  FunctionPointer kernel = parseFunctionSource(kernelSource);
  checkArguments(*kernel, arguments);

  // Until it is whole the module is ours: an error leaves the caller's as it was.
  mlir::OwningOpRef<mlir::ModuleOp> built;
  std::vector<std::shared_ptr<const SourceText>> sources;
  {
    Generator generator(context, host, options);
    IRBuilder &ir = generator.ir();
    mlir::OpBuilder &ops = ir.ops();
    ir.setLocation(kernel->definition->location);
    mlir::Location location = ir.irLocation();
    built = mlir::ModuleOp::create(location);
    attach(options.launch, *built);

    Signature signature;
    for (const ArgumentSpec &argument : arguments)
      flatten(argument, argument.name, signature);
    llvm::SmallVector<mlir::Type> types;
    llvm::SmallVector<mlir::Location> places;
    for (auto [type, name] : llvm::zip(signature.types, signature.names)) {
      types.push_back(ir.irType(type));
      places.push_back(mlir::NameLoc::get(ops.getStringAttr(name), location));
    }
    ops.setInsertionPointToEnd(built->getBody());
    auto function = mlir::func::FuncOp::create(ops, location, kernelSource.name, ops.getFunctionType(types, {}));
    function->setAttr(tile::kernelAttribute, ops.getUnitAttr());
    mlir::Block *entry = new mlir::Block();
    function.getBody().push_back(entry);
    entry->addArguments(types, places);
    for (auto [i, divisibility] : llvm::enumerate(signature.divisibilities))
      if (divisibility > 1)
        function.setArgAttr(i, tile::divisibilityAttribute, ops.getI64IntegerAttr(divisibility));

    ops.setInsertionPointToEnd(entry);
    llvm::SmallVector<Object> values;
    unsigned next = 0;
    for (const ArgumentSpec &argument : arguments)
      values.push_back(bindArgument(generator, argument, signature, function, next));
    generator.buildKernel(kernel, arguments, values);
    mlir::func::ReturnOp::create(ops, location);
    sources = ir.namedSources();
  }
  checkSize(*built, *kernel, sources);
  if (options.sources)
    *options.sources = std::move(sources);
  verifyModule(*built, *kernel);
  module = std::move(built);
}

} // namespace nacre
