/**
 * Reads JSON while any model of the AI SDK writes it: live values, finished items, and requests that end as soon as the
 * outcome is known.
 */
import { createOpenAICompatible } from '@ai-sdk/openai-compatible';
import { streamText } from 'ai';
import { createJsonStream, streamJson } from 'sluice/json';
import { alignable } from 'sluice/json-schema';
import { z } from 'zod';
import { SCRIPTS } from '../scripted-model/script.js';
import { startScriptedModel } from '../scripted-model/scripted-model.js';
import { readText } from './read-text.js';

const guideSchema = alignable(
  z.object({ title: z.string(), items: z.array(z.object({ name: z.string(), rating: z.number().max(5) })) }),
);

const server = await startScriptedModel(SCRIPTS);
const provider = createOpenAICompatible({ name: 'scripted', baseURL: `${server.url}/v1` });

function ask(model: keyof typeof SCRIPTS): AsyncIterable<string> {
  const prompt = 'A guide to the town, as JSON.';
  return readText((abortSignal) =>
    streamText({ model: provider(model), prompt, abortSignal, maxRetries: 0, onError() {} }),
  );
}

console.log('live values, until the value is complete');
const stream = createJsonStream(guideSchema, { stopWhenComplete: true });
stream.on('items.*', (item, path) => console.log(`  finished ${path.join('.')}: ${JSON.stringify(item)}`));
let shown = '';
for await (const text of ask('chatty')) {
  const { value, changed, complete } = stream.push(text);
  // A page would be drawn each time; here one line for each path that starts to grow is enough.
  const growing = String(changed);
  if (growing !== '' && growing !== shown) console.log(`  live ${JSON.stringify(value)}`);
  shown = growing;
  if (complete) break;
}
const result = stream.end();
console.log(result.ok ? `  ${result.value.items.length} items in "${result.value.title}"` : `  ${result.status}`);

console.log('a finished part is wrong');
for await (const snapshot of streamJson(ask('wrong'), guideSchema, { validatePartial: true })) {
  if (snapshot.result?.status === 'failed') console.log(`  ${snapshot.result.error.message}`);
}

console.log('the provider fails in the middle');
const soFar = createJsonStream(guideSchema);
try {
  for await (const text of ask('failing')) soFar.push(text);
} catch (error) {
  console.log(`  ${String(error)}, after ${JSON.stringify(soFar.copy())}`);
}

console.log('calls as reported by the server');
for (const { model, sent, pieces, ending } of await server.close()) {
  console.log(`  ${model}: ${ending} after ${sent} of ${pieces} pieces`);
}
