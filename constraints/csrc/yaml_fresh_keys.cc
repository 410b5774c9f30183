// Keys of YAML that must not have occurred yet, in each of the styles of strings. A place in such a key knows the style
// and what was read, in characters. A colon in a plain key, and a quote in one in single quotes, may end it: that is
// known with the next byte, so there is a place behind them.
#include <algorithm>

#include "automata/csrc/utf8.h"
#include "constraints/csrc/json_schema_rules.h"
#include "constraints/csrc/yaml_spellings.h"
#include "constraints/csrc/yaml_string.h"

namespace tokamata {

StringStyle JsonSchemaRules::StyleOf(uint32_t style) const {
  if (style == kSingleKey) return StringStyle::kYamlSingle;
  return style == kPlainKey ? StringStyle::kYamlPlain : cases_.strings().style();
}

// Whether a rule reads the rest of an object from a key on, which may be one that no schema names.
bool JsonSchemaRules::BeginsYamlKey(uint32_t rule) const {
  const Rule& r = rules_[rule];
  return r.kind == Rule::kObject && r.words[6] == 1 && IsYaml() && IsUnique() && !ReadingOf(r.words[5]) && objects_[r.words[0]].open;
}

// The same without what the next key would leave behind. Where others occurred it is one of those that did not.
Expr JsonSchemaRules::ForgetYamlKey(uint32_t rule) {
  const uint32_t* const w = rules_[rule].words;
  ObjectState s = ObjectOf(w);
  s.first = 2;
  if (!s.seen) return CallObject(s);
  const uint32_t reader = ReaderOf(s), bare = objects_[s.plan].endless ? BareReader(reader) : reader;
  PreparedReader(reader);
  std::vector<Expr> parts{FreshKeysOf(reader)};
  const std::vector<Member> members = PreparedReader(bare).members;
  for (const Member& m : members)
    if (m.named) parts.push_back(YamlMember(m, s.plan));
  return pool_->Union(std::move(parts));
}

// Where flow style is two levels away at most, too, as one token may lead there.
bool JsonSchemaRules::IsBetweenBrackets(uint32_t rule) const {
  if (!IsYaml()) return true;
  const auto near = [this](uint32_t level) { return (level & ~kReadings) + 2 > options_.max_depth; };
  const Rule& r = rules_[rule];
  switch (r.kind) {
    case Rule::kValue: return IsFlow(r.words[1]) || near((r.words[1] & ~kReadings) >> 2);
    case Rule::kObject: return near(r.words[5]);
    case Rule::kArray: return near(r.words[6]);
    case Rule::kFreshKeys:
    case Rule::kFreshValue: return near(readers_[r.words[0]].state.depth);
    default: return true;
  }
}

Expr JsonSchemaRules::LeftOfValue(uint32_t rule) {
  const Rule& r = rules_[rule];
  return r.kind == Rule::kFreshValue ? PlaceOfValue(r.words[0], r.words[1]).left : Expr{kEmpty};
}

const JsonSchemaRules::YamlPath& JsonSchemaRules::YamlPathOf(SeenKeys::Path path) {
  uint32_t start = 0;
  const ByteTable& plain = YamlPlainTable(&start);
  if (yaml_paths_.empty()) yaml_paths_.push_back({0, start});
  while (yaml_paths_.size() <= path) {  // what is shorter was made before
    const SeenKeys::Path last = static_cast<SeenKeys::Path>(yaml_paths_.size());
    YamlPath next = yaml_paths_[seen_.Shorter(last)];
    std::string text;
    AppendUtf8(seen_.Last(last), &text);
    for (const char c : text) next.plain = plain.next[next.plain * 256 + static_cast<uint8_t>(c)];
    ++next.length;
    yaml_paths_.push_back(next);
  }
  return yaml_paths_[path];
}

// Whether nothing is asked of keys without a name, and this one is not about to be too long: then it may go on as its
// style has it, and more keys begin like it than may ever occur.
bool JsonSchemaRules::IsFarFromEnd(const FreshKey& n) {
  if (n.depth == kKeyBegins || !objects_[readers_[n.reader].state.plan].endless) return false;
  const uint32_t times = n.depth == kPlainKey ? kPlainTimes : n.depth == kSingleKey ? kSingleTimes : 1;
  return YamlPathOf(n.path).length + 2 < options_.max_key * times;
}

// Whether a key that did not occur may go on with a text, which begins or is a character.
bool JsonSchemaRules::MayGoOn(const FreshKey& n, std::string_view text, bool fresh) {
  if (IsFarFromEnd(n)) {
    if (n.depth == kPlainKey) {
      uint32_t start = 0, state = YamlPathOf(n.path).plain;
      for (const char c : text) state = YamlPlainTable(&start).next[state * 256 + static_cast<uint8_t>(c)];
      return state != 0;
    }
    const uint64_t key = uint64_t{n.depth} << 32 | sets_.Key(text);
    const auto known = yaml_characters_->find(key);
    if (known != yaml_characters_->end()) return known->second;
    return (*yaml_characters_)[key] = AfterBytes(cases_.StringsOf(StyleOf(n.depth)).AnyCharacter(), text) != kEmpty;
  }
  return AnyAfter(LeftOf(n), text) && (!fresh || !n.seen || AnyAfter(LeftAfter(&PreparedReader(n.reader), n.path, n.depth), text));
}

// Whether what may end a key may come: it ends one that did not occur, or the key goes on with it.
bool JsonSchemaRules::MayBeMarked(const FreshKey& n) {
  return MayGoOn(n, n.depth == kSingleKey ? "''" : ":", true) || AfterFresh(n) != kEmpty;
}

void JsonSchemaRules::StepYamlKey(FreshKey n, uint8_t byte, Expr* rest) {
  KeyReader& r = PreparedReader(n.reader);  // stays where it is
  if (n.depth == kKeyBegins) {
    const bool flow = IsFlow(r.state.depth);
    n.depth = byte == '"' ? kDoubleKey : byte == '\'' ? kSingleKey : kPlainKey;
    if (flow && n.depth != kDoubleKey) return;
    if (n.depth != kPlainKey) {
      if (IsAlive(n)) *rest = CallFresh(n);
      return;
    }
  }
  const char mark = n.depth == kSingleKey ? '\'' : ':';
  std::string text = n.spelled ? sets_.KeyText(n.spelled - 1) : std::string();
  if (n.depth != kDoubleKey && text == std::string(1, mark)) {
    n.spelled = 0;
    const bool ends = n.depth == kSingleKey ? byte != '\'' : byte == ' ' || byte == '\n';
    if (ends) {
      text += static_cast<char>(byte);
      *rest = AfterBytes(AfterFresh(n), n.depth == kSingleKey ? text.substr(1) : text);
      return;
    }
    if (n.depth == kPlainKey) {
      text.clear();
      n.path = seen_.Longer(n.path, ':');
      n.seen = seen_.After(n.seen, ':');
    }
  } else if (n.depth == kDoubleKey ? text.empty() && byte == '"' : false) {
    *rest = AfterFresh(n);
    return;
  }
  if (n.depth != kDoubleKey && text.empty() && byte == static_cast<uint8_t>(mark)) {
    if (!MayBeMarked(n)) return;
    n.spelled = sets_.Key(std::string(1, mark)) + 1;
    *rest = CallFresh(n);
    return;
  }
  text += static_cast<char>(byte);
  uint32_t c = 0;
  const Spelling spelling = ReadYamlSpelling(text, StyleOf(n.depth), &c);
  if (spelling == Spelling::kNone || !MayGoOn(n, text, spelling == Spelling::kBegun)) return;
  if (spelling == Spelling::kBegun) {
    n.spelled = sets_.Key(text) + 1;
    *rest = CallFresh(n);
    return;
  }
  n.spelled = 0;
  n.path = seen_.Longer(n.path, c);
  n.seen = seen_.After(n.seen, c);
  if (!n.seen || IsAlive(n)) *rest = CallFresh(n);
}

// The keys from a place on, those that occurred too unless they shall be fresh, and what follows them after members.
Expr JsonSchemaRules::YamlKeys(const FreshKey& n, bool fresh, const std::vector<Member>& members) {
  static constexpr uint32_t kStyles[] = {kDoubleKey, kSingleKey, kPlainKey};
  KeyReader& r = PreparedReader(n.reader);  // stays where it is
  const uint32_t plan = r.state.plan;
  std::vector<Expr> ends(objects_[plan].others.size(), kEmpty);
  for (const Member& m : members)
    if (!m.named) ends[m.index] = pool_->Union(ends[m.index], AfterQuote(objects_[plan], m, 0));
  std::vector<Expr> parts;
  for (const uint32_t style : kStyles) {
    if (n.depth != kKeyBegins ? style != n.depth : style != kDoubleKey && IsFlow(r.state.depth)) continue;
    FreshKey at = n;
    at.depth = style;
    const std::vector<Expr> left = fresh ? LeftAfter(&r, n.path, style) : LeftOf(at);
    const Expr quote = style == kPlainKey ? kEpsilonExpr : pool_->Byte(style == kDoubleKey ? '"' : '\'');
    for (uint32_t i = 0; i < left.size(); ++i)
      parts.push_back(pool_->Concat({n.depth == kKeyBegins ? quote : Expr{kEpsilonExpr}, left[i], quote, ends[i]}));
  }
  const Expr keys = pool_->Union(std::move(parts));
  return n.spelled ? AfterBytes(keys, sets_.KeyText(n.spelled - 1)) : keys;
}

// The spellings of a character that keys which occurred go on with.
void JsonSchemaRules::VisitYamlCharacter(const FreshKey& n, uint32_t c, std::string_view begun, const ByteSet& first,
                                         const TextVisitor& visit) {
  const FreshKey below{n.reader, 0, 0, n.depth, seen_.After(n.seen, c), seen_.Longer(n.path, c), 0};
  const RuleText child{{n.reader, below.path, 0, n.depth | kFreshPlace, below.seen, 0}};
  const bool alive = IsAlive(below);
  ForEachYamlSpelling(c, StyleOf(n.depth), [&](std::string_view text) {
    if (text.size() <= begun.size() || text.compare(0, begun.size(), begun)) return;
    if (!first.Has(static_cast<uint8_t>(text[begun.size()])) || !MayGoOn(n, text, false)) return;
    if (alive) return visit(text.substr(begun.size()), &child, kEmpty);
    const std::vector<Expr> left = LeftAfter(&PreparedReader(n.reader), n.path, n.depth);
    size_t length = begun.size() + 1;
    while (length < text.size() && AnyAfter(left, text.substr(0, length))) ++length;
    visit(text.substr(begun.size(), length - begun.size()), nullptr, kEmpty);
  });
}

void JsonSchemaRules::ForEachYamlKeyText(FreshKey n, const ByteSet& first, const TextVisitor& visit) {
  const auto place = [](const FreshKey& at) {
    return RuleText{{at.reader, at.path, 0, at.depth | kFreshPlace, at.seen, at.spelled}};
  };
  if (n.depth == kKeyBegins) {
    const bool flow = IsFlow(readers_[n.reader].state.depth);
    for (const uint32_t style : {kDoubleKey, kSingleKey}) {
      const char quote = style == kDoubleKey ? '"' : '\'';
      if (!first.Has(static_cast<uint8_t>(quote)) || (flow && style == kSingleKey)) continue;
      n.depth = style;
      const RuleText child = place(n);
      visit({&quote, 1}, IsAlive(n) ? &child : nullptr, kEmpty);
    }
    if (flow) return;
    n.depth = kPlainKey;
  }
  const char mark = n.depth == kDoubleKey ? '"' : n.depth == kSingleKey ? '\'' : ':';
  std::string begun = n.spelled ? sets_.KeyText(n.spelled - 1) : std::string();
  const bool marked = n.depth != kDoubleKey && begun == std::string(1, mark);
  n.spelled = 0;
  if (marked) {
    if (seen_.HasEmpty(n.seen))
      for (const char end : n.depth == kSingleKey ? std::string(":") : std::string(" \n"))
        if (first.Has(static_cast<uint8_t>(end))) visit({&end, 1}, nullptr, kEmpty);
    if (n.depth == kSingleKey) {
      if (seen_.After(n.seen, '\'')) VisitYamlCharacter(n, '\'', begun, first, visit);
      return;
    }
    n.path = seen_.Longer(n.path, ':');
    n.seen = seen_.After(n.seen, ':');
    if (!n.seen) return;
    begun.clear();
  }
  if (n.depth == kDoubleKey) {
    if (begun.empty() && seen_.HasEmpty(n.seen) && first.Has('"')) visit("\"", nullptr, kEmpty);
  } else if (begun.empty() && first.Has(static_cast<uint8_t>(mark)) &&
             (seen_.HasEmpty(n.seen) || seen_.After(n.seen, static_cast<uint8_t>(mark)))) {
    FreshKey behind = n;
    behind.spelled = sets_.Key(std::string(1, mark)) + 1;
    const RuleText child = place(behind);
    visit({&mark, 1}, MayBeMarked(n) ? &child : nullptr, kEmpty);
  }
  for (const uint32_t c : seen_.First(n.seen))
    if (n.depth == kDoubleKey || c != static_cast<uint8_t>(mark)) VisitYamlCharacter(n, c, begun, first, visit);
}

}  // namespace tokamata
