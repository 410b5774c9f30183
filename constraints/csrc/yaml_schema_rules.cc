// Block style of YAML for the values of a schema. A level of indentation is two spaces. Every line but the first begins
// with a line break, so that an object or array ends where the next line is not its own; what a state of them has still
// to come is nullable there. Brackets of flow style hold what is empty and what lies too deep.
#include "constraints/csrc/json_schema_rules.h"
#include "constraints/csrc/yaml_string.h"

namespace tokamata {
namespace {

constexpr size_t kMostKey = 1000;  // characters of a key as it is written; PyYAML reads 1024

const ByteSet& LineFirst() {  // of what stands in a line
  static const ByteSet first = ByteSet::Range(0x21, 0x7E) | ByteSet::Range(0xC2, 0xF4);
  return first;
}

}  // namespace

const ByteSet& JsonSchemaRules::YamlValueFirst(uint32_t placed) {
  static const ByteSet space = ByteSet::Of(' '), line_or_space = ByteSet::Of(' ') | ByteSet::Of('\n');
  placed &= ~kReadings;
  if (placed == kFlow || (placed & 3) == kTop) return LineFirst();
  return (placed & 3) == kAfterKey ? line_or_space : space;
}

// Of what is still to come of an object or array.
const ByteSet& JsonSchemaRules::YamlNextFirst(uint32_t depth, bool first) {
  static const ByteSet line = ByteSet::Of('\n'), flow = ByteSet::Of(',') | ByteSet::Of(']') | ByteSet::Of('}');
  if (first) return LineFirst();
  return (depth & ~kReadings) == kFlow ? flow : line;
}

Expr JsonSchemaRules::YamlNewLine(uint32_t level) { return pool_->Literal("\n" + std::string(size_t{level} * 2, ' ')); }

Expr JsonSchemaRules::YamlPlain() {
  if (yaml_plain_ == kEmpty) yaml_plain_ = YamlPlainStrings(pool_);
  return yaml_plain_;
}

// In flow style only between double quotes.
Expr JsonSchemaRules::YamlStringOf(SetId set, bool flow) {
  const Expr contents = cases_.StringOf(set);
  if (pool_->IsEmpty(contents)) return kEmpty;
  const auto quoted = [this](char quote, Expr e) {
    return pool_->Concat({pool_->Byte(static_cast<uint8_t>(quote)), e, pool_->Byte(static_cast<uint8_t>(quote))});
  };
  if (flow) return quoted('"', contents);
  const Expr plain = cases_.StringOf(set, StringStyle::kYamlPlain);
  const bool any = plain == cases_.StringsOf(StringStyle::kYamlPlain).Any();
  return pool_->Union({quoted('"', contents), quoted('\'', cases_.StringOf(set, StringStyle::kYamlSingle)),
                       any ? YamlPlain() : pool_->Intersect(YamlPlain(), plain)});
}

// Strings of several lines, indented to a level: block scalars, and plain and quoted ones whose lines are folded. Only
// where every text is in the set, the empty one apart: what is read is some text, whatever the line breaks make of it.
// Strings that are compared stand in one line.
Expr JsonSchemaRules::YamlLines(SetId set, uint32_t level) {
  JsonStrings& strings = cases_.strings();
  const Expr contents = cases_.StringOf(set);
  const bool any = contents == strings.Any();
  const bool all = any || contents == strings.Length(1, kUnbounded);
  if (!all || sets_.IsComparable(set) || level > options_.max_depth) return kEmpty;
  if (const auto known = yaml_lines_->find(level << 1 | any); known != yaml_lines_->end()) return known->second;
  const auto bytes = [this](const char* text) {
    ByteSet set;
    for (; *text; ++text) set.Add(static_cast<uint8_t>(*text));
    return pool_->Bytes(set);
  };
  const std::string indent(size_t{level} * 2, ' ');
  const Expr breaks = pool_->Concat(pool_->Repeat(pool_->Byte('\n'), 1, kUnbounded), pool_->Literal(indent));
  CodePointRanges raw = YamlRawCharacters();
  raw.insert(raw.begin(), {'\t', '\t'});
  const Expr character = pool_->Characters(raw);
  raw.erase(raw.begin());
  raw.front().first = 0x21;  // not a space, which would be indentation
  const Expr more = pool_->Concat(breaks, pool_->Repeat(character, 1, kUnbounded));
  std::vector<Expr> parts;
  parts.push_back(pool_->Concat({bytes("|>"), pool_->Optional(bytes("+-")), pool_->Literal("\n" + indent),
                                 pool_->Characters(raw), pool_->Star(character), pool_->Star(more)}));
  const auto quoted = [&](char quote, Expr text, Expr breaks_of_style) {
    const Expr lines = pool_->Repeat(pool_->Concat(breaks_of_style, text), 1, kUnbounded);
    const Expr mark = pool_->Byte(static_cast<uint8_t>(quote));
    parts.push_back(pool_->Concat({mark, text, lines, mark}));
  };
  quoted('\'', cases_.StringsOf(StringStyle::kYamlSingle).Any(), breaks);
  if (any)  // an escaped line break stands for nothing
    quoted('"', strings.Any(),
           pool_->Concat({pool_->Optional(pool_->Byte('\\')), breaks, pool_->Optional(pool_->Literal("\\ "))}));
  const Expr no_digit = pool_->Bytes(LineFirst() - ByteSet::Range('0', '9'));
  const Expr no_timestamp = pool_->Intersect(YamlPlain(), pool_->Concat(no_digit, pool_->AnyBytes()));
  parts.push_back(pool_->Concat(
      no_timestamp, pool_->Repeat(pool_->Concat(breaks, YamlPlainLines(pool_)), 1, kUnbounded)));
  return (*yaml_lines_)[level << 1 | any] = pool_->Union(std::move(parts));
}

// Whether the empty object or array is in a set.
bool JsonSchemaRules::YamlEmpty(SetId set, JsonType type) {
  const Cases cases = cases_.CasesOf(set, type);
  for (const Case& c : cases) {
    if (type == JsonType::kArray) {
      const ArrayState start = StartArray(ArrayPlanOf(c), kFlow);
      if (ArrayInhabited(start) && ArrayMayEnd(start)) return true;
    } else {
      const ObjectState start = StartObject(ObjectPlanOf(c), kFlow);
      if (ObjectInhabited(start) && ObjectMayEnd(start)) return true;
    }
  }
  return false;
}

// What may stand in one line, whatever its level.
Expr JsonSchemaRules::YamlScalars(SetId set, bool flow) {
  std::vector<Expr> parts;
  const uint8_t simple = cases_.SimpleOf(set);
  if (simple & kNullBit) parts.push_back(pool_->Literal("null"));
  if (simple & kFalseBit) parts.push_back(pool_->Literal("false"));
  if (simple & kTrueBit) parts.push_back(pool_->Literal("true"));
  Expr number = cases_.NumberOf(set);
  if (number == cases_.AnyNumber()) {
    if (yaml_number_ == kEmpty) yaml_number_ = YamlNumber(pool_);
    number = sets_.IsComparable(set) ? pool_->Intersect(YamlNumbers(pool_, number), yaml_number_) : yaml_number_;
  } else {
    number = YamlNumbers(pool_, number);
  }
  if (!pool_->IsEmpty(number)) parts.push_back(number);
  parts.push_back(YamlStringOf(set, flow));
  if (YamlEmpty(set, JsonType::kArray)) parts.push_back(pool_->Literal("[]"));
  if (YamlEmpty(set, JsonType::kObject)) parts.push_back(pool_->Literal("{}"));
  return pool_->Union(std::move(parts));
}

// Objects or arrays that are not empty, from their first member on, behind something.
void JsonSchemaRules::AddYamlCollections(Expr before, SetId set, JsonType type, uint32_t depth, std::vector<Expr>* parts) {
  const Cases cases = cases_.CasesOf(set, type);
  for (const Case& c : cases) {
    if (type == JsonType::kArray) {
      const ArrayState start = StartArray(ArrayPlanOf(c), depth);
      if (!ArrayInhabited(start)) continue;
      std::vector<Element> elements;
      if (!PreparedArray(start.plan).distinct) Elements(start, &elements);
      bool any = !elements.empty();
      const std::vector<uint32_t> plans = arrays_[start.plan].members;
      for (const uint32_t plan : plans) any = any || Inhabited(Prepared(plan).rest);
      if (any) parts->push_back(pool_->Concat(before, CallStart(start)));
    } else {
      const ObjectState start = StartObject(ObjectPlanOf(c), depth);
      std::vector<Member> members;
      if (ObjectInhabited(start)) Members(start, &members);
      if (!members.empty()) parts->push_back(pool_->Concat(before, CallObject(start)));
    }
  }
}

Expr JsonSchemaRules::YamlFlow(SetId set, uint32_t reading) {
  std::vector<Expr> parts{YamlScalars(set, true)};
  AddYamlCollections(pool_->Byte('['), set, JsonType::kArray, kFlow | reading, &parts);
  AddYamlCollections(pool_->Byte('{'), set, JsonType::kObject, kFlow | reading, &parts);
  return pool_->Union(std::move(parts));
}

// A value where it stands: at the top of the document, or behind the colon of a key or the dash of an element.
Expr JsonSchemaRules::YamlValue(SetId set, uint32_t placed) {
  const uint32_t reading = ReadingOf(placed);
  placed &= ~kReadings;
  if (placed == kFlow) return YamlFlow(set, reading);
  const uint32_t level = placed >> 2, place = placed & 3, inner = place == kTop ? level : level + 1;
  const Expr space = place == kTop ? kEpsilonExpr : pool_->Byte(' ');
  const Expr scalars = pool_->Union(YamlScalars(set, false), YamlLines(set, place == kTop ? 1 : inner));
  const bool deep = inner > options_.max_depth;
  std::vector<Expr> parts{pool_->Concat(space, scalars)};
  if (place == kTop)  // PyYAML ends a document that is a plain scalar so
    parts.push_back(pool_->Concat(scalars, pool_->Literal("\n...")));
  const auto add = [&](Expr before, JsonType type, uint32_t at) { AddYamlCollections(before, set, type, at | reading, &parts); };
  const auto flow = [&](char bracket, JsonType type) {
    add(pool_->Concat(space, pool_->Byte(static_cast<uint8_t>(bracket))), type, kFlow);
  };
  const bool under_key = place == kAfterKey;
  if (deep)
    flow('{', JsonType::kObject);
  else
    add(under_key ? YamlNewLine(inner) : space, JsonType::kObject, inner);
  const bool indented = !under_key || options_.sequences != YamlSequences::kFlush;
  const bool flush = under_key && options_.sequences != YamlSequences::kIndented;
  if (deep && !flush) flow('[', JsonType::kArray);
  if (!deep && indented) add(under_key ? YamlNewLine(inner) : space, JsonType::kArray, inner);
  if (flush) add(YamlNewLine(level), JsonType::kArray, level);
  return pool_->Union(std::move(parts));
}

// ---------------------------------------------------------------------------------------------- objects and arrays

void JsonSchemaRules::CheckYamlKey(std::string_view text, const JsonValue* at) const {
  std::string spelled;
  if (!cases_.strings().Spell(text, &spelled) || spelled.size() <= kMostKey) return;
  const std::string place = at ? " at \"" + documents_->Describe(*at) + "\"" : "";
  throw UnsupportedError("yaml_schema: the key \"" + std::string(text.substr(0, 20)) + "...\"" + place + " takes " +
                         std::to_string(spelled.size()) +
                         " characters: YAML reads keys of at most 1024 characters; use a shorter one");
}

Expr JsonSchemaRules::YamlKey(KeyId key, bool flow) {
  if (!flow)
    if (const auto known = key_texts_.find(key); known != key_texts_.end()) return known->second;
  const std::string& text = sets_.KeyText(key);
  const auto quoted = [this](const char* quote, Expr e) {
    return pool_->Concat({pool_->Literal(quote), e, pool_->Literal(quote)});
  };
  std::string spelled;
  cases_.strings().Spell(text, &spelled);
  // The escapes of a long key could make it too long.
  const bool is_long = text.size() > options_.max_key;
  const Expr twice = quoted("\"", is_long ? pool_->Literal(spelled) : cases_.strings().Literal(text));
  if (flow) return pool_->Concat(twice, pool_->Literal(": "));
  const Expr single = quoted("'", cases_.StringsOf(StringStyle::kYamlSingle).Literal(text));
  Expr plain = cases_.StringsOf(StringStyle::kYamlPlain).Literal(text);
  if (pool_->IsEmpty(pool_->Intersect(YamlPlain(), plain))) plain = kEmpty;
  return key_texts_[key] = pool_->Concat(pool_->Union({twice, single, plain}), pool_->Byte(':'));
}

Expr JsonSchemaRules::YamlOtherKeys(const OtherKeys& o, bool flow) {
  const auto quoted = [this](const char* quote, Expr e) {
    return pool_->Concat({pool_->Literal(quote), e, pool_->Literal(quote)});
  };
  if (flow) return pool_->Concat(quoted("\"", o.contents), pool_->Literal(": "));
  return pool_->Concat(pool_->Union({quoted("\"", o.contents), quoted("'", o.single), o.plain}), pool_->Byte(':'));
}

Expr JsonSchemaRules::YamlMember(const Member& m, uint32_t plan) {
  const ObjectPlan& p = objects_[plan];
  const bool flow = IsFlow(m.next.depth);
  const Expr key = m.named ? YamlKey(p.keys[m.index].key, flow) : YamlOtherKeys(p.others[m.index], flow);
  return pool_->Concat({key, CallValue(m.value, YamlPlaced(m.next.depth, kAfterKey)), CallObject(m.next)});
}

Expr JsonSchemaRules::YamlObject(const ObjectState& s) {
  if (Prepared(s.plan).array) return YamlDistinct(s);
  const bool flow = IsFlow(s.depth);
  const uint32_t reading = ReadingOf(s.depth), level = s.depth & ~kReadings;
  const bool unique = IsUnique() && Prepared(s.plan).open;
  std::vector<Member> members;
  uint32_t reader = 0;
  if (unique) {
    reader = ReaderOf(s);
    members = PreparedReader(reader).members;
  } else {
    Members(s, &members);
  }
  if (!s.first) {
    const Expr end = !ObjectMayEnd(s) ? kEmpty : flow ? pool_->Byte('}') : kEpsilonExpr;
    if (members.empty() && !MayBeOneMore(s)) return end;
    ObjectState next = s;
    next.first = 1;
    return pool_->Union(pool_->Concat(flow ? pool_->Literal(", ") : YamlNewLine(level), CallObject(next)), end);
  }
  const bool near = reading & kUnderKeys, one_by_one = !unique || (reading & kOverKeys);
  std::vector<Expr> parts;
  for (const Member& m : members)
    if (m.named || one_by_one) parts.push_back(YamlMember(m, s.plan));
  if (!one_by_one && PreparedReader(reader).others) {
    const FreshKey begin{reader, 0, 0, kKeyBegins, s.seen, 0, 0};
    parts.push_back(near ? KeysNear(begin, Side::kUnder) : s.first == 2 ? ForgetPath(begin) : FreshKeysOf(reader));
  }
  if (MayBeOneMore(s)) parts.push_back(OneMoreKey(s));
  return pool_->Union(std::move(parts));
}

// The rest of an array of distinct elements.
Expr JsonSchemaRules::YamlDistinct(const ObjectState& s) {
  const bool flow = IsFlow(s.depth);
  const Expr comma = s.first ? Expr{kEpsilonExpr} : flow ? pool_->Literal(", ") : YamlNewLine(s.depth & ~kReadings);
  const Expr end = s.first || !ObjectMayEnd(s) ? Expr{kEmpty} : flow ? pool_->Byte(']') : Expr{kEpsilonExpr};
  return pool_->Union(pool_->Concat({comma, flow ? kEpsilonExpr : pool_->Byte('-'), ValuesOfArray(s)}), end);
}

Expr JsonSchemaRules::YamlArray(const ArrayState& s) {
  const bool flow = IsFlow(s.depth);
  const uint32_t placed = YamlPlaced(s.depth, kAfterDash);
  PreparedArray(s.plan);
  const ArrayPlan& p = arrays_[s.plan];
  const Expr dash = flow ? kEpsilonExpr : pool_->Byte('-'), close = flow ? pool_->Byte(']') : kEpsilonExpr;
  const Expr comma = flow ? pool_->Literal(", ") : YamlNewLine(s.depth & ~kReadings);
  const Expr end = !s.first && ArrayMayEnd(s) ? close : kEmpty;
  if (s.index + 1 == p.values.size() && IsPlain(p, s)) {  // a counted loop
    const SetId value = p.values.back();
    if (s.high == 0 || !Inhabited(value)) return end;
    const Expr element = pool_->Concat(dash, CallValue(value, placed)), next = pool_->Concat(comma, element);
    if (!s.first) return pool_->Concat(pool_->Repeat(next, s.low, s.high), close);
    const uint32_t low = s.low ? s.low - 1 : 0, high = s.high == kUnbounded ? kUnbounded : s.high - 1;
    return pool_->Concat({element, pool_->Repeat(next, low, high), close});
  }
  std::vector<Element> elements;
  Elements(s, &elements);
  std::vector<Expr> parts;
  for (const Element& e : elements)
    parts.push_back(pool_->Concat({dash, CallValue(e.value, placed), CallArray(e.next)}));
  return pool_->Union(pool_->Concat(s.first ? kEpsilonExpr : comma, pool_->Union(std::move(parts))), end);
}

}  // namespace tokamata
