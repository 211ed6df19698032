// tile operations as operations of the builder.
#include "compiler/ir/tile/Tile.h"
#include "compiler/reference/Buffer.h"
#include "compiler/reference/IRProgram.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace nacre;

// The enumerations of the dialect and of the builder list the same cases in the same order.
static_assert(static_cast<int>(tile::CacheModifier::WT) == static_cast<int>(CacheModifier::WT));
static_assert(static_cast<int>(tile::EvictionPolicy::Last) == static_cast<int>(EvictionPolicy::Last));
static_assert(static_cast<int>(tile::AtomicKind::Exchange) == static_cast<int>(AtomicOp::Exchange));
static_assert(static_cast<int>(tile::MemoryOrder::AcquireRelease) == static_cast<int>(MemoryOrder::AcquireRelease));
static_assert(static_cast<int>(tile::MemoryScope::System) == static_cast<int>(MemoryScope::System));
static_assert(static_cast<int>(tile::DotPrecision::BF16x6) == static_cast<int>(DotPrecision::BF16x6));
static_assert(static_cast<int>(tile::Rounding::TowardZero) == static_cast<int>(Rounding::TowardZero));
static_assert(static_cast<int>(tile::HintKind::Constancy) == static_cast<int>(HintKind::Constancy));

// A combining region is run once on whole slices, its scalars standing for tiles. One that branches on them is run
// element by element instead.
Builder::Combine IRProgram::combineBy(mlir::Region &region) {
  bool branches = llvm::any_of(
      region.front(), [](mlir::Operation &op) { return op.getNumRegions() > 0 || mlir::isa<mlir::func::CallOp>(op); });
  auto once = [this, &region](llvm::ArrayRef<Value> lhs, llvm::ArrayRef<Value> rhs) {
    llvm::SmallVector<Value> arguments(lhs.begin(), lhs.end());
    arguments.append(rhs.begin(), rhs.end());
    Values results;
    for (auto [result, like] : llvm::zip_equal(runBlock(region.front(), arguments), lhs)) {
      bool spread = like.type().isBlock() && !result.type().isBlock();
      results.push_back(spread ? builder.splat(result, like.type().shape()) : result);
    }
    return results;
  };
  if (!branches)
    return once;
  return [once](llvm::ArrayRef<Value> lhs, llvm::ArrayRef<Value> rhs) {
    llvm::SmallVector<BufferRef> left, right, combined;
    for (auto [a, b] : llvm::zip(lhs, rhs)) {
      left.push_back(contiguous(bufferRef(a)));
      right.push_back(contiguous(bufferRef(b)));
      combined.push_back(makeBuffer(a.type()));
    }
    auto elements = [](llvm::ArrayRef<BufferRef> tiles, int64_t i) {
      Values result;
      for (const BufferRef &tile : tiles) {
        result.push_back(valueOf(makeUniform(tile->type.scalarType(), tile->data + i * tile->elementSize())));
      }
      return result;
    };
    for (int64_t i = 0; i < combined[0]->count(); ++i)
      for (auto [tile, value] : llvm::zip(combined, once(elements(left, i), elements(right, i))))
        std::memcpy(tile->data + i * tile->elementSize(), bufferOf(value).data, tile->elementSize());
    Values results;
    for (const BufferRef &tile : combined)
      results.push_back(valueOf(tile));
    return results;
  };
}

Values IRProgram::runMap(tile::MapOp map) {
  llvm::SmallVector<BufferRef> sources, targets;
  for (mlir::Value operand : map.getOperands())
    sources.push_back(contiguous(bufferRef(get(operand))));
  for (mlir::Type type : map.getResultTypes())
    targets.push_back(makeBuffer(typeOfIR(type)));
  int64_t count = sources[0]->count(), pack = map.getPack();
  for (int64_t first = 0; first < count; first += pack) {
    llvm::SmallVector<Value> arguments;
    for (const BufferRef &source : sources)
      for (int64_t i = first; i < first + pack; ++i) {
        const std::byte *element = source->data + std::min(i, count - 1) * source->elementSize();
        arguments.push_back(valueOf(makeUniform(source->type.scalarType(), element)));
      }
    llvm::SmallVector<Value> results = runBlock(map.getBody().front(), arguments);
    for (auto [number, target] : llvm::enumerate(targets))
      for (int64_t i = first; i < std::min(first + pack, count); ++i)
        std::memcpy(target->data + i * target->elementSize(), bufferOf(results[number * pack + i - first]).data,
                    target->elementSize());
  }
  Values values;
  for (const BufferRef &target : targets)
    values.push_back(valueOf(target));
  return values;
}

bool IRProgram::runShape(mlir::Operation &op) {
  auto shape = [&] { return tile::shapeOf(op.getResult(0).getType()); };
  auto finish = [&](Value value) {
    set(op.getResult(0), std::move(value));
    return true;
  };
  return llvm::TypeSwitch<mlir::Operation *, bool>(&op)
      .Case([&](tile::ArangeOp arange) {
        int64_t start = arange.getStart();
        Value numbers = builder.arange(start, start + shape()[0]);
        Type type = typeOfIR(arange.getType());
        if (numbers.type() != type)
          numbers = builder.cast(type.bitWidth() > 32 ? CastOp::ExtendSigned : CastOp::Truncate, numbers, type);
        return finish(numbers);
      })
      .Case([&](tile::SplatOp splat) { return finish(builder.splat(get(splat.getSource()), shape())); })
      .Case([&](tile::ExpandDimsOp expand) {
        return finish(builder.expandDims(get(expand.getSource()), expand.getAxis()));
      })
      .Case([&](tile::BroadcastOp broadcast) { return finish(builder.broadcast(get(broadcast.getSource()), shape())); })
      .Case([&](tile::ReshapeOp reshape) { return finish(builder.reshape(get(reshape.getSource()), shape())); })
      .Case([&](tile::PermuteOp permute) {
        llvm::SmallVector<int> order(permute.getOrder().begin(), permute.getOrder().end());
        return finish(builder.permute(get(permute.getSource()), order));
      })
      .Case([&](tile::ConcatenateOp concatenate) {
        return finish(
            builder.concatenate(get(concatenate.getFirst()), get(concatenate.getSecond()), concatenate.getAxis()));
      })
      .Case([&](tile::JoinOp join) { return finish(builder.join(get(join.getFirst()), get(join.getSecond()))); })
      .Case([&](tile::SplitOp split) {
        auto [first, second] = builder.split(get(split.getSource()));
        set(split.getFirst(), first);
        set(split.getSecond(), second);
        return true;
      })
      .Case([&](tile::ExtractOp extract) {
        return finish(builder.extract(get(extract.getSource()), extract.getIndex()));
      })
      .Case([&](tile::GatherOp gather) {
        locate(op);
        return finish(builder.gather(get(gather.getSource()), get(gather.getIndex()), gather.getAxis()));
      })
      .Case([&](tile::FpCastOp cast) {
        Value source = get(cast.getSource());
        Type type = resultType(cast.getType(), source);
        auto rounding = static_cast<Rounding>(cast.getRounding());
        bool widens = type.bitWidth() > source.type().bitWidth();
        return finish(builder.cast(widens ? CastOp::FloatExtend : CastOp::FloatTruncate, source, type, rounding));
      })
      .Case([&](tile::BitcastOp cast) {
        Value source = get(cast.getSource());
        return finish(builder.cast(CastOp::Bitcast, source, resultType(cast.getType(), source)));
      })
      .Case([&](tile::PtrToIntOp cast) {
        Value source = get(cast.getSource());
        return finish(builder.cast(CastOp::PointerToInt, source, resultType(cast.getType(), source)));
      })
      .Case([&](tile::IntToPtrOp cast) {
        Value source = get(cast.getSource());
        return finish(builder.cast(CastOp::IntToPointer, source, resultType(cast.getType(), source)));
      })
      .Case([&](tile::HintOp hint) {
        return finish(builder.hint(static_cast<HintKind>(hint.getKind()), get(hint.getSource()), hint.getValues()));
      })
      .Default([](mlir::Operation *) { return false; });
}

bool IRProgram::runMemory(mlir::Operation &op) {
  return llvm::TypeSwitch<mlir::Operation *, bool>(&op)
      .Case([&](tile::AddPtrOp add) {
        Values operands = operandsOf(op);
        set(add.getResult(), builder.addPointer(operands[0], operands[1]));
        return true;
      })
      .Case([&](tile::LoadOp load) {
        locate(op);
        LoadOptions options{static_cast<CacheModifier>(load.getCache()),
                            static_cast<EvictionPolicy>(load.getEviction()), load.getIsVolatile()};
        set(load.getResult(),
            builder.load(get(load.getPointer()), getOrNull(load.getMask()), getOrNull(load.getOther()), options));
        return true;
      })
      .Case([&](tile::StoreOp store) {
        locate(op);
        StoreOptions options{static_cast<CacheModifier>(store.getCache()),
                             static_cast<EvictionPolicy>(store.getEviction())};
        builder.store(get(store.getPointer()), get(store.getValue()), getOrNull(store.getMask()), options);
        return true;
      })
      .Case([&](tile::AtomicRmwOp atomic) {
        locate(op);
        set(atomic.getResult(),
            builder.atomic(static_cast<AtomicOp>(atomic.getKind()), get(atomic.getPointer()), get(atomic.getValue()),
                           getOrNull(atomic.getMask()), static_cast<MemoryOrder>(atomic.getOrder()),
                           static_cast<MemoryScope>(atomic.getScope())));
        return true;
      })
      .Case([&](tile::AtomicCasOp atomic) {
        locate(op);
        set(atomic.getResult(), builder.atomicCas(get(atomic.getPointer()), get(atomic.getExpected()),
                                                  get(atomic.getDesired()), static_cast<MemoryOrder>(atomic.getOrder()),
                                                  static_cast<MemoryScope>(atomic.getScope())));
        return true;
      })
      .Case([&](tile::BarrierOp) {
        builder.barrier();
        return true;
      })
      .Default([](mlir::Operation *) { return false; });
}

bool IRProgram::runTile(mlir::Operation &op) {
  auto finish = [&](llvm::ArrayRef<Value> results) {
    for (auto [result, value] : llvm::zip_equal(op.getResults(), results))
      set(result, value);
    return true;
  };
  return llvm::TypeSwitch<mlir::Operation *, bool>(&op)
      .Case([&](tile::ProgramIdOp id) { return finish(builder.programId(id.getAxis())); })
      .Case([&](tile::NumProgramsOp number) { return finish(builder.numPrograms(number.getAxis())); })
      .Case([&](tile::ClockOp) { return finish(builder.readMachine(MachineValue::Clock)); })
      .Case([&](tile::ProcessorOp) { return finish(builder.readMachine(MachineValue::Processor)); })
      .Case([&](tile::DotOp dot) {
        DotOptions options{static_cast<DotPrecision>(dot.getPrecision()), dot.getMaxImpreciseAcc()};
        return finish(builder.dot(get(dot.getA()), get(dot.getB()), get(dot.getAccumulator()), options));
      })
      .Case([&](tile::DotScaledOp dot) {
        ScaledOperand a{get(dot.getA()), getOrNull(dot.getAScale()), static_cast<ScaledFormat>(dot.getAFormat()),
                        dot.getAPacksK()};
        ScaledOperand b{get(dot.getB()), getOrNull(dot.getBScale()), static_cast<ScaledFormat>(dot.getBFormat()),
                        dot.getBPacksK()};
        return finish(builder.dotScaled(a, b, get(dot.getAccumulator()), dot.getIgnoresNan()));
      })
      .Case([&](tile::ReduceOp reduce) {
        return finish(builder.reduce(operandsOf(op), reduce.getAxis(), combineBy(reduce.getCombine())));
      })
      .Case([&](tile::ScanOp scan) {
        return finish(builder.scan(operandsOf(op), scan.getAxis(), scan.getReverse(), combineBy(scan.getCombine())));
      })
      .Case([&](tile::HistogramOp histogram) {
        Value counts = builder.histogram(get(histogram.getSource()), histogram.getType().getShape()[0],
                                         getOrNull(histogram.getMask()));
        return finish(counts);
      })
      .Case([&](tile::PrintOp print) {
        Values values;
        for (auto [i, operand] : llvm::enumerate(print.getOperands())) {
          Value value = get(operand);
          bool isSigned = i >= print.getIsSigned().size() || print.getIsSigned()[i];
          if (!isSigned && value.type().isSigned()) {
            auto kind =
                static_cast<ScalarKind>(static_cast<int>(value.type().scalarType().scalarKind()) +
                                        static_cast<int>(ScalarKind::UInt8) - static_cast<int>(ScalarKind::Int8));
            value = builder.cast(CastOp::Bitcast, value, withScalar(value.type(), Type::scalar(kind)));
          }
          values.push_back(value);
        }
        builder.devicePrint(print.getPrefix(), values, print.getHex());
        return true;
      })
      .Case([&](tile::TellOp) { return true; }) // nobody watches
      .Case([&](tile::AssertOp assertion) {
        locate(op);
        builder.deviceAssert(get(assertion.getCondition()), assertion.getMessage());
        return true;
      })
      .Case([&](tile::CheckAccessOp) { return true; }) // every access is checked here
      .Case([&](tile::AssumeOp assumption) {
        locate(op);
        builder.assume(get(assumption.getCondition()));
        return true;
      })
      .Case([&](tile::InlineAsmOp assembly) {
        locate(op);
        llvm::SmallVector<Type> results;
        for (mlir::Type type : assembly.getResultTypes())
          results.push_back(typeOfIR(type));
        return finish(builder.inlineAssembly(assembly.getText(), assembly.getConstraints(), operandsOf(op), results,
                                             assembly.getIsPure(), static_cast<int>(assembly.getPack())));
      })
      .Case([&](tile::ExternalCallOp external) {
        locate(op);
        ExternalFunction function{external.getLibrary().str(), external.getDigest().str(), external.getSymbol().str()};
        return finish(
            builder.externalCall(function, operandsOf(op), typeOfIR(external.getType()), external.getIsPure()));
      })
      .Case([&](tile::MapOp map) { return finish(runMap(map)); })
      .Default([](mlir::Operation *) { return false; });
}
