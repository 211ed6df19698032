// Helpers of the reader's tests: text in, tree or rendered error out.
#pragma once

#include "compiler/frontend/Parser.h"
#include <gtest/gtest.h>

namespace nacre::test {

inline std::shared_ptr<const SourceText> source(std::string text, int firstLine = 1, int firstColumn = 0) {
  return std::make_shared<SourceText>(SourceText{"kernel.py", std::move(text), firstLine, firstColumn});
}

inline ast::Module parse(std::string text) { return parseModule(source(std::move(text))); }

// The expression that is the whole of `text`.
struct ParsedExpression {
  ast::Module module;
  const ast::Expression &get() const { return *llvm::cast<ast::ExpressionStatement>(*module.body.at(0)).value; }
  template <typename T> const T &as() const { return llvm::cast<T>(get()); }
};
inline ParsedExpression parseExpression(std::string text) { return {parse(std::move(text))}; }

// The rendered error of a text that must not parse; empty when it does.
inline std::string errorOf(std::string text) {
  try {
    parse(std::move(text));
  } catch (const CompileError &error) {
    EXPECT_EQ(error.diagnostic.kind, Diagnostic::Kind::Syntax);
    return error.what();
  }
  return "";
}

} // namespace nacre::test
