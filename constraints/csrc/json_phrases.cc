#include "constraints/csrc/json_phrases.h"

#include <mutex>
#include <numeric>
#include <utility>

#include "automata/csrc/expression_acceptor.h"
#include "constraints/csrc/free_text.h"
#include "constraints/csrc/regex.h"

namespace tokamata {
namespace {

constexpr size_t kMostTableBytes = 1000;  // of phrases that are made a table: some kilobytes for each
constexpr size_t kMostKept = 16;          // tables

struct Kept {
  std::vector<std::string> phrases;
  StringStyle style;
  bool no_json;
  std::shared_ptr<const ByteTable> table;
  uint32_t start;
};

Expr Spelled(const std::vector<std::string>& phrases, JsonStrings* strings, bool no_json) {
  Expressions& pool = strings->pool();
  const Expr any = strings->Any();
  Expr e = phrases.empty() ? any : strings->Complement(pool.Concat({any, strings->Choice(phrases), any}));
  return no_json ? strings->Difference(e, ReadAsJson(&pool, strings)) : e;
}

Kept Make(const std::vector<std::string>& phrases, StringStyle style, bool no_json) {
  auto table = std::make_shared<ByteTable>();
  Kept made{phrases, style, no_json, nullptr, 0};
  if (style == StringStyle::kBare && !no_json) {
    made.start = FreeTextTable(phrases, {}, FreeTextKind::kWithout, table.get());
  } else {
    auto pool = std::make_unique<Expressions>();
    JsonStrings strings(pool.get(), style);
    const Expr e = Spelled(phrases, &strings, no_json);
    ExpressionAcceptor acceptor(std::move(pool), e);
    made.start = MinimalTable(&acceptor, table.get());
  }
  made.table = std::move(table);
  return made;
}

}  // namespace

Expr ReadAsJson(Expressions* pool, CharacterSpelling* spelling) {
  static constexpr char kPattern[] =
      "[ \\t\\r\\n]*(?:[\"{\\[](?s:.*)|(?:(?:null|true|false|NaN|-?Infinity|-?[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)"
      "[ \\t\\r\\n]*)?)";
  return CompileRegex(pool, kPattern, RegexOptions(), spelling);
}

Expr StringsWithout(const std::vector<std::string>& phrases, JsonStrings* strings, bool no_json) {
  const size_t bytes = std::accumulate(phrases.begin(), phrases.end(), size_t{0},
                                       [](size_t n, const std::string& phrase) { return n + phrase.size(); });
  if (bytes > kMostTableBytes) return Spelled(phrases, strings, no_json);
  static std::mutex mutex;
  static std::vector<Kept> kept;
  static size_t next = 0;
  const StringStyle style = strings->style();
  {
    const std::lock_guard<std::mutex> lock(mutex);
    for (const Kept& k : kept)
      if (k.style == style && k.no_json == no_json && k.phrases == phrases)
        return strings->pool().Automaton(k.table, k.start);
  }
  Kept made = Make(phrases, style, no_json);  // twice where two ask at once
  const Expr e = strings->pool().Automaton(made.table, made.start);
  const std::lock_guard<std::mutex> lock(mutex);
  if (kept.size() < kMostKept)
    kept.push_back(std::move(made));
  else
    kept[next++ % kMostKept] = std::move(made);
  return e;
}

}  // namespace tokamata
