import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RunSpec, WorkRequest } from '../../../store/records/index.js';
import type { Checks } from '../../proof/checks.js';
import type { Wrappers } from '../../wrappers/wrappers.js';
import { hasDemoRepository } from '../../git/demo-repository.js';
import { readFile } from 'node:fs/promises';

/** The demo agents, in the order their orders are submitted. */
export const DEMO_AGENTS = ['json-agent', 'text-agent', 'print-only-agent'] as const;

/** Returns the wrappers of the demo agents. */
export function createDemoWrappers(): Wrappers {
  return {
    'json-agent': { type: 'script', command: [...getCommand('json-agent'), '{work_order}'], inject: 'args' },
    'text-agent': { type: 'script', command: getCommand('text-agent'), inject: 'env' },
    'print-only-agent': { type: 'script', command: getCommand('print-only-agent'), inject: 'env' },
  };
}

/**
 * Returns the wrappers of the demo agents if a demo has run with this data folder: any command can then retry its orders.
 */
export async function findDemoWrappers(data: string): Promise<Wrappers> {
  return (await hasDemoRepository(data)) ? createDemoWrappers() : {};
}

export function createDemoRequest(worker: string, issueRef: string, repoDir: string): WorkRequest {
  return { issue_ref: issueRef, role: 'demo', repo_dir: repoDir, worker, instructions: 'Greet the reader.' };
}

/**
 * The agents are in the package's `examples/` folder; their path relative to this file is the same in source and build.
 */
function getCommand(worker: string): readonly [string, string] {
  return [process.execPath, fileURLToPath(new URL(`../../../../examples/agents/${worker}.mjs`, import.meta.url))];
}

/** A recorded agent with its own order: it writes a file in its worktree, and a check verifies the content. */
const DEMO_AGENT = 'codex-cli';

/** Returns the command that starts the recorded agent instead of the real one. */
export function getDemoPrograms(): { readonly codex: readonly [string, string, string] } {
  const folder = fileURLToPath(new URL('../../../../examples/recorded-agents', import.meta.url));
  return { codex: [process.execPath, join(folder, 'replay.mjs'), join(folder, 'codex-order')] };
}

/** Returns the checks for the agent's change. */
export function createDemoChecks(): Checks {
  const program = "process.exitCode = fs.readFileSync('artifacts/text.md', 'utf8').includes('Alpha') ? 0 : 1";
  return { text: { command: [process.execPath, '-e', program], timeout_s: 60 } };
}

export function createAgentRequest(issueRef: string, repoDir: string): WorkRequest {
  const instructions = 'Create artifacts/text.md with a shell command.';
  return { ...createDemoRequest(DEMO_AGENT, issueRef, repoDir), instructions, checks: ['text'] };
}

/** The recorded agents and the schemas of their answers. */
const AGENTS = {
  claude: { type: 'object', required: ['artifacts'], properties: { artifacts: { type: 'array' } } },
  gemini: { type: 'object', required: ['items'] },
  codex: { type: 'object', required: ['artifacts'], properties: { artifacts: { type: 'array' } } },
} as const;

type RecordedEngine = keyof typeof AGENTS;

/** A recorded agent: its run spec, and the command that replays it. */
export interface RecordedAgent {
  readonly engine: RecordedEngine;
  readonly spec: Omit<RunSpec, 'workdir'>;
  readonly program: readonly [string, string, string];
}

/** In the package's `examples/` folder; the path relative to this file is the same in source and build. */
const FOLDER = fileURLToPath(new URL('../../../../examples/recorded-agents', import.meta.url));

export async function readRecordedAgents(): Promise<readonly RecordedAgent[]> {
  return Promise.all(
    Object.entries(AGENTS).map(async ([name, schema]) => {
      const engine = name as RecordedEngine;
      const folder = join(FOLDER, engine);
      const recording = JSON.parse(await readFile(join(folder, 'recording.json'), 'utf8')) as { prompt: string };
      return {
        engine,
        spec: { engine, prompt: recording.prompt, contract: { schema } },
        program: [process.execPath, join(FOLDER, 'replay.mjs'), folder] as const,
      };
    }),
  );
}
