import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createParser } from 'eventsource-parser';
import { splitLog, createAgentLog, type LogScript } from './agent-log.js';
import { createLineReader } from './line-reader.js';
import { compare, median } from './measure.js';
import { atMost, formatMs, formatRatio, type BarGroup, type PartResult, type Target } from './part-result.js';
import { createLead, createTranslator, openStore, runServer, startWorker } from './product.js';

const LIMIT = 2.5;
const BYTES = 4_000_000;
const AGENT = fileURLToPath(new URL('./asking-agent.mjs', import.meta.url));
/** Permission requests, one after another; the first ones warm up the server. */
const QUESTIONS = 50;
const WARM_UP = 10;
/** Other load only adds time, so the best of multiple rounds counts. */
const ROUNDS = 5;
const ROUND_TRIP_MS = 50;

const LOGS: readonly { readonly script: LogScript; readonly lineBytes: number }[] = [
  { script: 'ASCII', lineBytes: 400 },
  { script: 'CJK', lineBytes: 400 },
  { script: 'ASCII', lineBytes: 20_000 },
  { script: 'CJK', lineBytes: 20_000 },
];

/** Measures two-way agents: translating their output, and how long an answer takes through server and SQLite. */
export async function runAcp(): Promise<PartResult> {
  const targets: Target[] = [];
  const groups: BarGroup[] = [];
  const rows: string[][] = [];
  for (const { script, lineBytes } of LOGS) {
    const name = `ACP, ${script} lines of ${lineBytes === 400 ? '400 bytes' : '20 KB'}`;
    const chunks = splitLog(createAgentLog('acp', script, lineBytes, BYTES));
    const [loop, measured] = await compare([
      { name: 'loop', run: () => readLines(chunks) },
      { name: 'translate', run: () => translate(chunks) },
    ]);
    const ratio = measured?.ratio ?? Number.NaN;
    targets.push(atMost(`translate, ${name}`, ratio, LIMIT, 'decode, split, JSON.parse'));
    groups.push({
      title: `translate, ${name}`,
      base: 'decode, split, JSON.parse',
      limit: LIMIT,
      bars: [{ name: 'translate', ratio }],
    });
    rows.push([name, formatMs(loop?.milliseconds ?? Number.NaN), formatRatio(ratio)]);
  }
  const bareMs = await findBest(measureBareAnswers);
  const sluiceMs = await findBest(measureAnswers);
  const added = sluiceMs - bareMs;
  targets.push({
    what: `a permission request answered over HTTP through server, worker and SQLite, median of ${QUESTIONS - WARM_UP}, best of ${ROUNDS} rounds`,
    limit: `< ${ROUND_TRIP_MS} ms beyond the agent's own time`,
    measured: formatMs(added),
    met: added < ROUND_TRIP_MS,
  });
  return {
    title: 'Two-way agents',
    targets,
    tables: [
      {
        title: '4 MB of session updates in chunks of 64 KB, events created and not stored',
        columns: ['', 'decode, split, `JSON.parse`', 'Sluice `createTranslator`'],
        rows,
      },
      {
        title: 'From writing a permission request to reading its answer, which a follower of the events sends',
        columns: ['answered by the process that started the agent', 'through server, worker and SQLite'],
        rows: [[formatMs(bareMs), formatMs(sluiceMs)]],
      },
    ],
    groups,
  };
}

async function findBest(measure: () => Promise<readonly number[]>): Promise<number> {
  let fastest = Infinity;
  for (let round = 0; round < ROUNDS; round += 1) fastest = Math.min(fastest, median(await measure()));
  return fastest;
}

function readLines(chunks: readonly Uint8Array[]): number {
  const read = createLineReader();
  let count = 0;
  for (const chunk of chunks) count += read(chunk);
  return count;
}

function translate(chunks: readonly Uint8Array[]): number {
  const translator = createTranslator({ engine: 'acp', runId: 'bench', attempt: 1, clock: () => 0 });
  let count = 0;
  for (const chunk of chunks) count += translator.push('stdout', chunk).length;
  return count + translator.end({ exitCode: 0, signal: null }).length;
}

/** Measures the agent's own time: this process starts it and answers immediately, and nothing is stored. */
async function measureBareAnswers(): Promise<readonly number[]> {
  const child = spawn(process.execPath, [AGENT, String(QUESTIONS)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const send = (message: object): boolean => child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  send({ id: 'p', method: 'session/prompt', params: {} });
  for await (const line of createInterface({ input: child.stdout })) {
    const { id, method, params } = JSON.parse(line) as {
      readonly id?: unknown;
      readonly method?: string;
      readonly params?: { readonly update?: { readonly content?: { readonly text?: string } } };
    };
    if (method === 'session/request_permission') send({ id, result: {} });
    else if (method === 'session/update') {
      child.stdin.end();
      return (JSON.parse(params?.update?.content?.text ?? '[]') as number[]).slice(WARM_UP);
    }
  }
  throw new Error('The agent printed nothing.');
}

/** Measures a server with a worker on SQLite, where a client follows the run and answers every request immediately. */
async function measureAnswers(): Promise<readonly number[]> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-bench-')));
  const workdir = join(folder, 'work');
  await mkdir(workdir);
  const store = await openStore(`sqlite:${join(folder, 'sluice.db')}`);
  const lead = createLead({ store, data: folder });
  const agents = { asking: { acp: [process.execPath, AGENT, String(QUESTIONS)] } };
  const worker = startWorker({ store, lead, runs: { data: folder, agents } });
  const server = await runServer({ store, lead, data: folder, port: 0, settings: { roots: [workdir], agents } });
  try {
    const spec = { engine: 'asking', prompt: 'Ask.', workdir, permissions: 'ask' };
    const { id } = (await post(`${server.url}/v1/runs`, spec)) as { readonly id: string };
    await answerAll(server.url, id);
    const record = await store.findRun(id);
    return (JSON.parse(record?.result?.text ?? '[]') as number[]).slice(WARM_UP);
  } finally {
    await worker.stop({ graceMs: 0 });
    await server.stop();
    await lead.close();
    await store.close();
    await rm(folder, { recursive: true, force: true });
  }
}

async function answerAll(url: string, id: string): Promise<void> {
  const events = await fetch(`${url}/v1/runs/${id}/events`, { headers: { accept: 'text/event-stream' } });
  const parser = createParser({
    onEvent({ data }) {
      const event = JSON.parse(data) as {
        readonly type?: string;
        readonly data?: { readonly interaction_id?: string };
      };
      if (event.type !== 'permission.required') return;
      void post(`${url}/v1/runs/${id}/reply`, { interaction_id: event.data?.interaction_id, option_id: 'yes' });
    },
  });
  const decoder = new TextDecoder();
  for await (const bytes of events.body ?? []) parser.feed(decoder.decode(bytes, { stream: true }));
}

async function post(url: string, body: object): Promise<unknown> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  return response.json();
}
