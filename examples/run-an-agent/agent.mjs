/*
 * A small agent: reads what it is asked, says what it does, asks nothing, and answers. The first answer is wrong; shown
 * what was wrong, it answers again.
 */
let asked = '';
for await (const chunk of process.stdin) asked += chunk;

console.log('Counting the words of the question.');
const question = asked.split('\n').at(-1) ?? '';
const words = question.split(' ').length;
const isSecondTime = asked.startsWith('Your previous output');
console.log(`<json>{ "words": ${isSecondTime ? words : `"about ${words}"`}, }</json>`);
