import { spawnSync } from 'node:child_process';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { PROJECT } from '../scripts/run-tool.js';

/** The built command. */
export const MAIN = join(PROJECT, 'dist/cli/main.js');

/**
 * The same command bundled into a few files, which starts in half the time, for tests that start it often. Built by
 * `build-product.ts`.
 */
export const BUNDLED_MAIN = join(PROJECT, 'dist/bundled-command/main.js');

/** Longer than any documented command takes, even under load. */
const TIMEOUT_MS = 120_000;

/** The answer of every agent on a stage. */
export const ANSWER = '<think>Hm.</think> Sure: <json>{"file": "a.ts", "line": 3,}</json>';

/** An agent with one fixed answer in Codex format. A shell script, because that starts fastest. */
const CODEX = `#!/bin/sh
case " $* " in *' --version '*) echo 'codex-cli 0.166.0'; exit ;; esac
cat <<'END'
${[
  { type: 'thread.started', thread_id: 't-1' },
  { type: 'item.completed', item: { id: 'item_0', type: 'agent_message', text: ANSWER } },
  { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
]
  .map((record) => JSON.stringify(record))
  .join('\n')}
END
`;

/** The result of commands typed into bash. */
export interface TypedResult {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A folder for testing documentation, with `sluice` and a `codex` that needs no account on the PATH. */
export interface CommandStage {
  readonly folder: string;
  readonly env: NodeJS.ProcessEnv;
  readonly write: (path: string, text: string, mode?: number) => void;
  /** Types lines into bash until one fails. */
  readonly type: (lines: string) => TypedResult;
}

/** Prepares the stage in an existing folder. */
export function prepareStage(folder: string): CommandStage {
  const path = `${join(folder, 'bin')}${delimiter}${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  const env = { ...process.env, PATH: path };
  const write = (name: string, text: string, mode = 0o644): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), mode);
  };
  // `npx sluice` finds the second one.
  for (const name of ['bin/sluice', 'node_modules/.bin/sluice'])
    write(name, `#!/bin/sh\nexec "${process.execPath}" "${BUNDLED_MAIN}" "$@"\n`, 0o755);
  write('bin/codex', CODEX, 0o755);
  write('some-agent', `#!/bin/sh\necho '${ANSWER}'\n`, 0o755);
  return {
    folder,
    env,
    write,
    type: (lines) => {
      const options = { cwd: folder, env, encoding: 'utf8', timeout: TIMEOUT_MS } as const;
      const { status, stdout, stderr } = spawnSync('bash', ['-e', '-c', lines], options);
      return { exitCode: status, stdout, stderr };
    },
  };
}
