// Expressions: operators, attributes, subscripts, conditional expressions.
#include "compiler/frontend/SingleElements.h"
#include "compiler/ir/tile/Tile.h"
#include "compiler/language/meaning/Pointers.h"
#include "compiler/language/meaning/Scalars.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace nacre {

Object Generator::expression(const ast::Expression &node) {
  checkStack(node.location);
  spend(1, node.location);
  irBuilder.setLocation(node.location);
  Object result = dispatch(node);
  irBuilder.setLocation(node.location);
  checkSize(result, node.location);
  return result;
}

Object Generator::dispatch(const ast::Expression &node) {
  switch (node.kind) {
  case ast::Kind::NoneLiteral:
    return Object();
  case ast::Kind::EllipsisLiteral:
    return Object(EllipsisValue{});
  case ast::Kind::BoolLiteral:
    return Object(llvm::cast<ast::BoolLiteral>(node).value);
  case ast::Kind::IntegerLiteral:
    return Object(llvm::cast<ast::IntegerLiteral>(node).value);
  case ast::Kind::FloatLiteral:
    return Object(llvm::cast<ast::FloatLiteral>(node).value);
  case ast::Kind::StringLiteral:
    return Object(llvm::cast<ast::StringLiteral>(node).value);
  case ast::Kind::FormattedString:
    return formattedString(llvm::cast<ast::FormattedString>(node));
  case ast::Kind::Name:
    return lookUp(llvm::cast<ast::Name>(node));
  case ast::Kind::Attribute: {
    auto &attribute = llvm::cast<ast::Attribute>(node);
    return attributeOf(expression(*attribute.value), attribute);
  }
  case ast::Kind::Subscript: {
    auto &access = llvm::cast<ast::Subscript>(node);
    Object object;
    auto *member = llvm::dyn_cast<ast::Attribute>(access.value.get());
    if (member && member->name == "shape") {
      Object owner = expression(*member->value);
      if (isPointerScalar(owner))
        failAt(member->nameLocation, Diagnostic::Kind::Name, owner.typeName() + " has no shape: it is a pointer",
               pointerHint);
      object = attributeOf(owner, *member);
    } else {
      object = expression(*access.value);
    }
    Object place = index(*access.index);
    irBuilder.setLocation(node.location);
    return subscript(*this, object, place);
  }
  case ast::Kind::Call:
    return callExpression(llvm::cast<ast::Call>(node));
  case ast::Kind::UnaryOperation:
    return unaryOperation(llvm::cast<ast::UnaryOperation>(node));
  case ast::Kind::BinaryOperation: {
    auto &operation = llvm::cast<ast::BinaryOperation>(node);
    Object left = expression(*operation.left);
    Object right = expression(*operation.right);
    return binaryOperation(operation.op, left, right, node.location);
  }
  case ast::Kind::BooleanOperation:
    return booleanOperation(llvm::cast<ast::BooleanOperation>(node));
  case ast::Kind::Comparison:
    return comparison(llvm::cast<ast::Comparison>(node));
  case ast::Kind::Conditional:
    return conditional(llvm::cast<ast::Conditional>(node));
  case ast::Kind::NamedExpression: {
    auto &walrus = llvm::cast<ast::NamedExpression>(node);
    assignName(walrus.target->name, expression(*walrus.value), walrus.target->location);
    return lookUp(*walrus.target);
  }
  case ast::Kind::Tuple:
    return Object::makeTuple(elements(llvm::cast<ast::Tuple>(node).elements));
  case ast::Kind::List: {
    auto list = std::make_shared<TupleValue>();
    list->items = elements(llvm::cast<ast::List>(node).elements);
    list->isList = true;
    return std::shared_ptr<const TupleValue>(std::move(list));
  }
  case ast::Kind::Comprehension:
    return comprehension(llvm::cast<ast::Comprehension>(node));
  case ast::Kind::Slice:
    return slice(llvm::cast<ast::Slice>(node));
  case ast::Kind::Starred:
    unsupported(node, "a starred expression cannot stand here", "it may stand in a call, a tuple or a list");
  case ast::Kind::Lambda:
    unsupported(node, "a lambda cannot be used in a kernel", "write a function with @triton.jit and name it here");
  case ast::Kind::Dictionary:
    if (frame->function->source.isExternal)
      return dictionary(llvm::cast<ast::Dictionary>(node));
    unsupported(node, "a dict cannot be used in a kernel", "use a tuple, or separate variables");
  case ast::Kind::Set:
    unsupported(node, "a set cannot be used in a kernel", "use a tuple");
  case ast::Kind::ImaginaryLiteral:
    unsupported(node, "the language has no complex numbers");
  case ast::Kind::BytesLiteral:
    unsupported(node, "bytes cannot be used in a kernel");
  default:
    unsupported(node, "a kernel cannot hold this: " + ast::describe(node.kind).str());
  }
}

Object Generator::attributeOf(const Object &object, const ast::Attribute &node) {
  irBuilder.setLocation(node.location);
  if (object.is<ModuleReference>())
    return moduleAttribute(object.as<ModuleReference>(), node.name, node.nameLocation);
  if (object.is<OpaqueReference>()) {
    Embedder::Answer answer = embedder.attribute(object, node.name);
    if (!answer.object && answer.problem.empty())
      failAt(node.nameLocation, Diagnostic::Kind::Name, object.typeName() + " has no attribute `" + node.name + "`");
    return accept(answer, "the attribute `" + node.name + "`", node.nameLocation);
  }
  if (std::optional<Object> found = attribute(*this, object, node.name))
    return *found;
  if (std::optional<Object> method = aggregateMethod(object, node.name, node.nameLocation))
    return *method;
  bool changesList = object.isTuple() &&
                     llvm::is_contained({"append", "extend", "insert", "pop", "remove", "clear", "reverse", "sort"},
                                        llvm::StringRef(node.name));
  failAt(node.nameLocation, Diagnostic::Kind::Name, object.typeName() + " has no attribute `" + node.name + "`",
         changesList               ? "lists and tuples do not change in a kernel; make a new one: values = values + [x]"
         : isPointerScalar(object) ? pointerHint
                                   : "");
}

// ---- Operators

// Where overflow is looked for, sums, differences and products of signed integers tell their operands (tile.tell): only
// here is known which integers are signed. Divisions and shifts are told by a pass (WatchArithmetic.h).
static void tellArithmetic(Generator &generator, llvm::StringRef name, const Object &left, const Object &right,
                           const Object &result) {
  if (!result.isValue())
    return;
  Type scalar = result.value().type().scalarType();
  if (!scalar.isInteger() || !scalar.isSigned() || isOfSingleElements(generator))
    return;
  Values operands = broadcastTogether(generator, {castTo(generator, toOperand(generator, left, scalar), scalar),
                                                  castTo(generator, toOperand(generator, right, scalar), scalar)});
  IRBuilder &ir = generator.ir();
  tile::TellOp::create(ir.ops(), ir.irLocation(), ToldKind::Arithmetic, name.str() + " " + scalar.str(),
                       mlir::ValueRange{ir.irValue(operands[0]), ir.irValue(operands[1])},
                       llvm::ArrayRef<bool>{true, true});
}

Object Generator::unaryOperation(const ast::UnaryOperation &node) {
  Object operand = expression(*node.operand);
  irBuilder.setLocation(node.location);
  switch (node.op) {
  case ast::UnaryOperator::Not:
    return applyUnary(*this, UnaryOperator::Not, operand);
  case ast::UnaryOperator::Invert:
    return applyUnary(*this, UnaryOperator::Invert, operand);
  case ast::UnaryOperator::Plus:
    return applyUnary(*this, UnaryOperator::Plus, operand);
  case ast::UnaryOperator::Minus: {
    Object result = applyUnary(*this, UnaryOperator::Minus, operand);
    if (options.sanitizeOverflow && !frame->function->isLibrary())
      tellArithmetic(*this, "sub", 0, operand, result);
    return result;
  }
  }
  llvm_unreachable("every unary operator is handled");
}

static Operator semanticOperator(ast::BinaryOperator op) {
  switch (op) {
  case ast::BinaryOperator::Add:
    return Operator::Add;
  case ast::BinaryOperator::Subtract:
    return Operator::Sub;
  case ast::BinaryOperator::Multiply:
    return Operator::Mul;
  case ast::BinaryOperator::MatrixMultiply:
    return Operator::MatMul;
  case ast::BinaryOperator::Divide:
    return Operator::Div;
  case ast::BinaryOperator::FloorDivide:
    return Operator::FloorDiv;
  case ast::BinaryOperator::Modulo:
    return Operator::Mod;
  case ast::BinaryOperator::Power:
    return Operator::Pow;
  case ast::BinaryOperator::ShiftLeft:
    return Operator::Shl;
  case ast::BinaryOperator::ShiftRight:
    return Operator::Shr;
  case ast::BinaryOperator::And:
    return Operator::And;
  case ast::BinaryOperator::Or:
    return Operator::Or;
  case ast::BinaryOperator::Xor:
    return Operator::Xor;
  }
  llvm_unreachable("every binary operator is handled");
}

Object Generator::binaryOperation(ast::BinaryOperator op, const Object &left, const Object &right,
                                  const SourceLocation &place) {
  irBuilder.setLocation(place);
  bool isChecked = !frame->function->isLibrary();
  Object result = (isChecked ? applyCheckedOperator : applyOperator)(*this, semanticOperator(op), left, right);
  if (isChecked && options.sanitizeOverflow) {
    if (op == ast::BinaryOperator::Add)
      tellArithmetic(*this, "add", left, right, result);
    else if (op == ast::BinaryOperator::Subtract)
      tellArithmetic(*this, "sub", left, right, result);
    else if (op == ast::BinaryOperator::Multiply)
      tellArithmetic(*this, "mul", left, right, result);
  }
  return result;
}

static Comparison semanticComparison(ast::CompareOperator op) {
  switch (op) {
  case ast::CompareOperator::Equal:
    return Comparison::Eq;
  case ast::CompareOperator::NotEqual:
    return Comparison::Ne;
  case ast::CompareOperator::Less:
    return Comparison::Lt;
  case ast::CompareOperator::LessEqual:
    return Comparison::Le;
  case ast::CompareOperator::Greater:
    return Comparison::Gt;
  case ast::CompareOperator::GreaterEqual:
    return Comparison::Ge;
  case ast::CompareOperator::Is:
    return Comparison::Is;
  case ast::CompareOperator::IsNot:
    return Comparison::IsNot;
  case ast::CompareOperator::In:
    return Comparison::In;
  case ast::CompareOperator::NotIn:
    return Comparison::NotIn;
  }
  llvm_unreachable("every comparison is handled");
}

// A constexpr operand decides or drops out; run-time ones are all evaluated and combined.
Object Generator::combineLogical(bool isAnd, size_t count, llvm::function_ref<Object(size_t)> operand,
                                 const SourceLocation &place) {
  std::optional<Object> runTime;
  Object last;
  for (size_t i = 0; i < count; ++i) {
    last = operand(i);
    irBuilder.setLocation(place);
    if (last.isConstexpr()) {
      if (std::get<bool>(toCondition(*this, last)) != isAnd)
        return last;
    } else {
      runTime = runTime ? applyLogical(*this, isAnd, *runTime, last) : last;
    }
  }
  return runTime ? *runTime : last;
}

Object Generator::booleanOperation(const ast::BooleanOperation &node) {
  return combineLogical(
      node.op == ast::BooleanOperator::And, node.values.size(), [&](size_t i) { return expression(*node.values[i]); },
      node.location);
}

Object Generator::comparison(const ast::Comparison &node) {
  Object left = expression(*node.left);
  auto compare = [&](size_t i) {
    Object right = expression(*node.comparators[i]);
    irBuilder.setLocation(node.location);
    Object result = applyComparison(*this, semanticComparison(node.ops[i]), left, right);
    left = right;
    return result;
  };
  if (node.ops.size() == 1)
    return compare(0);
  return combineLogical(/*isAnd=*/true, node.ops.size(), compare, node.location);
}

// ---- Conditional expressions

// Whether an arm may run whichever way the test goes: it has no effect and costs little.
static bool isSpeculatable(mlir::Block &block) {
  constexpr size_t mostOperations = 16;
  return block.getOperations().size() <= mostOperations && llvm::all_of(block, [](mlir::Operation &op) {
           return mlir::isPure(&op) && op.getNumRegions() == 0 && !llvm::isa<tile::DotOp>(op);
         });
}

Object Generator::conditional(const ast::Conditional &node) {
  std::variant<bool, Value> test = condition(*node.test);
  if (auto *known = std::get_if<bool>(&test))
    return expression(*known ? *node.body : *node.orElse);

  // Each arm is built aside; where both may run, one of their values is selected.
  Value decision = std::get<Value>(test);
  // The arms' values travel as a name that no text can spell.
  constexpr const char *result = "(conditional)";
  auto arm = [&](const ast::Expression &value) {
    return buildBranch([&] {
      Object object = expression(value);
      frame->path.names.bind(result, localized(object), value.location);
    });
  };
  Branch whenTrue = arm(*node.body);
  Branch whenFalse = arm(*node.orElse);
  irBuilder.setLocation(node.location);
  Object a = whenTrue.path.names.find(result)->object, b = whenFalse.path.names.find(result)->object;
  bool bothValues = a.isValue() && b.isValue();
  if (decision.type().isBlock() && bothValues) {
    at(whenTrue.block.get(), [&] { a = broadcastTo(*this, a.value(), decision.type().shape()); });
    at(whenFalse.block.get(), [&] { b = broadcastTo(*this, b.value(), decision.type().shape()); });
    whenTrue.path.names.bind(result, a, node.body->location);
    whenFalse.path.names.bind(result, b, node.orElse->location);
  }
  if (bothValues ? a.value().type() != b.value().type() : !sameObject(a, b) && !(a.isCompound() && b.isCompound()))
    failAt(node.location, Diagnostic::Kind::Type,
           "both arms of a run-time conditional expression must agree in type, but they are " + describeType(a) +
               " and " + describeType(b),
           "cast one of them, for instance with tl.cast");
  Environment before = frame->path.names;
  bool assignsNames = false;
  for (const auto &[name, binding] : whenTrue.path.names.all())
    assignsNames |= name != result && before.find(name) != binding;
  for (const auto &[name, binding] : whenFalse.path.names.all())
    assignsNames |= name != result && before.find(name) != binding;
  bool canSelect = bothValues && !assignsNames && isSpeculatable(*whenTrue.block) && isSpeculatable(*whenFalse.block);
  if (canSelect) {
    mlir::OpBuilder &ops = irBuilder.ops();
    for (Branch *branch : {&whenTrue, &whenFalse})
      ops.getInsertionBlock()->getOperations().splice(ops.getInsertionPoint(), branch->block->getOperations());
    return irBuilder.select(decision, a.value(), b.value());
  }
  join(node.location, decision, std::move(whenTrue), std::move(whenFalse));
  Object joined = frame->path.names.find(result)->object;
  frame->path.names.remove(result);
  return joined;
}

// ---- Subscripts

Object Generator::slice(const ast::Slice &node) {
  auto part = [&](const ast::ExpressionPointer &bound) { return bound ? expression(*bound) : Object(); };
  Object start = part(node.lower), stop = part(node.upper), step = part(node.step);
  return Object::makeSlice(start, stop, step);
}

Object Generator::index(const ast::Expression &node) {
  if (auto *tuple = llvm::dyn_cast<ast::Tuple>(&node)) {
    std::vector<Object> parts;
    for (const auto &element : tuple->elements)
      parts.push_back(expression(*element));
    return Object::makeTuple(std::move(parts));
  }
  return expression(node);
}

} // namespace nacre
