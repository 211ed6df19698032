// The entry: a module with one kernel, its signature from the argument specifications, its body from the code
// generator.
#include "compiler/frontend/Frontend.h"
#include "compiler/frontend/Generator.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/language/meaning/BlockView.h"
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

Embedder::Answer Embedder::library(llvm::StringRef path) {
  auto library = ExternalLibrary::find(path);
  if (!library)
    return {std::nullopt, llvm::toString(library.takeError())};
  return {Object((*library)->digest), ""};
}

namespace {

// The arguments of the function, tuples flattened, in order. A descriptor is one.
struct Signature {
  llvm::SmallVector<Type> types;
  llvm::SmallVector<const ArgumentSpec *> specs;
  llvm::SmallVector<std::string> names;
};

bool isDescriptor(const ArgumentSpec &argument) { return argument.isRecord && argument.tupleName == descriptorName; }

// Of a descriptor's specification: its fields in order (Frontend.h), and the type by which builders know it.
const ArgumentSpec &base(const ArgumentSpec &descriptor) { return descriptor.elements[0]; }
llvm::ArrayRef<ArgumentSpec> extents(const ArgumentSpec &descriptor) { return descriptor.elements[1].elements; }
llvm::ArrayRef<ArgumentSpec> strides(const ArgumentSpec &descriptor) { return descriptor.elements[2].elements; }

// Bools are bytes in memory.
Type pointerOf(const ArgumentSpec &descriptor) {
  Type pointer = base(descriptor).type;
  return pointer.element().isBool() ? Type::pointer(int8(), pointer.isConst(), pointer.addressSpace()) : pointer;
}

Type descriptorType(const ArgumentSpec &descriptor) {
  llvm::SmallVector<int64_t> shape;
  for (const Object &extent : descriptor.elements[3].constant.tuple().items)
    shape.push_back(static_cast<int64_t>(extent.as<llvm::DynamicAPInt>()));
  return Type::descriptor(Type::block(pointerOf(descriptor).element(), shape));
}

void flatten(const ArgumentSpec &argument, const std::string &name, Signature &signature) {
  if (isDescriptor(argument)) {
    signature.types.push_back(descriptorType(argument));
    signature.specs.push_back(&argument);
    signature.names.push_back(name);
  } else if (argument.isTuple) {
    for (auto [i, element] : llvm::enumerate(argument.elements))
      flatten(element, name + "." + std::to_string(i), signature);
  } else if (!argument.isConstant) {
    signature.types.push_back(argument.type);
    signature.specs.push_back(&argument);
    signature.names.push_back(name);
  }
}

// How a descriptor arrives, on its argument.
void describeFields(IRBuilder &ir, const ArgumentSpec &descriptor, mlir::func::FuncOp function, unsigned index) {
  llvm::SmallVector<tile::DescriptorField> fields;
  auto add = [&](const ArgumentSpec &spec, Type type) {
    tile::DescriptorField &field = fields.emplace_back();
    if (spec.isConstant) {
      field.number = static_cast<int64_t>(spec.constant.as<llvm::DynamicAPInt>());
    } else {
      field.type = ir.irType(type);
      field.divisibility = spec.divisibility;
    }
  };
  add(base(descriptor), pointerOf(descriptor));
  for (const ArgumentSpec &extent : extents(descriptor))
    add(extent, extent.type);
  for (const ArgumentSpec &stride : strides(descriptor).drop_back())
    add(stride, stride.type);
  tile::setDescriptorFields(function, index, fields);
  if (descriptor.elements[4].constant.as<std::string>() == "nan")
    function.setArgAttr(index, tile::paddingAttribute,
                        tile::PaddingAttr::get(function.getContext(), tile::Padding::Nan));
}

// The record of a descriptor: what is known of its fields, what is read of them, and the descriptor itself.
Object bindDescriptor(IRBuilder &ir, const ArgumentSpec &descriptor, mlir::Value argument) {
  mlir::OpBuilder &ops = ir.ops();
  mlir::Location location = argument.getLoc();
  auto integer = [&](const ArgumentSpec &spec, auto read) -> Object {
    if (spec.isConstant)
      return spec.constant;
    Value wide = IRBuilder::wrap(int64(), read());
    return spec.type.bitWidth() == 64 ? IRBuilder::wrap(spec.type, IRBuilder::irValue(wide))
                                      : ir.cast(CastOp::Truncate, wide, spec.type, Rounding::NearestEven);
  };
  mlir::Value pointer =
      tile::DescriptorBaseOp::create(ops, location, ir.irType(pointerOf(descriptor)), argument).getResult();
  Value start = IRBuilder::wrap(pointerOf(descriptor), pointer);
  if (start.type() != base(descriptor).type)
    start = ir.cast(CastOp::Bitcast, start, base(descriptor).type, Rounding::NearestEven);
  std::vector<Object> shape, steps;
  for (auto [axis, spec] : llvm::enumerate(extents(descriptor)))
    shape.push_back(integer(spec, [&, axis = axis] {
      return tile::DescriptorExtentOp::create(ops, location, argument, static_cast<uint32_t>(axis)).getResult();
    }));
  for (auto [axis, spec] : llvm::enumerate(strides(descriptor)))
    steps.push_back(integer(spec, [&, axis = axis] {
      return tile::DescriptorStrideOp::create(ops, location, argument, static_cast<uint32_t>(axis)).getResult();
    }));
  return makeDescriptorRecord(start, Object::makeTuple(std::move(shape)), Object::makeTuple(std::move(steps)),
                              descriptor.elements[3].constant, descriptor.elements[4].constant,
                              IRBuilder::wrap(descriptorType(descriptor), argument));
}

// What the parameter's name is bound to: the constant, or the next of the function's arguments.
Object bindArgument(Generator &generator, const ArgumentSpec &argument, const Signature &signature,
                    mlir::func::FuncOp function, unsigned &next) {
  if (isDescriptor(argument))
    return bindDescriptor(generator.ir(), argument, function.getArgument(next++));
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
// the stack that they have (runtime/compile/DeepStack.h) is enough for so long a chain.
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

ArgumentSpec constantArgument(Object constant) {
  ArgumentSpec spec;
  spec.isConstant = true;
  spec.constant = std::move(constant);
  return spec;
}

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
  spec.fieldNames.assign(std::begin(descriptorFields), std::end(descriptorFields));
  spec.elements = {base, shape, strides,
                   constantArgument(Object::makeTuple(std::vector<Object>(extents.begin(), extents.end()))),
                   constantArgument("zero")};
  return spec;
}

void buildTileIR(mlir::MLIRContext &context, const FunctionSource &kernelSource, llvm::ArrayRef<ArgumentSpec> arguments,
                 Embedder &embedder, const FrontendOptions &options, mlir::OwningOpRef<mlir::ModuleOp> &module) {
  context.loadDialect<tile::TileDialect, mlir::arith::ArithDialect, mlir::func::FuncDialect, mlir::math::MathDialect,
                      mlir::scf::SCFDialect, mlir::ub::UBDialect>();
  FunctionPointer kernel = parseFunctionSource(kernelSource);
  checkArguments(*kernel, arguments);

  // Until it is whole the module is ours: an error leaves the caller's as it was.
  mlir::OwningOpRef<mlir::ModuleOp> built;
  std::vector<std::shared_ptr<const SourceText>> sources;
  {
    Generator generator(context, embedder, options);
    IRBuilder &ir = generator.ir();
    mlir::OpBuilder &ops = ir.ops();
    ir.setLocation(kernel->definition->location);
    mlir::Location location = ir.irLocation();
    built = mlir::ModuleOp::create(location);
    options.launch.attachTo(*built);

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
    for (auto [i, spec] : llvm::enumerate(signature.specs))
      if (isDescriptor(*spec))
        describeFields(ir, *spec, function, i);
      else if (spec->divisibility > 1)
        function.setArgAttr(i, tile::divisibilityAttribute, ops.getI64IntegerAttr(spec->divisibility));

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
