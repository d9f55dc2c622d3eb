import { homedir } from 'node:os';
import { join } from 'node:path';
import type { StateFolder } from '../../sandbox/index.js';

type Environment = Readonly<Record<string, string>>;

/** Where a program keeps its login and sessions, in the environment it is started with. */
export type FindState = (env: Environment) => readonly StateFolder[];

/*
 * For each engine: what persists is its login and its sessions. Settings can be read only, since they name programs that the
 * engine would start later, outside of any sandbox. Caches are left out: an engine makes them again.
 */

export const claudeState: FindState = (env) => {
  const own = env['CLAUDE_CONFIG_DIR'];
  const folder = own ?? join(findHome(env), '.claude');
  return [
    {
      folder,
      keep: ['projects/', '.credentials.json'],
      read: ['settings.json', 'CLAUDE.md', 'agents', 'commands', 'skills', 'plugins', 'rules', 'output-styles'],
      // Contains the login, and the servers that are started for every project.
      copy: own === undefined ? [] : ['.claude.json'],
    },
    ...(own === undefined ? [{ folder: findHome(env), keep: [], copy: ['.claude.json'] }] : []),
  ];
};

export const codexState: FindState = (env) => [
  {
    folder: env['CODEX_HOME'] ?? join(findHome(env), '.codex'),
    keep: ['sessions/', 'archived_sessions/', 'auth.json', '.credentials.json'],
    read: ['config.toml', 'AGENTS.md', 'AGENTS.override.md', 'prompts', 'skills', 'rules', 'installation_id'],
  },
];

export const geminiState: FindState = (env) => [
  {
    folder: join(env['GEMINI_CLI_HOME'] ?? findHome(env), '.gemini'),
    keep: ['tmp/', 'history/', 'oauth_creds.json', 'gemini-credentials.json', 'google_accounts.json'],
    read: [
      'settings.json',
      'GEMINI.md',
      '.env',
      'extensions',
      'commands',
      'skills',
      'agents',
      'policies',
      'trustedFolders.json',
    ],
    copy: ['projects.json', 'state.json', 'installation_id'],
  },
];

export const qwenState: FindState = (env) => [
  {
    folder: join(findHome(env), '.qwen'),
    keep: ['tmp/', 'projects/', 'oauth_creds.json'],
    read: ['settings.json', 'QWEN.md', '.env', 'extensions', 'commands', 'skills', 'agents', 'trustedFolders.json'],
    copy: ['installation_id'],
  },
];

/** Files and folders of OpenCode's configuration. */
const OPENCODE_SETTINGS =
  'opencode.json opencode.jsonc config.json AGENTS.md package.json node_modules agent agents command commands mode modes plugin plugins skill skills themes tool tools'.split(
    ' ',
  );

export const opencodeState: FindState = (env) => {
  const home = findHome(env);
  return [
    {
      // One database for logins and sessions; but not the programs it once downloaded.
      folder: join(env['XDG_DATA_HOME'] ?? join(home, '.local', 'share'), 'opencode'),
      keep: ['/'],
      read: ['bin'],
    },
    {
      // The folder itself stays writable: OpenCode does not start if it cannot write a .gitignore there.
      folder: join(env['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'opencode'),
      keep: [],
      read: OPENCODE_SETTINGS,
    },
  ];
};

export const copilotState: FindState = (env) => [
  {
    folder: env['COPILOT_HOME'] ?? join(findHome(env), '.copilot'),
    keep: ['session-state/', 'history-session-state/'],
    read: ['mcp-config.json', 'agents', 'skills', 'copilot-instructions.md'],
    copy: ['config.json', 'settings.json'],
  },
];

export const iflowState: FindState = (env) => [
  {
    folder: join(findHome(env), '.iflow'),
    keep: ['tmp/', 'projects/', 'oauth_creds.json', 'iflow_accounts.json'],
    read: ['settings.json', 'IFLOW.md', '.env', 'extensions', 'commands', 'agents'],
  },
];

export const kimiState: FindState = (env) =>
  ['.kimi', '.kimi-code'].map((name) => ({
    folder: join(findHome(env), name),
    keep: ['sessions/', 'credentials/'],
    read: ['config.toml', 'config.json', 'mcp.json', 'skills'],
  }));

/** Folders of the configuration, all of which persists; `~` is the home. */
export function keepFolders(folders: readonly string[] = []): FindState {
  return (env) => folders.map((folder) => ({ folder: folder.replace(/^~(?=\/|$)/, findHome(env)), keep: ['/'] }));
}

function findHome(env: Environment): string {
  return env['HOME'] ?? homedir();
}
