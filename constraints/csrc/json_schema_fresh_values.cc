// Elements of arrays that must be distinct and are no strings (those are read as keys are). A place in such an element
// knows what was read of it, and what is left of the texts of those elements that occurred and begin like it; masks are
// made of places that know less, and corrected along these texts.
#include <algorithm>
#include <deque>
#include <set>

#include "automata/csrc/time_limit.h"
#include "constraints/csrc/json_schema_rules.h"
#include "constraints/csrc/yaml_value.h"

namespace tokamata {
namespace {

constexpr uint64_t kManyValues = 1u << 24;
constexpr int kDeepestCount = 8;  // values inside of values that are counted

uint32_t Bounded(uint64_t count) { return count >= kManyValues ? kUnbounded : static_cast<uint32_t>(count); }

}  // namespace

// ---------------------------------------------------------------------------------------------- numbers of values

// Numbers by value: each has one text without exponent and zeros at its end.
uint32_t JsonSchemaRules::CountNumbers(Expr numbers) {
  if (pool_->IsEmpty(numbers)) return 0;
  const Expr digit = pool_->Bytes(ByteSet::Range('0', '9')), some = pool_->Bytes(ByteSet::Range('1', '9'));
  const Expr zero = pool_->Byte('0'), minus = pool_->Optional(pool_->Byte('-'));
  const Expr whole = pool_->Concat(some, pool_->Star(digit));
  const Expr fraction = pool_->Concat({pool_->Byte('.'), pool_->Star(digit), some});
  const Expr broken = pool_->Concat({minus, pool_->Union(zero, whole), fraction});
  const Expr normal = pool_->Union({zero, pool_->Concat(minus, whole), broken});
  return CountTexts(pool_->Intersect(numbers, normal), nullptr);
}

JsonSchemaRules::ValueCount JsonSchemaRules::CountValues(SetId set, int depth) {
  if (const auto known = value_counts_->find(set); known != value_counts_->end()) return known->second;
  const ValueCount count = FindCount(set, depth);
  // Answers to open questions (see Inhabited) may still become yes, and what is too deep here may be counted elsewhere.
  if (count.least == kUnbounded || (count.exact && asking_.empty())) (*value_counts_)[set] = count;
  return count;
}

JsonSchemaRules::ValueCount JsonSchemaRules::FindCount(SetId set, int depth) {
  if (set == kNoValue) return {0, true};
  if (cases_.HasPlainStrings(set)) return {kUnbounded, true};
  if (depth > kDeepestCount) return {Inhabited(set), false};
  ValueCount sum{0, true};
  const auto add = [&sum](ValueCount c) {
    sum.least = Bounded(uint64_t{sum.least} + c.least);
    sum.exact = sum.exact && c.exact;
  };
  const uint8_t simple = cases_.SimpleOf(set);
  add({static_cast<uint32_t>((simple & 1) + (simple >> 1 & 1) + (simple >> 2 & 1)), true});
  add({CountTexts(cases_.StringOf(set, StringStyle::kJsonCanonical), nullptr, true), true});
  if (sum.least == kUnbounded) return {kUnbounded, true};
  add({CountNumbers(cases_.NumberOf(set)), true});
  for (const JsonType type : {JsonType::kArray, JsonType::kObject}) {
    if (sum.least == kUnbounded) break;
    const Cases all = cases_.CasesOf(set, type);
    ValueCount most{0, all.size() <= 1};  // two cases may have values in common
    for (const Case& c : all) {
      const ValueCount one = type == JsonType::kArray ? CountArrays(ArrayPlanOf(c), depth) : CountObjects(ObjectPlanOf(c), depth);
      most.least = std::max(most.least, one.least);
      most.exact = most.exact && one.exact;
    }
    add(most);
  }
  if (sum.least == kUnbounded) sum.exact = true;
  return sum;
}

JsonSchemaRules::ValueCount JsonSchemaRules::CountArrays(uint32_t id, int depth) {
  const ArrayState start = StartArray(id, 0);
  if (!ArrayInhabited(start)) return {0, true};
  const ArrayPlan& p = PreparedArray(id);
  if (depth >= kDeepestCount) return {1, false};
  ValueCount sum{0, true};
  if (p.unique && p.contains.empty() && p.owed.empty() && p.values.size() == 1) {  // one fewer to choose from each time
    const ValueCount c = p.distinct ? CountElements(p.members[0]) : ValueCount{static_cast<uint32_t>(p.choices.size()), true};
    uint64_t ways = 1;
    for (uint32_t n = 0; ways && n <= start.high && sum.least != kUnbounded && n <= kFewTexts; ++n) {
      if (n >= start.low) sum.least = Bounded(uint64_t{sum.least} + ways);
      ways = c.least == kUnbounded ? kUnbounded : Bounded(ways * (c.least - std::min(c.least, n)));
    }
    return {sum.least, c.exact};
  }
  if (!IsPlain(p, start)) return {1, false};
  uint64_t ways = 1;  // to fill the elements so far
  for (uint32_t n = 0;; ++n) {
    if (n >= start.low) sum.least = Bounded(uint64_t{sum.least} + ways);
    if (n == start.high || sum.least == kUnbounded || n >= kFewTexts)
      return {n == start.high ? sum.least : kUnbounded, sum.exact};
    const ValueCount c = CountValues(p.values[std::min<size_t>(n, p.values.size() - 1)], depth + 1);
    sum.exact = sum.exact && c.exact;
    ways = Bounded(ways * c.least);
    if (ways == 0) return sum;
  }
}

JsonSchemaRules::ValueCount JsonSchemaRules::CountObjects(uint32_t id, int depth) {
  const ObjectState start = StartObject(id, 0);
  if (!ObjectInhabited(start)) return {0, true};
  Prepared(id);
  PrepareOthers(id);
  const ObjectPlan& p = objects_[id];  // stays where it is
  if (depth >= kDeepestCount) return {1, false};
  if (!p.owed.empty()) return {HasEndlessMember(start, depth) ? kUnbounded : 1, false};
  const bool room = p.high > p.required_after[0];  // for a key that is not required
  for (const OtherKeys& o : p.others)
    if (room && Inhabited(o.value) && (p.plain || o.count == kUnbounded || CountValues(o.value, depth + 1).least == kUnbounded))
      return {kUnbounded, true};
  for (const NamedKey& key : p.keys)  // those that are seen at once first
    if ((key.required || room) && cases_.HasPlainStrings(key.value)) return {kUnbounded, true};
  ValueCount product{1, p.others.empty() && p.low <= p.required_after[0] && p.high >= p.keys.size()};
  uint32_t most = 0;  // of one that is not required alone
  for (const NamedKey& key : p.keys) {
    const ValueCount c = CountValues(key.value, depth + 1);
    if (c.least == kUnbounded && (key.required || room)) return {kUnbounded, true};
    product.exact = product.exact && c.exact;
    if (key.required)
      product.least = Bounded(uint64_t{product.least} * c.least);
    else if (room)
      most = std::max(most, c.least);
  }
  if (!product.exact) return {std::max<uint32_t>(1, Bounded(uint64_t{product.least} * std::max<uint32_t>(most, 1))), false};
  for (const NamedKey& key : p.keys)
    if (!key.required) product.least = Bounded(uint64_t{product.least} * (uint64_t{CountValues(key.value, depth + 1).least} + 1));
  return product;
}

// Whether a member that may come, soon, has no end of values or keys.
bool JsonSchemaRules::HasEndlessMember(const ObjectState& start, int depth) {
  constexpr size_t kMostStates = 64;
  std::vector<ObjectState> open{start};
  for (size_t i = 0; i < open.size() && i < kMostStates; ++i) {
    std::vector<Member> members;
    Members(ObjectState(open[i]), &members);
    for (const Member& m : members) {
      const ObjectPlan& p = objects_[start.plan];
      if (!m.named && (p.plain || CountTexts(m.contents, nullptr) == kUnbounded)) return true;
      if (CountValues(m.value, depth + 1).least == kUnbounded) return true;
      if (open.size() < kMostStates) open.push_back(m.next);
    }
  }
  return false;
}

// How many elements an array of distinct ones can have.
JsonSchemaRules::ValueCount JsonSchemaRules::CountElements(uint32_t id) {
  Prepared(id);
  ValueCount strings{0, true};
  PrepareOthers(id);
  const ObjectPlan& p = objects_[id];  // stays where it is
  for (const OtherKeys& o : p.others) strings.least = p.plain || o.count == kUnbounded ? kUnbounded : o.count;
  if (strings.least == kUnbounded || !p.mixed) return strings;
  if (counting_elements_ > kDeepestCount) return {Bounded(uint64_t{strings.least} + Inhabited(p.rest)), false};
  struct Deeper {  // also where a limit is reached on the way
    int& depth;
    explicit Deeper(int& d) : depth(d) { ++depth; }
    ~Deeper() { --depth; }
  } deeper(counting_elements_);
  const ValueCount rest = CountValues(p.rest, counting_elements_ - 1);
  return {Bounded(uint64_t{strings.least} + rest.least), rest.exact};
}

// ---------------------------------------------------------------------------------------------- places

// Of the text of an element of an array at a depth.
uint32_t JsonSchemaRules::NumberOfValue(const std::string& text, uint32_t depth) {
  const size_t inner = IsFlow(depth) ? 0 : (depth & ~kReadings) + 1;
  std::string json = IsYaml() ? YamlAsJson(text, 2 * inner) : text;
  std::shared_ptr<const JsonDocument> value = JsonDocument::Parse(std::move(json), "json_schema");
  std::vector<uint32_t>& alike = (*values_by_hash_)[JsonHash(value->Root())];
  for (const uint32_t id : alike)
    if (JsonEqual(values_[id]->Root(), value->Root())) return id;
  alike.push_back(static_cast<uint32_t>(values_.size()));
  values_.push_back(std::move(value));
  return alike.back();
}

std::string JsonSchemaRules::ReadText(SeenKeys::Path path) const {
  std::string text;
  for (; path; path = seen_.Shorter(path)) text.push_back(static_cast<char>(seen_.Last(path)));
  std::reverse(text.begin(), text.end());
  return text;
}

JsonSchemaRules::ObjectState JsonSchemaRules::AfterElement(const ObjectState& s) const {
  ObjectState next = s;
  next.plan = objects_[s.plan].next;
  next.low = s.low ? s.low - 1 : 0;
  next.high = s.high == kUnbounded ? kUnbounded : s.high - 1;
  next.first = 0;
  return next;
}

// The elements of a set that are no strings.
const std::vector<uint32_t>& JsonSchemaRules::ValuesOf(SeenKeys::Set set) {
  std::vector<SeenKeys::Set> later;
  std::vector<std::string> added;  // of each of these what it has beside the one before
  while (set && !values_of_->count(set)) {
    later.push_back(set);
    added.emplace_back();
    bool is_value = false;
    if (!seen_.Before(set, &set, &added.back(), &is_value)) set = 0;
    if (!is_value) added.back().clear();
  }
  const std::vector<uint32_t>* values = &(*values_of_)[set];  // those of the empty one are none
  for (size_t i = later.size(); i-- > 0;) {
    std::vector<uint32_t> more = *values;
    if (!added[i].empty()) more.push_back(seen_.ValueOf(added[i]));
    values = &((*values_of_)[later[i]] = std::move(more));
  }
  return *values;
}

// All texts of an element that occurred.
Expr JsonSchemaRules::TextsOfValue(uint32_t id, uint32_t depth) {
  const JsonValue& value = values_[id]->Root();
  Expr& texts = (*texts_of_values_)[uint64_t{id} << 32 | depth];
  if (texts != kEmpty) return texts;
  const SetId set = sets_.And(kAnyValue, SignedUse{sets_.Constant(&value, true), true});
  return texts = value.IsNumber() && !IsYaml() ? cases_.NumberOf(set) : CallValue(set, depth);
}

bool JsonSchemaRules::MayBegin(uint32_t id, uint8_t byte) {
  if (IsYaml()) return true;  // in whatever style
  const JsonValue& value = values_[id]->Root();
  switch (value.kind) {
    case JsonKind::kNumber: return pool_->First(TextsOfValue(id, 0)).Has(byte);
    case JsonKind::kObject: return byte == '{';
    case JsonKind::kArray: return byte == '[';
    case JsonKind::kNull: return byte == 'n';
    default: return byte == (value.boolean ? 't' : 'f');
  }
}

Expr JsonSchemaRules::AfterByte(Expr e, uint8_t byte) {
  const uint64_t key = uint64_t{e} << 8 | byte;
  if (const Expr* const known = after_byte_.Find(key)) return *known;
  const char text = static_cast<char>(byte);
  const Expr after = AfterBytes(e, {&text, 1});
  return after_byte_[key] = after;
}

// At the beginning of an element nothing is listed that it may become.
JsonSchemaRules::ValuePlace& JsonSchemaRules::PlaceOfValue(uint32_t reader, SeenKeys::Path path) {
  KeyReader& r = readers_[reader];  // stays where it is
  const uint32_t inner = ElementPlace(r.state.depth);
  std::vector<SeenKeys::Path> longer;
  for (; path && !r.places.count(path); path = seen_.Shorter(path)) longer.push_back(path);
  ValuePlace* at = &r.places[path];
  if (!path) at->left = CallValue(Prepared(r.state.plan).rest, inner);
  for (size_t i = longer.size(); i-- > 0;) {
    const uint8_t byte = static_cast<uint8_t>(seen_.Last(longer[i]));
    ValuePlace next;
    next.left = AfterByte(at->left, byte);
    if (next.left != kEmpty && !path) {
      for (const uint32_t id : ValuesOf(r.state.seen))
        if (MayBegin(id, byte))
          if (const Expr after = AfterByte(TextsOfValue(id, inner), byte); after != kEmpty) next.like.push_back(after);
    } else if (next.left != kEmpty) {
      for (const Expr e : at->like)
        if (const Expr after = AfterByte(e, byte); after != kEmpty) next.like.push_back(after);
    }
    path = longer[i];
    at = &(r.places[path] = std::move(next));
  }
  return *at;
}

// What is left of the texts of elements that occurred and begin like this one.
std::vector<Expr> JsonSchemaRules::LikeValues(uint32_t reader, SeenKeys::Path path) {
  if (path) return PlaceOfValue(reader, path).like;
  std::vector<Expr> like;
  const uint32_t inner = ElementPlace(readers_[reader].state.depth);
  for (const uint32_t id : ValuesOf(readers_[reader].state.seen)) like.push_back(TextsOfValue(id, inner));
  return like;
}

bool JsonSchemaRules::IsAlone(uint32_t reader, SeenKeys::Path path) {
  return path ? PlaceOfValue(reader, path).like.empty() : ValuesOf(readers_[reader].state.seen).empty();
}

// Whether there is a text in `left` and in none of `like`: mostly one that goes on with another byte, soon found along
// any way. Then the nearest first, as what is left of elements that remember their own may go on without end.
bool JsonSchemaRules::AnyFresh(Expr left, const std::vector<Expr>& like) {
  constexpr size_t kMostPlaces = 20'000, kStraightOn = 64;
  struct Place {
    Expr left;
    std::vector<Expr> like;
  };
  if (left == kEmpty) return false;
  std::deque<Place> open{{left, like}};
  std::set<std::vector<Expr>> known;
  std::vector<Expressions::Term> mine;
  for (size_t visited = 0; !open.empty(); ++visited) {
    TimeLimit::Spend(16);
    const bool straight = visited < kStraightOn;
    const Place at = std::move(straight ? open.back() : open.front());
    straight ? open.pop_back() : open.pop_front();
    if (at.like.empty()) return true;
    if (pool_->Nullable(at.left) && std::none_of(at.like.begin(), at.like.end(), [this](Expr e) { return pool_->Nullable(e); }))
      return true;
    std::vector<std::vector<Expressions::Term>> theirs(at.like.size());
    ByteSet taken;
    for (size_t i = 0; i < at.like.size(); ++i) {
      pool_->Step(at.like[i], &theirs[i]);
      for (const Expressions::Term& t : theirs[i]) taken = taken | t.bytes;
    }
    pool_->Step(at.left, &mine);
    for (const Expressions::Term& t : mine)
      if ((t.bytes - taken).Any()) return true;
    for (const Expressions::Term& t : mine)
      t.bytes.ForEach([&](uint8_t b) {
        Place next{t.target, {}};
        std::vector<Expr> name{t.target};
        for (const auto& terms : theirs)
          for (const Expressions::Term& their : terms)
            if (their.bytes.Has(b)) next.like.push_back(their.target);
        name.insert(name.end(), next.like.begin(), next.like.end());
        if (known.insert(std::move(name)).second) open.push_back(std::move(next));
      });
    if (known.size() > kMostPlaces)
      throw LimitError("json_schema: the limit distinct_elements=" + std::to_string(kMostPlaces) +
                       " was reached: places at which an element of uniqueItems may become another one; pass "
                       "whitespace=\"compact\"");
  }
  return false;
}

// The same for a text that may remember elements or keys of its own: mostly the next byte tells, or what remembers
// nothing.
bool JsonSchemaRules::AnyOther(Expr left, const std::vector<Expr>& like) {
  ByteSet mine, theirs;
  std::vector<Expressions::Term> steps;
  pool_->Step(left, &steps);
  for (const Expressions::Term& t : steps) mine = mine | t.bytes;
  for (const Expr e : like) {
    pool_->Step(e, &steps);
    for (const Expressions::Term& t : steps) theirs = theirs | t.bytes;
  }
  if ((mine - theirs).Any()) return true;
  const Expr over = pool_->Approximate(left, Side::kOver);
  if (over == left) return AnyFresh(left, like);
  return AnyFresh(over, like) && (AnyFresh(pool_->Approximate(left, Side::kUnder), like) || AnyFresh(left, like));
}

// Whether more values than may ever occur go on from here, as a string on some way from here may go on with one letter
// again and again, which neither numbers nor null, true and false have. Not, where that does not show soon.
bool JsonSchemaRules::IsEndless(Expr left) {
  constexpr uint32_t kMostPlaces = 400;
  uint32_t places = kMostPlaces;
  return FindEndless(left, 0, &places);
}

bool JsonSchemaRules::FindEndless(Expr left, int depth, uint32_t* places) {
  constexpr int kMostTurns = 4, kMostBytes = 200;
  if (const bool* const known = endless_.Find(left)) return *known;
  if (depth >= kMostBytes || !*places) return false;
  --*places;
  bool endless = false;
  if (pool_->Kind(left) == ExprKind::kUnion) {
    const std::vector<Expr> members(pool_->Members(left), pool_->Members(left) + pool_->NumMembers(left));
    endless = std::any_of(members.begin(), members.end(), [&](Expr e) { return FindEndless(e, depth, places); });
  } else if (pool_->Remembers(left)) {
    return false;
  } else if (pool_->Kind(left) == ExprKind::kConcat) {  // the tail first: it is the same behind all names of a list
    const Expr parts[] = {pool_->Tail(left), pool_->Head(left)};
    endless = std::any_of(parts, parts + 2, [&](Expr e) { return FindEndless(e, depth + 1, places); }) &&
              !pool_->IsEmpty(parts[0]) && !pool_->IsEmpty(parts[1]);
  } else {
    Expr turn = left;
    for (int i = 0; i < kMostTurns && pool_->First(turn).Has('k') && !endless && !pool_->Remembers(turn); ++i) {
      const Expr next = AfterByte(turn, 'k');
      endless = next == turn;
      turn = next;
    }
    std::vector<Expressions::Term> steps;
    if (!endless) pool_->Step(left, &steps);
    endless = endless || (!steps.empty() && FindEndless(steps.front().target, depth + 1, places));
  }
  if (endless || *places) endless_[left] = endless;  // what was given up is not known
  return endless;
}

bool JsonSchemaRules::IsFreshPlace(uint32_t reader, SeenKeys::Path path) {
  ValuePlace& place = PlaceOfValue(reader, path);
  if (place.alive == Known::kUnknown) {
    bool alive = place.left != kEmpty;
    if (alive && !IsAlone(reader, path) && !IsEndless(place.left)) {
      ObjectPlan& p = objects_[readers_[reader].state.plan];
      if (!path && p.rest_count == 0) p.rest_count = CountValues(p.rest, 0).least;
      alive = (!path && p.rest_count == kUnbounded) || AnyOther(place.left, LikeValues(reader, path));
    }
    place.alive = alive ? Known::kYes : Known::kNo;
  }
  return place.alive == Known::kYes;
}

Expr JsonSchemaRules::CallFreshValue(uint32_t reader, SeenKeys::Path path) {
  static const ByteSet begin = [] {
    ByteSet set = ByteSet::Range('0', '9');
    for (char c : {'-', '[', '{', 't', 'f', 'n'}) set.Add(static_cast<uint8_t>(c));
    return set;
  }();
  has_memory_ = has_values_ = true;
  const uint32_t words[] = {reader, path};
  const ByteSet& first = IsYaml() ? YamlValueFirst(ElementPlace(readers_[reader].state.depth)) : begin;
  return CallRule(Rule::kFreshValue, words, 2, path ? ByteSet::All() : first, MayEndValue(reader, path));
}

// Whether a new element and the array may both end here: in YAML, where the next line is another one's.
bool JsonSchemaRules::MayEndValue(uint32_t reader, SeenKeys::Path path) {
  if (!IsYaml() || !path || !pool_->Nullable(PlaceOfValue(reader, path).left)) return false;
  const std::vector<Expr>& like = PlaceOfValue(reader, path).like;
  const bool occurred = std::any_of(like.begin(), like.end(), [this](Expr e) { return pool_->Nullable(e); });
  return !occurred && pool_->Nullable(CallObject(AfterElement(readers_[reader].state)));
}

// What follows an element, behind it; kEmpty: it occurred.
Expr JsonSchemaRules::AfterValue(uint32_t reader, SeenKeys::Path path) {
  const ObjectState s = readers_[reader].state;
  const uint32_t id = NumberOfValue(ReadText(path), s.depth);
  if (seen_.HasValue(s.seen, id)) return kEmpty;
  ObjectState next = AfterElement(s);
  next.seen = next.high ? seen_.WithValue(s.seen, id) : 0;  // where no element follows, nobody asks
  return CallObject(next);
}

void JsonSchemaRules::StepValue(uint32_t reader, SeenKeys::Path path, uint8_t byte, Expr* rest) {
  *rest = kEmpty;
  const SeenKeys::Path longer = seen_.Longer(path, byte);
  const Expr left = PlaceOfValue(reader, longer).left;
  if (left != kEmpty && IsFreshPlace(reader, longer))
    *rest = left == kEpsilonExpr ? AfterValue(reader, longer) : CallFreshValue(reader, longer);
  if (!path || !pool_->Nullable(PlaceOfValue(reader, path).left) || !MayFollowValue(reader, left, byte)) return;
  *rest = pool_->Union(*rest, AfterBytes(AfterValue(reader, path), {reinterpret_cast<const char*>(&byte), 1}));
}

// Whether a byte, after which something of an element is left, may also stand behind it where it is whole: a line of
// YAML may be the next one of this element or another one's.
bool JsonSchemaRules::MayFollowValue(uint32_t reader, Expr left, uint8_t byte) {
  return left == kEmpty || (IsYaml() && pool_->First(CallObject(AfterElement(readers_[reader].state))).Has(byte));
}

// The elements that may come next but for strings, from their first byte on to the end of the array.
Expr JsonSchemaRules::ValuesOfArray(const ObjectState& s) {
  const ObjectPlan& p = Prepared(s.plan);
  if (!p.mixed || s.high == 0 || !Inhabited(p.rest)) return kEmpty;
  const uint32_t reading = ReadingOf(s.depth);
  if (IsUnique() && !reading) {
    const uint32_t reader = ReaderOf(s);
    return IsFreshPlace(reader, 0) ? CallFreshValue(reader, 0) : kEmpty;
  }
  if (MayBeOneMore(s)) {
    ObjectState exact = s;
    exact.depth &= ~kReadings;
    return ValueNear(ReaderOf(exact), 0, Side::kWithin);
  }
  if (reading & kUnderKeys) return reading & kLastKey || !s.low ? kEmpty : ValueNear(ReaderOf(s), 0, Side::kUnder);
  approximates_ = approximates_ || reading;
  ObjectState next = AfterElement(s);
  next.seen = 0;
  return pool_->Concat(CallValue(p.rest, ElementPlace(s.depth)), CallObject(next));
}

// ---------------------------------------------------------------------------------------------- for masks

// An element from its beginning on, be it inside of another one.
bool JsonSchemaRules::Opens(uint32_t rule) {
  const Rule& r = rules_[rule];
  if (r.kind == Rule::kFreshValue)
    return r.words[1] == 0 || pool_->BeginsRemembering(PlaceOfValue(r.words[0], r.words[1]).left);
  const FreshKey n = FreshOf(rule);
  return n.path == 0 && n.spelled == 0 && objects_[readers_[n.reader].state.plan].array;
}

uint32_t JsonSchemaRules::MostElements(uint32_t plan) {
  uint32_t& count = objects_[plan].count;
  if (count == 0) count = CountElements(plan).least;
  return count;
}

// The same place without what was read and what occurred.
Expr JsonSchemaRules::ForgetValue(uint32_t reader, SeenKeys::Path path) {
  const Expr left = PlaceOfValue(reader, path).left;
  const ObjectState s = readers_[reader].state;
  ObjectState next = AfterElement(s);
  next.seen = 0;
  const uint32_t count = MostElements(next.plan);
  if (count != kUnbounded && seen_.Keys(s.seen).size() + ValuesOf(s.seen).size() + 1 >= count) next.high = 0;
  return pool_->Concat(left, CallObject(next));
}

// The same place without the element that occurred last, where that makes no difference to how many may follow; only
// where it was asked for, too.
bool JsonSchemaRules::SinceValue(uint32_t reader, SeenKeys::Path path, Expr* before, RuleText* place) {
  ObjectState s = readers_[reader].state, only = s;
  std::string last;
  bool is_value = false;
  if (!seen_.Before(s.seen, &s.seen, &last, &is_value) || !is_value) return false;
  if (MostElements(AfterElement(s).plan) != kUnbounded) return false;
  const uint32_t words[] = {ReaderOf(s), path};
  uint64_t hash = 0;
  const StateId known = FindRule(Rule::kFreshValue, words, 2, &hash);
  if (known == kNoState || rules_[static_cast<size_t>(known)].call == kEmpty) return false;
  *before = rules_[static_cast<size_t>(known)].call;
  only.seen = seen_.WithValue(0, SeenKeys::ValueOf(last));
  *place = {{reader, path, ReaderOf(only), kValuePlace | kSincePlace, 0, 0}};
  return true;
}

// Byte by byte along the elements that occurred, or along the last one.
void JsonSchemaRules::ForEachValueText(const RuleText& place, const ByteSet& first, const TextVisitor& visit) {
  const uint32_t reader = place.words[0], along = place.words[3] & kSincePlace ? place.words[2] : reader;
  const SeenKeys::Path path = place.words[1];
  const std::vector<Expr> like = LikeValues(along, path);
  const bool ends = path && std::any_of(like.begin(), like.end(), [this](Expr e) { return pool_->Nullable(e); });
  ByteSet next = ends ? ByteSet::All() : ByteSet();
  std::vector<Expressions::Term> steps;
  for (const Expr e : like) {
    pool_->Step(e, &steps);
    for (const Expressions::Term& t : steps) next = next | t.bytes;
  }
  (next & first).ForEach([&](uint8_t b) {
    const SeenKeys::Path longer = seen_.Longer(path, b);
    const ValuePlace& below = PlaceOfValue(along, longer);
    const char byte = static_cast<char>(b);
    if (ends && MayFollowValue(reader, below.left, b)) {  // it may not, as the element occurred
      const bool more = below.left != kEmpty && IsFreshPlace(reader, longer);
      visit({&byte, 1}, nullptr, more ? CallFreshValue(reader, longer) : Expr{kEmpty});
      return;
    }
    if (below.like.empty()) return;
    const RuleText child{{reader, longer, along, place.words[3], 0, 0}};
    visit({&byte, 1}, IsEndless(below.left) || IsFreshPlace(reader, longer) ? &child : nullptr, kEmpty);
  });
}

// This element exactly, and an approximation of what follows.
Expr JsonSchemaRules::ValueNear(uint32_t reader, SeenKeys::Path path, Side side) {
  approximates_ = true;
  const std::vector<Expr> like = LikeValues(reader, path);
  Expr left = PlaceOfValue(reader, path).left;
  if (side != Side::kOver && !like.empty()) {
    const auto calls = [this](Expr e) { return pool_->IsPushDown(e); };
    if (calls(left) || std::any_of(like.begin(), like.end(), calls)) return kEmpty;
    left = pool_->Difference(left, pool_->Union(like));
    if (pool_->IsEmpty(left)) return kEmpty;
  }
  ObjectState next = Near(AfterElement(readers_[reader].state), side);
  next.seen = 0;
  if (side != Side::kOver && next.low) {  // one element, so that what follows knows it
    std::string rest;
    if (!ShortestText(left, &rest)) return kEmpty;
    next.seen = seen_.WithValue(readers_[reader].state.seen, NumberOfValue(ReadText(path) + rest, next.depth));
    return pool_->Concat(pool_->Literal(rest), CallObject(next));
  }
  if (side != Side::kOver) next.depth |= kLastKey;
  return pool_->Concat(pool_->Approximate(left, side), CallObject(next));
}

}  // namespace tokamata
