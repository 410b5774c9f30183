// LineKeys: what rules (see RuleSource) may be besides, which read keys that must not occur twice.
#pragma once
#include "automata/csrc/expression_acceptor.h"

namespace tokamata {

// Keys may stand in lines of their own, without quotes, and with a colon and a blank or a line break behind them.
class LineKeys {
 public:
  virtual ~LineKeys() = default;
  virtual bool HasKeysInLines() const = 0;
  // Whether a rule is about to read such a key.
  virtual bool BeginsKey(uint32_t rule) const = 0;
  // Whether a rule stands between brackets, where keys are those of JSON, or little above.
  virtual bool IsBetweenBrackets(uint32_t rule) const = 0;
  // What is left of a value that a rule reads, which may have keys of its own; kEmpty: it reads none.
  virtual Expr LeftOfValue(uint32_t rule) = 0;
};

// The acceptor as one of expressions if some of its rules have keys in lines, else null.
ExpressionAcceptor* WithLineKeys(DelayedAcceptor* acceptor);

// What may come in a state: kKeyBehindBlanks, blanks and then a key in a line; kKeysOfJson, keys between brackets.
enum KeysAhead : uint32_t { kNoKeys = 0, kKeyBehindBlanks = 1, kKeysOfJson = 2 };
uint32_t KeysAheadOf(const ExpressionAcceptor& acceptor, DelayedAcceptor::State q);

}  // namespace tokamata
