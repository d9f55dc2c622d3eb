/** Translates 1 GiB of log and prints the memory after 64 MiB and at the end, as JSON. Started by `part-events-memory.ts`. */
import { splitLog, createAgentLog } from './agent-log.js';
import { readResidentMemory } from './measure.js';
import { createTranslator } from './product.js';

const GIBIBYTE = 2 ** 30;
const EARLY = 2 ** 26;

const log = createAgentLog('codex', 'ASCII', Number(process.argv[2] ?? 200), 2 ** 22);
const chunks = splitLog(log);
const translator = createTranslator({ engine: 'codex', runId: 'bench', attempt: 1, clock: () => 0 });

let bytes = 0;
let early = 0;
while (bytes < GIBIBYTE) {
  for (const chunk of chunks) {
    translator.push('stdout', chunk);
    bytes += chunk.length;
  }
  if (early === 0 && bytes >= EARLY) early = readResidentMemory();
}
const late = readResidentMemory();
translator.end({ exitCode: 0, signal: null });
const { claimed } = translator.coverage().stdout;
console.log(JSON.stringify({ bytes, early, late, unclaimed: bytes - claimed }));
