// Answers on standard output, for each line [pattern, texts] of standard input: which texts the whole pattern matches,
// or what is wrong with it.
require('readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const [pattern, texts] = JSON.parse(line);
  let answer;
  try {
    new RegExp(pattern, 'u');
    const whole = new RegExp('^(?:' + pattern + ')$', 'u');
    answer = texts.map((text) => whole.test(text));
  } catch (error) {
    answer = String(error.message);
  }
  console.log(JSON.stringify(answer));
});
