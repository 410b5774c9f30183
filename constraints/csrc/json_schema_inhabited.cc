// Whether a set of JSON values is inhabited: a least fixed point over schemas that refer to one another.
#include <algorithm>
#include <utility>

#include "automata/csrc/time_limit.h"
#include "constraints/csrc/json_schema_rules.h"

namespace tokamata {

namespace {

constexpr uint32_t kOfSet = 7, kOfState = 6;

}  // namespace

// Asks a question that may be met again while it is open. `final`: whether the answer holds whatever is still open.
template <class F>
bool JsonSchemaRules::Answer(uint64_t question, bool* final, F answer) {
  const uint32_t position = static_cast<uint32_t>(asking_.size());
  const size_t asked = asked_for_now_.size();
  asking_.push_back(question);
  const uint32_t outer_lowest = std::exchange(lowest_, kNoQuestion);
  const bool outer_assumed = std::exchange(assumed_, false);
  bool yes = false;
  const auto settle = [&](bool no) {
    for (; asked_for_now_.size() > asked; asked_for_now_.pop_back()) {
      const uint64_t inner = asked_for_now_.back();
      no_for_now_->erase(inner);
      if (no && (inner & 7) == kOfSet) inhabited_[inner] = Known::kNo;
      if (no && (inner & 7) == kOfState) state_inhabited_[static_cast<ListId>(inner >> 3)] = Known::kNo;
    }
  };
  try {
    yes = answer();
    TimeLimit::Spend(static_cast<int64_t>(asked_for_now_.size() - asked) / 8);
  } catch (...) {
    settle(false);
    asking_.pop_back();
    lowest_ = outer_lowest;
    assumed_ = outer_assumed;
    throw;
  }
  asking_.pop_back();
  if (lowest_ >= position) lowest_ = kNoQuestion;  // the circle ends here
  *final = !assumed_ && (yes || lowest_ == kNoQuestion);
  if (yes || lowest_ == kNoQuestion) {
    settle(!yes);
  } else {  // what rests on this one rests on what it rests on
    for (size_t i = asked; i < asked_for_now_.size(); ++i) {
      uint32_t& rests_on = (*no_for_now_)[asked_for_now_[i]];
      rests_on = std::min(rests_on, lowest_);
    }
    if (!assumed_) {
      no_for_now_->emplace(question, lowest_);
      asked_for_now_.push_back(question);
    }
  }
  lowest_ = std::min(lowest_, outer_lowest);
  assumed_ = assumed_ || outer_assumed;
  return yes;
}

// A question that is met again while it is open counts as "no" there: a value that needs itself is none. "No" answers
// that rest on an open question are kept until one around them is answered with "yes", and for good where the outermost
// of the circle is answered with "no".
bool JsonSchemaRules::IsNoForNow(uint64_t question) {
  uint32_t rests_on = kNoQuestion;
  if (const auto known = no_for_now_->find(question); known != no_for_now_->end())
    rests_on = known->second;
  else if (const auto open = std::find(asking_.begin(), asking_.end(), question); open != asking_.end())
    rests_on = static_cast<uint32_t>(open - asking_.begin());
  lowest_ = std::min(lowest_, rests_on);
  return rests_on != kNoQuestion;
}

bool JsonSchemaRules::Inhabited(SetId set) {
  if (set == kNoValue) return false;
  if (set == kAnyValue) return true;
  const uint64_t key = uint64_t{set} << 3 | kOfSet;
  if (const Known* const known = inhabited_.Find(key)) return *known == Known::kYes;
  if (IsNoForNow(key)) return false;
  if (asking_.size() - ahead_ >= options_.max_nesting)
    throw LimitError("json_schema: the limit nesting=" + std::to_string(options_.max_nesting) +
                     " was reached at " + cases_.Describe(sets_.Parts(set)[0].use) +
                     ": required members inside required members");
  bool final = false;
  const bool yes = Answer(key, &final, [&] {
    for (JsonType type : {JsonType::kSimple, JsonType::kString, JsonType::kNumber, JsonType::kArray, JsonType::kObject})
      if (Inhabited(set, type)) return true;
    return false;
  });
  if (final) inhabited_[key] = yes ? Known::kYes : Known::kNo;
  return yes;
}

// Whether the answer is known whatever is still open.
bool JsonSchemaRules::IsKnown(SetId set, Known answer) const {
  if (set == kNoValue || set == kAnyValue) return answer == (set == kNoValue ? Known::kNo : Known::kYes);
  const Known* const known = inhabited_.Find(uint64_t{set} << 3 | kOfSet);
  return known && *known == answer;
}

// The same for a state of an array: its elements may be arrays that lead to it again.
bool JsonSchemaRules::AnswerOfState(ListId state, const std::function<bool()>& answer) {
  const uint64_t key = uint64_t{state} << 3 | kOfState;
  if (const auto known = state_inhabited_.find(state); known != state_inhabited_.end()) return known->second == Known::kYes;
  if (IsNoForNow(key)) return false;
  ++ahead_;
  bool final = false, yes = false;
  try {
    yes = Answer(key, &final, answer);
  } catch (...) {
    --ahead_;
    throw;
  }
  --ahead_;
  if (final) state_inhabited_[state] = yes ? Known::kYes : Known::kNo;
  return yes;
}

bool JsonSchemaRules::Inhabited(SetId set, JsonType type) {
  if (type != JsonType::kArray && type != JsonType::kObject)
    return Placed([&] { return PlaceOf(set); }, [&] {
      if (type == JsonType::kSimple) return cases_.SimpleOf(set) != 0;
      if (type == JsonType::kNumber) return !pool_->IsEmpty(cases_.NumberOf(set));
      return ListedTexts(set).Size() > 0 || cases_.HasString(set);
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
  lowest_ = kNoQuestion;
  assumed_ = false;
  const bool yes = Inhabited(set, type) || lowest_ != kNoQuestion;
  lowest_ = outer_lowest;
  assumed_ = outer_assumed;
  return yes;
}

}  // namespace tokamata
