import { getErrorMessage } from '../../../src/base/index.js';
import { createTextReader } from './text-reader.js';
import type { Numbered, WorkerAnswer, WorkerQuestion } from './text-reader.js';

const reader = createTextReader(() => performance.now());

// Texts are long: they are parsed in this worker, so that the page stays responsive.
addEventListener('message', ({ data: { number, message } }: MessageEvent<Numbered<WorkerQuestion>>) => {
  const answer: Numbered<WorkerAnswer> = { number, message: answerTo(number, message) };
  postMessage(answer);
});

function answerTo(number: number, question: WorkerQuestion): WorkerAnswer {
  try {
    return reader.answer(number, question);
  } catch (error) {
    return { kind: 'broken', message: getErrorMessage(error) };
  }
}
