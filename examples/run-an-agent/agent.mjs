/*
 * A small agent: reads its prompt, reports what it does, and answers. The first answer is wrong; when the prompt contains
 * the error, the second one is right.
 */
let prompt = '';
for await (const chunk of process.stdin) prompt += chunk;

console.log('Counting the words of the question.');
const question = prompt.split('\n').at(-1) ?? '';
const words = question.split(' ').length;
const isRetry = prompt.startsWith('Your previous output');
console.log(`<json>{ "words": ${isRetry ? words : `"about ${words}"`}, }</json>`);
