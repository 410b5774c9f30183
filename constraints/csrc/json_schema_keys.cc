// Keys of objects: tries that are read byte by byte. Any spelling of a character counts, raw or escaped.
#include <algorithm>
#include <numeric>

#include "automata/csrc/hex_digits.h"
#include "automata/csrc/utf8.h"
#include "constraints/csrc/json_schema_rules.h"

namespace tokamata {
namespace {

constexpr char kShortEscaped[] = {'"', '\\', '/', '\b', '\f', '\n', '\r', '\t'};
constexpr uint32_t kMaxCodePoint = 0x10FFFF;

const ByteSet& RawAscii() {  // what stands in a string as itself
  static const ByteSet set = ByteSet::Range(0x20, 0x7F) - ByteSet::Of('"') - ByteSet::Of('\\');
  return set;
}

}  // namespace

// Texts that are not UTF-8 have no spelling, so they are no keys.
void JsonSchemaRules::SortKeys(ObjectPlan* plan) {
  if (plan->sorted_ready) return;
  std::unordered_map<KeyId, uint32_t> named;
  for (uint32_t i = 0; i < plan->keys.size(); ++i) named.emplace(plan->keys[i].key, i);
  std::u32string text;
  for (KeyId key : plan->mentioned) {
    text.clear();
    if (!DecodeText(sets_.KeyText(key), &text)) continue;
    plan->ascii = plan->ascii && std::all_of(text.begin(), text.end(), [](char32_t c) { return c < 0x80; });
    const auto found = named.find(key);
    const std::u32string_view kept(arena_.Copy(text.data(), text.size()), text.size());
    plan->sorted.push_back({kept, key, found == named.end() ? kUnbounded : found->second});
  }
  std::sort(plan->sorted.begin(), plan->sorted.end(), [](const SortedKey& a, const SortedKey& b) { return a.text < b.text; });
  plan->named_before.assign(1, 0);
  plan->sorted_at.assign(plan->keys.size(), 0);
  for (uint32_t i = 0; i < plan->sorted.size(); ++i) {
    const uint32_t index = plan->sorted[i].named;
    plan->named_before.push_back(plan->named_before.back() + (index != kUnbounded));
    if (index != kUnbounded) plan->sorted_at[index] = i;
  }
  plan->sorted_ready = true;
}

uint32_t JsonSchemaRules::ReaderOf(const ObjectState& s) {
  const ListId id = sets_.lists.Intern({1, s.plan, s.position, s.low, s.high, static_cast<uint32_t>(s.owed),
                                       static_cast<uint32_t>(s.owed >> 32), s.depth, s.seen});
  uint32_t& known = reader_of_[id];
  if (!known) {
    readers_.emplace_back().state = s;
    known = static_cast<uint32_t>(readers_.size());
  }
  return known - 1;
}

// All keys that may come next, from behind the opening quote on to the end of the object; kEmpty: there is none.
Expr JsonSchemaRules::KeysOf(const ObjectState& s) {
  const uint32_t reader = ReaderOf(s);
  const KeyReader& r = PreparedReader(reader);
  const uint32_t reading = ReadingOf(s.depth);
  if (r.others && (reading & kUnderKeys)) {
    return KeysNear({reader, 0, static_cast<uint32_t>(r.keys.size()), 0, s.seen, 0, 0}, Side::kUnder);
  }
  if (r.others && IsUnique() && !reading) return FreshKeysOf(reader);
  const Expr more = MayBeOneMore(s) ? OneMoreKey(s) : Expr{kEmpty};
  if (r.keys.empty() && !r.others) return more;
  return pool_->Union(more, CallKeys({reader, 0, static_cast<uint32_t>(r.keys.size()), 0, kRawKey}));
}

JsonSchemaRules::KeyReader& JsonSchemaRules::PreparedReader(uint32_t reader) {
  KeyReader& r = readers_[reader];  // stays where it is
  if (r.ready) return r;
  Prepared(r.state.plan);
  if (!objects_[r.state.plan].plain) {
    FillMembers(reader);
    r.ready = true;
    return r;
  }
  SortKeys(&objects_[r.state.plan]);
  if (objects_[r.state.plan].free)
    FillFree(reader);
  else
    FillFromMembers(reader);
  r.others = r.other_end != kEmpty;
  if (r.others) r.rest = pool_->Concat(cases_.strings().Any(), CallKeys({reader, 0, 0, 0, kOtherEnd}));
  r.ready = true;
  return r;
}

// In any order all keys and others; else keys up to the next one that is required, or, where none is, all and others.
void JsonSchemaRules::FillFree(uint32_t reader) {
  KeyReader& r = readers_[reader];
  ObjectPlan& p = objects_[r.state.plan];  // stays where it is
  const uint32_t size = static_cast<uint32_t>(p.keys.size());
  const bool owes = !p.any_order && p.required_after[r.state.position] > 0;
  r.limit = size;
  if (owes) {
    r.limit = r.state.position;
    while (!p.keys[r.limit].required) ++r.limit;
    ++r.limit;
  }
  const uint32_t reading = ReadingOf(r.state.depth);
  ObjectState next = AfterMember(r.state);
  if (p.any_order) FindRoom(&r);
  const bool under = reading & kUnderKeys && (reading & kLastKey || !r.state.low);
  if (!owes && !(reading & kNamedKey) && r.state.high) {
    PrepareOthers(r.state.plan);
    approximates_ = approximates_ || (reading && !p.others.empty());
    if (!p.any_order) next.position = size;
    for (const OtherKeys& o : p.others) {
      if (under || !Inhabited(o.value) || !ObjectInhabited(next)) continue;
      r.members.push_back({false, 0, o.value, next});
      r.other_end = AfterQuote(p, r.members.back(), Deeper(r.state.depth));
    }
  }
  if (p.any_order || r.other_end != kEmpty) {  // the same ones at each place of the object
    if (p.every_key.empty()) {
      std::vector<uint32_t> keys(p.sorted.size());
      std::iota(keys.begin(), keys.end(), 0u);
      p.every_key = {arena_.Copy(keys.data(), keys.size()), keys.size()};
    }
    r.keys = p.every_key;
  } else {
    r.keys = ComingKeys(&p, r.state.position, r.limit);
  }
  if (!AnyComes(r, 0, static_cast<uint32_t>(r.keys.size()))) r.keys = {};
}

// Whether the members that are still owed, and no more than are allowed, can follow a key: that is the same for all.
void JsonSchemaRules::FindRoom(KeyReader* r) {
  if (r->state.low == 0 && r->state.high == kUnbounded) return;
  const ObjectPlan& p = objects_[r->state.plan];
  bool known[2] = {false, false};
  for (uint32_t named = 0; named < p.keys.size() && !(known[0] && known[1]); ++named) {
    const bool required = p.keys[named].required;
    if (known[required] || IsBehind(*r, named) || !Inhabited(p.keys[named].value)) continue;
    ObjectState next = AfterMember(r->state);
    next.position = WithKey(next.position, named);
    r->room[required] = r->state.high && ObjectInhabited(next);
    known[required] = true;
  }
}

// Those of plan.keys from `position` on, before `limit`, into plan.sorted, and where they are many some before: places
// share a list whose length is a power of two, so that all lists together stay small.
Span<const uint32_t> JsonSchemaRules::ComingKeys(ObjectPlan* p, uint32_t position, uint32_t limit) {
  constexpr uint32_t kFew = 8;
  uint32_t count = kFew;
  while (count < limit - position) count *= 2;
  if (count > kFew) position = limit - std::min(count, limit);
  const uint64_t range = uint64_t{position} << 32 | limit;
  if (count > kFew) {
    const auto known = p->coming.find(range);
    if (known != p->coming.end()) return known->second;
  }
  std::vector<uint32_t> keys(p->sorted_at.begin() + position, p->sorted_at.begin() + limit);
  std::sort(keys.begin(), keys.end());
  const Span<const uint32_t> list{arena_.Copy(keys.data(), keys.size()), keys.size()};
  if (count > kFew) p->coming[range] = list;
  return list;
}

// Whether one of these keys may come, or any other.
bool JsonSchemaRules::AnyComes(const KeyReader& r, uint32_t low, uint32_t high) {
  if (r.other_end != kEmpty || !objects_[r.state.plan].free) return true;
  while (low < high && !KeyMayCome(r, low)) ++low;
  return low < high;
}

void JsonSchemaRules::FillFromMembers(uint32_t reader) {
  KeyReader& r = readers_[reader];
  const uint32_t inner = Deeper(r.state.depth);
  std::vector<Member> members;
  Members(r.state, &members);
  std::unordered_map<uint32_t, Expr> ends;
  for (const Member& m : members) {
    const Expr end = AfterQuote(objects_[r.state.plan], m, inner);
    Expr& known = m.named ? ends[m.index] : r.other_end;
    known = pool_->Union(known, end);
    if (!m.named) r.members.push_back(m);
  }
  const ObjectPlan& p = objects_[r.state.plan];
  std::vector<uint32_t> keys;
  keys.reserve(p.sorted.size());
  for (uint32_t i = 0; i < p.sorted.size(); ++i) {
    const auto end = ends.find(p.sorted[i].named);
    if (end == ends.end() && r.other_end == kEmpty) continue;
    keys.push_back(i);
    r.ends.push_back(end == ends.end() ? kEmpty : end->second);
  }
  r.keys = {arena_.Copy(keys.data(), keys.size()), keys.size()};
}

bool JsonSchemaRules::KeyMayCome(const KeyReader& r, uint32_t index) {
  const ObjectPlan& p = objects_[r.state.plan];
  if (!p.free) return r.ends[index] != kEmpty;
  const uint32_t named = p.sorted[r.keys[index]].named;
  if (named == kUnbounded || IsBehind(r, named) || named >= r.limit) return false;
  return r.room[p.keys[named].required] && Inhabited(p.keys[named].value);
}

// Whether a key of a free plan may come no more.
bool JsonSchemaRules::IsBehind(const KeyReader& r, uint32_t named) const {
  if (!objects_[r.state.plan].any_order) return named < r.state.position;
  const Span<const uint32_t> occurred = sets_.lists.At(r.state.position);
  return std::binary_search(occurred.begin(), occurred.end(), named);
}

// What follows the closing quote of a key; kEmpty: it must not come.
Expr JsonSchemaRules::AfterKey(const KeyReader& r, uint32_t index) {
  const ObjectPlan& p = objects_[r.state.plan];
  if (!p.free) return r.ends[index];
  if (!KeyMayCome(r, index)) return kEmpty;
  ObjectState next = AfterMember(r.state);
  const uint32_t named = p.sorted[r.keys[index]].named;
  next.position = p.any_order ? WithKey(next.position, named) : named + 1;
  return AfterQuote(p, {true, named, p.keys[named].value, next}, Deeper(r.state.depth));
}

// Whether a key ends at a node; it is the first one there.
bool JsonSchemaRules::KeyEnds(const KeyReader& r, const KeyNode& n) const {
  return n.low < n.high && objects_[r.state.plan].sorted[r.keys[n.low]].text.size() == n.depth;
}

Expr JsonSchemaRules::CallKeys(const KeyNode& n) {
  static const ByteSet hex = ByteSet::Range('0', '9') | ByteSet::Range('a', 'f') | ByteSet::Range('A', 'F');
  static const ByteSet raw = RawAscii() | ByteSet::Range(0xC2, 0xF4) | ByteSet::Of('"') | ByteSet::Of('\\');
  static const ByteSet escaped = [] {
    ByteSet set = ByteSet::Of('u');
    for (char c : kShortEscaped) set.Add(static_cast<uint8_t>(JsonShortEscape(static_cast<uint8_t>(c))));
    return set;
  }();
  static const ByteSet quote = ByteSet::Of('"');
  const uint32_t words[] = {n.reader, n.low, n.high, n.depth, n.stage};
  const ByteSet& first = n.stage == kRawKey ? raw : n.stage == kEscapedKey ? escaped : n.stage == kNumberedKey ? hex : quote;
  return CallRule(Rule::kKeys, words, 5, first);
}

Expr JsonSchemaRules::KeysBody(const KeyNode& n) {
  const KeyReader& reader = PreparedReader(n.reader);  // stays where it is
  switch (n.stage) {
    case kRawKey: return RawKeys(reader, n);
    case kEscapedKey: return EscapedKeys(reader, n);
    case kNumberedKey: return NumberedKeys(reader, n);
    case kKeyEnd: return pool_->Concat(pool_->Byte('"'), AfterKey(reader, n.low));
    default: return pool_->Concat(pool_->Byte('"'), reader.other_end);
  }
}

Expr JsonSchemaRules::RawKeys(const KeyReader& r, const KeyNode& n) {
  const std::vector<SortedKey>& sorted = objects_[r.state.plan].sorted;
  const KeyNode end{n.reader, n.low, 0, 0, kKeyEnd}, other_end{n.reader, 0, 0, 0, kOtherEnd};
  if (!r.others && n.high - n.low == 1) {  // a single key is left
    const std::u32string_view text = sorted[r.keys[n.low]].text;
    Expr e = text.size() == n.depth ? KeysBody(end) : CallKeys(end);
    for (size_t k = text.size(); k-- > n.depth;) e = pool_->Concat(cases_.strings().Character(text[k]), e);
    return e;
  }
  std::vector<Expr> parts;
  parts.reserve(8);
  if (KeyEnds(r, n)) {
    if (KeyMayCome(r, n.low)) parts.push_back(CallKeys(end));
  } else if (r.others) {
    parts.push_back(CallKeys(other_end));
  }
  ByteSet ascii = RawAscii();
  CodePointRanges beyond;  // children from U+0080
  bool more = r.others;
  ForEachKeyChild(r, n, [&](uint32_t c, const KeyNode& child) {
    more = true;
    if (JsonMustEscape(c)) return;
    if (c < 0x80) {
      parts.push_back(pool_->Concat(pool_->Byte(static_cast<uint8_t>(c)), CallKeys(child)));
      ascii.Remove(static_cast<uint8_t>(c));
      return;
    }
    std::string text;
    AppendUtf8(c, &text);
    parts.push_back(pool_->Concat(pool_->Literal(text), CallKeys(child)));
    beyond.emplace_back(c, c);
  });
  if (more) parts.push_back(pool_->Concat(pool_->Byte('\\'), CallKeys({n.reader, n.low, n.high, n.depth, kEscapedKey})));
  if (r.others) {
    Expr characters = kEmpty;
    if (beyond.empty()) {
      characters = cases_.strings().RawCharacters(ascii);
    } else {
      beyond.emplace_back(0, 0x7F);
      characters = pool_->Union(pool_->Bytes(ascii), pool_->Characters(ComplementRanges(beyond)));
    }
    parts.push_back(pool_->Concat(characters, r.rest));
  }
  return pool_->Union(std::move(parts));
}

Expr JsonSchemaRules::EscapedKeys(const KeyReader& r, const KeyNode& n) {
  std::vector<Expr> parts;
  ByteSet letters;
  if (r.others)
    for (char c : kShortEscaped) letters.Add(static_cast<uint8_t>(JsonShortEscape(static_cast<uint8_t>(c))));
  ForEachKeyChild(r, n, [&](uint32_t c, const KeyNode& child) {
    const uint8_t letter = static_cast<uint8_t>(JsonShortEscape(c));
    if (!letter) return;
    parts.push_back(pool_->Concat(pool_->Byte(letter), CallKeys(child)));
    letters.Remove(letter);
  });
  if (r.others) parts.push_back(pool_->Concat(pool_->Bytes(letters), r.rest));
  parts.push_back(pool_->Concat(pool_->Byte('u'), CallKeys({n.reader, n.low, n.high, n.depth, kNumberedKey})));
  return pool_->Union(std::move(parts));
}

Expr JsonSchemaRules::NumberedKeys(const KeyReader& r, const KeyNode& n) {
  JsonStrings& strings = cases_.strings();
  std::vector<Expr> parts;
  CodePointRanges beyond;                // children from U+0080
  std::vector<Expr> last[8];             // children below, by their third digit: the fourth one and what follows
  ByteSet free[8];                       // fourth digits that are no child's
  ByteSet digits;
  for (uint32_t d = 0; d < 16; ++d) AddHexDigit(d, &digits);
  for (ByteSet& set : free) set = digits;
  ForEachKeyChild(r, n, [&](uint32_t c, const KeyNode& child) {
    if (c >= 0x80) {
      beyond.emplace_back(c, c);
      parts.push_back(pool_->Concat(strings.Numbers({{c, c}}), CallKeys(child)));
      return;
    }
    ByteSet digit;
    AddHexDigit(c & 15, &digit);
    free[c >> 4] = free[c >> 4] - digit;
    last[c >> 4].push_back(pool_->Concat(pool_->Bytes(digit), CallKeys(child)));
  });
  std::vector<Expr> third;
  ByteSet whole;  // third digits without children
  for (uint32_t d = 0; d < 8; ++d) {
    ByteSet digit;
    AddHexDigit(d, &digit);
    if (last[d].empty()) {
      whole = whole | digit;
      continue;
    }
    if (r.others) last[d].push_back(pool_->Concat(pool_->Bytes(free[d]), r.rest));
    third.push_back(pool_->Concat(pool_->Bytes(digit), pool_->Union(std::move(last[d]))));
  }
  if (r.others) third.push_back(pool_->Concat({pool_->Bytes(whole), pool_->Bytes(digits), r.rest}));
  const Expr zero = pool_->Byte('0');
  parts.push_back(pool_->Concat({zero, zero, pool_->Union(std::move(third))}));
  if (r.others) {
    Expr numbers = strings.NonAsciiNumbers();
    if (!beyond.empty()) {
      beyond.emplace_back(0, 0x7F);
      numbers = strings.Numbers(ComplementRanges(beyond));
    }
    parts.push_back(pool_->Concat(numbers, r.rest));
  }
  return pool_->Union(std::move(parts));
}

// The keys one by one, without the nodes of the trie between them; others may be any string.
Expr JsonSchemaRules::OutlineKeys(uint32_t rule) {
  const uint32_t* w = rules_[rule].words;
  if (w[4] != kRawKey) return kEmpty;
  const KeyReader& r = PreparedReader(w[0]);
  if (!r.others && w[2] - w[1] <= 1) return kEmpty;
  const std::vector<SortedKey>& sorted = objects_[r.state.plan].sorted;
  const uint32_t depth = w[3];
  std::vector<Expr> parts{r.others ? r.rest : Expr{kEmpty}};
  for (uint32_t i = w[1], high = w[2]; i < high; ++i) {
    if (!KeyMayCome(r, i)) continue;
    Expr e = CallKeys({w[0], i, 0, 0, kKeyEnd});
    const std::u32string_view text = sorted[r.keys[i]].text;
    for (size_t k = text.size(); k-- > depth;) e = pool_->Concat(cases_.strings().Character(text[k]), e);
    parts.push_back(e);
    w = rules_[rule].words;
  }
  return pool_->Union(std::move(parts));
}

// ---------------------------------------------------------------------------------------------- for masks

// Raw ASCII bytes of keys in ASCII.
bool JsonSchemaRules::Step(uint32_t rule, uint8_t byte, Expr* rest) {
  if (rules_[rule].kind == Rule::kFreshKeys) {
    StepFresh(FreshOf(rule), byte, rest);
    return true;
  }
  if (rules_[rule].kind == Rule::kFreshValue) {
    StepValue(rules_[rule].words[0], rules_[rule].words[1], byte, rest);
    return true;
  }
  if (BeginsYamlKey(rule)) {
    *rest = AfterBytes(pool_->Expand(rules_[rule].call), std::string(1, static_cast<char>(byte)));
    return true;
  }
  const uint32_t* w = rules_[rule].words;
  if (rules_[rule].kind == Rule::kListed) return StepListed({w[0], w[1], w[2], w[3]}, byte, rest);
  if (rules_[rule].kind != Rule::kKeys || w[4] != kRawKey) return false;
  const KeyNode n{w[0], w[1], w[2], w[3], w[4]};
  const KeyReader& r = PreparedReader(n.reader);
  if (byte >= 0x80 || byte == '\\' || !objects_[r.state.plan].ascii) return false;
  *rest = byte == '"' ? r.other_end : RawAscii().Has(byte) ? r.rest : kEmpty;
  if (byte == '"' && KeyEnds(r, n)) *rest = AfterKey(r, n.low);
  if (!RawAscii().Has(byte)) return true;
  ForEachKeyChild(r, n, [&](uint32_t c, const KeyNode& child) {
    if (c == byte) *rest = CallKeys(child);
  });
  return true;
}

// At a node only its keys make a difference to any other key: ForEachText has to name them, whose characters are ASCII.
bool JsonSchemaRules::Texts(uint32_t rule, Expr* model, RuleText* place) {
  const Rule& rule_of = rules_[rule];
  if (rule_of.kind == Rule::kFreshKeys) {
    const FreshKey n = FreshOf(rule);
    const bool plain = objects_[PreparedReader(n.reader).state.plan].plain;
    if (!n.seen && n.low == n.high) return false;
    *place = {{n.reader, plain ? n.low : n.path, n.high, n.depth | kFreshPlace, n.seen, n.spelled}};
    *model = ForgetPath(n);
    return true;
  }
  if (rule_of.kind == Rule::kFreshValue) {
    const uint32_t reader = rule_of.words[0], path = rule_of.words[1];
    if (IsAlone(reader, path)) return false;
    *place = {{reader, path, 0, kValuePlace, 0, 0}};
    *model = pool_->Forget(ForgetValue(reader, path));
    return true;
  }
  if (rule_of.kind == Rule::kListed) {
    const uint32_t* w = rule_of.words;
    *place = {{w[0], w[1], w[2], w[3], kListedPlace, 0}};
    *model = kEmpty;
    return true;
  }
  if (rule_of.kind != Rule::kKeys || rule_of.words[4] != kRawKey) return false;
  std::copy(rule_of.words, rule_of.words + 5, place->words);
  place->words[5] = 0;
  const KeyReader& r = PreparedReader(place->words[0]);
  *model = r.rest;
  return objects_[r.state.plan].ascii;
}

void JsonSchemaRules::ForEachText(const RuleText& place, const ByteSet& first, const TextVisitor& visit) {
  const uint32_t* w = place.words;
  if (w[3] & (kFreshPlace | kSincePlace | kValuePlace)) return ForEachFreshText(place, first, visit);
  if (w[4] == kListedPlace) return ForEachListedText({w[0], w[1], w[2], w[3]}, first, visit);
  const KeyNode n{w[0], w[1], w[2], w[3], w[4]};
  const KeyReader& r = readers_[n.reader];
  if (first.Has('"') && KeyEnds(r, n)) visit("\"", nullptr, AfterKey(r, n.low));
  ForEachKeyChild(r, n, [&](uint32_t c, const KeyNode& child) {
    const RuleText below{{child.reader, child.low, child.high, child.depth, child.stage, 0}};
    const char raw = static_cast<char>(c);
    if (!JsonMustEscape(c) && first.Has(static_cast<uint8_t>(c))) visit({&raw, 1}, &below, kEmpty);
    if (!first.Has('\\')) return;
    if (const char letter = JsonShortEscape(c)) {
      const char escaped[] = {'\\', letter};
      visit({escaped, sizeof escaped}, &below, kEmpty);
    }
    for (int upper = 0; upper < 1 + ((c & 15) >= 10); ++upper) {
      const char numbered[] = {'\\', 'u', '0', '0', kHexDigits[0][c >> 4], kHexDigits[upper][c & 15]};
      visit({numbered, sizeof numbered}, &below, kEmpty);
    }
  });
}

// Of keys in ASCII; where all go on with the same character, it is one step.
void JsonSchemaRules::EnterKeys(const KeyReader& r, KeyNode n, uint32_t base, const ByteVisitor& enter) {
  const std::vector<SortedKey>& sorted = objects_[r.state.plan].sorted;
  const auto enters = [&](uint32_t c, uint32_t depth) {
    return !JsonMustEscape(c) && enter(depth - base, static_cast<uint8_t>(c));
  };
  for (;;) {
    const bool ends = KeyEnds(r, n);
    n.low += ends;
    if (n.low == n.high || (ends && !AnyComes(r, n.low, n.high))) return;
    const uint32_t c = sorted[r.keys[n.low]].text[n.depth];
    if (c != sorted[r.keys[n.high - 1]].text[n.depth]) break;
    if (!enters(c, n.depth++)) return;
  }
  ForEachKeyChild(r, n, [&](uint32_t c, const KeyNode& child) {
    if (enters(c, n.depth)) EnterKeys(r, child, base, enter);
  });
}

// Where there are keys without a name that may be any string, their rest is the model, which goes on with any character.
bool JsonSchemaRules::ForEachRawByte(const RuleText& place, const ByteVisitor& enter) {
  const uint32_t* w = place.words;
  if (w[3] & kValuePlace) return false;
  if (w[3] & (kFreshPlace | kSincePlace)) return !IsYaml() && objects_[readers_[w[0]].state.plan].plain;
  if (w[4] == kListedPlace) {
    EnterListed(ListedTexts(w[0]), {w[1], w[2], w[3]}, w[3], enter);
    return true;
  }
  const KeyReader& r = readers_[w[0]];
  if (!r.others) EnterKeys(r, {w[0], w[1], w[2], w[3], w[4]}, w[3], enter);
  return true;
}

}  // namespace tokamata
