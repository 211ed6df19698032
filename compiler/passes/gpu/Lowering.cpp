// The walk over the kernel, and the places of elements. See Lowering.h.
#include "compiler/passes/gpu/Lowering.h"
#include "compiler/passes/gpu/Clusters.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/SaveAndRestore.h"

using namespace mlir;
using namespace nacre;
using namespace nacre::simt;

Lowering::Lowering(func::FuncOp kernel, const Machine &machine)
    : b(kernel.getLoc(), kernel.getContext()), machine(machine),
      block(BlockShape::of(kernel->getParentOfType<ModuleOp>())),
      mayFuse(tile::LaunchOptions::of(kernel->getParentOfType<ModuleOp>()).fpFusion.value_or(true)), kernel(kernel),
      module(kernel->getParentOfType<ModuleOp>()) {}

LogicalResult Lowering::fail(Operation *op, const llvm::Twine &message) { return op->emitError(message); }

// ---- Types and values

Type Lowering::registerType(Type element) {
  if (isa<SharedType, BarriersType>(element)) // its address
    return LLVM::LLVMPointerType::get(b.getContext(), 3);
  if (auto pointer = dyn_cast<tile::PointerType>(element))
    return LLVM::LLVMPointerType::get(b.getContext(), pointer.getAddressSpace());
  if (isa<TensorMapType>(element))
    return LLVM::LLVMPointerType::get(b.getContext());
  if (isa<tile::Float8E4B15Type>(element) || (isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8))
    return b.getI8Type();
  return element;
}

Type Lowering::memoryType(Type element) { return element.isInteger(1) ? b.getI8Type() : registerType(element); }

int64_t Lowering::byteSize(Type element) { return elementBytes(element); }

Value Lowering::toMemory(Value value, Type element) {
  return element.isInteger(1) ? Value(LLVM::ZExtOp::create(b, b.getI8Type(), value)) : value;
}

Value Lowering::fromMemory(Value value, Type element) {
  if (!element.isInteger(1))
    return value;
  return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ne, value, constant(b.getI8Type(), 0));
}

unsigned Lowering::registerCount(Type type) {
  return isa<RankedTensorType>(type) ? layoutOf(type).count(Place::Register) : 1;
}

ArrayRef<Value> Lowering::registers(Value value) {
  auto found = values.find(value);
  assert(found != values.end() && "a value is lowered before its users");
  return found->second;
}

void Lowering::define(Value value, ArrayRef<Value> registers) {
  assert(registers.size() == registerCount(value.getType()) && "one value a register");
  values[value] = SmallVector<Value>(registers);
}

// ---- Small things

Value Lowering::constant(Type type, int64_t value) {
  unsigned width = type.getIntOrFloatBitWidth();
  return LLVM::ConstantOp::create(
      b, type, IntegerAttr::get(type, llvm::APInt(width, static_cast<uint64_t>(value), true, /*implicitTrunc=*/true)));
}

Value Lowering::zero(Type type) { return LLVM::ZeroOp::create(b, type); }

Value Lowering::byteOffset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(b, pointer.getType(), b.getI8Type(), pointer, ArrayRef<LLVM::GEPArg>{bytes});
}

Value Lowering::bitcast(Value value, Type type) {
  Type from = value.getType();
  if (from == type)
    return value;
  bool fromPointer = isa<LLVM::LLVMPointerType>(from), toPointer = isa<LLVM::LLVMPointerType>(type);
  if (fromPointer && toPointer)
    return LLVM::AddrSpaceCastOp::create(b, type, value);
  if (fromPointer)
    return LLVM::PtrToIntOp::create(b, type, value);
  if (toPointer)
    return LLVM::IntToPtrOp::create(b, type, value);
  return LLVM::BitcastOp::create(b, type, value);
}

Value Lowering::text(StringRef text) {
  Value &address = texts[b.getStringAttr(text)];
  if (address)
    return address;
  std::string terminated = text.str() + '\0';
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), terminated.size());
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  auto global = LLVM::GlobalOp::create(builder, builder.getUnknownLoc(), type, /*isConstant=*/true,
                                       LLVM::Linkage::Private, "text." + std::to_string(texts.size()),
                                       builder.getStringAttr(terminated), /*alignment=*/1);
  return address = atEntry([&]() -> Value {
           return LLVM::AddressOfOp::create(b, LLVM::LLVMPointerType::get(b.getContext()), global.getSymName());
         });
}

// The innermost place in a text of the user's: that of the call where the operation is the standard library's.
// ---- Places

Value Lowering::atEntry(llvm::function_ref<Value()> make) {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(entryMarker);
  return make();
}

Value Lowering::threadId() {
  if (!thread)
    thread = atEntry([&] { return machine.threadId(b); });
  return thread;
}

Value Lowering::laneId() {
  if (!lane)
    lane = atEntry([&]() -> Value { return LLVM::AndOp::create(b, threadId(), i32(block.lanes - 1)); });
  return lane;
}

Value Lowering::warpId() {
  if (!warp)
    warp = atEntry([&]() -> Value { return LLVM::LShrOp::create(b, threadId(), i32(llvm::Log2_64(block.lanes))); });
  return warp;
}

Value Lowering::blockRank() {
  if (!rank)
    rank = atEntry([&] { return machine.clusters()->blockRank(b); });
  return rank;
}

Value Lowering::threadNumber() {
  if (block.ctas == 1)
    return threadId();
  if (!number)
    number = atEntry([&]() -> Value {
      Value above = LLVM::ShlOp::create(b, blockRank(), i32(llvm::Log2_64(block.threads())));
      return LLVM::OrOp::create(b, above, threadId());
    });
  return number;
}

// The blocks of a cluster are neighbours along the first axis.
Value Lowering::programId(int axis) {
  Value id = machine.programId(b, axis);
  return axis || block.ctas == 1 ? id : LLVM::LShrOp::create(b, id, i32(llvm::Log2_64(block.ctas)));
}

Value Lowering::gridSize(int axis) {
  Value size = machine.gridSize(b, axis);
  return axis || block.ctas == 1 ? size : LLVM::LShrOp::create(b, size, i32(llvm::Log2_64(block.ctas)));
}

Value Lowering::isFirstThread() {
  if (!firstThread)
    firstThread =
        atEntry([&]() -> Value { return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, threadNumber(), i32(0)); });
  return firstThread;
}

Value Lowering::isFirstThreadOfBlock() {
  if (block.ctas == 1)
    return isFirstThread();
  if (!firstThreadOfBlock)
    firstThreadOfBlock =
        atEntry([&]() -> Value { return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, threadId(), i32(0)); });
  return firstThreadOfBlock;
}

Value Lowering::actor(Type type) {
  if (isa<RankedTensorType>(type))
    return isHolder(layoutOf(type));
  return elements ? Value() : isFirstThread();
}

// The images along an axis of the bits of the thread's number: lane bits, then warp bits, then those of the block.
static SmallVector<uint32_t> threadBases(const LinearLayout &layout, unsigned axis) {
  SmallVector<uint32_t> bases;
  for (Place place : {Place::Lane, Place::Warp, Place::Block})
    for (uint32_t basis : layout.basesOf(place))
      bases.push_back(layout.coordinate(basis, axis));
  return bases;
}

// The share of the thread's number in the coordinate. Runs of bits that move together are moved by one shift and mask.
Value Lowering::threadPart(const LinearLayout &layout, unsigned axis) {
  SmallVector<uint32_t> bases = threadBases(layout, axis);
  std::vector<uint32_t> key(bases.begin(), bases.end());
  Value &part = threadParts[key];
  if (part)
    return part;
  return part = atEntry([&]() -> Value {
           Value sum;
           uint32_t used = 0;
           for (unsigned bit = 0; bit < bases.size();) {
             uint32_t basis = bases[bit];
             unsigned length = 1;
             if (basis == 0) {
               ++bit;
               continue;
             }
             bool isSingle = llvm::has_single_bit(basis);
             while (isSingle && bit + length < bases.size() && bases[bit + length] == basis << length)
               ++length;
             uint32_t mask = ((uint32_t(1) << length) - 1) << bit;
             Value moved = LLVM::AndOp::create(b, mask < block.threads() ? threadId() : threadNumber(), i32(mask));
             uint32_t image = 0;
             if (isSingle) {
               int shift = static_cast<int>(llvm::Log2_32(basis)) - static_cast<int>(bit);
               if (shift > 0)
                 moved = LLVM::ShlOp::create(b, moved, i32(shift));
               else if (shift < 0)
                 moved = LLVM::LShrOp::create(b, moved, i32(-shift));
               image = ((uint32_t(1) << length) - 1) * basis;
             } else {
               moved = LLVM::LShrOp::create(b, moved, i32(bit));
               moved = LLVM::MulOp::create(b, moved, i32(basis));
               image = basis;
             }
             if (!sum)
               sum = moved;
             else if (used & image)
               sum = LLVM::XOrOp::create(b, sum, moved);
             else
               sum = LLVM::OrOp::create(b, sum, moved, /*isDisjoint=*/true);
             used |= image;
             bit += length;
           }
           return sum ? sum : i32(0);
         });
}

Value Lowering::coordinate(const LinearLayout &layout, uint32_t reg, unsigned axis) {
  uint32_t fixed = layout.coordinate(layout.apply(Position{.reg = reg}), axis), moving = 0;
  for (uint32_t basis : threadBases(layout, axis))
    moving |= basis;
  if (!moving)
    return i32(fixed);
  Value part = threadPart(layout, axis);
  if (!fixed)
    return part;
  if (moving & fixed)
    return LLVM::XOrOp::create(b, part, i32(fixed));
  return LLVM::OrOp::create(b, part, i32(fixed), /*isDisjoint=*/true);
}

Value Lowering::elementIndex(Type tileType, uint32_t reg) {
  const LinearLayout &layout = layoutOf(tileType);
  ArrayRef<int64_t> shape = tile::shapeOf(tileType);
  Value index;
  int64_t stride = 1;
  for (unsigned axis = layout.rank(); axis-- > 0; stride *= shape[axis]) {
    if (shape[axis] == 1)
      continue;
    Value part = coordinate(layout, reg, axis);
    if (stride != 1)
      part = LLVM::MulOp::create(b, part, i32(stride));
    index = index ? Value(LLVM::AddOp::create(b, index, part)) : part;
  }
  return index ? index : i32(0);
}

Value Lowering::isInside(Type tileType, uint32_t reg) {
  const LinearLayout &layout = layoutOf(tileType);
  Value inside;
  for (auto [axis, extent] : llvm::enumerate(tile::shapeOf(tileType)))
    if (extent != layout.extent(axis)) {
      Value here = LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::ult, coordinate(layout, reg, axis), i32(extent));
      inside = both(inside, here);
    }
  return inside;
}

Value Lowering::isHolder(const LinearLayout &layout) {
  uint32_t copies = layout.copies(Place::Lane) | layout.copies(Place::Warp) << llvm::Log2_64(block.lanes) |
                    layout.copies(Place::Block) << llvm::Log2_64(block.threads());
  return isZero(copies);
}

Value Lowering::isScratchHolder(const LinearLayout &layout) {
  if (acrossBlocks)
    return isHolder(layout);
  return isZero(layout.copies(Place::Lane) | layout.copies(Place::Warp) << llvm::Log2_64(block.lanes));
}

// Whether these bits of the thread's number are 0.
Value Lowering::isZero(uint32_t copies) {
  if (!copies)
    return {};
  Value &holder = holders[{copies}];
  if (!holder)
    holder = atEntry([&]() -> Value {
      Value bits = LLVM::AndOp::create(b, copies < block.threads() ? threadId() : threadNumber(), i32(copies));
      return LLVM::ICmpOp::create(b, LLVM::ICmpPredicate::eq, bits, i32(0));
    });
  return holder;
}

Value Lowering::both(Value left, Value right) {
  if (!left || !right)
    return left ? left : right;
  return LLVM::AndOp::create(b, left, right);
}

// ---- The walk

unsigned Lowering::argumentCount() {
  auto isMap = [](BlockArgument argument) { return isa<TensorMapType>(argument.getType()); };
  auto given = static_cast<unsigned>(llvm::count_if(kernel.getArguments(), std::not_fn(isMap)));
  assert(llvm::none_of(kernel.getArguments().take_front(given), isMap) && "tensor maps are the last arguments");
  return given;
}

FailureOr<LLVM::LLVMFuncOp> Lowering::run() {
  SmallVector<Type> types;
  // The launch hands short floats over in f32.
  for (Type type : kernel.getArgumentTypes())
    types.push_back(type.isF16() || type.isBF16() ? b.getF32Type() : memoryType(type));
  unsigned recordPlace = argumentCount();
  const bool isChecked = hasChecks(kernel), isMarked = hasMarks(kernel);
  const unsigned records = isChecked + isMarked;
  types.insert(types.begin() + recordPlace, records, LLVM::LLVMPointerType::get(b.getContext(), 1));
  b.setInsertionPointAfter(kernel);
  auto type = LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()), types);
  std::string name = kernel.getName().str();
  kernel.setName((name + ".tiles"));
  function = LLVM::LLVMFuncOp::create(b, name, type);
  machine.declareKernel(function, block.threads() + producerWarps(module) * block.lanes, block.ctas);
  // A tensor map is a parameter of its own bytes, whose address the copies take.
  auto mapBytes = LLVM::LLVMArrayType::get(b.getI8Type(), 128);
  for (unsigned i = recordPlace; i < kernel.getNumArguments(); ++i) {
    function.setArgAttr(i + records, LLVM::LLVMDialect::getByValAttrName(), TypeAttr::get(mapBytes));
    function.setArgAttr(i + records, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(64));
  }
  Block *entry = function.addEntryBlock(b);
  b.setInsertionPointToStart(entry);
  entryMarker = LLVM::ZeroOp::create(b, b.getI32Type());
  SmallVector<Value> given(entry->getArguments());
  for (Value *address : {isChecked ? &record : nullptr, isMarked ? &markRecord : nullptr})
    if (address) {
      *address = given[recordPlace];
      given.erase(given.begin() + recordPlace);
    }
  for (auto [argument, value] : llvm::zip_equal(kernel.getArguments(), given)) {
    Type type = argument.getType();
    define(argument, type.isF16() || type.isBF16()
                         ? convertFloat(value, b.getF32Type(), type, tile::Rounding::NearestEven)
                         : fromMemory(value, type));
  }
  if (failed(lowerBlock(kernel.getBody().front())))
    return failure();
  LLVM::ReturnOp::create(b, ValueRange());
  if (needsEntryBarrier) {
    b.setInsertionPoint(entryMarker);
    machine.fence(b, /*isGlobal=*/false); // shown to the copies too
    machine.blockBarrier(b, /*threads=*/0);
  }
  entryMarker->erase();
  tellSites();
  tellMarks();
  return function;
}

LogicalResult Lowering::lowerBlock(Block &body) {
  for (Operation &op : body.without_terminator()) {
    b.setLoc(op.getLoc());
    if (failed(lowerInReach(&op)))
      return failure();
    if (record && assertsInFunctions(&op))
      leaveIfRefused();
  }
  b.setLoc(body.getTerminator()->getLoc());
  return success();
}

SmallVector<Value> Lowering::inlineRegion(Region &region, ArrayRef<Value> arguments) {
  Block &body = region.front();
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), arguments))
    define(argument, value);
  if (failed(lowerBlock(body)))
    return {};
  SmallVector<Value> results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(scalar(value));
  return results;
}

// The part of the machine that the operation is made for, where the machine has none; empty: it has all.
static StringRef missingPart(const Machine &machine, Operation *op) {
  if (!machine.asyncCopies() && isa<CopyOp, CommitCopiesOp, WaitCopiesOp>(op))
    return "asynchronous copies of words";
  if (!machine.boxCopies() && isa<AllocateBarriersOp, CopyBoxOp, AwaitOp, ProducerOp, ReleaseOp, CopyOutOp>(op))
    return "copies of boxes";
  if (!machine.asyncProducts() && isa<WaitDotsOp>(op))
    return "asynchronous matrix products";
  return "";
}

void Lowering::barrier() {
  if (acrossBlocks)
    machine.clusters()->clusterBarrier(b);
  else
    machine.blockBarrier(b, meeting);
}

void Lowering::programBarrier() {
  if (block.ctas > 1)
    machine.clusters()->clusterBarrier(b);
  else
    machine.blockBarrier(b, meeting);
}

// Where blocks exchange data, the cluster meets once more behind it: nobody writes this memory, or ends, before all have
// read it. What follows at once need not meet before it again.
LogicalResult Lowering::lowerInReach(Operation *op) {
  if (!reachesAcrossBlocks(op, block.ctas)) {
    bool usesMemory = !isMemoryEffectFree(op) || op->hasAttr(offsetAttribute) || op->getNumRegions() != 0;
    hasClusterMet &= !usesMemory;
    LogicalResult result = lower(op);
    hasClusterMet &= !usesMemory;
    return result;
  }
  if (elements)
    return fail(op,
                "a function of single elements cannot exchange data between the blocks of a cluster; launch it with "
                "num_ctas=1");
  llvm::SaveAndRestore<bool> reach(acrossBlocks, true);
  LogicalResult result = lower(op);
  barrier();
  hasClusterMet = true;
  return result;
}

LogicalResult Lowering::lower(Operation *op) {
  if (StringRef missing = missingPart(machine, op); !missing.empty())
    return fail(op, "the machine has no " + missing);
  if (isElementwise(op))
    return lowerElementwise(op);
  if (isShapeOperation(op))
    return lowerShape(op);
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](arith::ConstantOp op) { return lowerConstant(op); })
      .Case([&](tile::ArangeOp op) { return lowerArange(op); })
      .Case([&](tile::SplatOp op) {
        define(op, SmallVector<Value>(registerCount(op.getType()), scalar(op.getSource())));
        return success();
      })
      .Case([&](tile::ProgramIdOp op) {
        define(op, programId(op.getAxis()));
        return success();
      })
      .Case([&](tile::NumProgramsOp op) {
        define(op, gridSize(op.getAxis()));
        return success();
      })
      .Case([&](tile::ClockOp op) {
        Value now = machine.clock(b); // each thread has its own; all go by the first one's
        shareResult(op, now);
        define(op, now);
        return success();
      })
      .Case([&](tile::ProcessorOp op) {
        define(op, machine.processor(b));
        return success();
      })
      .Case([&](scf::ForOp op) { return lowerFor(op); })
      .Case([&](scf::IfOp op) { return lowerIf(op); })
      .Case([&](scf::WhileOp op) { return lowerWhile(op); })
      .Case([&](tile::LoadOp op) { return lowerLoad(op); })
      .Case([&](tile::StoreOp op) { return lowerStore(op); })
      .Case([&](tile::AtomicRmwOp op) { return lowerAtomicRmw(op); })
      .Case([&](tile::AtomicCasOp op) { return lowerAtomicCas(op); })
      .Case<tile::BarrierOp>([&](auto) {
        programBarrier();
        return success();
      })
      .Case([&](BarrierOp op) {
        op.getWarp() ? machine.warpBarrier(b) : barrier();
        return success();
      })
      .Case([&](ConvertOp op) { return lowerConvert(op); })
      .Case([&](AllocateOp op) {
        define(op, scratch(op));
        return success();
      })
      .Case([&](SlotOp op) {
        Value bytes = LLVM::MulOp::create(b, scalar(op.getIndex()), i32(op.getRing().getType().stageBytes()));
        define(op, byteOffset(scalar(op.getRing()), bytes));
        return success();
      })
      .Case([&](OpaqueOp op) {
        define(op, machine.opaque(b, scalar(op.getValue())));
        return success();
      })
      .Case([&](PermuteOp op) {
        define(op, scalar(op.getSource()));
        return success();
      })
      .Case([&](WriteOp op) { return lowerWrite(op); })
      .Case([&](ReadOp op) { return lowerRead(op); })
      .Case([&](DotOp op) { return lowerMatrixDot(op); })
      .Case([&](WaitDotsOp op) { return lowerWaitDots(op); })
      .Case([&](FenceOp op) {
        machine.fence(b, op.getGlobal());
        return success();
      })
      .Case([&](AllocateBarriersOp op) { return lowerAllocateBarriers(op); })
      .Case([&](CopyBoxOp op) { return lowerCopyBox(op); })
      .Case([&](AwaitOp op) { return lowerAwait(op); })
      .Case([&](ProducerOp op) { return lowerProducer(op); })
      .Case([&](ReleaseOp op) { return lowerRelease(op); })
      .Case([&](CopyOutOp op) { return lowerCopyOut(op); })
      .Case([&](CopyOp op) { return lowerCopy(op); })
      .Case([&](CommitCopiesOp) {
        machine.asyncCopies()->commitCopies(b);
        return success();
      })
      .Case([&](WaitCopiesOp op) {
        machine.asyncCopies()->waitCopies(b, op.getPending());
        return success();
      })
      .Case<tile::ReshapeOp, tile::ConcatenateOp>([&](auto op) { return lowerThroughMemory(op); })
      .Case([&](tile::ExtractOp op) { return lowerExtract(op); })
      .Case([&](tile::SplitOp op) { return lowerScalarSplit(op); })
      .Case([&](tile::ReduceOp op) { return lowerReduce(op); })
      .Case([&](tile::ScanOp op) { return lowerScan(op); })
      .Case([&](tile::GatherOp op) { return lowerGather(op); })
      .Case([&](tile::HistogramOp op) { return lowerHistogram(op); })
      .Case([&](tile::DotOp op) { return lowerDot(op); })
      .Case([&](tile::MapOp op) { return lowerMap(op); })
      .Case([&](tile::InlineAsmOp op) { return lowerInlineAsm(op); })
      .Case([&](tile::PrintOp op) { return lowerPrint(op); })
      .Case([&](tile::TellOp op) { return lowerTell(op); })
      .Case([&](tile::AssertOp op) { return lowerAssert(op); })
      .Case([&](tile::CheckAccessOp op) { return lowerCheckAccess(op); })
      .Case<tile::AssumeOp>([](auto) { return success(); })
      .Default([&](Operation *op) { return fail(op, "this operation is not known to the GPU targets"); });
}
