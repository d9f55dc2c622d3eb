import { errorMessageOf } from '../../../src/base/index.js';
import { createTextReader } from './text-reader.js';
import type { Numbered, WorkerAnswer, WorkerQuestion } from './text-reader.js';

const reader = createTextReader(() => performance.now());

// A worker has nobody but the page that started it to hear from, and texts are long: they are read here, not there.
addEventListener('message', ({ data: { number, message } }: MessageEvent<Numbered<WorkerQuestion>>) => {
  const answer: Numbered<WorkerAnswer> = { number, message: answerTo(number, message) };
  postMessage(answer);
});

function answerTo(number: number, question: WorkerQuestion): WorkerAnswer {
  try {
    return reader.answer(number, question);
  } catch (error) {
    return { kind: 'broken', message: errorMessageOf(error) };
  }
}
