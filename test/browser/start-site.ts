import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { appendFile, mkdir, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { PROJECT } from '../../scripts/run-tool.js';
import type { OrderView } from '../../src/server/api/shapes/order.js';
import type { RunView } from '../../src/server/api/shapes/run.js';
import type { ConfigFile } from '../../src/server/config/config.js';
import { openLocalToken } from '../../src/server/config/tokens.js';
import { createClient } from '../../src/server/client/index.js';
import { BUNDLED_MAIN } from '../command-stage.js';
import { toBytes } from '../../src/events/contract/translate-lines.contract.js';

/** The script of a test's agent; see `fixtures/agent.mjs`. */
export interface AgentScript {
  readonly prints: readonly (object | string)[];
  /** The agent's output after a user has answered. */
  readonly printsAfterReply?: readonly (object | string)[];
  /** Whether the agent continues with lines that {@link Site.print} appends. */
  readonly isLive?: boolean;
  /** Files that the agent writes before it prints, by path. */
  readonly writes?: Readonly<Record<string, string>>;
  /** How long the agent waits before each line. */
  readonly paceMs?: number;
  readonly mode?: 'auto' | 'interactive';
  readonly prompt?: string;
  readonly contract?: Readonly<Record<string, unknown>>;
}

/** The instructions of an order for the scripted agent; see `fixtures/order-agent.mjs`. */
export interface Instructions {
  readonly print?: string;
  readonly complain?: string;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly raw?: string;
  /** Files that the agent writes, by path. */
  readonly writes?: Readonly<Record<string, string>>;
  readonly exit?: number;
}

/** Options for a test's server. */
export interface SiteOptions {
  /** Additional arguments for `sluice serve`. */
  readonly args?: readonly string[];
  /** Additional environment variables for the server and its workers. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A server with scripted agents. */
export type Site = Awaited<ReturnType<typeof startSite>>;

const TIMEOUT_MS = 60_000;

/** Starts the built `sluice serve` on a free port with a new data folder. */
export async function startSite(changes: Partial<ConfigFile> = {}, options: SiteOptions = {}) {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'sluice-console-')));
  const data = join(folder, 'data');
  const work = join(folder, 'work');
  await mkdir(work);
  const agent = join(folder, 'codex');
  const program = join(PROJECT, 'test/browser/fixtures/agent.mjs');
  // Its version is queried often, and a shell script starts faster than Node.js.
  const version = `case " $* " in *' --version '*) echo 'codex-cli 0.166.0'; exit ;; esac`;
  await writeFile(agent, `#!/bin/sh\n${version}\nexec '${process.execPath}' '${program}' "$@"\n`, { mode: 0o755 });
  const orderAgent = join(PROJECT, 'test/browser/fixtures/order-agent.mjs');
  const config: ConfigFile = {
    data,
    roots: [work],
    programs: { codex: agent },
    // An agent that asks questions: for that, Codex uses its app server, which the scripted agent does not imitate.
    agents: { scripted: { command: [agent], format: 'codex', resume: [agent, 'resume', '{session}'] } },
    wrappers: { scripted: { type: 'script', command: [process.execPath, orderAgent] } },
    ...changes,
  };
  const configFile = join(folder, 'sluice.config.json');
  await writeFile(configFile, JSON.stringify(config));

  let url = '';
  let child: ChildProcess | undefined;
  const workers: ChildProcess[] = [];
  let runs = 0;
  // The scripted agents are files in this project, which a sandbox would hide.
  const fixed = { SLUICE_SANDBOX: 'off', SLUICE_TEST_SECRET: 'what sinks of tests sign with' };
  const env = { ...process.env, ...fixed, ...options.env };

  async function start(): Promise<void> {
    // The same port every time, so pages can reconnect.
    const port = url === '' ? '0' : new URL(url).port;
    const args = [BUNDLED_MAIN, 'serve', '--no-demo', '--port', port, '--config', configFile, ...(options.args ?? [])];
    const started = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
    child = started;
    let log = '';
    started.stderr.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-10_000)));
    const ended = once(started, 'exit').then(() => {
      throw new Error(`the server exited: ${log}`);
    });
    ended.catch(() => undefined);
    const [printed] = (await Promise.race([once(started.stdout, 'data'), ended])) as [Buffer];
    url = printed.toString().split('\n')[0] ?? '';
  }

  async function kill(): Promise<void> {
    if (child !== undefined) await killProcess(child);
    child = undefined;
  }

  /** Starts a worker with another data folder, as on another host, over the same database. */
  async function startWorker() {
    const workerData = join(folder, `data-of-worker-${workers.length + 1}`);
    const workerConfig = join(folder, `worker-${workers.length + 1}.json`);
    await mkdir(workerData, { mode: 0o700 });
    const database = `sqlite:${join(data, 'sluice.db')}`;
    await writeFile(workerConfig, JSON.stringify({ database, ...config, data: workerData }));
    const args = [BUNDLED_MAIN, 'worker', '--config', workerConfig];
    const started = spawn(process.execPath, args, { cwd: folder, env, stdio: 'ignore' });
    workers.push(started);
    return { data: workerData, kill: async () => killProcess(started) };
  }

  await start();
  const token = changes.tokens?.[0]?.value;
  const cookie = token === undefined ? await signIn(url) : undefined;
  const client = createClient({ url, ...(token === undefined ? {} : { token }) });

  /** Starts a run whose agent prints the script; its folder is where {@link appendLines} writes. */
  async function startRun({ prints, printsAfterReply, writes = {}, isLive = false, paceMs = 0, ...spec }: AgentScript) {
    runs += 1;
    const workdir = join(work, `run-${runs}`);
    await mkdir(workdir);
    await writeFile(join(workdir, 'prints.jsonl'), toBytes(prints));
    await writeFile(join(workdir, 'writes.json'), JSON.stringify(writes));
    if (printsAfterReply !== undefined)
      await writeFile(join(workdir, 'prints-after-reply.jsonl'), toBytes(printsAfterReply));
    if (isLive) await writeFile(join(workdir, 'live.jsonl'), '');
    if (paceMs > 0) await writeFile(join(workdir, 'pace'), String(paceMs));
    const engine = spec.mode === 'interactive' ? 'scripted' : 'codex';
    const { id } = await client.startRun({ body: { engine, prompt: 'Look at the code.', workdir, ...spec } });
    return { id, workdir, print: async (lines: readonly (object | string)[]) => appendLines(workdir, lines) };
  }

  /** Waits until a run has this state. */
  async function waitForRun(id: string, state: RunView['state']): Promise<RunView> {
    return until(`run ${id} is ${state}`, async () => {
      const run = await client.getRun({ id });
      return run.state === state ? run : undefined;
    });
  }

  return {
    /** Signs a page in if no tokens are configured. */
    cookie,
    folder,
    data,
    work,
    client,
    get url() {
      return url;
    },
    start,
    kill,
    startWorker,
    /** Writes the configuration again; a server reads its tokens from it. */
    configure: async (other: Partial<ConfigFile>) => writeFile(configFile, JSON.stringify({ ...config, ...other })),
    startRun,
    waitForRun,
    /** Starts a run and waits for its end. */
    async runToEnd(script: AgentScript): Promise<RunView> {
      const { id } = await startRun(script);
      return waitForRun(id, 'ended');
    },
    /** Submits an order for the scripted agent and waits until it is settled. */
    async runOrder(issueRef: string, instructions: Instructions): Promise<OrderView> {
      await mkdir(join(work, 'repository'), { recursive: true });
      const { run_id: runId } = await client.submitOrder({
        body: {
          issue_ref: issueRef,
          role: 'dev',
          repo_dir: join(work, 'repository'),
          worker: 'scripted',
          instructions: JSON.stringify(instructions),
        },
      });
      return until(`order ${runId} is settled`, async () => {
        const { orders } = await client.getIssue({ ref: issueRef });
        return orders.find(({ run_id, state }) => run_id === runId && state === 'settled');
      });
    },
    async stop(): Promise<void> {
      await Promise.all(workers.map(killProcess));
      await kill();
      await rm(folder, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Kills a process with SIGKILL. */
async function killProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

/** Appends lines to the output of a live agent; the line `end` is its last. */
async function appendLines(workdir: string, lines: readonly (object | string)[]): Promise<void> {
  await appendFile(join(workdir, 'live.jsonl'), toBytes(lines));
}

/** Repeats a query until it returns a value. */
export async function until<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (const end = performance.now() + TIMEOUT_MS; performance.now() < end;) {
    const found = await ask();
    if (found !== undefined) return found;
    await wait(20);
  }
  throw new Error(`timed out waiting until ${what}`);
}

/** Exchanges the token of this user for a cookie, as the console does when it is opened at the printed address. */
async function signIn(url: string): Promise<{ readonly name: string; readonly value: string }> {
  const { value: token } = await openLocalToken(process.env);
  const headers = { 'content-type': 'application/json' };
  const response = await fetch(`${url}/v1/session`, { method: 'POST', headers, body: JSON.stringify({ token }) });
  const [name = '', value = ''] = (response.headers.get('set-cookie') ?? '').split(';')[0]?.split('=') ?? [];
  return { name, value };
}
