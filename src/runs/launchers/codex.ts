import { join } from 'node:path';
import type { LaunchFile, LaunchRequest, Launcher } from './launcher.js';
import {
  NETWORK_ENVIRONMENT,
  modelArguments,
  promptForArgument,
  promptForInput,
  sessionToResume,
} from './request-checks.js';
import { readVersion } from './version.js';

/** Codex refuses a longer turn. */
const LONGEST_PROMPT = 1024 * 1024;

/** OpenAI Codex, `codex exec --json`. Its sandbox holds shell commands too, so `workspace` may run them. */
export const codexLauncher: Launcher = {
  engine: 'codex',
  program: 'codex',
  reads: 'codex',
  drives: '>=0.166.0 <0.167.0',
  environment: ['OPENAI_*', 'CODEX_HOME', 'CODEX_API_KEY', ...NETWORK_ENVIRONMENT],
  canResume: true,
  reportsCost: false,
  versionCommand: ['--version'],
  readVersion,
  installHint: 'npm install --global @openai/codex@0.166.0',
  launch(request) {
    const session = sessionToResume(request.sessionId);
    const prompt = promptForInput(request.prompt, LONGEST_PROMPT);
    const options = [
      ...(session === undefined ? [] : ['resume']),
      '--json',
      '--skip-git-repo-check',
      '--config=analytics.enabled=false',
      '--config=check_for_update_on_startup=false',
      ...permissionOptions(request),
      ...modelArguments(request.model),
    ];
    const words = session === undefined ? [] : [session];
    const files = request.permissions === 'workspace' ? { files: [temporaryFolder(request)] } : {};
    const env = request.permissions === 'workspace' ? { TMPDIR: join(request.runDir, 'tmp') } : {};
    return request.terminal === true
      ? { command: ['codex', 'exec', ...options, '--', ...words, promptForArgument(prompt)], env, ...files }
      : { command: ['codex', 'exec', ...options, ...words, '-'], stdin: prompt, env, ...files };
  },
};

/**
 * Given a sandbox that may write, Codex marks the folder as trusted for good and starts what the repository's own
 * settings name, outside of the sandbox. Hence the trust is taken back in the same breath.
 */
function permissionOptions({ permissions, workdir, runDir }: LaunchRequest): string[] {
  const guarded = [
    '--config=approval_policy="never"',
    `--config=projects={${text(workdir)}={trust_level="untrusted"}}`,
  ];
  switch (permissions) {
    case 'safe':
      return [...guarded, '--config=sandbox_mode="read-only"'];
    case 'workspace':
      return [
        ...guarded,
        '--config=sandbox_mode="workspace-write"',
        `--config=sandbox_workspace_write.writable_roots=[${text(runDir)}]`,
        '--config=sandbox_workspace_write.exclude_slash_tmp=true',
        '--config=sandbox_workspace_write.exclude_tmpdir_env_var=true',
      ];
    case 'bypass':
      return ['--dangerously-bypass-approvals-and-sandbox'];
  }
}

/** Commands need a place for temporary files; the machine's own is closed to them. */
function temporaryFolder({ runDir }: LaunchRequest): LaunchFile {
  return { path: join(runDir, 'tmp', 'README.txt'), text: 'Temporary files of the agent.\n' };
}

/** A path as a TOML string: JSON's escapes are a part of TOML's. */
function text(path: string): string {
  return JSON.stringify(path);
}
