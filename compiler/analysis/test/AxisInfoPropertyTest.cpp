// Random integer kernels: every fact that the axis analysis states is checked against what the evaluator computes.
//
// A kernel is a list of operations on tiles of a few shapes, powers of two or not, each of whose values is also stored,
// so that its elements are known afterwards.
#include "compiler/analysis/AccessForm.h"
#include "compiler/reference/IRWalker.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>
#include <numeric>
#include <random>

using namespace mlir;
using namespace nacre;

namespace {

using mlir::Type;
using mlir::Value;

constexpr uint64_t baseAddress = 0x7f0000010000;

// Writes one kernel.
class Writer {
public:
  explicit Writer(uint64_t seed) : random(seed) {
    static const std::vector<std::vector<int64_t>> shapes = {{16},    {64},   {48},    {12},   {7},
                                                             {4, 16}, {6, 8}, {3, 32}, {1, 24}};
    shape = pick(shapes);
    for (int i = 0; i < 3; ++i) {
      int64_t divisor = int64_t(1) << below(6);
      bool isLarge = below(8) == 0;
      int64_t number = isLarge ? static_cast<int32_t>(random()) : static_cast<int64_t>(below(400)) - 60;
      number = static_cast<int32_t>(number / divisor * divisor);
      scalars.push_back(number);
      divisors.push_back(divisor);
    }
  }

  std::string write() {
    begin();
    for (int i = 0, count = 6 + below(18); i < count; ++i)
      step();
    std::string text = "func.func @k(%out: !tile.ptr<i64>, %p: !tile.ptr<i16> {tile.divisibility = 16 : i64}";
    for (size_t i = 0; i < scalars.size(); ++i)
      text += ", %s" + std::to_string(i) + ": i32 {tile.divisibility = " + std::to_string(divisors[i]) + " : i64}";
    return text + ") attributes {tile.kernel} {\n" + body + "  return\n}\n";
  }

  std::vector<int64_t> scalars, divisors;
  struct Tile {
    std::string name, element; // element: i8, i32, i64, i1 or ptr
    std::vector<int64_t> shape;
  };
  std::vector<Tile> tiles;

private:
  uint64_t below(uint64_t bound) { return random() % bound; }
  template <typename Element> Element pick(const std::vector<Element> &list) { return list[below(list.size())]; }
  static int64_t count(const std::vector<int64_t> &shape) {
    return std::accumulate(shape.begin(), shape.end(), int64_t(1), std::multiplies<>());
  }
  static std::string typeOf(const std::vector<int64_t> &shape, const std::string &element) {
    std::string text = "tensor<";
    for (int64_t extent : shape)
      text += std::to_string(extent) + "x";
    return text + (element == "ptr" ? "!tile.ptr<i16>" : element) + ">";
  }
  static std::string typeOf(const Tile &tile) { return typeOf(tile.shape, tile.element); }
  std::string fresh() { return "%v" + std::to_string(names++); }
  // Adds an operation; `text` is all after the result's name.
  Tile add(const std::string &text, const std::string &element, std::vector<int64_t> shape) {
    Tile tile{fresh(), element, std::move(shape)};
    body += "  " + tile.name + " = " + text + "\n";
    tiles.push_back(tile);
    return tile;
  }
  Tile arange(const std::vector<int64_t> &shape, size_t axis, int64_t start) {
    Tile line =
        add("tile.arange " + std::to_string(start) + " : " + typeOf({shape[axis]}, "i32"), "i32", {shape[axis]});
    while (line.shape.size() < shape.size()) {
      bool isBefore = line.shape.size() - (shape.size() - 1 - axis) - 1 < axis;
      std::vector<int64_t> wider = line.shape;
      wider.insert(isBefore ? wider.begin() : wider.end(), 1);
      std::string place = std::to_string(isBefore ? 0 : line.shape.size());
      line = add("tile.expand_dims " + line.name + " " + place + " : " + typeOf(line) + " -> " + typeOf(wider, "i32"),
                 "i32", wider);
    }
    if (line.shape != shape)
      line = add("tile.broadcast " + line.name + " : " + typeOf(line) + " -> " + typeOf(shape, "i32"), "i32", shape);
    return line;
  }
  Tile splat(const std::string &scalar, const std::string &element, const std::vector<int64_t> &shape) {
    std::string type = element == "ptr" ? "!tile.ptr<i16>" : element;
    return add("tile.splat " + scalar + " : " + type + " -> " + typeOf(shape, element), element, shape);
  }
  Tile constant(int64_t number, const std::string &element, const std::vector<int64_t> &shape) {
    return add("arith.constant dense<" + std::to_string(number) + "> : " + typeOf(shape, element), element, shape);
  }
  void begin() {
    body += "  %pid = tile.program_id 0\n";
    for (size_t axis = 0; axis < shape.size(); ++axis)
      arange(shape, axis, below(2) ? 0 : static_cast<int64_t>(below(9)) * 8);
    for (size_t i = 0; i < scalars.size(); ++i)
      splat("%s" + std::to_string(i), "i32", shape);
    splat("%pid", "i32", shape);
    splat("%p", "ptr", shape);
  }
  std::vector<Tile> like(const std::string &element, const std::vector<int64_t> &shape) {
    std::vector<Tile> found;
    for (const Tile &tile : tiles)
      if (tile.element == element && tile.shape == shape)
        found.push_back(tile);
    return found;
  }
  // Another tile of the type, or a constant that index arithmetic would have.
  Tile partner(const Tile &tile) {
    static const std::vector<int64_t> numbers = {0, 1, 2, 3, 4, 7, 8, 12, 15, 16, 31, 32, 48, 63, 64, -1, -8, -16};
    if (below(2))
      return pick(like(tile.element, tile.shape));
    return constant(pick(numbers), tile.element, tile.shape);
  }
  void binary(const Tile &left) {
    static const std::vector<std::string> names = {"addi",  "addi",  "addi",  "subi",  "muli",  "muli",  "divsi",
                                                   "divsi", "remsi", "remsi", "divui", "remui", "andi",  "andi",
                                                   "ori",   "xori",  "shli",  "shrsi", "shrui", "minsi", "maxsi"};
    Tile right = partner(left);
    add("arith." + pick(names) + " " + left.name + ", " + right.name + " : " + typeOf(left), left.element, left.shape);
  }
  void compareAndSelect(const Tile &left) {
    static const std::vector<std::string> predicates = {"slt", "sle", "sgt", "sge", "ult", "uge", "eq", "ne"};
    Tile right = partner(left);
    Tile mask = add("arith.cmpi " + pick(predicates) + ", " + left.name + ", " + right.name + " : " + typeOf(left),
                    "i1", left.shape);
    Tile other = partner(left);
    add("arith.select " + mask.name + ", " + left.name + ", " + other.name + " : " + typeOf(mask) + ", " + typeOf(left),
        left.element, left.shape);
  }
  void convert(const Tile &tile) {
    std::string name = "arith.extsi", element = "i64";
    if (tile.element == "i64")
      name = "arith.trunci", element = below(4) ? "i32" : "i8";
    else if (tile.element == "i32" && below(4) == 0)
      name = "arith.trunci", element = "i8";
    else if (tile.element == "i8")
      element = "i32";
    if (name == "arith.extsi" && below(3) == 0)
      name = "arith.extui";
    add(name + " " + tile.name + " : " + typeOf(tile) + " to " + typeOf(tile.shape, element), element, tile.shape);
  }
  void move(const Tile &tile) {
    std::vector<int64_t> to = tile.shape;
    if (tile.shape.size() == 2 && below(2)) {
      std::swap(to[0], to[1]);
      add("tile.permute " + tile.name + " [1, 0] : " + typeOf(tile) + " -> " + typeOf(to, tile.element), tile.element,
          to);
      return;
    }
    if (below(5) == 0 && count(tile.shape) < 100) {
      Tile other = pick(like(tile.element, tile.shape));
      size_t axis = below(to.size());
      to[axis] *= 2;
      add("tile.concatenate " + tile.name + ", " + other.name + " " + std::to_string(axis) + " : " + typeOf(tile) +
              ", " + typeOf(other) + " -> " + typeOf(to, tile.element),
          tile.element, to);
      return;
    }
    // Another shape of as many elements.
    int64_t total = count(tile.shape), rows = 1 + static_cast<int64_t>(below(8));
    while (total % rows != 0)
      --rows;
    to = below(2) ? std::vector<int64_t>{total} : std::vector<int64_t>{rows, total / rows};
    add("tile.reshape " + tile.name + " : " + typeOf(tile) + " -> " + typeOf(to, tile.element), tile.element, to);
  }
  void loop(const Tile &start) {
    Tile step = partner(start);
    std::string type = typeOf(start), bound = std::to_string(names++);
    body += "  %low" + bound + " = arith.constant 0 : i32\n  %high" + bound + " = arith.constant 3 : i32\n";
    body += "  %one" + bound + " = arith.constant 1 : i32\n";
    static const std::vector<std::string> names = {"addi", "subi", "muli", "andi", "remsi"};
    std::string inner = "%carried" + bound;
    add("scf.for %i" + bound + " = %low" + bound + " to %high" + bound + " step %one" + bound + " iter_args(" + inner +
            " = " + start.name + ") -> (" + type + ") : i32 {\n    %next" + bound + " = arith." + pick(names) + " " +
            inner + ", " + step.name + " : " + type + "\n    scf.yield %next" + bound + " : " + type + "\n  }",
        start.element, start.shape);
  }
  void step() {
    Tile tile = pick(tiles);
    uint64_t kind = below(20);
    if (tile.element == "i1")
      return;
    if (tile.element == "ptr") {
      std::vector<Tile> offsets = like(below(3) ? "i32" : "i64", tile.shape);
      if (kind < 12 && !offsets.empty()) {
        Tile offset = pick(offsets);
        add("tile.addptr " + tile.name + ", " + offset.name + " : " + typeOf(tile) + ", " + typeOf(offset), "ptr",
            tile.shape);
      } else if (kind < 15) {
        move(tile);
      }
      return;
    }
    if (kind < 11)
      binary(tile);
    else if (kind < 14)
      compareAndSelect(tile);
    else if (kind < 16)
      convert(tile);
    else if (kind < 19)
      move(tile);
    else
      loop(tile);
  }

  std::mt19937_64 random;
  std::vector<int64_t> shape;
  std::string body;
  int names = 0;
};

class AxisInfoProperty : public testing::Test {
protected:
  AxisInfoProperty() {
    context.loadDialect<tile::TileDialect, arith::ArithDialect, math::MathDialect, scf::SCFDialect, func::FuncDialect,
                        ub::UBDialect>();
  }

  // Makes the kernel store every tile that its entry block makes, one after another; gives those values.
  static std::vector<Value> storeAll(func::FuncOp kernel) {
    std::vector<Value> values;
    for (Operation &op : kernel.getBody().front())
      for (Value result : op.getResults())
        if (isa<RankedTensorType>(result.getType()))
          values.push_back(result);
    OpBuilder builder(kernel.getBody().front().getTerminator());
    Location location = kernel.getLoc();
    int64_t place = 0;
    for (Value value : values) {
      auto type = cast<RankedTensorType>(value.getType());
      Value wide = value;
      Type element = type.getElementType(), wideType = tile::withElement(type, builder.getI64Type());
      if (isa<tile::PointerType>(element))
        wide = tile::PtrToIntOp::create(builder, location, wideType, value);
      else if (element.isInteger(1))
        wide = arith::ExtUIOp::create(builder, location, wideType, value);
      else if (!element.isInteger(64))
        wide = arith::ExtSIOp::create(builder, location, wideType, value);
      auto lineType = RankedTensorType::get({type.getNumElements()}, builder.getI32Type());
      Value places = tile::ArangeOp::create(builder, location, lineType, place);
      places = tile::ReshapeOp::create(builder, location, tile::withElement(type, builder.getI32Type()), places);
      auto pointers = tile::withElement(type, tile::PointerType::get(builder.getI64Type()));
      Value base = tile::SplatOp::create(builder, location, pointers, kernel.getArgument(0));
      Value addresses = tile::AddPtrOp::create(builder, location, pointers, base, places);
      tile::StoreOp::create(builder, location, addresses, wide, Value());
      place += type.getNumElements();
    }
    return values;
  }

  static bool differByOne(int64_t first, int64_t second, Type element) {
    if (auto pointer = dyn_cast<tile::PointerType>(element)) {
      int64_t bytes = pointer.getPointee().getIntOrFloatBitWidth() / 8;
      return (second - first - bytes) % (bytes << 32) == 0;
    }
    unsigned bits = std::min(32u, element.getIntOrFloatBitWidth());
    return ((static_cast<uint64_t>(second) - static_cast<uint64_t>(first) - 1) << (64 - bits)) == 0;
  }

  static void check(Value value, const std::vector<int64_t> &numbers, AxisAnalysis &axes) {
    auto type = cast<RankedTensorType>(value.getType());
    Type element = type.getElementType();
    const AxisInfo &info = axes.info(value);
    ASSERT_EQ(static_cast<int64_t>(info.rank()), type.getRank());
    bool isPointer = isa<tile::PointerType>(element);
    IntegerRange range = isPointer ? IntegerRange{INT64_MIN, INT64_MAX} : axes.range(value);
    if (element.isInteger(1))
      range = {0, 1};
    for (int64_t number : numbers) {
      ASSERT_GE(number, range.low);
      ASSERT_LE(number, range.high);
      ASSERT_EQ(number % info.divisibility(), 0) << "every element";
    }
    int64_t stride = type.getNumElements();
    for (int64_t axis = 0; axis < type.getRank(); ++axis) {
      int64_t extent = type.getShape()[axis];
      stride /= extent;
      const AxisFacts &facts = info.axis(axis);
      ASSERT_EQ(facts.extent, extent);
      for (size_t flat = 0; flat < numbers.size(); ++flat) {
        int64_t place = static_cast<int64_t>(flat) / stride % extent;
        if (place % facts.contiguity == 0)
          ASSERT_EQ(numbers[flat] % facts.divisibility, 0) << "divisibility along axis " << axis;
        if (place == 0)
          continue;
        int64_t before = numbers[flat - stride];
        if (place % facts.contiguity != 0)
          ASSERT_TRUE(differByOne(before, numbers[flat], element)) << "contiguity along axis " << axis;
        if (place % facts.run != 0 && !isPointer)
          ASSERT_EQ(numbers[flat], before + 1) << "run along axis " << axis;
        if (place % facts.constancy != 0)
          ASSERT_EQ(numbers[flat], before) << "constancy along axis " << axis;
      }
    }
  }

  // The sum of the form's terms at each place is the element, where the form is one of whole numbers.
  void checkForm(Value value, AccessForms &forms, const llvm::DenseMap<Value, std::vector<int64_t>> &known,
                 const llvm::DenseMap<Value, int64_t> &scalars) {
    const AccessForm *form = forms.form(value);
    if (!form || !form->isWhole)
      return;
    ++wholeForms;
    auto type = cast<RankedTensorType>(value.getType());
    auto placeAlong = [](RankedTensorType type, size_t flat, int axis) {
      int64_t inner = 1;
      for (int64_t other = type.getRank() - 1; other > axis; --other)
        inner *= type.getShape()[other];
      return static_cast<int64_t>(flat) / inner % type.getShape()[axis];
    };
    // The element of a tile that varies along one axis, at a place along it.
    auto elementAt = [](Value tile, const std::vector<int64_t> &numbers, int axis, int64_t place) {
      auto type = cast<RankedTensorType>(tile.getType());
      int64_t inner = 1;
      for (int64_t other = type.getRank() - 1; other > axis; --other)
        inner *= type.getShape()[other];
      return axis < 0 ? numbers[0] : numbers[place * inner];
    };
    const std::vector<int64_t> &numbers = known.at(value);
    for (size_t flat = 0; flat < numbers.size(); ++flat) {
      int64_t sum = 0, unit = 1;
      if (form->base) {
        unit = 2;
        int64_t place = form->baseAxis < 0 ? 0 : placeAlong(type, flat, form->baseAxis);
        sum = isa<RankedTensorType>(form->base.getType())
                  ? elementAt(form->base, known.at(form->base), form->baseTileAxis, place)
                  : static_cast<int64_t>(baseAddress);
      }
      for (const AccessTerm &term : form->terms) {
        int64_t number = term.constant * unit;
        for (Value scalar : term.scalars)
          number *= scalars.at(scalar);
        int64_t place = term.axis < 0 ? 0 : placeAlong(type, flat, term.axis);
        if (term.tile)
          number *= elementAt(term.tile, known.at(term.tile), term.tileAxis, place);
        else if (term.axis >= 0)
          number *= place;
        sum += number;
      }
      ASSERT_EQ(sum, numbers[flat]) << "access form";
    }
  }

  void checkKernel(uint64_t seed) {
    Writer writer(seed);
    std::string text = writer.write();
    SCOPED_TRACE("seed " + std::to_string(seed) + "\n" + text);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto kernel = *module->getOps<func::FuncOp>().begin();
    std::vector<Value> values = storeAll(kernel);
    int64_t total = 0;
    for (Value value : values)
      total += cast<RankedTensorType>(value.getType()).getNumElements();
    std::vector<int64_t> memory(total);
    SmallVector<uint64_t> arguments{reinterpret_cast<uint64_t>(memory.data()), baseAddress};
    for (int64_t scalar : writer.scalars)
      arguments.push_back(static_cast<uint64_t>(scalar));
    RunOptions options;
    options.grid = {static_cast<uint32_t>(1 + seed % 5), 1, 1};
    runTileIR(kernel, arguments, options);

    llvm::DenseMap<Value, std::vector<int64_t>> known;
    int64_t place = 0;
    for (Value value : values) {
      int64_t count = cast<RankedTensorType>(value.getType()).getNumElements();
      known[value] = std::vector<int64_t>(memory.begin() + place, memory.begin() + place + count);
      place += count;
    }
    llvm::DenseMap<Value, int64_t> scalars;
    for (auto [index, scalar] : llvm::enumerate(writer.scalars))
      scalars[kernel.getArgument(static_cast<unsigned>(index) + 2)] = scalar;
    kernel.walk([&](tile::ProgramIdOp op) { scalars[op] = static_cast<int64_t>(seed % 5); });

    AxisAnalysis proved(kernel), trusting(kernel, AxisAnalysis::Remainders::Trusted);
    AccessForms forms(proved);
    bool isTrustworthy = llvm::all_of(trusting.trustedNonNegative(), [&](Value value) {
      auto found = known.find(value);
      return found != known.end() && llvm::all_of(found->second, [](int64_t number) { return number >= 0; });
    });
    for (Value value : values) {
      check(value, known[value], proved);
      if (isTrustworthy)
        check(value, known[value], trusting);
      checkForm(value, forms, known, scalars);
      if (HasFatalFailure()) {
        std::string text;
        llvm::raw_string_ostream stream(text);
        stream << "of " << value << "\n";
        proved.info(value).print(stream);
        FAIL() << text;
      }
      for (const AxisFacts &axis : proved.info(value).axes())
        groups += axis.contiguity > 1 || (axis.constancy > 1 && axis.constancy < axis.extent);
    }
  }

  MLIRContext context;
  int groups = 0, wholeForms = 0; // what was stated at all
};

TEST_F(AxisInfoProperty, EveryFactHolds) {
  for (uint64_t seed = 1; seed <= 500; ++seed) {
    checkKernel(seed);
    if (HasFatalFailure())
      return;
  }
  EXPECT_GT(groups, 1000);
  EXPECT_GT(wholeForms, 1000);
}

} // namespace
