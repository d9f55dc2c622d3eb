/**
 * Reads JSON while an OpenAI model writes it: live values, finished items, and requests that end as soon as the
 * outcome is known.
 */
import OpenAI from 'openai';
import { createJsonStream, streamJson } from 'sluice/json';
import { guideSchema } from '../scripted-model/guide-schema.js';
import { SCRIPTS } from '../scripted-model/script.js';
import { startScriptedModel } from '../scripted-model/scripted-model.js';

const server = await startScriptedModel(SCRIPTS);
const client = new OpenAI({ baseURL: `${server.url}/v1`, apiKey: 'none', maxRetries: 0 });

console.log('chat completions: live values, until the value is complete');
const chat = await client.chat.completions.create({
  model: 'chatty',
  messages: [{ role: 'user', content: 'A guide to cafés, as JSON.' }],
  stream: true,
});
const stream = createJsonStream(guideSchema, { stopWhenComplete: true });
stream.on('items.*', (item, path) => console.log(`  finished ${path.join('.')}: ${JSON.stringify(item)}`));
let shown = '';
for await (const chunk of chat) {
  const { value, changed, complete } = stream.push(chunk);
  // A page would be drawn each time; here one line for each path that starts to grow is enough.
  const growing = String(changed);
  if (growing !== '' && growing !== shown) console.log(`  live ${JSON.stringify(value)}`);
  shown = growing;
  if (complete) break;
}
const result = stream.end();
console.log(result.ok ? `  ${result.value.items.length} items in "${result.value.title}"` : `  ${result.status}`);

console.log('responses: a finished part is wrong');
const response = await client.responses.create({ model: 'wrong', input: 'A guide to bars, as JSON.', stream: true });
for await (const snapshot of streamJson(response, guideSchema, { validatePartial: true })) {
  if (snapshot.result?.status === 'failed') console.log(`  ${snapshot.result.error.message}`);
}

console.log('responses: the provider fails in the middle');
const failing = await client.responses.create({ model: 'failing', input: 'A guide to parks.', stream: true });
const soFar = createJsonStream(guideSchema);
try {
  for await (const event of failing) soFar.push(event);
} catch (error) {
  console.log(`  ${String(error)}, after ${JSON.stringify(soFar.copy())}`);
}

console.log('calls as reported by the server');
for (const { model, sent, pieces, ending } of await server.close()) {
  console.log(`  ${model}: ${ending} after ${sent} of ${pieces} pieces`);
}
