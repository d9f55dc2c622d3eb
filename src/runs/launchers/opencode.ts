import { opencodeState } from './engine-state.js';
import type { LaunchRequest, Launcher } from './launcher.js';
import {
  NETWORK_ENVIRONMENT,
  listModelArguments,
  promptForArgument,
  promptForInput,
  checkSession,
} from './request-checks.js';
import { readVersion } from './version.js';
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { SluiceError } from '../../base/index.js';

/** Files that may be read. Files with secrets are denied, as OpenCode itself would ask about them. */
const READING = {
  read: { '*': 'allow', '*.env': 'deny', '*.env.*': 'deny', '*.env.example': 'allow' },
  glob: 'allow',
  grep: 'allow',
  list: 'allow',
};

/** Each by name: a rule of the user for one tool would win over the `*` before it. */
const CLOSED = { '*': 'deny', bash: 'deny', task: 'deny', webfetch: 'deny', websearch: 'deny', skill: 'deny' };

/** The same tools, and editing, if a person can be asked. */
const ASKING = Object.fromEntries([...Object.keys(CLOSED), 'edit', 'external_directory'].map((tool) => [tool, 'ask']));

/** OpenCode, `opencode run --format json`. It allows everything unless it is configured otherwise. */
export const opencodeLauncher: Launcher = {
  engine: 'opencode',
  program: 'opencode',
  reads: 'opencode',
  drives: '>=1.18.33 <1.19.0',
  environment: [
    'OPENCODE_*',
    'XDG_*',
    'ANTHROPIC_*',
    'OPENAI_*',
    'GEMINI_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'OPENROUTER_API_KEY',
    ...NETWORK_ENVIRONMENT,
  ],
  canResume: true,
  reportsCost: true,
  versionCommand: ['--version'],
  keepsState: opencodeState,
  readVersion,
  installHint: 'npm install --global opencode-ai@1.18.33',
  async inspect({ permissions, workdir }) {
    if (permissions !== 'bypass') await refuseProjectPrograms(workdir);
  },
  launch(request) {
    const session = checkSession(request.sessionId);
    const options = [
      'run',
      '--format=json',
      '--thinking',
      ...(request.permissions === 'bypass' ? ['--auto'] : []),
      ...listModelArguments(request.model),
      ...(session === undefined ? [] : [`--session=${session}`]),
    ];
    const env = createOpencodePermissions(request);
    return request.terminal === true
      ? { command: ['opencode', ...options, '--', promptForArgument(request.prompt)], env }
      : { command: ['opencode', ...options], stdin: promptForInput(request.prompt), env };
  },
};

/** Creates OpenCode's permissions: what it may do, and what it must not do by itself. */
export function createOpencodePermissions(request: LaunchRequest): Readonly<Record<string, string>> {
  return {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_SHARE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    ...createPermissionEnvironment(request),
  };
}

/** The folder's own settings are left out unless everything is allowed anyway. */
function createPermissionEnvironment({ permissions, runDir, asks }: LaunchRequest): Record<string, string> {
  if (asks === true) return guarded({ ...ASKING, ...READING });
  switch (permissions) {
    case 'safe':
      return guarded({ ...CLOSED, ...READING, edit: 'deny', external_directory: 'deny' });
    case 'workspace':
      return guarded({
        ...CLOSED,
        ...READING,
        edit: 'allow',
        todowrite: 'allow',
        external_directory: { '*': 'deny', [`${runDir}/*`]: 'allow' },
      });
    case 'bypass':
      return {};
  }
}

function guarded(rules: object): Record<string, string> {
  return { OPENCODE_DISABLE_PROJECT_CONFIG: '1', OPENCODE_PERMISSION: JSON.stringify(rules) };
}

/** Folders whose files OpenCode loads as programs. */
const PROGRAM_FOLDERS = ['plugin', 'plugins', 'tool', 'tools'].map((name) => join('.opencode', name));

/** Settings that may name programs to be loaded. */
const SETTINGS = ['opencode.json', 'opencode.jsonc'].flatMap((name) => [name, join('.opencode', name)]);

/** No settings are that long. */
const MAX_BYTES = 1024 * 1024;

/** A key can be written with escapes: such settings are not read any further. */
const SUSPICION = /plugin|\\u/iu;

/**
 * Refuses a folder from which OpenCode would load programs: no setting keeps it from that.
 * Looks upwards too, as OpenCode does; the home folder is the user's own.
 */
export async function refuseProjectPrograms(workdir: string): Promise<void> {
  const home = homedir();
  for (let folder = workdir; ; folder = dirname(folder)) {
    const found = folder === home ? undefined : await findPrograms(folder);
    if (found !== undefined) {
      throw new SluiceError(
        'FOLDER_NOT_TRUSTED',
        `opencode would load programs of the folder because of ${found}. Remove it, use another engine, or allow everything with permissions "bypass".`,
      );
    }
    if (folder === dirname(folder)) return;
  }
}

async function findPrograms(folder: string): Promise<string | undefined> {
  for (const name of PROGRAM_FOLDERS) {
    const path = join(folder, name);
    if ((await stat(path).catch(() => undefined)) !== undefined) return path;
  }
  for (const name of SETTINGS) {
    const path = join(folder, name);
    const found = await stat(path).catch(() => undefined);
    if (found === undefined) continue;
    if (!found.isFile() || found.size > MAX_BYTES || SUSPICION.test(await readFile(path, 'utf8'))) return path;
  }
  return undefined;
}
