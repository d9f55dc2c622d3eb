import type { AlignableSchema } from '../../../src/json/index.js';
import { inspect } from './inspect.js';
import type { Inspected } from './inspect.js';
import type { InspectionInput } from './inspection.js';
import { readSchemaText } from './read-schema-text.js';
import { startStream } from './stream-session.js';
import type { StreamSession } from './stream-session.js';
import type { WorkerAnswer, WorkerQuestion } from './worker-messages.js';

interface Last {
  readonly input: InspectionInput;
  readonly schema: AlignableSchema | undefined;
  readonly inspected: Inspected;
}

let last: Last | undefined;
let session: StreamSession | undefined;

// A worker has nobody but the page that started it to hear from, and texts are long: they are read here, not there.
addEventListener('message', ({ data }: MessageEvent<WorkerQuestion>) => {
  let answer: WorkerAnswer;
  try {
    answer = answerTo(data);
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    answer = { kind: 'broken', number: data.number, message };
  }
  postMessage(answer);
});

function answerTo(question: WorkerQuestion): WorkerAnswer {
  const { number } = question;
  switch (question.kind) {
    case 'inspect': {
      const { text, schemaText, options } = question.input;
      const reading = readSchemaText(schemaText);
      if (!reading.ok) return { kind: 'schema', number, problem: reading.problem };
      const began = performance.now();
      const inspected = inspect(text, reading.schema, options);
      const tookMs = performance.now() - began;
      last = { input: question.input, schema: reading.schema, inspected };
      session = undefined;
      return { kind: 'inspected', number, inspection: inspected.inspection, tookMs };
    }
    case 'copy':
      return { kind: 'copied', number, text: JSON.stringify(last?.inspected.value, null, 2) ?? '' };
    case 'stream':
      session = undefined;
      return { kind: 'streamed', number, view: currentSession().push(1, 0) };
    case 'push':
      return { kind: 'streamed', number, view: currentSession().push(question.characters, question.pieces) };
  }
}

function currentSession(): StreamSession {
  if (last === undefined) throw new Error('there is no text yet');
  session ??= startStream(last.input.text, last.schema, last.input.options);
  return session;
}
