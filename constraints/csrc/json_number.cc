#include "constraints/csrc/json_number.h"

namespace tokamata {

Expr JsonNumbers::Grammar() {
  if (grammar_ != kEmpty) return grammar_;
  const Expr digit = pool_.Bytes(ByteSet::Range('0', '9')), some = pool_.Repeat(digit, 1, kUnbounded);
  ByteSet sign = ByteSet::Of('+'), e = ByteSet::Of('e');
  sign.Add('-');
  e.Add('E');
  const Expr whole = pool_.Union(pool_.Byte('0'), pool_.Concat(pool_.Bytes(ByteSet::Range('1', '9')), pool_.Star(digit)));
  const Expr fraction = pool_.Optional(pool_.Concat(pool_.Byte('.'), some));
  const Expr exponent = pool_.Optional(pool_.Concat({pool_.Bytes(e), pool_.Optional(pool_.Bytes(sign)), some}));
  return grammar_ = pool_.Concat({pool_.Optional(pool_.Byte('-')), whole, fraction, exponent});
}

}  // namespace tokamata
