import { isAbsolute, relative } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isSluiceError } from '../../base/index.js';
import type { LaunchRequest, Permissions } from './launcher.js';
import { getLauncher, LAUNCHERS } from './launchers.js';
import { RUN_ENGINES, type RunEngine } from '../../store/records/run-spec.js';

const AGENTS = RUN_ENGINES.filter((engine) => engine !== 'command');
const STDIN_AGENTS = AGENTS.filter((engine) => engine !== 'iflow');
const ALL_PERMISSIONS: readonly Permissions[] = ['safe', 'workspace', 'bypass'];
const REQUEST: LaunchRequest = { prompt: 'Do it.', workdir: '/repo', runDir: '/data/runs/1', permissions: 'safe' };

/** Returns the code of the error that a launcher throws. */
function getLaunchErrorCode(engine: RunEngine, request: Partial<LaunchRequest>): string | undefined {
  try {
    LAUNCHERS[engine].launch({ ...REQUEST, ...request });
    return undefined;
  } catch (error) {
    return isSluiceError(error) ? error.code : String(error);
  }
}

describe('getLauncher', () => {
  it.each(RUN_ENGINES)('returns the launcher of %s', (engine) => {
    expect(getLauncher(engine).engine).toBe(engine);
  });

  it.each(['generic', 'auto', 'constructor', ''])('rejects %j and lists the engines', (engine) => {
    expect(() => getLauncher(engine)).toThrow(/Use one of: codex, gemini/u);
  });
});

it.each(['gemini', 'qwen', 'opencode', 'copilot'])(
  '%s has the same requirements with and without the protocol',
  (engine) => {
    const [plain, twoWay] = [getLauncher(engine), getLauncher(`${engine}-acp`)];
    expect(twoWay.environment).toEqual(plain.environment);
    expect(twoWay.installHint).toBe(plain.installHint);
    expect(twoWay.listStateFolders?.({ HOME: '/home/me' })).toEqual(plain.listStateFolders?.({ HOME: '/home/me' }));
  },
);

describe('the command of each engine', () => {
  const cases: [RunEngine, Permissions, string][] = [
    [
      'codex',
      'safe',
      'codex exec --json --skip-git-repo-check --config=analytics.enabled=false --config=check_for_update_on_startup=false --config=approval_policy="never" --config=projects={"/repo"={trust_level="untrusted"}} --config=sandbox_mode="read-only" -',
    ],
    [
      'codex',
      'workspace',
      'codex exec --json --skip-git-repo-check --config=analytics.enabled=false --config=check_for_update_on_startup=false --config=approval_policy="never" --config=projects={"/repo"={trust_level="untrusted"}} --config=sandbox_mode="workspace-write" --config=sandbox_workspace_write.writable_roots=["/data/runs/1"] --config=sandbox_workspace_write.exclude_slash_tmp=true --config=sandbox_workspace_write.exclude_tmpdir_env_var=true -',
    ],
    ['gemini', 'safe', 'gemini --skip-trust --output-format=stream-json --approval-mode=default'],
    [
      'gemini',
      'workspace',
      'gemini --skip-trust --output-format=stream-json --approval-mode=auto_edit --include-directories=/data/runs/1',
    ],
    ['iflow', 'safe', 'iflow --default --prompt=Do it.'],
    ['iflow', 'workspace', 'iflow --autoEdit --prompt=Do it.'],
    ['opencode', 'safe', 'opencode run --format=json --thinking'],
    ['opencode', 'workspace', 'opencode run --format=json --thinking'],
    [
      'claude',
      'safe',
      'claude --print --output-format=stream-json --verbose --include-partial-messages --permission-mode=dontAsk --setting-sources=user',
    ],
    [
      'claude',
      'workspace',
      'claude --print --output-format=stream-json --verbose --include-partial-messages --permission-mode=acceptEdits --setting-sources=user --add-dir=/data/runs/1',
    ],
    [
      'copilot',
      'safe',
      'copilot --output-format=json --no-auto-update --no-color --no-ask-user --no-remote --disable-builtin-mcps --allow-all-tools --disallow-temp-dir --deny-tool=shell --deny-tool=url --deny-tool=memory --deny-tool=write',
    ],
    ['qwen', 'safe', 'qwen --output-format=stream-json --include-partial-messages --safe-mode --approval-mode=default'],
    [
      'qwen',
      'workspace',
      'qwen --output-format=stream-json --include-partial-messages --safe-mode --approval-mode=default --allowed-tools=write_file(//repo/**) --allowed-tools=edit(//repo/**) --allowed-tools=write_file(//data/runs/1/**) --allowed-tools=edit(//data/runs/1/**) --include-directories=/data/runs/1',
    ],
  ];

  it.each(cases)('%s, %s', (engine, permissions, command) => {
    expect(LAUNCHERS[engine].launch({ ...REQUEST, permissions }).command.join(' ')).toBe(command);
  });

  const bypassOptions = /bypass|yolo|^--auto$|^--allow-all$/u;

  it.each(AGENTS)('%s gets full permissions only on request', (engine) => {
    const flags = (permissions: Permissions): string[] =>
      LAUNCHERS[engine].launch({ ...REQUEST, permissions }).command.filter((word) => bypassOptions.test(word));
    expect(flags('safe')).toEqual([]);
    expect(flags('workspace')).toEqual([]);
    expect(flags('bypass')).toHaveLength(1);
  });

  it('opencode gets its permissions through its environment', () => {
    const rules = (permissions: Permissions): unknown =>
      JSON.parse(LAUNCHERS.opencode.launch({ ...REQUEST, permissions }).env['OPENCODE_PERMISSION'] ?? 'null');
    expect(rules('safe')).toMatchObject({ '*': 'deny', edit: 'deny', bash: 'deny', external_directory: 'deny' });
    expect(rules('workspace')).toMatchObject({
      '*': 'deny',
      edit: 'allow',
      bash: 'deny',
      external_directory: { '*': 'deny', '/data/runs/1/*': 'allow' },
    });
    expect(rules('bypass')).toBeNull();
  });
});

describe('the prompt', () => {
  it.each(STDIN_AGENTS)('is passed to %s through stdin and never as an argument', (engine) => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), fc.constantFrom(...ALL_PERMISSIONS), (words, permissions) => {
        const prompt = `-${words}`;
        const plain = LAUNCHERS[engine].launch({ ...REQUEST, permissions });
        const { command, stdin } = LAUNCHERS[engine].launch({ ...REQUEST, permissions, prompt });
        expect(stdin).toBe(prompt);
        expect(command).toEqual(plain.command);
      }),
    );
  });

  it.each(['gemini', 'iflow', 'qwen'] as const)('cannot become a flag of %s in a terminal', (engine) => {
    const { command, stdin } = LAUNCHERS[engine].launch({ ...REQUEST, prompt: '--yolo', terminal: true });
    expect(command.at(-1)).toBe('--prompt=--yolo');
    expect(stdin).toBeUndefined();
  });

  it.each(['codex', 'claude', 'opencode'] as const)('comes after the last flag of %s in a terminal', (engine) => {
    const { command, stdin } = LAUNCHERS[engine].launch({ ...REQUEST, prompt: '--yolo', terminal: true });
    expect(command.slice(-2)).toEqual(['--', '--yolo']);
    expect(stdin).toBeUndefined();
  });

  it('of a configured command must be an argument in a terminal', () => {
    const launch = (command: string[]) =>
      getLauncher('mine', { mine: { command, format: 'codex' } }).launch({ ...REQUEST, terminal: true });
    expect(launch(['mine', '{prompt}']).command).toEqual(['mine', 'Do it.']);
    expect(() => launch(['mine'])).toThrow(/Add \{prompt\}/u);
  });

  it.each(AGENTS)('must not be empty for %s', (engine) => {
    expect(getLaunchErrorCode(engine, { prompt: ' \n' })).toBe('PROMPT_MISSING');
  });

  it.each(STDIN_AGENTS)('can be longer than an argument for %s', (engine) => {
    expect(getLaunchErrorCode(engine, { prompt: 'x'.repeat(200 * 1024) })).toBeUndefined();
  });

  it.each(AGENTS)('is rejected by %s rather than truncated', (engine) => {
    expect(getLaunchErrorCode(engine, { prompt: 'x'.repeat(9 * 1024 * 1024) })).toBe('PROMPT_TOO_LONG');
  });

  it.each(AGENTS)('is counted in bytes if it is an argument of %s', (engine) => {
    expect(getLaunchErrorCode(engine, { prompt: '界'.repeat(50_000), terminal: true })).toBe('PROMPT_TOO_LONG');
  });
});

describe('a session', () => {
  it.each([
    ['codex', ['resume', 's-1', '-']],
    ['gemini', ['--resume=s-1']],
    ['iflow', ['--resume=s-1']],
    ['opencode', ['--session=s-1']],
    ['claude', ['--resume=s-1']],
    ['qwen', ['--resume=s-1']],
    ['copilot', ['--resume=s-1']],
  ] as const)('is resumed by %s', (engine, words) => {
    expect(LAUNCHERS[engine].canResume).toBe(true);
    expect(LAUNCHERS[engine].launch({ ...REQUEST, sessionId: 's-1' }).command).toEqual(
      expect.arrayContaining([...words]),
    );
  });

  it.each(AGENTS)('whose id could be a flag is rejected by %s', (engine) => {
    for (const sessionId of ['--last', '-c', '', 'a b', 'a\n--yolo', 'x'.repeat(500)])
      expect(getLaunchErrorCode(engine, { sessionId })).toBe('SESSION_ID_INVALID');
  });

  it('is not supported by a command', () => {
    expect(getLaunchErrorCode('command', { command: ['cat'], sessionId: 's-1' })).toBe('RESUME_UNSUPPORTED');
  });
});

describe('a model', () => {
  it.each(AGENTS)('is passed to %s in one argument', (engine) => {
    for (const model of ['gpt-5.5', 'anthropic/claude-opus-5-5', 'qwen3:30b@local'])
      expect(LAUNCHERS[engine].launch({ ...REQUEST, model }).command).toContain(`--model=${model}`);
  });

  it.each(AGENTS)('with an invalid name is rejected by %s', (engine) => {
    for (const model of ['', '--yolo', 'a b', 'a\nb'])
      expect(getLaunchErrorCode(engine, { model })).toBe('MODEL_INVALID');
  });
});

describe('folders', () => {
  it.each(RUN_ENGINES)('of %s: settings are written only to the run folder', (engine) => {
    for (const permissions of ALL_PERMISSIONS) {
      const { files = [] } = LAUNCHERS[engine].launch({ ...REQUEST, permissions, command: ['cat'] });
      for (const { path } of files) {
        const place = relative(REQUEST.runDir, path);
        expect(place.startsWith('..') || isAbsolute(place)).toBe(false);
      }
    }
  });

  it('with quotes and backslashes stay one value for codex', () => {
    const { command } = LAUNCHERS.codex.launch({ ...REQUEST, workdir: '/a "b" \\c' });
    expect(command).toContain('--config=projects={"/a \\"b\\" \\\\c"={trust_level="untrusted"}}');
  });

  it.each(['gemini', 'qwen'] as const)(
    'with a comma are rejected by %s, which would allow two other folders',
    (engine) => {
      expect(getLaunchErrorCode(engine, { permissions: 'workspace', runDir: '/data,/etc' })).toBe('FOLDER_UNSUPPORTED');
    },
  );
});

describe('engine command', () => {
  it('launches the given command, with the prompt on stdin', () => {
    const { command, stdin, env } = LAUNCHERS.command.launch({ ...REQUEST, command: ['worker', '--fast'] });
    expect({ command, stdin, env }).toEqual({ command: ['worker', '--fast'], stdin: 'Do it.', env: {} });
  });

  it.each([[[]], [['']], [undefined]])('refuses %j', (command) => {
    expect(getLaunchErrorCode('command', command === undefined ? {} : { command })).toBe('COMMAND_MISSING');
  });
});
