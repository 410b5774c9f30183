// Answers on standard output, for each line [pattern, texts, whole, flags] of standard input: which texts the pattern matches,
// whole or somewhere, or what is wrong with it. Somewhere is told by what may come before, as V8 alone also looks in
// the middle of a character beyond U+FFFF (/\B/u.test("b😀0")).
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [pattern, texts, whole, flags] = JSON.parse(line);
  let answer;
  try {
    new RegExp(pattern, flags);
    const made = new RegExp((whole ? '^(?:' : '^[^]*?(?:') + pattern + (whole ? ')$' : ')'), flags);
    answer = texts.map((text) => made.test(text));
  } catch (error) {
    answer = String(error.message);
  }
  console.log(JSON.stringify(answer));
});
