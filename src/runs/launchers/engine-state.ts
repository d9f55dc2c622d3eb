import { homedir } from 'node:os';
import { join } from 'node:path';
import type { StateFolder } from '../sandbox/index.js';

type Environment = Readonly<Record<string, string>>;

/** Finds the folders where an engine stores its login and sessions, from its environment. */
export type FindState = (env: Environment) => readonly StateFolder[];

/*
 * Each engine's login and sessions persist. Settings are read-only, because they name commands that the engine would
 * run later, outside any sandbox. So are the `bin` folders where engines store downloaded executables. Caches are
 * omitted, because an engine recreates them.
 */

export const findClaudeState: FindState = (env) => {
  const configFolder = env['CLAUDE_CONFIG_DIR'];
  const folder = configFolder ?? join(findHome(env), '.claude');
  return [
    {
      folder,
      keep: ['projects/', '.credentials.json'],
      read: ['settings.json', 'CLAUDE.md', 'agents', 'commands', 'skills', 'plugins', 'rules', 'output-styles'],
      // This file contains the login and the MCP servers started in every project.
      copy: configFolder === undefined ? [] : ['.claude.json'],
    },
    ...(configFolder === undefined ? [{ folder: findHome(env), keep: [], copy: ['.claude.json'] }] : []),
  ];
};

export const findCodexState = findInHome('.codex', 'CODEX_HOME', {
  keep: ['sessions/', 'archived_sessions/', 'auth.json', '.credentials.json'],
  read: ['config.toml', 'AGENTS.md', 'AGENTS.override.md', 'prompts', 'skills', 'rules', 'installation_id'],
});

export const findGeminiState: FindState = (env) => [
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
      'tmp/bin/',
    ],
    copy: ['projects.json', 'state.json', 'installation_id'],
  },
];

export const findQwenState = findInHome('.qwen', undefined, {
  keep: ['tmp/', 'projects/'],
  replace: ['oauth_creds.json'],
  read: ['QWEN.md', '.env', 'extensions', 'commands', 'skills', 'agents'],
  // It replaces these files when it starts and does not start if it cannot.
  copy: ['settings.json', 'trustedFolders.json', 'installation_id'],
});

/** OpenCode's configuration files and folders. */
const OPENCODE_SETTINGS =
  'opencode.json opencode.jsonc config.json AGENTS.md package.json node_modules agent agents command commands mode modes plugin plugins skill skills themes tool tools'.split(
    ' ',
  );

export const findOpencodeState: FindState = (env) => {
  const home = findHome(env);
  return [
    {
      // It has one database for logins and sessions. Downloaded executables are read-only.
      folder: join(env['XDG_DATA_HOME'] ?? join(home, '.local', 'share'), 'opencode'),
      keep: ['/'],
      read: ['bin/'],
    },
    {
      // The folder itself stays writable: OpenCode does not start if it cannot write a .gitignore there.
      folder: join(env['XDG_CONFIG_HOME'] ?? join(home, '.config'), 'opencode'),
      keep: [],
      read: OPENCODE_SETTINGS,
    },
  ];
};

export const findCopilotState = findInHome('.copilot', 'COPILOT_HOME', {
  keep: ['session-state/', 'history-session-state/'],
  read: ['mcp-config.json', 'agents', 'skills', 'copilot-instructions.md'],
  copy: ['config.json', 'settings.json'],
});

export const findIflowState = findInHome('.iflow', undefined, {
  keep: ['tmp/', 'projects/', 'oauth_creds.json', 'iflow_accounts.json'],
  read: ['settings.json', 'IFLOW.md', '.env', 'extensions', 'commands', 'agents'],
});

export const findKimiState: FindState = (env) =>
  ['.kimi', '.kimi-code'].map((name) => ({
    folder: join(findHome(env), name),
    keep: ['sessions/', 'credentials/'],
    read: ['config.toml', 'config.json', 'mcp.json', 'skills'],
  }));

/** Creates a finder for configured folders, which persist entirely; `~` is the home folder. */
export function createStateFinder(folders: readonly string[] = []): FindState {
  return (env) => folders.map((folder) => ({ folder: folder.replace(/^~(?=\/|$)/, findHome(env)), keep: ['/'] }));
}

/** Creates a finder for a folder in the home folder, or the one that a variable names. */
function findInHome(name: string, variable: string | undefined, state: Omit<StateFolder, 'folder'>): FindState {
  return (env) => [
    { folder: (variable === undefined ? undefined : env[variable]) ?? join(findHome(env), name), ...state },
  ];
}

function findHome(env: Environment): string {
  return env['HOME'] ?? homedir();
}
