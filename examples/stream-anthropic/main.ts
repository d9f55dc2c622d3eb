/**
 * Reads JSON while Claude writes it, with Anthropic's client: live values, finished items, and requests that end as soon as
 * the outcome is known.
 */
import Anthropic from '@anthropic-ai/sdk';
import { createJsonStream, streamJson } from 'sluice/json';
import { guideSchema } from '../scripted-model/guide-schema.js';
import { SCRIPTS } from '../scripted-model/script.js';
import { startScriptedModel } from '../scripted-model/scripted-model.js';

const server = await startScriptedModel(SCRIPTS);
const client = new Anthropic({ baseURL: server.url, apiKey: 'none', maxRetries: 0 });

async function ask(model: keyof typeof SCRIPTS) {
  const messages = [{ role: 'user' as const, content: 'A guide to the town, as JSON.' }];
  return client.messages.create({ model, messages, max_tokens: 1024, stream: true });
}

console.log('live values, until the value is complete');
const stream = createJsonStream(guideSchema, { stopWhenComplete: true });
stream.on('items.*', (item, path) => console.log(`  finished ${path.join('.')}: ${JSON.stringify(item)}`));
let shown = '';
for await (const event of await ask('chatty')) {
  const { value, changed, complete } = stream.push(event);
  // A page would be drawn each time; here one line for each path that starts to grow is enough.
  const growing = String(changed);
  if (growing !== '' && growing !== shown) console.log(`  live ${JSON.stringify(value)}`);
  shown = growing;
  if (complete) break;
}
const result = stream.end();
console.log(result.ok ? `  ${result.value.items.length} items in "${result.value.title}"` : `  ${result.status}`);

console.log('a finished part is wrong');
for await (const snapshot of streamJson(await ask('wrong'), guideSchema, { validatePartial: true })) {
  if (snapshot.result?.status === 'failed') console.log(`  ${snapshot.result.error.message}`);
}

console.log('the provider fails in the middle');
const soFar = createJsonStream(guideSchema);
try {
  for await (const event of await ask('failing')) soFar.push(event);
} catch (error) {
  console.log(`  ${String(error)}, after ${JSON.stringify(soFar.copy())}`);
}

console.log('calls as reported by the server');
for (const { model, sent, pieces, ending } of await server.close()) {
  console.log(`  ${model}: ${ending} after ${sent} of ${pieces} pieces`);
}
