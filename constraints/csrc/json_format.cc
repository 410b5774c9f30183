#include "constraints/csrc/json_format.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "automata/csrc/once.h"
#include "constraints/csrc/json_time.h"
#include "constraints/csrc/regex.h"

namespace tokamata {
namespace {

using Text = std::string;

// ---------------------------------------------------------------------------------------------- dates and times

// RFC 3339, appendix A; its weeks stand alone and no unit but the outer ones may be left out.
Text Duration() {
  const Text time = "T(?:\\d+H(?:\\d+M(?:\\d+S)?)?|\\d+M(?:\\d+S)?|\\d+S)";
  const Text date = "(?:\\d+D|\\d+M(?:\\d+D)?|\\d+Y(?:\\d+M(?:\\d+D)?)?)";
  return "P(?:" + date + "(?:" + time + ")?|" + time + "|\\d+W)";
}

// ---------------------------------------------------------------------------------------------- addresses

const char kOctet[] = "(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)";

// RFC 2673, section 3.2.
Text Ipv4() { return Text("(?:") + kOctet + "\\.){3}" + kOctet; }

// RFC 4291, section 2.2, as the grammar of RFC 3986 writes it.
Text Ipv6() {
  const Text group = "[0-9A-Fa-f]{1,4}", colon = "(?:" + group + ":)";
  const Text last = "(?:" + group + ":" + group + "|" + Ipv4() + ")";
  const auto up_to = [&](int n) { return "(?:" + colon + "{0," + std::to_string(n) + "}" + group + ")?::"; };
  Text out = "(?:" + colon + "{6}" + last + "|::" + colon + "{5}" + last;
  out += "|(?:" + group + ")?::" + colon + "{4}" + last;
  for (int n = 1; n <= 3; ++n) {
    const Text left = n == 3 ? colon : colon + "{" + std::to_string(4 - n) + "}";
    out += "|" + up_to(n) + left + last;
  }
  return out + "|" + up_to(4) + last + "|" + up_to(5) + group + "|" + up_to(6) + ")";
}

// RFC 1123, section 2.1: letters, digits and inner hyphens, 63 a label.
Text HostName() {
  const Text label = "[A-Za-z0-9](?:[A-Za-z0-9\\-]{0,61}[A-Za-z0-9])?";
  return label + "(?:\\." + label + ")*";
}

// Labels of letters, marks and digits with the separators of RFC 3490, section 3.1.
Text IdnHostName() {
  const Text letters = "A-Za-z0-9\\p{Ll}\\p{Lo}\\p{Lm}\\p{Nd}", marks = "\\p{Mn}\\p{Mc}";
  const Text more = "\\u00b7\\u05f3\\u05f4\\u06fd\\u06fe\\u0f0b\\u3007\\u30fb", keraia = "\\u0375";
  const Text letter = "[" + letters + more + keraia + "]", end = "[" + letters + marks + more + "]";
  const Text inner = "[\\-" + letters + marks + more + keraia + "\\u200c\\u200d]";
  const Text label = letter + "(?:" + inner + "{0,61}" + end + ")?";
  return label + "(?:[.\\u3002\\uff0e\\uff61]" + label + ")*";
}

// RFC 5321, section 4.1.2, Mailbox; `more` are the characters that RFC 6531 adds.
Text Email(const Text& more) {
  const Text atom = "[A-Za-z0-9!#$%&'*+\\-\\/=?^_`{|}~" + more + "]+", letter = "[A-Za-z0-9" + more + "]";
  const Text quoted = "\"(?:[ !#-\\[\\]-~" + more + "]|\\\\[ -~])*\"";
  const Text label = letter + "+(?:-+" + letter + "+)*";
  return "(?:" + atom + "(?:\\." + atom + ")*|" + quoted + ")@(?:" + label + "(?:\\." + label + ")*|\\[(?:" + Ipv4() +
         "|[Ii][Pp][Vv]6:" + Ipv6() + ")\\])";
}

// ---------------------------------------------------------------------------------------------- identifiers

const char kUcs[] =
    "\\u00a0-\\ud7ff\\uf900-\\ufdcf\\ufdf0-\\uffef\\u{10000}-\\u{1fffd}\\u{20000}-\\u{2fffd}\\u{30000}-\\u{3fffd}"
    "\\u{40000}-\\u{4fffd}\\u{50000}-\\u{5fffd}\\u{60000}-\\u{6fffd}\\u{70000}-\\u{7fffd}\\u{80000}-\\u{8fffd}"
    "\\u{90000}-\\u{9fffd}\\u{a0000}-\\u{afffd}\\u{b0000}-\\u{bfffd}\\u{c0000}-\\u{cfffd}\\u{d0000}-\\u{dfffd}"
    "\\u{e1000}-\\u{efffd}";
const char kPrivate[] = "\\ue000-\\uf8ff\\u{f0000}-\\u{ffffd}\\u{100000}-\\u{10fffd}";
const char kEncoded[] = "%[0-9A-Fa-f]{2}";

// RFC 3986, appendix A, and RFC 3987, section 2.2.
Text Uri(bool international, bool reference) {
  const Text ucs = international ? kUcs : "", unreserved = "A-Za-z0-9\\-._~" + ucs, delimiters = "!$&'()*+,;=";
  const auto one = [](const Text& set) { return "(?:[" + set + "]|" + kEncoded + ")"; };
  const Text character = one(unreserved + delimiters + ":@"), segments = "(?:\\/" + character + "*)*";
  const Text named = one(unreserved + delimiters) + "*", port = "(?::\\d*)?";
  const Text literal = "\\[(?:" + Ipv6() + "|[Vv][0-9A-Fa-f]+\\.[A-Za-z0-9\\-._~!$&'()*+,;=:]+)\\]";
  const Text host = "(?:" + literal + "|" + named + ")";
  // User information before a host, and a name, begin alike: what tells them apart comes after.
  const Text user = "(?::" + one(unreserved + delimiters + ":") + "*)?@" + host;
  const Text authority = "\\/\\/(?:" + literal + "|" + named + "(?:" + user + ")?)" + port + segments;
  const Text absolute = "\\/(?:" + character + "+" + segments + ")?";
  const Text query = "(?:\\?" + one(unreserved + delimiters + ":@\\/?" + (international ? kPrivate : "")) + "*)?";
  const Text tail = query + "(?:#" + one(unreserved + delimiters + ":@\\/?") + "*)?";
  const Text rooted = "|" + authority + "|" + absolute + "|";
  const Text with_scheme = "[A-Za-z][A-Za-z0-9+\\-.]*:(?:" + rooted + character + "+" + segments + ")";
  if (!reference) return with_scheme + tail;
  return "(?:" + with_scheme + "|" + rooted + one(unreserved + delimiters + "@") + "+" + segments + ")" + tail;
}

// RFC 6570, section 2, with its erratum 6937 (the apostrophe).
Text UriTemplate() {
  const Text variable = Text("(?:[A-Za-z0-9_]|") + kEncoded + ")";
  const Text name = variable + "(?:\\.?" + variable + ")*(?::[1-9]\\d{0,3}|\\*)?";
  const Text literal = Text("[!#$&'()*+,\\-.\\/0-9:;=?@A-Z\\[\\]_a-z~") + kUcs + kPrivate + "]|" + kEncoded;
  return "(?:" + literal + "|\\{[+#.\\/;?&=,!@|]?" + name + "(?:," + name + ")*\\})*";
}

// RFC 6901, section 3.
const char kPointer[] = "(?:\\/(?:[^\\/~]|~[01])*)*";

// What ECMA-262 (section 22.2.1, with Annex B.1.2) and Python's re have in common: classes and groups end, `*`, `+` and
// `?` repeat something, nothing ends with a backslash. Groups are told apart within groups down to some level, below
// which parentheses are any; braces are any everywhere.
Text RegexText() {
  constexpr int kLevels = 2;
  const Text start = "A-Za-z_$\\u0080-\\u{10ffff}", name = "<[" + start + "][0-9" + start + "]*>";
  const Text flags = "[A-Za-z]+(?:-[a-z]+)?:?|-[a-z]+:";
  const Text open = "\\((?:\\?(?:[:=!>]|<[=!]|P=|P?" + name + "|" + flags + "))?";
  const Text one = "[^\\\\^$*+?()\\[|]|\\\\[^bB]|\\[\\^?\\]?(?:[^\\]\\\\]|\\\\[\\s\\S])*\\]|\\(\\?#[^)]*\\)";
  const auto level = [&](const Text& atom) {
    return "(?:[|^$]|\\\\[bB]|(?:" + one + "|" + atom + ")(?:[*+?][?+]?)?)*";
  };
  Text all = "(?:" + open + "|" + level("\\)") + ")*";
  for (int i = 0; i < kLevels; ++i) all = level(open + all + "\\)");
  return all;
}

struct Entry {
  const char* name;
  JsonStrings::Lengths lengths;
  bool exact;
  const char* note;
};
constexpr Entry kFormats[] = {
    {"date", {10, 10}, true, ""},
    {"date-time", {20, kUnbounded}, true, ""},
    {"duration", {3, kUnbounded}, true, ""},
    {"email", {3, kUnbounded}, true, ""},
    {"hostname", {1, 253}, false, "labels that begin with xn-- are not decoded, so their Punycode is not checked"},
    {"idn-email", {3, kUnbounded}, false, "internationalized domain labels are any letters; IDNA2008 is not checked"},
    {"idn-hostname", {1, 253}, false,
     "the contextual and bidirectional rules of IDNA2008 and the lengths of labels in Punycode are not checked"},
    {"ipv4", {7, 15}, true, ""},
    {"ipv6", {2, 45}, true, ""},
    {"iri", {2, kUnbounded}, true, ""},
    {"iri-reference", {0, kUnbounded}, true, ""},
    {"json-pointer", {0, kUnbounded}, true, ""},
    {"regex", {0, kUnbounded}, false,
     "ranges, references, escapes and braces are not checked, nor whether parentheses match within two others"},
    {"relative-json-pointer", {1, kUnbounded}, true, ""},
    {"time", {9, kUnbounded}, true, ""},
    {"uri", {2, kUnbounded}, true, ""},
    {"uri-reference", {0, kUnbounded}, true, ""},
    {"uri-template", {0, kUnbounded}, true, ""},
    {"uuid", {36, 36}, true, ""},
};

const Entry* Find(std::string_view name) {
  const auto it = std::lower_bound(std::begin(kFormats), std::end(kFormats), name,
                                   [](const Entry& e, std::string_view n) { return e.name < n; });
  return it != std::end(kFormats) && it->name == name ? it : nullptr;
}

}  // namespace

bool JsonFormats::Known(std::string_view name) { return Find(name) != nullptr; }

Expr JsonFormats::Build(std::string_view name) {
  if (name == "date") return times_.Date();
  if (name == "time") return times_.Time();
  if (name == "date-time") return times_.DateTime();
  Text pattern;
  if (name == "duration") pattern = Duration();
  if (name == "email") pattern = Email("");
  if (name == "hostname") pattern = HostName();
  if (name == "idn-email") pattern = Email("\\u0080-\\u{10ffff}");
  if (name == "idn-hostname") pattern = IdnHostName();
  if (name == "ipv4") pattern = Ipv4();
  if (name == "ipv6") pattern = Ipv6();
  if (name == "iri") pattern = Uri(true, false);
  if (name == "iri-reference") pattern = Uri(true, true);
  if (name == "json-pointer") pattern = kPointer;
  if (name == "relative-json-pointer") pattern = Text("(?:0|[1-9]\\d*)(?:#|") + kPointer + ")";
  if (name == "regex") pattern = RegexText();
  if (name == "uri") pattern = Uri(false, false);
  if (name == "uri-reference") pattern = Uri(false, true);
  if (name == "uri-template") pattern = UriTemplate();
  if (name == "uuid") pattern = "[0-9A-Fa-f]{8}-(?:[0-9A-Fa-f]{4}-){3}[0-9A-Fa-f]{12}";
  RegexOptions options;
  options.syntax = RegexSyntax::kEcma;
  const Expr e = CompileRegex(&strings_.pool(), pattern, options, &strings_);
  return name == "hostname" || name == "idn-hostname" ? strings_.pool().Intersect(e, strings_.Length(1, 253)) : e;
}

// Formats in pools of their own, which never change: to copy one takes less than to read and lower its pattern.
struct JsonFormats::Made {
  std::unique_ptr<const Expressions> pool;
  Expr language = kEmpty;
  Once once;

  static const Made& Of(const Entry& entry, StringStyle style) {
    static Made all[kStringStyles][std::size(kFormats)];
    Made& made = all[static_cast<size_t>(style)][&entry - kFormats];
    made.once.Do([&] {
      Expressions scratch;
      JsonStrings strings(&scratch, style);
      auto pool = std::make_unique<Expressions>();
      made.language = pool->Import(scratch, JsonFormats(&strings).Build(entry.name));
      made.pool = std::move(pool);
    });
    return made;
  }
};

std::optional<JsonFormat> JsonFormats::Format(std::string_view name) {
  const auto known = formats_.find(name);
  if (known != formats_.end()) return known->second;
  const Entry* entry = Find(name);
  if (!entry) return std::nullopt;
  JsonFormat format{kEmpty, entry->exact, entry->note};
  if (name == "time") {  // made of what pools have
    format.language = Build(name);
  } else {
    const Made& made = Made::Of(*entry, strings_.style());
    format.language = strings_.pool().Import(*made.pool, made.language);
  }
  strings_.SetLengths(format.language, entry->lengths);
  return formats_.emplace(name, format).first->second;
}

}  // namespace tokamata
