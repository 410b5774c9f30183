// Keys in the order of their code points, also those that no schema names: they stand between the others, and each is
// greater than the last key. What may come is a regular language for every last key, so a state knows that one only.
#include <algorithm>
#include <unordered_map>

#include "automata/csrc/utf8.h"
#include "constraints/csrc/json_schema_rules.h"
#include "constraints/csrc/json_spellings.h"

namespace tokamata {
namespace {

constexpr char32_t kMaxCodePoint = 0x10FFFF;

std::string Utf8(std::u32string_view text) {
  std::string out;
  for (const char32_t c : text) AppendUtf8(c, &out);
  return out;
}

}  // namespace

// The contents of keys of a kind; those with a name in the schema are none.
Expr JsonSchemaRules::Unnamed(const ObjectPlan& p, const OtherKeys& others) {
  std::vector<std::string> texts;
  for (KeyId key : p.mentioned) texts.push_back(sets_.KeyText(key));
  return texts.empty() ? others.contents : pool_->Difference(others.contents, cases_.strings().Choice(texts));
}

// Always on with the greatest character.
JsonSchemaRules::Top JsonSchemaRules::Greatest(Expr contents, std::u32string* text, size_t* circle) {
  constexpr size_t kMostStates = 5000;
  JsonStrings& canonical = cases_.StringsOf(StringStyle::kJsonCanonical);
  Expr e = options_.canonical_strings ? contents : pool_->Intersect(contents, canonical.Any());
  text->clear();
  if (pool_->IsEmpty(e)) return Top::kNone;
  std::unordered_map<Expr, size_t> places;
  std::vector<Expressions::Term> steps;
  for (;;) {
    if (const auto [place, added] = places.emplace(e, text->size()); !added) {
      *circle = place->second;
      const bool greatest = std::all_of(text->begin(), text->end(), [](char32_t c) { return c == kMaxCodePoint; });
      return greatest ? Top::kUnbounded : Top::kLimit;
    }
    if (places.size() > kMostStates)
      throw LimitError("json_schema: the limit sorted_keys=" + std::to_string(kMostStates) +
                       " was reached: the greatest key of patternProperties or propertyNames is too long; pass "
                       "key_order=\"schema\" or \"any\"");
    std::string spelled;  // of the next character
    uint32_t code = 0;
    for (Expr at = e; spelled.empty() || ReadSpelling(spelled, &code) == Spelling::kBegun;) {
      pool_->Step(at, &steps);
      ByteSet live;
      for (const Expressions::Term& t : steps) live = live | t.bytes;
      int best = -1;
      live.ForEach([&](uint8_t b) {
        if (b != '\\') best = b;
      });
      if (spelled.empty() && live.Has('\\') && best < 0x80) {  // what is written with a backslash may be greater
        for (int c = 0; c < 0x80; ++c)
          if (JsonMustEscape(static_cast<uint32_t>(c)) && c > best && AfterBytes(e, canonical.Spell(static_cast<uint32_t>(c))) != kEmpty)
            best = c;
        spelled = canonical.Spell(static_cast<uint32_t>(best));
        ReadSpelling(spelled, &code);
        break;
      }
      if (best < 0) return Top::kText;
      spelled += static_cast<char>(best);
      at = AfterBytes(at, spelled.substr(spelled.size() - 1));
    }
    text->push_back(code);
    e = AfterBytes(e, spelled);
  }
}

// The greatest keys of each kind, as many as may be owed, or what they come near to.
void JsonSchemaRules::FindCuts(uint32_t id) {
  ObjectPlan& p = objects_[id];  // stays where it is
  JsonStrings& strings = cases_.strings();
  const size_t most = std::max<size_t>(1, p.low + p.owed.size());
  size_t longest = 0;
  struct Limit {
    std::u32string text;
    size_t circle;
  };
  std::vector<Limit> limits;
  for (KeyId key : p.mentioned) longest = std::max(longest, sets_.KeyText(key).size());
  for (const OtherKeys& o : p.others) {
    if (o.everything) continue;
    Expr left = Unnamed(p, o);
    std::u32string text;
    size_t circle = 0;
    Top top = Top::kText;
    for (size_t i = 0; i < most && (top = Greatest(left, &text, &circle)) == Top::kText; ++i) {
      if (i == kFewTexts)
        throw LimitError("json_schema: the limit sorted_keys=" + std::to_string(kFewTexts) + " was reached" +
                         (p.groups.empty() ? "" : " at " + cases_.Describe(p.groups[0].a)) +
                         ": minProperties asks for more keys of few; pass key_order=\"schema\" or \"any\"");
      left = pool_->Difference(left, strings.Literal(Utf8(text)));
      longest = std::max(longest, text.size());
      const std::u32string_view cut = text;
      p.cuts.push_back({text, strings.Between(nullptr, &cut)});
    }
    if (top == Top::kLimit) limits.push_back({text, circle});
    longest = std::max(longest, text.size());
  }
  // Little above a limit: beyond the length of all else, a character that is one greater.
  for (const Limit& l : limits) {
    const std::u32string begin = l.text.substr(0, l.circle), circle = l.text.substr(l.circle);
    std::u32string at = l.text;
    while (at.size() <= longest) at += circle;
    at += circle;
    while (at.back() == kMaxCodePoint) at.pop_back();
    ++at.back();
    if (at.back() == 0xD800) at.back() = 0xE000;
    p.cuts.push_back({at, strings.BelowLimit(begin, circle)});
  }
  std::sort(p.cuts.begin(), p.cuts.end(), [](const KeyCut& a, const KeyCut& b) { return a.at < b.at; });
}

// What the next key must be greater than; false: anything may come.
bool JsonSchemaRules::LastKey(const ObjectState& s, std::u32string* text) {
  text->clear();
  if (s.seen) return DecodeText(seen_.Keys(s.seen)[0], text);
  SortKeys(&objects_[s.plan]);
  const ObjectPlan& p = objects_[s.plan];
  if (s.position) *text = p.sorted[p.sorted_at[s.position - 1]].text;
  return s.position != 0;
}

uint32_t JsonSchemaRules::OthersAbove(const ObjectState& s, uint32_t index) {
  const ObjectPlan& p = objects_[s.plan];
  if (p.others[index].everything) return kUnbounded;
  const ListId id = sets_.lists.Intern({2, s.plan, index, s.seen ? 0 : s.position, s.seen});
  const auto known = others_above_->find(id);
  if (known != others_above_->end()) return known->second;
  std::u32string last;
  const bool bounded = LastKey(s, &last);
  const std::u32string_view low = last;
  const Expr contents = Unnamed(p, p.others[index]);
  const Expr above = bounded ? pool_->Intersect(cases_.strings().Between(&low, nullptr), contents) : contents;
  return (*others_above_)[id] = CountTexts(above, nullptr);
}

bool JsonSchemaRules::MayFollow(const ObjectState& s) {
  if (s.high == 0) return false;
  const ObjectPlan& p = objects_[s.plan];
  for (uint32_t i = s.position; i < p.keys.size(); ++i)
    if (Inhabited(p.keys[i].value)) return true;
  for (uint32_t i = 0; i < p.others.size(); ++i)
    if (OthersAbove(s, i) && Inhabited(p.others[i].value)) return true;
  return false;
}

// A member without a name, whose contents are between two keys: less those keys above which not enough of what is owed
// can come, and apart those above which nothing can.
void JsonSchemaRules::AddInOrder(Member m, const std::u32string_view* low, const std::u32string_view* high, std::vector<Member>* out) {
  const ObjectPlan& p = objects_[m.next.plan];
  ObjectState after = m.next;
  after.seen = low ? seen_.With(0, Utf8(*low)) : 0;
  if (!ObjectInhabited(after)) return;
  Expr last = kEmpty;
  for (const KeyCut& cut : p.cuts) {
    if ((low && cut.at <= *low) || (high && *high <= cut.at)) continue;
    after.seen = seen_.With(0, Utf8(cut.at));
    if (!ObjectInhabited(after)) {
      m.contents = pool_->Intersect(m.contents, cut.below);
      last = last == kEmpty ? kEmpty : pool_->Intersect(last, cut.below);
      break;
    }
    if (last != kEmpty || MayFollow(after)) continue;
    last = pool_->Difference(m.contents, cut.below);
    m.contents = pool_->Intersect(m.contents, cut.below);
  }
  if (m.contents != kEmpty && !pool_->IsEmpty(m.contents)) out->push_back(m);
  if (last == kEmpty || pool_->IsEmpty(last)) return;
  m.contents = last;
  m.next.high = 0;
  out->push_back(m);
}

// Members without a name in the schema: in each gap between those that have one, up to the next that is required.
void JsonSchemaRules::OthersInOrder(const ObjectState& s, std::vector<Member>* out) {
  const uint32_t reading = ReadingOf(s.depth);
  PrepareOthers(s.plan);
  SortKeys(&objects_[s.plan]);
  const ObjectPlan& p = objects_[s.plan];  // stays where it is
  approximates_ = approximates_ || (reading && !p.others.empty());
  if ((reading & kUnderKeys) && (reading & kLastKey || !s.low || s.owed)) return;
  JsonStrings& strings = cases_.strings();
  std::u32string last;
  const bool begun = LastKey(s, &last);
  const std::u32string_view after = last;
  uint32_t from = s.position ? p.sorted_at[s.position - 1] + 1 : 0, to = static_cast<uint32_t>(p.sorted.size());
  while (begun && from < to && p.sorted[from].text <= last) ++from;
  for (uint32_t i = s.position; i < p.keys.size(); ++i)
    if (p.keys[i].required) {
      to = p.sorted_at[i];
      break;
    }
  Member m{false, 0, kNoValue, s};
  m.next.depth &= ~(reading & kNamedKey);
  m.next.low = s.low ? s.low - 1 : 0;
  m.next.high = s.high == kUnbounded ? kUnbounded : s.high - 1;
  m.next.first = 0;
  for (uint32_t gap = from; gap <= to; ++gap) {
    const std::u32string_view* const low = gap > from ? &p.sorted[gap - 1].text : begun ? &after : gap ? &p.sorted[gap - 1].text : nullptr;
    const std::u32string_view* const high = gap < p.sorted.size() ? &p.sorted[gap].text : nullptr;
    const Expr between = strings.Between(low, high);
    if (between == kEmpty) continue;
    m.next.position = p.named_before[gap];
    for (m.index = 0; m.index < p.others.size(); ++m.index) {
      const OtherKeys& o = p.others[m.index];
      const Expr contents = o.everything ? between : pool_->Intersect(between, o.contents);
      if (pool_->IsEmpty(contents)) continue;
      for (const MemberValue& v : OtherValues(s.plan, m.index, OwedWithout(p, s.owed, s.position, m.next.position))) {
        if (!Inhabited(v.value)) continue;
        m.value = v.value;
        m.next.owed = v.owed;
        m.next.seen = 0;
        m.contents = contents;
        if (IsUnique() && !(reading & kOverKeys))
          AddInOrder(m, low, high, out);
        else if (ObjectInhabited(m.next))
          out->push_back(m);
      }
    }
  }
}

}  // namespace tokamata
