// The walk: functions, blocks, structured control flow, and the meeting of IR types and values.
#include "compiler/reference/IRWalker.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/reference/Buffer.h"
#include "compiler/reference/FloatFormats.h"
#include "compiler/reference/IRProgram.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace nacre;

// The place of an operation in the kernel's text, seen through call sites, names and fusions.
static mlir::FileLineColLoc placeOf(mlir::Location location) {
  mlir::FileLineColLoc found;
  location->walk([&](mlir::Location part) {
    if (!found)
      found = mlir::dyn_cast<mlir::FileLineColLoc>(part);
    return found ? mlir::WalkResult::interrupt() : mlir::WalkResult::advance();
  });
  return found;
}

void IRProgram::locate(mlir::Operation &op) {
  SourceLocation location;
  if (mlir::FileLineColLoc place = placeOf(op.getLoc())) {
    auto source = std::make_shared<SourceText>();
    source->fileName = place.getFilename().str();
    location.source = source;
    location.line = location.endLine = static_cast<int>(place.getLine());
    location.column = location.endColumn = std::max(0, static_cast<int>(place.getColumn()) - 1);
  }
  builder.setLocation(location);
}

void IRProgram::fail(mlir::Operation &op, const std::string &message) {
  locate(op);
  Diagnostic diagnostic;
  diagnostic.kind = Diagnostic::Kind::Unsupported;
  diagnostic.location = builder.location();
  diagnostic.message = "'" + op.getName().getStringRef().str() + "': " + message;
  throw CompileError(std::move(diagnostic));
}

Value IRProgram::get(mlir::Value value) const {
  auto found = values.find(value);
  assert(found != values.end() && "a value is used before it is computed");
  return found->second;
}

Values IRProgram::operandsOf(mlir::Operation &op) const {
  Values operands;
  Shape shape;
  for (mlir::Value operand : op.getOperands()) {
    operands.push_back(get(operand));
    if (operands.back().type().isBlock())
      shape = operands.back().type().shape();
  }
  if (!shape.empty())
    for (Value &operand : operands)
      if (!operand.type().isBlock())
        operand = builder.splat(operand, shape);
  return operands;
}

Type IRProgram::resultType(mlir::Type type, const Value &like) const {
  return withShape(typeOfIR(mlir::getElementTypeOrSelf(type)), like.type().shape());
}

bool IRProgram::isTrue(mlir::Value condition) const { return scalarOf<uint8_t>(get(condition)) != 0; }

int64_t IRProgram::integerOf(mlir::Value value) const {
  Value number = get(value);
  switch (bufferOf(number).elementSize()) {
  case 1:
    return scalarOf<int8_t>(number);
  case 2:
    return scalarOf<int16_t>(number);
  case 4:
    return scalarOf<int32_t>(number);
  default:
    return scalarOf<int64_t>(number);
  }
}

Value IRProgram::integerLike(const Value &like, int64_t number) {
  Value scalar = builder.scalarFromBits(like.type().scalarType(), static_cast<uint64_t>(number));
  return like.type().isBlock() ? builder.splat(scalar, like.type().shape()) : scalar;
}

// The bits of one element of a constant.
static uint64_t bitsOf(mlir::Attribute element) {
  if (auto number = mlir::dyn_cast<mlir::FloatAttr>(element))
    return number.getValue().bitcastToAPInt().getZExtValue();
  return mlir::cast<mlir::IntegerAttr>(element).getValue().getZExtValue();
}

Value IRProgram::constant(mlir::Attribute attribute, mlir::Type irType) {
  Type type = typeOfIR(irType);
  auto elements = mlir::dyn_cast<mlir::DenseElementsAttr>(attribute);
  if (!elements)
    return builder.scalarFromBits(type, bitsOf(attribute));
  if (elements.isSplat())
    return builder.splat(builder.scalarFromBits(type.scalarType(), bitsOf(elements.getSplatValue<mlir::Attribute>())),
                         type.shape());
  BufferRef result = makeBuffer(type);
  int size = result->elementSize();
  std::byte *target = result->data;
  for (mlir::Attribute element : elements.getValues<mlir::Attribute>()) {
    uint64_t bits = bitsOf(element);
    std::memcpy(target, &bits, size);
    target += size;
  }
  return valueOf(result);
}

llvm::SmallVector<Value> IRProgram::call(mlir::func::FuncOp function, llvm::ArrayRef<Value> arguments) {
  if (!function.getBody().hasOneBlock())
    fail(*function, "only functions of one block can be run");
  return runBlock(function.getBody().front(), arguments);
}

llvm::SmallVector<Value> IRProgram::runBlock(mlir::Block &block, llvm::ArrayRef<Value> arguments) {
  for (auto [argument, value] : llvm::zip_equal(block.getArguments(), arguments))
    set(argument, value);
  for (mlir::Operation &op : block.without_terminator())
    run(op);
  llvm::SmallVector<Value> results;
  for (mlir::Value operand : block.getTerminator()->getOperands())
    results.push_back(get(operand));
  return results;
}

void IRProgram::run(mlir::Operation &op) {
  if (!runArith(op) && !runShape(op) && !runMemory(op) && !runDescriptor(op) && !runControl(op) && !runMath(op) &&
      !runTile(op))
    fail(op, "the evaluator does not know this operation");
}

bool IRProgram::runControl(mlir::Operation &op) {
  auto finish = [&](llvm::ArrayRef<Value> results) {
    for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
      set(result, value);
  };
  auto operands = [&](mlir::ValueRange range) {
    llvm::SmallVector<Value> result;
    for (mlir::Value value : range)
      result.push_back(get(value));
    return result;
  };
  return llvm::TypeSwitch<mlir::Operation *, bool>(&op)
      .Case([&](mlir::scf::IfOp branch) {
        mlir::Region &taken = isTrue(branch.getCondition()) ? branch.getThenRegion() : branch.getElseRegion();
        if (!taken.empty())
          finish(runBlock(taken.front(), {}));
        return true;
      })
      .Case([&](mlir::scf::ForOp loop) {
        // Counted in more bits than the index has: a step may pass over its largest number on the way to the end.
        auto number = [&](mlir::Value value) -> __int128 {
          int64_t bits = integerOf(value);
          if (!loop.getUnsignedCmp())
            return bits;
          return static_cast<uint64_t>(bits) & llvm::maskTrailingOnes<uint64_t>(8 * bufferOf(get(value)).elementSize());
        };
        __int128 lower = number(loop.getLowerBound()), upper = number(loop.getUpperBound()),
                 step = number(loop.getStep());
        llvm::SmallVector<Value> carried = operands(loop.getInitArgs());
        Type indexType = typeOfIR(loop.getInductionVar().getType());
        // A step that is not positive runs over nothing.
        for (__int128 index = lower; step > 0 && index < upper; index += step) {
          llvm::SmallVector<Value> arguments = {builder.scalarFromBits(indexType, static_cast<uint64_t>(index))};
          arguments.append(carried.begin(), carried.end());
          carried = runBlock(*loop.getBody(), arguments);
        }
        finish(carried);
        return true;
      })
      .Case([&](mlir::scf::WhileOp loop) {
        llvm::SmallVector<Value> carried = operands(loop.getInits());
        while (true) {
          llvm::SmallVector<Value> results = runBlock(loop.getBefore().front(), carried);
          bool goesOn = scalarOf<uint8_t>(results.front()) != 0;
          results.erase(results.begin());
          if (!goesOn) {
            finish(results);
            return true;
          }
          carried = runBlock(loop.getAfter().front(), results);
        }
      })
      .Case([&](mlir::scf::ExecuteRegionOp region) {
        finish(runBlock(region.getRegion().front(), {}));
        return true;
      })
      .Case([&](mlir::scf::IndexSwitchOp choice) {
        int64_t selector = integerOf(choice.getArg());
        mlir::Region *taken = &choice.getDefaultRegion();
        for (auto [number, region] : llvm::zip(choice.getCases(), choice.getCaseRegions()))
          if (number == selector)
            taken = &region;
        finish(runBlock(taken->front(), {}));
        return true;
      })
      .Case([&](mlir::func::CallOp call) {
        auto callee = mlir::SymbolTable::lookupNearestSymbolFrom<mlir::func::FuncOp>(call, call.getCalleeAttr());
        if (!callee || callee.isExternal())
          fail(op, "the function '" + call.getCallee().str() + "' has no body here");
        finish(this->call(callee, operands(call.getOperands())));
        return true;
      })
      .Case([&](mlir::ub::PoisonOp poison) {
        Type type = typeOfIR(poison.getType());
        if (type.kind() == Type::Kind::Descriptor) { // nobody reads it
          set(poison.getResult(), Value(type, std::make_shared<BlockArray>()));
          return true;
        }
        Value zero = builder.scalarFromBits(type.scalarType(), 0);
        set(poison.getResult(), type.isBlock() ? builder.splat(zero, type.shape()) : zero);
        return true;
      })
      .Default([](mlir::Operation *) { return false; });
}

void nacre::runTileIR(mlir::func::FuncOp kernel, llvm::ArrayRef<uint64_t> arguments, const RunOptions &options) {
  unsigned slots = 0;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    slots += tile::argumentSlots(kernel, i);
  (void)slots;
  assert(arguments.size() == slots && "one slot for each argument, and for each field of a descriptor");
  EagerBuilder builder;
  builder.program.grid = options.grid;
  builder.program.memory = options.memory;
  builder.program.print = options.print;
  auto scalar = [&](mlir::Type type, uint64_t slot) {
    Type argument = typeOfIR(type);
    assert(argument && !argument.isBlock() && "a kernel's arguments are scalars, pointers and descriptors");
    uint64_t bits = slot;
    ScalarKind kind = argument.isPointer() ? ScalarKind::UInt64 : argument.scalarKind();
    if (isNarrowFloat(kind)) { // comes as a float
      float number = std::bit_cast<float>(static_cast<uint32_t>(slot));
      bits = 0;
      encodeFloats(kind, &number, &bits, 1);
    }
    return builder.scalarFromBits(argument, bits);
  };
  llvm::SmallVector<Value> values;
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto descriptor = mlir::dyn_cast<tile::DescriptorType>(type);
    if (!descriptor) {
      values.push_back(scalar(type, arguments.front()));
      arguments = arguments.drop_front();
      continue;
    }
    // Its fields: the base, the extents, the strides.
    auto array = std::make_shared<BlockArray>();
    array->blockShape.assign(descriptor.getBlock().getShape().begin(), descriptor.getBlock().getShape().end());
    for (auto [i, field] : llvm::enumerate(tile::descriptorFields(kernel, index))) {
      Value value;
      if (!field.type) {
        value = builder.scalarFromBits(int64(), static_cast<uint64_t>(field.number));
      } else {
        value = scalar(field.type, arguments.front());
        arguments = arguments.drop_front();
        if (value.type().isInteger() && value.type().bitWidth() < 64)
          value = builder.cast(CastOp::ExtendSigned, value, int64());
      }
      if (i == 0)
        array->base = value;
      else
        (static_cast<int64_t>(i) <= descriptor.getRank() ? array->shape : array->strides).push_back(value);
    }
    array->strides.push_back(builder.scalarFromBits(int64(), 1));
    values.push_back(Value(typeOfIR(type), std::move(array)));
  }
  for (uint32_t z = 0; z < options.grid[2]; ++z)
    for (uint32_t y = 0; y < options.grid[1]; ++y)
      for (uint32_t x = 0; x < options.grid[0]; ++x) {
        builder.program.programId = {x, y, z};
        IRProgram(builder).call(kernel, values);
      }
}
