// nacre-ast-dump: prints the syntax trees of Python files, for comparison with CPython's own `ast`.
//
// Reads file names from standard input, one a line. For each it prints "file NAME" and then one line a node:
// DEPTH FIELD KIND LINE:COLUMN-LINE:COLUMN VALUE, or "error LINE:COLUMN MESSAGE". Text is printed as hexadecimal UTF-8,
// a float as the bits of its double. With --hide-f-string-locations the nodes inside f-strings have "-" for their
// location.
#include "compiler/frontend/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"
#include <iostream>

using namespace nacre;
using namespace nacre::ast;

namespace {

class Dumper {
public:
  Dumper(llvm::raw_ostream &out, bool hideFStringLocations) : out(out), hideFStringLocations(hideFStringLocations) {}

  void block(const char *field, const Block &statements) { list(field, statements); }

private:
  // One line for a node or a part; its fields follow one level deeper.
  void line(const char *field, llvm::StringRef kind, const SourceLocation *location, const llvm::Twine &value = "") {
    out << depth << ' ' << field << ' ' << kind << ' ';
    if (location && !(hideFStringLocations && fstringDepth > 0))
      out << location->line << ':' << location->column << '-' << location->endLine << ':' << location->endColumn;
    else
      out << '-';
    out << ' ' << value << '\n';
  }

  template <typename T> void list(const char *field, const std::vector<T> &items) {
    for (const T &item : items)
      child(field, item);
  }

  template <typename... Fields> void within(Fields... fields) {
    ++depth;
    (fields(), ...);
    --depth;
  }

  template <typename T> void child(const char *field, const std::unique_ptr<T> &item) {
    if (item)
      node(field, *item);
    else
      out << depth << ' ' << field << " none\n";
  }
  void child(const char *field, const KeywordArgument &keyword) {
    line(field, "keyword", &keyword.location, keyword.name);
    within([&] { child("value", keyword.value); });
  }
  void child(const char *field, const Parameter &parameter) {
    static const char *const kinds[] = {"positional", "regular", "variadic", "keyword", "keywords"};
    line(field, kinds[static_cast<int>(parameter.kind)], &parameter.location, parameter.name);
    within([&] { child("annotation", parameter.annotation); }, [&] { child("default", parameter.defaultValue); });
  }
  void child(const char *field, const TypeParameter &parameter) {
    line(field, "type parameter", &parameter.location, std::string(parameter.stars, '*') + parameter.name);
    within([&] { child("bound", parameter.bound); }, [&] { child("default", parameter.defaultValue); });
  }
  void child(const char *field, const ComprehensionClause &clause) {
    line(field, "clause", nullptr, clause.isAsync ? "async" : "");
    within([&] { child("target", clause.target); }, [&] { child("iterable", clause.iterable); },
           [&] { list("condition", clause.conditions); });
  }
  void child(const char *field, const WithItem &item) {
    line(field, "item", nullptr);
    within([&] { child("context", item.context); }, [&] { child("target", item.target); });
  }
  void child(const char *field, const ExceptHandler &handler) {
    line(field, "handler", &handler.location, handler.name);
    within([&] { child("type", handler.type); }, [&] { block("body", handler.body); });
  }
  void child(const char *field, const MatchCase &each) {
    line(field, "case", nullptr);
    within([&] { child("pattern", each.pattern); }, [&] { child("guard", each.guard); },
           [&] { block("body", each.body); });
  }
  void child(const char *field, const ImportedName &name) {
    line(field, "import", &name.location, name.name + " " + name.alias);
  }
  void child(const char *field, const std::string &text) { out << depth << ' ' << field << ' ' << text << '\n'; }

  void node(const char *field, const Node &each);

  llvm::raw_ostream &out;
  bool hideFStringLocations;
  int depth = 0;
  int fstringDepth = 0;
};

std::string hexadecimal(llvm::StringRef text) { return llvm::toHex(text, /*LowerCase=*/true); }
std::string bits(double value) { return llvm::utohexstr(llvm::bit_cast<uint64_t>(value), /*LowerCase=*/true, 16); }

// clang-format off: one case a node, its fields below it
#define CASE(name) \
  case Kind::name: { \
    [[maybe_unused]] const auto &n = llvm::cast<name>(each); \
    [[maybe_unused]] constexpr llvm::StringRef kind = #name;
#define END \
  return; \
  }

void Dumper::node(const char *field, const Node &each) {
  const SourceLocation *at = &each.location;
  switch (each.kind) {
    CASE(NoneLiteral) line(field, kind, at); END
    CASE(EllipsisLiteral) line(field, kind, at); END
    CASE(BoolLiteral) line(field, kind, at, n.value ? "true" : "false"); END
    CASE(IntegerLiteral)
      std::string text;
      llvm::raw_string_ostream(text) << n.value;
      line(field, kind, at, text);
    END
    CASE(FloatLiteral) line(field, kind, at, bits(n.value)); END
    CASE(ImaginaryLiteral) line(field, kind, at, bits(n.value)); END
    CASE(StringLiteral) line(field, kind, at, hexadecimal(n.value)); END
    CASE(BytesLiteral) line(field, kind, at, hexadecimal(n.value)); END
    CASE(FormattedString)
      line(field, kind, at);
      ++fstringDepth;
      within([&] {
        for (const ExpressionPointer &part : n.parts) {
          if (auto *text = llvm::dyn_cast<StringLiteral>(part.get()))
            line("part", "StringLiteral", nullptr, hexadecimal(text->value));
          else
            child("part", part);
        }
      });
      --fstringDepth;
    END
    CASE(FormattedValue)
      line(field, kind, at, n.conversion ? std::string(1, n.conversion) : "");
      within([&] { child("value", n.value); }, [&] { child("format", n.format); });
    END
    CASE(Name) line(field, kind, at, n.name); END
    CASE(Attribute)
      line(field, kind, at, n.name);
      within([&] { child("value", n.value); });
    END
    CASE(Subscript)
      line(field, kind, at);
      within([&] { child("value", n.value); }, [&] { child("index", n.index); });
    END
    CASE(Slice)
      line(field, kind, at);
      within([&] { child("lower", n.lower); }, [&] { child("upper", n.upper); }, [&] { child("step", n.step); });
    END
    CASE(Call)
      line(field, kind, at);
      within([&] { child("callee", n.callee); }, [&] { list("argument", n.arguments); },
             [&] { list("keyword", n.keywords); });
    END
    CASE(Starred)
      line(field, kind, at);
      within([&] { child("value", n.value); });
    END
    CASE(UnaryOperation)
      line(field, kind, at, spelling(n.op));
      within([&] { child("operand", n.operand); });
    END
    CASE(BinaryOperation)
      line(field, kind, at, spelling(n.op));
      within([&] { child("left", n.left); }, [&] { child("right", n.right); });
    END
    CASE(BooleanOperation)
      line(field, kind, at, spelling(n.op));
      within([&] { list("value", n.values); });
    END
    CASE(Comparison)
      std::string ops;
      for (CompareOperator op : n.ops)
        ops += (ops.empty() ? "" : ",") + spelling(op).str();
      line(field, kind, at, ops);
      within([&] { child("left", n.left); }, [&] { list("comparator", n.comparators); });
    END
    CASE(Conditional)
      line(field, kind, at);
      within([&] { child("test", n.test); }, [&] { child("body", n.body); }, [&] { child("else", n.orElse); });
    END
    CASE(NamedExpression)
      line(field, kind, at);
      within([&] { child("target", n.target); }, [&] { child("value", n.value); });
    END
    CASE(Lambda)
      line(field, kind, at);
      within([&] { list("parameter", n.parameters); }, [&] { child("body", n.body); });
    END
    CASE(Tuple)
      line(field, kind, at);
      within([&] { list("element", n.elements); });
    END
    CASE(List)
      line(field, kind, at);
      within([&] { list("element", n.elements); });
    END
    CASE(Set)
      line(field, kind, at);
      within([&] { list("element", n.elements); });
    END
    CASE(Dictionary)
      line(field, kind, at);
      within([&] { list("key", n.keys); }, [&] { list("value", n.values); });
    END
    CASE(Comprehension)
      static const char *const forms[] = {"list", "set", "dictionary", "generator"};
      line(field, kind, at, forms[static_cast<int>(n.form)]);
      within([&] { child("key", n.key); }, [&] { child("element", n.element); }, [&] { list("clause", n.clauses); });
    END
    CASE(Await)
      line(field, kind, at);
      within([&] { child("value", n.value); });
    END
    CASE(Yield)
      line(field, kind, at, n.isFrom ? "from" : "");
      within([&] { child("value", n.value); });
    END
    CASE(FunctionDefinition)
      line(field, kind, at, (n.isAsync ? "async " : "") + n.name);
      within([&] { list("decorator", n.decorators); }, [&] { list("typeParameter", n.typeParameters); },
             [&] { list("parameter", n.parameters); }, [&] { child("returns", n.returns); },
             [&] { block("body", n.body); });
    END
    CASE(ClassDefinition)
      line(field, kind, at, n.name);
      within([&] { list("decorator", n.decorators); }, [&] { list("typeParameter", n.typeParameters); },
             [&] { list("base", n.bases); }, [&] { list("keyword", n.keywords); }, [&] { block("body", n.body); });
    END
    CASE(Return)
      line(field, kind, at);
      within([&] { child("value", n.value); });
    END
    CASE(Delete)
      line(field, kind, at);
      within([&] { list("target", n.targets); });
    END
    CASE(Assign)
      line(field, kind, at);
      within([&] { list("target", n.targets); }, [&] { child("value", n.value); });
    END
    CASE(AugmentedAssign)
      line(field, kind, at, spelling(n.op));
      within([&] { child("target", n.target); }, [&] { child("value", n.value); });
    END
    CASE(AnnotatedAssign)
      line(field, kind, at, n.isSimple ? "simple" : "");
      within([&] { child("target", n.target); }, [&] { child("annotation", n.annotation); },
             [&] { child("value", n.value); });
    END
    CASE(TypeAlias)
      line(field, kind, at);
      within([&] { child("name", n.name); }, [&] { list("typeParameter", n.typeParameters); },
             [&] { child("value", n.value); });
    END
    CASE(For)
      line(field, kind, at, n.isAsync ? "async" : "");
      within([&] { child("target", n.target); }, [&] { child("iterable", n.iterable); }, [&] { block("body", n.body); },
             [&] { block("else", n.orElse); });
    END
    CASE(While)
      line(field, kind, at);
      within([&] { child("test", n.test); }, [&] { block("body", n.body); }, [&] { block("else", n.orElse); });
    END
    CASE(If)
      line(field, kind, at);
      within([&] { child("test", n.test); }, [&] { block("body", n.body); }, [&] { block("else", n.orElse); });
    END
    CASE(With)
      line(field, kind, at, n.isAsync ? "async" : "");
      within([&] { list("item", n.items); }, [&] { block("body", n.body); });
    END
    CASE(Match)
      line(field, kind, at);
      within([&] { child("subject", n.subject); }, [&] { list("case", n.cases); });
    END
    CASE(Raise)
      line(field, kind, at);
      within([&] { child("exception", n.exception); }, [&] { child("cause", n.cause); });
    END
    CASE(Try)
      line(field, kind, at, n.isStar ? "star" : "");
      within([&] { block("body", n.body); }, [&] { list("handler", n.handlers); }, [&] { block("else", n.orElse); },
             [&] { block("finally", n.finalBody); });
    END
    CASE(Assert)
      line(field, kind, at);
      within([&] { child("test", n.test); }, [&] { child("message", n.message); });
    END
    CASE(Import)
      line(field, kind, at);
      within([&] { list("name", n.names); });
    END
    CASE(ImportFrom)
      line(field, kind, at, std::string(n.level, '.') + n.module);
      within([&] { list("name", n.names); });
    END
    CASE(Scope)
      line(field, kind, at, n.isNonlocal ? "nonlocal" : "global");
      within([&] { list("name", n.names); });
    END
    CASE(ExpressionStatement)
      line(field, kind, at);
      within([&] { child("value", n.value); });
    END
    CASE(Pass) line(field, kind, at); END
    CASE(Break) line(field, kind, at); END
    CASE(Continue) line(field, kind, at); END
    CASE(Pattern)
      static const char *const forms[] = {"value", "sequence", "star", "mapping", "class", "as", "or"};
      line(field, kind, at, forms[static_cast<int>(n.form)] + (" " + n.name));
      within([&] { child("value", n.value); }, [&] { list("key", n.keys); }, [&] { list("attribute", n.attributes); },
             [&] { list("pattern", n.patterns); });
    END
  }
}
// clang-format on

} // namespace

int main(int argc, char **argv) {
  bool hideFStringLocations = argc > 1 && llvm::StringRef(argv[1]) == "--hide-f-string-locations";
  std::string fileName;
  while (std::getline(std::cin, fileName)) {
    llvm::outs() << "file " << fileName << '\n';
    auto buffer = llvm::MemoryBuffer::getFile(fileName);
    if (!buffer) {
      llvm::errs() << fileName << ": " << buffer.getError().message() << '\n';
      return 1;
    }
    auto source = std::make_shared<SourceText>();
    source->fileName = fileName;
    source->text = (*buffer)->getBuffer().str();
    try {
      Module module = parseModule(source);
      Dumper(llvm::outs(), hideFStringLocations).block("body", module.body);
    } catch (const CompileError &error) {
      const SourceLocation &location = error.diagnostic.location;
      llvm::outs() << "error " << location.line << ':' << location.column << ' ' << error.diagnostic.message << '\n';
    }
  }
}
