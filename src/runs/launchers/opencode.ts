import { findOpencodeState } from './engine-state.js';
import { createCliLauncher } from './cli-launcher.js';
import type { LaunchRequest } from './launcher.js';
import { readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { SluiceError } from '../../base/index.js';

/** Read permissions. Files with secrets are denied; OpenCode itself would request approval for them. */
const READ_RULES = {
  read: { '*': 'allow', '*.env': 'deny', '*.env.*': 'deny', '*.env.example': 'allow' },
  glob: 'allow',
  grep: 'allow',
  list: 'allow',
};

/** Tools are listed by name, because a user's rule for one tool would take precedence over `*`. */
const DENY_RULES = { '*': 'deny', bash: 'deny', task: 'deny', webfetch: 'deny', websearch: 'deny', skill: 'deny' };

/** Permissions for denied tools and for editing, if a user can approve them. */
const ASK_RULES = Object.fromEntries(
  [...Object.keys(DENY_RULES), 'edit', 'external_directory'].map((tool) => [tool, 'ask']),
);

/** OpenCode, `opencode run --format json`. It allows everything unless it is configured otherwise. */
export const opencodeLauncher = createCliLauncher({
  engine: 'opencode',
  testedVersions: '>=1.18.33 <1.19.0',
  environment: [
    'OPENCODE_*',
    'XDG_*',
    'ANTHROPIC_*',
    'OPENAI_*',
    'GEMINI_API_KEY',
    'GOOGLE_GENERATIVE_AI_API_KEY',
    'OPENROUTER_API_KEY',
  ],
  reportsCost: true,
  listStateFolders: findOpencodeState,
  installHint: 'npm install --global opencode-ai@1.18.33',
  async inspect({ permissions, workdir }) {
    if (permissions !== 'bypass') await refuseProjectPrograms(workdir);
  },
  sessionOption: '--session',
  listOptions: ({ permissions }) => [
    'run',
    '--format=json',
    '--thinking',
    ...(permissions === 'bypass' ? ['--auto'] : []),
  ],
  prepare: (request) => ({ env: createOpencodeEnvironment(request) }),
});

/** Creates the environment variables that set OpenCode's permissions and disable updates, sharing and downloads. */
export function createOpencodeEnvironment(request: LaunchRequest): Readonly<Record<string, string>> {
  return {
    OPENCODE_DISABLE_AUTOUPDATE: '1',
    OPENCODE_DISABLE_SHARE: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    ...createPermissionEnvironment(request),
  };
}

/** The folder's settings are ignored unless everything is allowed anyway. */
function createPermissionEnvironment({ permissions, runDir, asks }: LaunchRequest): Record<string, string> {
  if (asks === true) return createRules({ ...ASK_RULES, ...READ_RULES });
  switch (permissions) {
    case 'safe':
      return createRules({ ...DENY_RULES, ...READ_RULES, edit: 'deny', external_directory: 'deny' });
    case 'workspace':
      return createRules({
        ...DENY_RULES,
        ...READ_RULES,
        edit: 'allow',
        todowrite: 'allow',
        external_directory: { '*': 'deny', [`${runDir}/*`]: 'allow' },
      });
    case 'bypass':
      return {};
  }
}

function createRules(rules: object): Record<string, string> {
  return { OPENCODE_DISABLE_PROJECT_CONFIG: '1', OPENCODE_PERMISSION: JSON.stringify(rules) };
}

/** Folders whose files OpenCode loads as code. */
const CODE_FOLDERS = ['plugin', 'plugins', 'tool', 'tools'].map((name) => join('.opencode', name));

/** Settings that can name code to load. */
const SETTINGS_FILES = ['opencode.json', 'opencode.jsonc'].flatMap((name) => [name, join('.opencode', name)]);

const MAX_BYTES = 1024 * 1024;

/** Matches plugins, and escape sequences that could disguise a key. */
const SUSPICIOUS_SETTING = /plugin|\\u/iu;

/**
 * Rejects a folder that OpenCode would load code from, because no setting prevents that. Like OpenCode, this checks
 * parent folders too; the home folder is trusted.
 */
export async function refuseProjectPrograms(workdir: string): Promise<void> {
  const home = homedir();
  for (let folder = workdir; ; folder = dirname(folder)) {
    const codePath = folder === home ? undefined : await findLoadableCode(folder);
    if (codePath !== undefined) {
      throw new SluiceError(
        'FOLDER_NOT_TRUSTED',
        `OpenCode would load code from the project because of "${codePath}". Remove it, use another engine, or allow everything with permissions "bypass".`,
      );
    }
    if (folder === dirname(folder)) return;
  }
}

async function findLoadableCode(folder: string): Promise<string | undefined> {
  for (const name of CODE_FOLDERS) {
    const path = join(folder, name);
    if ((await stat(path).catch(() => undefined)) !== undefined) return path;
  }
  for (const name of SETTINGS_FILES) {
    const path = join(folder, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats === undefined) continue;
    if (!stats.isFile() || stats.size > MAX_BYTES || SUSPICIOUS_SETTING.test(await readFile(path, 'utf8'))) return path;
  }
  return undefined;
}
