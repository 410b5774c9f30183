// Whether a set of JSON values is inhabited: a least fixed point over schemas that refer to one another.
#include <algorithm>

#include "constraints/csrc/json_schema_rules.h"

namespace tokamata {

// A question that is met again while it is open counts as "no" there: a value that needs itself is none. "No" answers
// that rest on an open question are not kept; the outermost question of the circle is.
bool JsonSchemaRules::Inhabited(SetId set) {
  if (set == kNoValue) return false;
  if (set == kAnyValue) return true;
  const uint64_t key = uint64_t{set} << 3 | 7;
  if (const Known* const known = inhabited_.Find(key)) return *known == Known::kYes;
  if (const auto open = std::find(asking_.begin(), asking_.end(), key); open != asking_.end()) {
    lowest_ = std::min(lowest_, static_cast<uint32_t>(open - asking_.begin()));
    return false;
  }
  if (asking_.size() >= options_.max_nesting)
    throw LimitError("json_schema: the limit nesting=" + std::to_string(options_.max_nesting) +
                     " was reached at " + cases_.Describe(sets_.Parts(set)[0].use) +
                     ": required members inside required members");
  const uint32_t position = static_cast<uint32_t>(asking_.size());
  asking_.push_back(key);
  const uint32_t outer_lowest = lowest_;
  const bool outer_assumed = assumed_;
  lowest_ = 0xffffffff;
  assumed_ = false;
  bool yes = false;
  try {
    for (JsonType type : {JsonType::kSimple, JsonType::kString, JsonType::kNumber, JsonType::kArray, JsonType::kObject})
      if ((yes = Inhabited(set, type))) break;
  } catch (...) {
    asking_.pop_back();
    lowest_ = outer_lowest;
    assumed_ = outer_assumed;
    throw;
  }
  asking_.pop_back();
  if (lowest_ >= position) lowest_ = 0xffffffff;  // the circle ends here
  if (!assumed_ && (yes || lowest_ == 0xffffffff)) inhabited_[key] = yes ? Known::kYes : Known::kNo;
  lowest_ = std::min(lowest_, outer_lowest);
  assumed_ = assumed_ || outer_assumed;
  return yes;
}

bool JsonSchemaRules::Inhabited(SetId set, JsonType type) {
  if (type != JsonType::kArray && type != JsonType::kObject)
    return Placed([&] { return PlaceOf(set); }, [&] {
      if (type == JsonType::kSimple) return cases_.SimpleOf(set) != 0;
      if (type == JsonType::kNumber) return !pool_->IsEmpty(cases_.NumberOf(set));
      return !ListedTexts(set).empty() || cases_.HasString(set);
    });
  if (cases_.Active(set, type)) {  // asked by the question whether branches are disjoint: they may not be
    assumed_ = true;
    return true;
  }
  const Cases& all = cases_.CasesOf(set, type);
  for (const Case& c : all)
    if (type == JsonType::kArray ? ArrayInhabited(StartArray(ArrayPlanOf(c), 0)) : ObjectInhabited(StartObject(ObjectPlanOf(c), 0)))
      return true;
  return false;
}

// For the question whether two branches are disjoint: "no" only where that is certain whatever is still open.
bool JsonSchemaRules::Ask(SetId set, JsonType type) {
  const uint32_t outer_lowest = lowest_;
  const bool outer_assumed = assumed_;
  lowest_ = 0xffffffff;
  assumed_ = false;
  const bool yes = Inhabited(set, type) || lowest_ != 0xffffffff;
  lowest_ = outer_lowest;
  assumed_ = outer_assumed;
  return yes;
}

}  // namespace tokamata
