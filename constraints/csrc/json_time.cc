#include "constraints/csrc/json_time.h"

#include <string>
#include <vector>

#include "constraints/csrc/regex.h"

namespace tokamata {
namespace {

Expr Compile(JsonStrings* strings, const std::string& pattern) {
  RegexOptions options;
  options.syntax = RegexSyntax::kEcma;
  return CompileRegex(&strings->pool(), pattern, options, strings);
}

std::string TwoDigits(uint32_t n) { return {static_cast<char>('0' + n / 10), static_cast<char>('0' + n % 10)}; }

// Rule 6 * hour + tens: what follows the tens of the minutes after that hour.
class MinuteRules final : public RuleSource {
 public:
  MinuteRules(Expressions* pool, StringStyle style) : strings_(pool, style) {}

  Expr Expand(uint32_t rule) override {
    Expressions& pool = strings_.pool();
    if (seconds_ == kEmpty) {
      fraction_ = Compile(&strings_, "(?:\\.\\d+)?");
      seconds_ = pool.Concat(Compile(&strings_, ":[0-5]\\d"),
                             pool.Concat(fraction_, Compile(&strings_, "[Zz]|[+\\-](?:[01]\\d|2[0-3]):[0-5]\\d")));
    }
    const uint32_t hour = rule / 6;
    std::vector<Expr> parts;
    for (uint32_t unit = 0; unit < 10; ++unit) {
      const uint32_t minute = rule % 6 * 10 + unit;
      // The offset by which this is 23:59 in UTC, to the east (written +) and to the west.
      const uint32_t east = (hour * 60 + minute + 1) % 1440, west = 1439 - (hour * 60 + minute);
      std::vector<Expr> offsets{strings_.Literal("+" + TwoDigits(east / 60) + ":" + TwoDigits(east % 60)),
                                strings_.Literal("-" + TwoDigits(west / 60) + ":" + TwoDigits(west % 60))};
      if (west == 0) offsets.push_back(Compile(&strings_, "[Zz]"));
      const Expr leap = pool.Concat({strings_.Literal(":60"), fraction_, pool.Union(std::move(offsets))});
      parts.push_back(pool.Concat(strings_.Character('0' + unit), pool.Union(seconds_, leap)));
    }
    return pool.Union(std::move(parts));
  }

  // Times of any offset; one that ties it to the time may take 6 characters where these end with a Z.
  Expr Outline(uint32_t /*rule*/, uint32_t* slack) override {
    if (outline_ == kEmpty)
      outline_ = Compile(&strings_, "\\d:(?:[0-5]\\d|60)(?:\\.\\d+)?(?:[Zz]|[+\\-](?:[01]\\d|2[0-3]):[0-5]\\d)");
    *slack = 5;
    return outline_;
  }

  uint32_t LeastLength(uint32_t /*rule*/) override { return 5; }  // 0:00Z

  bool IsRegular() const override { return true; }

  std::shared_ptr<RuleSource> Clone(Expressions* pool) const override {
    return std::make_shared<MinuteRules>(pool, strings_.style());
  }

 private:
  JsonStrings strings_;
  Expr fraction_ = kEmpty, seconds_ = kEmpty, outline_ = kEmpty;
};

}  // namespace

Expr JsonTimes::Date() {
  if (date_ == kEmpty)
    date_ = Compile(&strings_,
                    "\\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\\d|30)|"
                    "02-(?:0[1-9]|1\\d|2[0-8]))|"
                    "(?:\\d\\d(?:0[48]|[2468][048]|[13579][26])|(?:[02468][048]|[13579][26])00)-02-29");
  return date_;
}

Expr JsonTimes::Time() {
  if (time_ != kEmpty) return time_;
  if (strings_.style() == StringStyle::kYamlPlain)  // leap seconds are never plain: see YamlPlainStrings
    return time_ = Compile(&strings_, "(?:[01]\\d|2[0-3]):[0-5]\\d:[0-5]\\d(?:\\.\\d+)?"
                                      "(?:[Zz]|[+\\-](?:[01]\\d|2[0-3]):[0-5]\\d)");
  Expressions& pool = strings_.pool();
  const uint32_t rules = pool.AddRules(std::make_shared<MinuteRules>(&pool, strings_.style()));
  const Expr colon = strings_.Character(':');
  const ByteSet first = pool.First(strings_.Characters({{'0', '9'}}));
  std::vector<Expr> parts;
  for (uint32_t ten = 0; ten < 3; ++ten) {
    std::vector<Expr> units;
    for (uint32_t hour = ten * 10; hour < ten * 10 + 10 && hour < 24; ++hour) {
      std::vector<Expr> minutes;
      for (uint32_t i = 0; i < 6; ++i)
        minutes.push_back(pool.Concat(strings_.Character('0' + i), pool.Call(rules, 6 * hour + i, false, first)));
      units.push_back(pool.Concat({strings_.Character('0' + hour % 10), colon, pool.Union(std::move(minutes))}));
    }
    parts.push_back(pool.Concat(strings_.Character('0' + ten), pool.Union(std::move(units))));
  }
  return time_ = pool.Union(std::move(parts));
}

Expr JsonTimes::DateTime() {
  return strings_.pool().Concat({Date(), strings_.Characters({{'T', 'T'}, {'t', 't'}}), Time()});
}

}  // namespace tokamata
