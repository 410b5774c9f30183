#include "constraints/csrc/uri.h"

#include <cctype>

namespace tokamata {
namespace {

struct UriParts {
  bool has_scheme = false, has_authority = false, has_query = false;
  std::string_view scheme, authority, path, query;
};

UriParts Split(std::string_view text) {
  UriParts parts;
  const size_t colon = text.find_first_of(":/?#");
  if (colon != text.npos && colon > 0 && text[colon] == ':' && std::isalpha(static_cast<unsigned char>(text[0]))) {
    parts.has_scheme = true;
    parts.scheme = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  const size_t question = text.find('?');
  if (question != text.npos) {
    parts.has_query = true;
    parts.query = text.substr(question + 1);
    text = text.substr(0, question);
  }
  if (text.substr(0, 2) == "//") {
    text.remove_prefix(2);
    parts.has_authority = true;
    parts.authority = text.substr(0, text.find('/'));
    text.remove_prefix(parts.authority.size());
  }
  parts.path = text;
  return parts;
}

std::string RemoveDotSegments(std::string_view path) {
  std::string out;
  const auto drop_last = [&] { out.resize(out.rfind('/') == out.npos ? 0 : out.rfind('/')); };
  while (!path.empty()) {
    if (path.substr(0, 3) == "../") {
      path.remove_prefix(3);
    } else if (path.substr(0, 2) == "./" || path.substr(0, 3) == "/./") {
      path.remove_prefix(2);
    } else if (path == "/.") {
      path = "/";
    } else if (path.substr(0, 4) == "/../") {
      path.remove_prefix(3);
      drop_last();
    } else if (path == "/..") {
      path = "/";
      drop_last();
    } else if (path == "." || path == "..") {
      path = {};
    } else {
      const size_t next = path.find('/', 1);
      const std::string_view segment = path.substr(0, next);
      out += segment;
      path.remove_prefix(segment.size());
    }
  }
  return out;
}

}  // namespace

std::pair<std::string_view, std::string_view> SplitFragment(std::string_view reference) {
  const size_t hash = reference.find('#');
  if (hash == reference.npos) return {reference, {}};
  return {reference.substr(0, hash), reference.substr(hash + 1)};
}

std::string ResolveUri(std::string_view base, std::string_view reference) {
  const auto [address, fragment] = SplitFragment(reference);
  const bool has_fragment = address.size() != reference.size();
  base = SplitFragment(base).first;
  const UriParts from = Split(base), to = Split(address);
  UriParts made = to;
  std::string path;
  if (to.has_scheme || to.has_authority) {
    path = RemoveDotSegments(to.path);
    if (!to.has_scheme) {
      made.has_scheme = from.has_scheme;
      made.scheme = from.scheme;
    }
  } else {
    made.has_scheme = from.has_scheme;
    made.scheme = from.scheme;
    made.has_authority = from.has_authority;
    made.authority = from.authority;
    if (to.path.empty()) {
      path = from.path;
      if (!to.has_query) {
        made.has_query = from.has_query;
        made.query = from.query;
      }
    } else if (to.path[0] == '/') {
      path = RemoveDotSegments(to.path);
    } else if (from.has_authority && from.path.empty()) {
      path = RemoveDotSegments("/" + std::string(to.path));
    } else {
      const size_t slash = from.path.rfind('/');
      path = RemoveDotSegments(std::string(from.path.substr(0, slash == from.path.npos ? 0 : slash + 1)) +
                               std::string(to.path));
    }
  }
  std::string out;
  if (made.has_scheme) out += std::string(made.scheme) + ":";
  if (made.has_authority) out += "//" + std::string(made.authority);
  out += path;
  if (made.has_query) out += "?" + std::string(made.query);
  if (has_fragment) out += "#" + std::string(fragment);
  return out;
}

std::string PercentDecode(std::string_view text) {
  const auto hex = [](char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
  };
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0) {
      out.push_back(static_cast<char>(hex(text[i + 1]) << 4 | hex(text[i + 2])));
      i += 2;
    } else {
      out.push_back(text[i]);
    }
  }
  return out;
}

}  // namespace tokamata
