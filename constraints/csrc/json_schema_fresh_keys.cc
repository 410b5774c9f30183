// Keys that must not have occurred yet. A place in such a key knows what was read of it, so there is no end of them:
// they are read step by step, and masks are made of places that know less, and corrected along the keys that occurred.
#include <algorithm>
#include <set>

#include "automata/csrc/utf8.h"
#include "automata/csrc/recall.h"
#include "constraints/csrc/json_schema_rules.h"
#include "constraints/csrc/json_spellings.h"
#include "constraints/csrc/yaml_string.h"

namespace tokamata {

Expr JsonSchemaRules::FreshKeysOf(uint32_t reader) {
  const KeyReader& r = PreparedReader(reader);
  if (!r.others) return kEmpty;
  const SeenKeys::Set seen = objects_[r.state.plan].ordered ? 0 : r.state.seen;
  return CallFresh({reader, 0, static_cast<uint32_t>(r.keys.size()), 0, seen, 0, 0});
}

Expr JsonSchemaRules::CallFresh(const FreshKey& n) {
  static const ByteSet begin = ByteSet::Range(0x20, 0x7F) | ByteSet::Range(0xC2, 0xF4);
  static const ByteSet within = ByteSet::Range(0x22, 0xBF), any = ByteSet::Range(0x20, 0xF4) | ByteSet::Of('\n');
  has_memory_ = true;
  may_run_out_ = may_run_out_ || !objects_[readers_[n.reader].state.plan].endless;
  const uint32_t words[] = {n.reader, n.low, n.high, n.depth, n.seen, n.path, n.spelled};
  return CallRule(Rule::kFreshKeys, words, 7, IsYaml() ? any : n.spelled ? within : begin);
}

JsonSchemaRules::FreshKey JsonSchemaRules::FreshOf(uint32_t rule) const {
  const uint32_t* w = rules_[rule].words;
  return {w[0], w[1], w[2], w[3], w[4], w[5], w[6]};
}

// What is left after a byte: characters are told apart by what they are, however they are spelled.
void JsonSchemaRules::StepFresh(const FreshKey& n, uint8_t byte, Expr* rest) {
  *rest = kEmpty;
  if (IsYaml()) return StepYamlKey(n, byte, rest);
  KeyReader& r = PreparedReader(n.reader);  // stays where it is
  const bool plain = objects_[r.state.plan].plain;
  if (!n.spelled && byte == '"') {
    *rest = AfterFresh(n);
    return;
  }
  FreshKey next = n;
  uint32_t c = byte;
  if (n.spelled || !IsRawAscii(byte) || !plain) {
    std::string text = n.spelled ? sets_.KeyText(n.spelled - 1) : std::string();
    text += static_cast<char>(byte);
    const Spelling spelling = ReadSpelling(text, &c);
    if (spelling == Spelling::kNone) return;
    if (!plain && !AnyAfter(LeftOf(n), text)) return;
    if (spelling == Spelling::kBegun) {
      if (!plain && n.seen && !AnyAfter(LeftAfter(&r, n.path, 0), text)) return;
      next.spelled = sets_.Key(text) + 1;
      *rest = CallFresh(next);
      return;
    }
  }
  next.spelled = 0;
  next.path = seen_.Longer(n.path, c);
  next.seen = seen_.After(n.seen, c);
  next.low = next.high = next.depth = 0;
  if (n.low < n.high)
    ForEachKeyChild(r, {n.reader, n.low, n.high, n.depth, kRawKey}, [&](uint32_t child, const KeyNode& below) {
      if (child == c) next.low = below.low, next.high = below.high, next.depth = below.depth;
    });
  if (plain || !next.seen || IsAlive(next)) *rest = CallFresh(next);
}

// What follows the closing quote; kEmpty: the key must not come.
Expr JsonSchemaRules::AfterFresh(const FreshKey& n) {
  KeyReader& r = PreparedReader(n.reader);
  if (!objects_[r.state.plan].plain) {
    if (seen_.HasEmpty(n.seen)) return kEmpty;
    if (IsYaml() && IsFarFromEnd(n)) {
      const SeenKeys::Set named = objects_[r.state.plan].names_of_schema;
      uint32_t start = 0;
      const bool ends = n.depth != kPlainKey || YamlPlainTable(&start).final[YamlPathOf(n.path).plain];
      return ends && !(named && seen_.Has(named, seen_.Text(n.path))) ? AfterOther(r, n.path, 0) : kEmpty;
    }
    const std::vector<Expr> left = LeftOf(n);
    std::vector<Expr> ends;
    for (uint32_t i = 0; i < left.size(); ++i)
      if (pool_->Nullable(left[i])) ends.push_back(AfterOther(r, n.path, i));
    return pool_->Union(std::move(ends));
  }
  if (KeyEnds(r, {n.reader, n.low, n.high, n.depth, kRawKey})) return AfterKey(r, n.low);
  return seen_.HasEmpty(n.seen) ? kEmpty : AfterOther(r, n.path, 0);
}

// What follows the closing quote of a member's key, or of a string that is an element of an array itself.
Expr JsonSchemaRules::AfterQuote(const ObjectPlan& p, const Member& m, uint32_t depth) {
  if (p.array) return CallObject(m.next);
  if (IsYaml()) {
    const Expr colon = IsFlow(m.next.depth) ? pool_->Literal(": ") : pool_->Byte(':');
    return pool_->Concat({colon, CallValue(m.value, YamlPlaced(m.next.depth, kAfterKey)), CallObject(m.next)});
  }
  return pool_->Concat({colon_, CallValue(m.value, depth), CallObject(m.next)});
}

Expr JsonSchemaRules::AfterOther(const KeyReader& r, SeenKeys::Path path, uint32_t index) {
  const bool ordered = objects_[r.state.plan].ordered;
  const SeenKeys::Set seen = seen_.With(ordered ? 0 : r.state.seen, seen_.Text(path));
  std::vector<Expr> parts;
  const std::vector<Member> members = r.members;
  for (const Member& m : members) {
    if (m.named || (ordered ? m.slot : m.index) != index) continue;
    ObjectState next = m.next;
    next.seen = next.high ? seen : 0;  // where no member follows, nobody asks
    parts.push_back(AfterQuote(objects_[next.plan], {false, m.index, m.value, next}, Deeper(r.state.depth)));
  }
  return pool_->Union(std::move(parts));
}

Expr JsonSchemaRules::AfterBytes(Expr e, std::string_view bytes) {
  constexpr size_t kMostSteps = 2000;
  for (size_t i = 0; i < bytes.size() && e != kEmpty; ++i) {
    Expr next = kEmpty;
    if (!pool_->StepByte(e, static_cast<uint8_t>(bytes[i]), &next)) {
      if (steps_->size() >= kMostSteps) steps_->clear();
      auto known = steps_->find(e);
      if (known == steps_->end()) {
        std::vector<Expressions::Term> steps;
        pool_->Step(e, &steps);
        known = steps_->emplace(e, std::move(steps)).first;
      }
      for (const Expressions::Term& t : known->second)
        if (t.bytes.Has(static_cast<uint8_t>(bytes[i]))) next = t.target;
    }
    e = next;
  }
  return e;
}

// ---------------------------------------------------------------------------------------------- patterns and names

std::vector<std::string> JsonSchemaRules::TextsBut(const OtherKeys& others, SeenKeys::Set seen) const {
  std::vector<std::string> left;
  for (const std::string& text : others.texts)
    if (!seen_.Has(seen, text)) left.push_back(text);
  return left;
}

// The others of a kind that did not occur yet.
Expr JsonSchemaRules::OthersBut(const ObjectPlan& p, uint32_t index, SeenKeys::Set seen, uint32_t style) {
  const OtherKeys& o = p.others[index];
  JsonStrings& strings = cases_.StringsOf(StyleOf(style));
  const Expr contents = style == kSingleKey ? o.single : style == kPlainKey ? o.plain : o.contents;
  if (seen && style != kPlainKey && o.count <= kFewTexts) return strings.Choice(TextsBut(o, seen));
  return seen ? pool_->Difference(contents, strings.Choice(seen_.Keys(seen))) : contents;
}

void JsonSchemaRules::FillMembers(uint32_t reader) {
  std::vector<Member> members;
  Members(readers_[reader].state, &members);
  KeyReader& r = readers_[reader];
  r.kinds.assign(objects_[r.state.plan].others.size(), 0);
  for (Member& m : members) {
    if (m.named) continue;
    r.kinds[m.index] = r.others = true;
    if (!objects_[r.state.plan].ordered) continue;
    m.slot = static_cast<uint32_t>(std::find(r.slots.begin(), r.slots.end(), m.contents) - r.slots.begin());
    if (m.slot == r.slots.size()) r.slots.push_back(m.contents);
  }
  r.members = std::move(members);
}

bool JsonSchemaRules::AnyAfter(const std::vector<Expr>& left, std::string_view bytes) {
  return std::any_of(left.begin(), left.end(), [&](Expr e) { return AfterBytes(e, bytes) != kEmpty; });
}

// What is left of the others of each kind, those that occurred as well: enough where none of these begins like this.
std::vector<Expr> JsonSchemaRules::LeftOf(const FreshKey& n) {
  KeyReader& r = PreparedReader(n.reader);  // stays where it is
  const uint32_t style = IsYaml() ? n.depth : 0;
  if (objects_[r.state.plan].ordered) return LeftAfter(&r, n.path, style);
  std::vector<Expr> left = LeftAfter(&PreparedReader(BareReader(n.reader)), n.path, style);
  for (size_t i = 0; i < left.size(); ++i)
    if (!r.kinds[i]) left[i] = kEmpty;
  return left;
}

// Whether some key that did not occur begins like this; mostly one that goes on with another character.
bool JsonSchemaRules::IsAlive(const FreshKey& n) {
  if (IsYaml() && IsFarFromEnd(n)) return n.depth != kPlainKey || YamlPathOf(n.path).plain;
  const std::vector<Expr> left = LeftOf(n);
  ByteSet next;
  std::vector<Expressions::Term> steps;
  for (Expr e : left) {
    if (pool_->Nullable(e) && !seen_.HasEmpty(n.seen)) return true;
    pool_->Step(e, &steps);
    for (const Expressions::Term& t : steps) next = next | t.bytes;
  }
  next = next & (ByteSet::Range(0x20, 0x7F) - ByteSet::Of('\\'));
  for (uint32_t c : seen_.First(n.seen))
    if (c < 0x80) next.Remove(static_cast<uint8_t>(c));
  return next.Any() || AnyAfter(LeftAfter(&PreparedReader(n.reader), n.path, IsYaml() ? n.depth : 0), "");
}

const std::vector<Expr>& JsonSchemaRules::LeftAfter(KeyReader* r, SeenKeys::Path path, uint32_t style) {
  const uint64_t above = uint64_t{style} << 32;
  std::vector<SeenKeys::Path> longer;
  for (; path && !r->left.count(above | path); path = seen_.Shorter(path)) longer.push_back(path);
  if (!path && !r->left.count(above)) {
    const ObjectPlan& p = objects_[r->state.plan];
    std::vector<Expr> contents = r->slots;
    if (!p.ordered) contents.resize(p.others.size(), kEmpty);
    for (uint32_t i = 0; i < contents.size() && !p.ordered; ++i)
      if (r->kinds[i]) contents[i] = OthersBut(p, i, r->state.seen, style);
    if (style)  // in a style there may be none of them
      for (Expr& e : contents)
        if (pool_->IsEmpty(e)) e = kEmpty;
    r->left.emplace(above, std::move(contents));
  }
  std::vector<Expr> left = r->left.at(above | path);
  JsonStrings& strings = cases_.StringsOf(StyleOf(style));
  for (size_t i = longer.size(); i-- > 0;) {
    const std::string spelled = strings.Spell(seen_.Last(longer[i]));
    for (Expr& e : left) e = AfterBytes(e, spelled);
    r->left.emplace(above | longer[i], left);
    path = longer[i];
  }
  return r->left.at(above | path);
}

// The texts, which are few; the shortest first.
std::vector<std::string> JsonSchemaRules::ListTexts(Expr contents) {
  JsonStrings& canonical = cases_.StringsOf(StringStyle::kJsonCanonical);
  struct At {
    Expr left;
    std::string spelled;
  };
  std::vector<At> open{{options_.canonical_strings ? contents : pool_->Intersect(contents, canonical.Any()), ""}};
  std::vector<std::string> texts;
  std::vector<Expressions::Term> steps;
  while (!open.empty()) {
    const At at = std::move(open.back());
    open.pop_back();
    if (pool_->Nullable(at.left)) texts.push_back(Unspelled(at.spelled));
    pool_->Step(at.left, &steps);
    for (const Expressions::Term& t : steps)
      t.bytes.ForEach([&](uint8_t b) { open.push_back({t.target, at.spelled + static_cast<char>(b)}); });
  }
  std::sort(texts.begin(), texts.end(), [](const std::string& a, const std::string& b) {
    return std::make_pair(a.size(), std::string_view(a)) < std::make_pair(b.size(), std::string_view(b));
  });
  return texts;
}

// The number of texts, where there are few; kUnbounded where there are many or no end of them. Fills *shortest.
// `canonical`: each of them has one spelling.
uint32_t JsonSchemaRules::CountTexts(Expr contents, std::string* shortest, bool canonical) {
  constexpr size_t kMostStates = 5000;
  constexpr uint64_t kMany = 1u << 24;
  if (const uint32_t listed = shortest ? 0 : cases_.NumListed(contents)) return listed;
  const Expr any = cases_.StringsOf(StringStyle::kJsonCanonical).Any();  // where a text is spelled in one way
  const Expr root = canonical || options_.canonical_strings ? contents : pool_->Intersect(contents, any);
  if (pool_->IsEmpty(root)) return 0;
  struct State {
    std::vector<Expressions::Term> steps;
    size_t next = 0;         // of steps, on the way down
    uint64_t count = 0;
    bool open = true;
    std::string shortest;
    bool ends = false;
  };
  std::unordered_map<Expr, State> states;
  std::vector<Expr> way{root};
  std::vector<uint64_t> ways{1};  // texts that begin like the way down, at least: every state leads to an end
  const auto enter = [&](Expr e) {
    State& s = states[e];
    pool_->Step(e, &s.steps);
    // Where many texts begin, they are counted soonest.
    std::stable_sort(s.steps.begin(), s.steps.end(), [](const Expressions::Term& a, const Expressions::Term& b) {
      return a.bytes.Count() > b.bytes.Count();
    });
    s.ends = pool_->Nullable(e);
    s.count = s.ends;
  };
  enter(root);
  while (!way.empty()) {
    State& s = states.at(way.back());
    if (s.next == s.steps.size()) {
      s.open = false;
      way.pop_back();
      ways.pop_back();
      continue;
    }
    const Expressions::Term step = s.steps[s.next];
    const auto below = states.find(step.target);
    if (below == states.end()) {
      if (states.size() >= kMostStates) return kUnbounded;
      way.push_back(step.target);
      ways.push_back(ways.back() * static_cast<uint64_t>(step.bytes.Count()));
      if (ways.back() >= kMany) return kUnbounded;
      enter(step.target);
      continue;
    }
    const State& t = below->second;
    if (t.open) return kUnbounded;  // every state leads to an end, so a circle makes no end of texts
    s.count = std::min(kMany, s.count + t.count * static_cast<uint64_t>(step.bytes.Count()));
    const std::string text = static_cast<char>(step.bytes.First()) + t.shortest;
    if (!s.ends && (s.shortest.empty() || text.size() < s.shortest.size())) s.shortest = text;
    ++s.next;
  }
  const State& all = states.at(root);
  if (all.count >= kMany) return kUnbounded;
  if (shortest) *shortest = all.shortest;
  return static_cast<uint32_t>(all.count);
}

// How many keys of a kind did not occur yet; fewer where that are more than kFewTexts and enough for all that is asked.
// Fills *some with one of them where they are no more than that.
uint32_t JsonSchemaRules::OthersLeft(const ObjectState& s, uint32_t index, std::string* some) {
  const ObjectPlan& p = objects_[s.plan];
  if (p.ordered && IsUnique()) return OthersAbove(s, index);
  if (!IsUnique() || p.others[index].count == kUnbounded) return kUnbounded;
  if (p.others[index].count <= kFewTexts) {
    const std::vector<std::string> left = TextsBut(p.others[index], s.seen);
    if (some && !left.empty()) *some = left[0];
    return static_cast<uint32_t>(left.size());
  }
  const uint32_t known = static_cast<uint32_t>(seen_.Keys(s.seen).size());
  const uint32_t least = p.others[index].count - std::min(p.others[index].count, known);
  if (least > kFewTexts && least >= s.low) return least;
  std::string spelled;
  const Expr rest = IsYaml() ? pool_->Difference(p.others[index].counted, cases_.StringsOf(StringStyle::kJsonCanonical).Choice(seen_.Keys(s.seen)))
                             : OthersBut(p, index, s.seen, 0);
  const uint32_t left = CountTexts(rest, &spelled);
  if (some && left) *some = Unspelled(spelled);
  return left;
}

// ---------------------------------------------------------------------------------------------- for masks

// The same keys when none of them occurred yet.
uint32_t JsonSchemaRules::BareReader(uint32_t reader) {
  ObjectState s = readers_[reader].state;
  s.seen = 0;
  return ReaderOf(s);
}

// The same place without the path: a key that follows may be this one again, or one that occurred, where that is a
// matter of whole keys only.
Expr JsonSchemaRules::ForgetPath(const FreshKey& n) {
  KeyReader& r = PreparedReader(n.reader);
  if (IsYaml()) {
    const bool endless = objects_[r.state.plan].endless;
    return YamlKeys(n, false, endless ? PreparedReader(BareReader(n.reader)).members : r.members);
  }
  if (objects_[r.state.plan].plain) {
    const Expr rest = PreparedReader(BareReader(n.reader)).rest;
    return n.spelled ? AfterBytes(rest, sets_.KeyText(n.spelled - 1)) : rest;
  }
  const std::vector<Expr> left = LeftOf(n);
  const std::vector<Member> members = r.members;
  const bool ordered = objects_[r.state.plan].ordered;
  std::vector<Expr> parts;
  for (uint32_t i = 0; i < left.size(); ++i) {
    const Expr e = n.spelled ? AfterBytes(left[i], sets_.KeyText(n.spelled - 1)) : left[i];
    if (e == kEmpty) continue;
    std::vector<Expr> ends;
    for (const Member& m : members)
      if (!m.named && (ordered ? m.slot : m.index) == i)
        ends.push_back(AfterQuote(objects_[r.state.plan], m, Deeper(r.state.depth)));
    parts.push_back(pool_->Concat({e, pool_->Byte('"'), pool_->Union(std::move(ends))}));
  }
  return pool_->Union(std::move(parts));
}

// Where no key that occurred begins like this one, what is left is what any key has left.
Expr JsonSchemaRules::Forget(uint32_t rule) {
  if (rules_[rule].kind == Rule::kFreshValue) {
    const uint32_t reader = rules_[rule].words[0], path = rules_[rule].words[1];
    return IsAlone(reader, path) ? pool_->Forget(ForgetValue(reader, path)) : kEmpty;
  }
  if (rules_[rule].kind == Rule::kObject) return ForgetYamlKey(rule);
  const FreshKey n = FreshOf(rule);
  if (n.seen) return kEmpty;
  if (n.low == n.high) return ForgetPath(n);
  const Expr keys = CallKeys({BareReader(n.reader), n.low, n.high, n.depth, kRawKey});
  return n.spelled ? AfterBytes(keys, sets_.KeyText(n.spelled - 1)) : keys;
}

// Only where every beginning of a key can be extended to one that did not occur.
Expr JsonSchemaRules::Bare(uint32_t rule) {
  const Rule& r = rules_[rule];
  if (r.kind == Rule::kFreshKeys) {  // with none that occurred: only what follows a key, and a comma, may repeat it
    const FreshKey n = FreshOf(rule);
    if (IsYaml() || n.seen || n.path || n.spelled || !objects_[readers_[n.reader].state.plan].plain) return kEmpty;
    return CallKeys({n.reader, n.low, n.high, n.depth, kRawKey});
  }
  if (r.kind == Rule::kObject && r.words[7] && objects_[r.words[0]].endless && !objects_[r.words[0]].mixed && !ReadingOf(r.words[5])) {
    const uint32_t* w = r.words;
    return CallObject({w[0], w[1], w[2], w[3], w[4], w[5], BeginsYamlKey(rule) ? 2 : w[6], 0});
  }
  return kEmpty;  // a key may come next, without a comma
}

bool JsonSchemaRules::Since(uint32_t rule, Expr* before, RuleText* place) {
  if (rules_[rule].kind == Rule::kFreshValue)
    return SinceValue(rules_[rule].words[0], rules_[rule].words[1], before, place);
  if (rules_[rule].kind != Rule::kFreshKeys) return false;
  const FreshKey n = FreshOf(rule);
  ObjectState s = readers_[n.reader].state;
  std::string key;
  bool is_value = false;
  const ObjectPlan& p = objects_[s.plan];
  const auto endless = [](const OtherKeys& o) { return o.count == kUnbounded; };
  if (n.path || n.spelled) return false;
  if (!p.plain && (IsYaml() || p.ordered || s.owed || !std::all_of(p.others.begin(), p.others.end(), endless))) return false;
  if (!seen_.Before(s.seen, &s.seen, &key, &is_value)) return false;
  const uint32_t reader = ReaderOf(s);
  *before = FreshKeysOf(reader);
  *place = {{n.reader, n.seen, 0, kSincePlace, 0, 0}};
  return true;
}

// Any beginning of a key can be extended by a few bytes to one that did not occur: there are 94 ASCII characters that
// are written as they are, so 4 bytes make more keys than there will ever be. Of patterns that is not known.
Expr JsonSchemaRules::Outline(uint32_t rule, uint32_t* slack) {
  if (rules_[rule].kind == Rule::kFreshValue) {
    *slack = kUnbounded;
    return ForgetValue(rules_[rule].words[0], rules_[rule].words[1]);
  }
  if (rules_[rule].kind == Rule::kKeys) return OutlineKeys(rule);
  if (rules_[rule].kind == Rule::kArray) return OutlineArray(rule, slack);
  if (rules_[rule].kind == Rule::kObject) return OutlineObject(rule, slack);
  if (rules_[rule].kind != Rule::kFreshKeys) return kEmpty;
  const FreshKey n = FreshOf(rule);
  const KeyReader& r = PreparedReader(n.reader);
  *slack = objects_[r.state.plan].endless ? 4 : kUnbounded;
  if (!objects_[r.state.plan].plain) return ForgetPath(n);
  const Expr keys = n.low < n.high ? CallKeys({n.reader, n.low, n.high, n.depth, kRawKey}) : r.rest;
  return n.spelled ? AfterBytes(keys, sets_.KeyText(n.spelled - 1)) : keys;
}

// Of distinct keys at most one is empty: which lengths cannot tell that look at one member at a time. The bracket that
// opens may have been read.
uint32_t JsonSchemaRules::LeastLength(uint32_t rule) {
  constexpr uint32_t kMost = 1u << 24, kMember = 6;  // a comma or bracket, a key of one character, a colon and a value
  if (rules_[rule].kind != Rule::kObject || !IsUnique() || options_.notation != SchemaNotation::kJson) return 0;
  const ObjectState s = ObjectOf(rules_[rule].words);
  if (s.low < 2 || ReadingOf(s.depth)) return 0;
  const ObjectPlan& p = objects_[s.plan];
  if (p.array) return 0;  // whose elements need not be strings
  return std::min(s.low, kMost) * kMember - (s.first == 1);
}

// ---------------------------------------------------------------------------------------------- approximations

uint32_t JsonSchemaRules::ReadingOf(Side side) {
  return side == Side::kOver ? kOverKeys : side == Side::kUnder ? kUnderKeys : kUnderKeys | kOneMoreKey;
}

JsonSchemaRules::ObjectState JsonSchemaRules::Near(ObjectState s, Side side) {
  const bool owes = s.low && side != Side::kOver, more = side == Side::kWithin && !owes;
  s.depth |= ReadingOf(owes ? Side::kUnder : side);
  if (more && CountsLongest(Prepared(s.plan)))
    s.seen = LongestKey(s.seen);
  else if (!owes && !more)
    s.seen = 0;
  return s;
}

// No key has more bytes; one of few such numbers, so that what is known of some places is known of others.
uint32_t JsonSchemaRules::LongestKey(SeenKeys::Set seen) {
  return Recall(&*longest_keys_, seen, [&] {
    uint32_t longest = 0;
    if (seen)
      for (const std::string& key : seen_.Keys(seen))
        while (key.size() > longest) longest = 2 * longest + 15;
    return longest;
  });
}

bool JsonSchemaRules::MayBeOneMore(const ObjectState& s) {
  const uint32_t reading = ReadingOf(s.depth);
  if (!(reading & kOneMoreKey) || (reading & (kLastKey | kNamedKey)) || s.low || s.high == 0) return false;
  ObjectState exact = s;
  exact.depth &= ~kReadings;
  if (CountsLongest(Prepared(s.plan))) exact.seen = 0;
  return PreparedReader(ReaderOf(exact)).others;
}

// A key without a name in the schema that did not occur, behind its opening quote, and all that follows: exactly, or
// where every beginning is one of such a key, one that is longer than all of them.
Expr JsonSchemaRules::OneMoreKey(const ObjectState& s) {
  approximates_ = true;
  ObjectState exact = s;
  exact.depth &= ~kReadings;
  const ObjectPlan& p = Prepared(s.plan);  // stays where it is
  if (!CountsLongest(p)) return KeysNear({ReaderOf(exact), 0, 0, kKeyBegins, s.seen, 0, 0}, Side::kWithin);
  exact.seen = 0;
  uint32_t longest = s.seen;
  SortKeys(&objects_[s.plan]);
  for (const SortedKey& key : p.sorted) longest = std::max(longest, static_cast<uint32_t>(key.text.size()));
  std::vector<Expr> ends;
  const std::vector<Member> members = PreparedReader(ReaderOf(exact)).members;
  for (const Member& m : members) {
    if (m.named || m.next.owed) continue;
    ObjectState next = m.next;
    next.depth = s.depth | kLastKey;
    ends.push_back(AfterQuote(p, {false, m.index, m.value, next}, Deeper(s.depth)));
  }
  return pool_->Concat({cases_.strings().Length(longest + 1, kUnbounded), pool_->Byte('"'), pool_->Union(std::move(ends))});
}

Expr JsonSchemaRules::Approximate(uint32_t rule, Side side) {
  const Rule r = rules_[rule];
  const uint32_t* w = r.words;
  const uint32_t mode = ReadingOf(side);
  switch (r.kind) {
    case Rule::kValue: return ReadingOf(w[1]) ? r.call : CallValue(w[0], w[1] | mode);
    case Rule::kArray: return ReadingOf(w[6]) ? r.call : CallArray({w[0], w[1], w[2], w[3], w[4], w[5], w[6] | mode, w[7]});
    case Rule::kObject: {
      const ObjectState s = ObjectOf(w);
      return ReadingOf(s.depth) ? r.call : CallObject(Near(s, side));
    }
    case Rule::kKeys: {  // with others, nothing is remembered before the next object
      const KeyReader& reader = PreparedReader(w[0]);
      if (reader.others || ReadingOf(reader.state.depth)) return r.call;
      return CallKeys({ReaderOf(Near(reader.state, side)), w[1], w[2], w[3], w[4]});
    }
    case Rule::kListed: return r.call;
    case Rule::kFreshKeys: return KeysNear(FreshOf(rule), side);
    case Rule::kFreshValue: return ValueNear(w[0], w[1], side);
  }
  return kEmpty;
}

bool JsonSchemaRules::MayBeEmpty(uint32_t rule) const {
  const uint32_t* w = rules_[rule].words;
  switch (rules_[rule].kind) {
    case Rule::kValue: return ReadingOf(w[1]) & kUnderKeys;
    case Rule::kArray: return ReadingOf(w[6]) & kUnderKeys;
    case Rule::kObject: return ReadingOf(w[5]) & kUnderKeys;
    case Rule::kKeys: return ReadingOf(readers_[w[0]].state.depth) & kUnderKeys;
    default: return false;
  }
}

// What is left of the keys of the schema and of those that occurred.
std::vector<std::string> JsonSchemaRules::KeysBelow(const FreshKey& n) {
  std::vector<std::string> keys = seen_.Keys(n.seen);
  const KeyReader& r = PreparedReader(n.reader);
  for (uint32_t i = n.low; i < n.high; ++i) {
    std::string text;
    const std::u32string_view key = objects_[r.state.plan].sorted[r.keys[i]].text;
    for (size_t k = n.depth; k < key.size(); ++k) AppendUtf8(key[k], &text);
    keys.push_back(std::move(text));
  }
  return keys;
}

// A text with as few bytes as any; false where it is not found soon.
bool JsonSchemaRules::ShortestText(Expr e, std::string* text) {
  constexpr size_t kMostStates = 2000;
  struct At {
    Expr left;
    uint32_t before;
    uint8_t byte;
  };
  std::vector<At> open{{e, 0, 0}};
  std::set<Expr> known{e};
  std::vector<Expressions::Term> steps;
  text->clear();
  for (uint32_t i = 0; i < open.size() && open.size() < kMostStates; ++i) {
    if (pool_->Nullable(open[i].left)) {
      for (uint32_t k = i; k; k = open[k].before) text->push_back(static_cast<char>(open[k].byte));
      std::reverse(text->begin(), text->end());
      return true;
    }
    pool_->Step(open[i].left, &steps);
    for (const Expressions::Term& t : steps) {
      const ByteSet letters = t.bytes & ByteSet::Range('a', 'z');  // which tokenizers know
      if (known.insert(t.target).second) open.push_back({t.target, i, static_cast<uint8_t>((letters.Any() ? letters : t.bytes).First())});
    }
  }
  return false;
}

// The shortest key without a name that did not occur yet, with one spelling of it; false where there is none.
bool JsonSchemaRules::FixedKey(const ObjectState& s, uint32_t* kind, std::string* key) {
  const uint32_t reader = ReaderOf(s);
  KeyReader& r = PreparedReader(reader);  // stays where it is
  std::vector<Expr> left;
  if (objects_[s.plan].plain) {
    const Expr any = cases_.strings().Any();
    left.push_back(pool_->Difference(any, cases_.strings().Choice(KeysBelow({reader, 0, static_cast<uint32_t>(r.keys.size()), 0, s.seen, 0, 0}))));
  } else {
    left = LeftAfter(&r, 0, 0);
  }
  for (*kind = 0; *kind < left.size(); ++*kind)
    if (ShortestText(left[*kind], key)) return true;
  return false;
}

// Those that come one after another.
std::vector<std::string> JsonSchemaRules::FixedKeys(ObjectState s) {
  constexpr uint32_t kMostKeys = 100;
  std::vector<std::string> keys;
  uint32_t kind = 0;
  for (std::string spelled; s.low && s.low <= kMostKeys && FixedKey(s, &kind, &spelled); --s.low) {
    keys.push_back(Unspelled(spelled));
    s.seen = seen_.With(s.seen, keys.back());
  }
  return keys;
}

// Of sorted keys those below a high one, so that what is owed can follow above that, whatever they are: the last key to
// go on from; 0 where there is none.
SeenKeys::Set JsonSchemaRules::KeysBelowHigh(const FreshKey& n, ObjectState next, Expr* keys) {
  static constexpr std::u32string_view high(U"\uFF5E");  // which tokenizers know, above letters
  std::u32string last, path;
  DecodeText(seen_.Text(n.path), &path);
  if ((LastKey(readers_[n.reader].state, &last) && last >= high) || path >= high) return 0;
  std::string text;
  AppendUtf8(high[0], &text);
  next.seen = seen_.With(0, text);
  if (!ObjectInhabited(next)) return 0;
  if (path.empty()) *keys = pool_->Intersect(*keys, cases_.strings().Between(nullptr, &high));
  return next.seen;
}

// This key exactly, and an approximation of what follows: where more is owed, keys that are kept for that.
Expr JsonSchemaRules::KeysNear(const FreshKey& n, Side side) {
  approximates_ = true;
  KeyReader& r = PreparedReader(n.reader);  // stays where it is
  const auto near = [&](const Member& m) {
    ObjectState next = Near(m.next, side);
    next.seen = 0;
    if (side != Side::kOver) next.depth |= kLastKey;
    return Member{false, m.index, m.value, next};
  };
  if (IsYaml()) {
    std::vector<Member> others;
    for (const Member& m : r.members)
      if (!m.named) others.push_back(near(m));
    return YamlKeys(n, true, others);
  }
  const bool plain = objects_[r.state.plan].plain, ordered = objects_[r.state.plan].ordered;
  std::vector<Expr> left;
  if (plain) {
    const std::vector<std::string> taken = KeysBelow(n);
    const Expr any = cases_.strings().Any();
    left.push_back(taken.empty() ? any : pool_->Difference(any, cases_.strings().Choice(taken)));
  } else {
    left = LeftAfter(&r, n.path, 0);
  }
  const std::vector<Member> members = r.members;
  const std::string begun = n.spelled ? sets_.KeyText(n.spelled - 1) : std::string(), path = seen_.Text(n.path);
  const bool fixed = ReadingOf(r.state.depth) & kFixedKey;
  std::vector<Expr> parts;
  for (uint32_t i = 0; i < left.size() && !(fixed && !parts.empty()); ++i) {
    if (side != Side::kOver && pool_->IsEmpty(left[i])) continue;
    std::vector<Expr> ends;
    for (const Member& m : members) {
      if (m.named || (!plain && (ordered ? m.slot : m.index) != i)) continue;
      ObjectState next = Near(m.next, side);
      next.seen = 0;
      if (side != Side::kOver && (next.low || fixed)) {
        std::string rest;
        Expr keys = left[i];
        if (!next.low) next.depth |= kLastKey;
        if (ordered) next.seen = KeysBelowHigh(n, m.next, &keys);
        if (!ordered && !fixed) {
          next.seen = r.state.seen;
          next.depth |= kFixedKey;
          std::vector<std::string> kept;
          for (const std::string& key : FixedKeys(next))
            if (key.compare(0, path.size(), path) == 0) kept.push_back(key.substr(path.size()));
          if (!kept.empty()) keys = pool_->Difference(keys, cases_.strings().Choice(std::move(kept)));
        } else if (!next.seen) {
          if (!ShortestText(AfterBytes(left[i], begun), &rest)) continue;
          if (next.low) next.seen = seen_.With(ordered ? 0 : r.state.seen, path + Unspelled(begun + rest));
          keys = pool_->Literal(begun + rest);
        }
        if (pool_->IsEmpty(keys)) continue;
        parts.push_back(pool_->Concat({keys, pool_->Byte('"'),
                                       AfterQuote(objects_[r.state.plan], {false, m.index, m.value, next}, Deeper(next.depth))}));
        if (fixed) break;
        continue;
      }
      const Member end = near(m);
      ends.push_back(AfterQuote(objects_[r.state.plan], end, Deeper(end.next.depth)));
    }
    parts.push_back(pool_->Concat({left[i], pool_->Byte('"'), pool_->Union(std::move(ends))}));
  }
  if (n.low < n.high) parts.push_back(NamedKeysNear(n, side));
  const Expr keys = pool_->Union(std::move(parts));
  return AfterBytes(keys, begun);
}

// The keys of the schema that begin with what was read.
Expr JsonSchemaRules::NamedKeysNear(const FreshKey& n, Side side) {
  ObjectState s = Near(readers_[n.reader].state, side);
  s.depth |= kNamedKey;
  const uint32_t reader = ReaderOf(s);
  const KeyReader& r = PreparedReader(reader);
  std::u32string path;
  DecodeText(seen_.Text(n.path), &path);
  KeyNode at{reader, 0, static_cast<uint32_t>(r.keys.size()), 0, kRawKey};
  for (const char32_t c : path) {
    KeyNode below{reader, 0, 0, 0, kRawKey};
    ForEachKeyChild(r, at, [&](uint32_t child, const KeyNode& node) {
      if (child == c) below = node;
    });
    at = below;
  }
  return at.low < at.high ? CallKeys(at) : kEmpty;
}

// The spellings of the keys of the schema and of those that occurred.
void JsonSchemaRules::ForEachFreshText(const RuleText& place, const ByteSet& first, const TextVisitor& visit) {
  const uint32_t* w = place.words;
  if (w[3] & kValuePlace) return ForEachValueText(place, first, visit);
  if (w[3] & kSincePlace) return ForEachSinceText(place, first, visit);
  if (IsYaml()) return ForEachYamlKeyText({w[0], 0, 0, w[3] & ~kFreshPlace, w[4], w[1], w[5]}, first, visit);
  const KeyNode n{w[0], w[1], w[2], w[3] & ~kFreshPlace, kRawKey};
  const SeenKeys::Set seen = w[4];
  const std::string begun = w[5] ? sets_.KeyText(w[5] - 1) : std::string();
  const KeyReader& r = readers_[n.reader];
  if (!objects_[r.state.plan].plain) return ForEachUsedText({w[0], 0, 0, 0, seen, w[1], w[5]}, first, visit);
  const bool ends = KeyEnds(r, n);
  if (begun.empty() && first.Has('"') && (ends || seen_.HasEmpty(seen)))
    visit("\"", nullptr, ends ? AfterKey(PreparedReader(BareReader(n.reader)), n.low) : kEmpty);
  std::vector<uint32_t> others = seen_.First(seen);
  if (n.low < n.high)
    ForEachKeyChild(r, n, [&](uint32_t c, const KeyNode& below) {
      const auto both = std::lower_bound(others.begin(), others.end(), c);
      if (both != others.end() && *both == c) others.erase(both);
      const uint32_t depth = below.depth | kFreshPlace;
      VisitSpellings(c, begun, first, visit, {{below.reader, below.low, below.high, depth, seen_.After(seen, c), 0}});
    });
  for (uint32_t c : others)
    VisitSpellings(c, begun, first, visit, {{n.reader, 0, 0, kFreshPlace, seen_.After(seen, c), 0}});
}

// The same of patterns and names, where the keys of the schema are told apart already. A beginning of nothing but keys
// that occurred is none.
void JsonSchemaRules::ForEachUsedText(const FreshKey& n, const ByteSet& first, const TextVisitor& visit) {
  const std::string begun = n.spelled ? sets_.KeyText(n.spelled - 1) : std::string();
  if (begun.empty() && first.Has('"') && seen_.HasEmpty(n.seen)) visit("\"", nullptr, kEmpty);
  for (uint32_t c : seen_.First(n.seen)) {
    const FreshKey below{n.reader, 0, 0, 0, seen_.After(n.seen, c), seen_.Longer(n.path, c), 0};
    VisitUsed(n, c, below, first, visit, {{n.reader, below.path, 0, kFreshPlace, below.seen, 0}});
  }
}

// The spellings of a character with which keys go on that occurred; `place` is the one after it.
void JsonSchemaRules::VisitUsed(const FreshKey& n, uint32_t c, const FreshKey& below, const ByteSet& first,
                                const TextVisitor& visit, const RuleText& place) {
  const std::string begun = n.spelled ? sets_.KeyText(n.spelled - 1) : std::string();
  const bool alive = IsAlive(below);
  const TextVisitor all = [&](std::string_view text, const RuleText* child, Expr) {
    if (options_.canonical_strings && begun + std::string(text) != cases_.strings().Spell(c)) return;
    if (alive) return visit(text, child, kEmpty);
    const std::vector<Expr> left = LeftAfter(&PreparedReader(n.reader), n.path, 0);
    size_t length = 1;
    while (length < text.size() && AnyAfter(left, begun + std::string(text.substr(0, length)))) ++length;
    visit(text.substr(0, length), nullptr, kEmpty);
  };
  VisitSpellings(c, begun, first, all, place);
}

// The spellings of the one key that the place before did not know.
void JsonSchemaRules::ForEachSinceText(const RuleText& place, const ByteSet& first, const TextVisitor& visit) {
  SeenKeys::Set before;
  std::string key;
  std::u32string text;
  bool is_value = false;
  seen_.Before(readers_[place.words[0]].state.seen, &before, &key, &is_value);
  if (is_value) return;  // it changes nothing about strings
  DecodeText(key, &text);
  const uint32_t at = place.words[3] & ~kSincePlace;
  if (at == text.size()) {
    if (first.Has('"')) visit("\"", nullptr, kEmpty);
    return;
  }
  const FreshKey n{place.words[0], 0, 0, 0, place.words[1], place.words[2], 0};
  if (objects_[readers_[n.reader].state.plan].plain)
    return VisitSpellings(text[at], "", first, visit, {{n.reader, 0, 0, (at + 1) | kSincePlace, 0, 0}});
  const FreshKey below{n.reader, 0, 0, 0, seen_.After(n.seen, text[at]), seen_.Longer(n.path, text[at]), 0};
  VisitUsed(n, text[at], below, first, visit, {{n.reader, below.seen, below.path, (at + 1) | kSincePlace, 0, 0}});
}

}  // namespace tokamata
