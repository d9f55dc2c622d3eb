import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { WRAPPER_ENGINES } from '../../src/orders/wrappers/wrappers.js';
import { startRun } from '../../src/runs/start-run.js';
import type { RunSpec } from '../../src/store/records/index.js';
import { REAL_ENGINES, type RealEngine } from './real-engine.js';
import type { ModelReply } from './scripted-model.js';
import { openSite, type Failure, type Site } from './open-site.js';
import { prepareStage } from './stage.js';

const refuse = (status: number, type: string, message: string): ModelReply => ({ status, error: { message, type } });

const TOO_LONG_FOR_OPENAI = "This model's maximum context length is 128000 tokens. Your messages have 130000.";

/** Other providers' words for a request that is too long. */
const TOO_LONG: Readonly<Record<string, string>> = {
  claude: 'prompt is too long: 210000 tokens > 200000 maximum',
  gemini: 'The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).',
};

interface Fault {
  /** The model's reply to each request. */
  readonly reply: ModelReply;
  readonly code?: 'ENGINE_AUTH_FAILED';
  readonly cause: string;
}

/** Every fault, with the code and cause that every path must report. */
const listFaults = (engine: string): Readonly<Record<string, Fault>> => ({
  '401': {
    reply: refuse(401, 'invalid_api_key', 'Incorrect API key provided.'),
    code: 'ENGINE_AUTH_FAILED',
    cause: 'auth',
  },
  '403': { reply: refuse(403, 'permission_error', 'This account has no access.'), cause: 'permission' },
  '429': { reply: refuse(429, 'rate_limit_error', 'Too many requests'), cause: 'rate_limit' },
  '500': { reply: refuse(500, 'server_error', 'Internal error'), cause: 'server' },
  'a cut connection': { reply: 'cut', cause: 'network' },
  'a context that is too long': {
    reply: refuse(400, 'invalid_request_error', TOO_LONG[engine] ?? TOO_LONG_FOR_OPENAI),
    cause: 'context',
  },
  'an unknown model': { reply: refuse(404, 'not_found_error', 'The model `none` does not exist.'), cause: 'model' },
  'an exhausted quota': {
    reply: refuse(429, 'insufficient_quota', 'You exceeded your current quota, please check your billing details.'),
    cause: 'quota',
  },
});

const CONTRACT = { schema: { type: 'object', required: ['n'], properties: { n: { type: 'integer' } } } } as const;

/** The ways to start an agent; each returns the reported failure. */
const PATHS: Readonly<Record<string, (site: Site, spec: RunSpec) => Promise<Failure>>> = {
  run: async ({ stage }, spec) => (await startRun(spec, stage.ports).result).error,
  schema: async ({ stage }, spec) => (await startRun({ ...spec, contract: CONTRACT }, stage.ports).result).error,
  HTTP: async (site, spec) => {
    const { id } = await site.post('/v1/runs', spec);
    return site.waitForRun(String(id));
  },
  order: async (site, { workdir, engine }) => {
    const worker = Object.keys(WRAPPER_ENGINES).find((name) => WRAPPER_ENGINES[name] === engine);
    const order = { issue_ref: 'acme/shop#12', role: 'qa', repo_dir: workdir, worker, instructions: 'Look at it.' };
    const { run, run_id, issue_ref } = await site.post('/v1/orders', order);
    const failure = await site.waitForRun(String(run));
    const { decision } = (await site.store.findOrder(String(issue_ref), String(run_id))) ?? {};
    // The person who decides sees the same.
    expect(decision?.reason).toContain(`[${failure?.code}, ${failure?.cause}]`);
    return failure;
  },
  ACP: async (site, spec) => site.prompt(spec),
};

/** Runs every fault of the model over every path with the real executable: each must report the same code and cause. */
export function describeFaults(engine: keyof typeof REAL_ENGINES): void {
  const real: RealEngine = withFewRetries(REAL_ENGINES[engine]);
  const limits = { time_s: 180 };
  describe(`the real ${engine}`, { timeout: 600_000 }, () => {
    it.each(Object.entries(listFaults(engine)))(
      'reports %s the same on every path',
      async (_, { reply, code, cause }) => {
        const site = await openSite(await prepareStage(real, () => [reply]), limits);
        const report = async (path: string) => {
          const workdir = join(site.stage.root, path);
          mkdirSync(workdir);
          const spec = { ...site.stage.spec, workdir, prompt: 'Say hello.', limits };
          const failure = await PATHS[path]?.(site, spec);
          return [path, failure?.code, failure?.cause];
        };
        const [first = '', ...others] = Object.keys(PATHS);
        const started = report(first);
        // OpenCode fails if two processes create its database at the same time.
        if (engine === 'opencode') await started;
        const found = await Promise.all([started, ...others.map(report)]);
        const failed = expect.stringMatching(FAILED[engine] ?? /^ENGINE_RUNTIME_ERROR$/u) as string;
        const expectedCode = code ?? failed;
        const expected = Object.keys(PATHS).map((path) => [path, expectedCode, cause]);
        expect(found).toEqual(expected);
      },
    );
  });
}

/** These agents retry for minutes and have no setting for it, so some runs end at their time limit, with the cause. */
const FAILED: Readonly<Record<string, RegExp>> = {
  opencode: /^(?:ENGINE_RUNTIME_ERROR|RUN_TIMED_OUT)$/u,
};

/** Makes an agent fail after its first retries, as it would by itself after minutes. */
function withFewRetries(real: RealEngine): RealEngine {
  const { engine } = real;
  return {
    ...real,
    homeFiles: (url) => ({ ...real.homeFiles(url), ...FEW_RETRIES.homeFiles[engine]?.(real.homeFiles(url)) }),
    environment: (url) => ({ ...real.environment(url), ...FEW_RETRIES.environment[engine] }),
  };
}

type Files = Readonly<Record<string, string>>;

/** Each agent's own settings, where it has any. */
const FEW_RETRIES: {
  readonly environment: Partial<Record<RealEngine['engine'], Files>>;
  readonly homeFiles: Partial<Record<RealEngine['engine'], (files: Files) => Files>>;
} = {
  environment: { claude: { CLAUDE_CODE_MAX_RETRIES: '1' } },
  homeFiles: {
    codex: (files) => ({
      '.codex/config.toml': `${files['.codex/config.toml'] ?? ''}request_max_retries = 1\nstream_max_retries = 1\n`,
    }),
    gemini: (files) => ({
      '.gemini/settings.json': JSON.stringify({
        ...(JSON.parse(files['.gemini/settings.json'] ?? '{}') as object),
        general: { maxAttempts: 2 },
      }),
    }),
    qwen: (files) => ({
      '.qwen/settings.json': JSON.stringify({
        ...(JSON.parse(files['.qwen/settings.json'] ?? '{}') as object),
        model: { generationConfig: { maxRetries: 0 } },
      }),
    }),
  },
};
